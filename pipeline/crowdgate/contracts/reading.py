"""Reads a contract: Open Data Contract Standard v3.1 with privacy facts in customProperties.

The file is checked twice, first against the standard's JSON Schema and then strictly by Crowdgate's own models. One
ConfigurationError holds every problem of both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from crowdgate.arrays import Bools
from crowdgate.contracts.analysis import read_analyses
from crowdgate.contracts.cell_form import ISO, POINT, CellForm
from crowdgate.contracts.contract import (
    Attribute,
    Contract,
    DatabaseTable,
    Expectation,
    Fact,
    InheritedSample,
    JointCounts,
    PrivacyUnit,
    Role,
    RowRule,
    Server,
    TableRule,
)
from crowdgate.contracts.database_table import read_database_table, refuse_database_facts
from crowdgate.contracts.domains import build_domain, build_hierarchy, check_labels, label_fault, read_margins
from crowdgate.contracts.expectations import Domains
from crowdgate.contracts.joint import read_joint
from crowdgate.contracts.models import (
    PROPERTY_FACTS,
    TABLE_FACTS,
    MarginsModel,
    Place,
    SampleModel,
    UnitModel,
    custom_properties,
    parse,
    quoted_value,
)
from crowdgate.contracts.persons import person_attributes
from crowdgate.contracts.rules import accepts_all, property_rule, refuse_repeated_names, table_rule
from crowdgate.contracts.server_rules import ServerRule
from crowdgate.contracts.servers import read_server
from crowdgate.contracts.standard import check_standard
from crowdgate.contracts.stock_levels import check_codes, stock_domain, stock_levels
from crowdgate.contracts.undecided import undecided
from crowdgate.documents.names import NAME
from crowdgate.documents.word_correction import meant_key
from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import Code, ConfigurationError, Problem, nearest
from crowdgate.limits import MOST_ROWS_EACH

if TYPE_CHECKING:
    from crowdgate.domain import Domain
    from crowdgate.hierarchy import Hierarchy


class BrokenContract(ConfigurationError):
    """An error: a contract has problems. `rest` is the contract without its faulty parts (None: too little is left)."""

    def __init__(self, problems: Sequence[Problem] | Problem, rest: Contract | None = None) -> None:
        super().__init__(problems)
        self.rest = rest


SHARED = ("privacyRole", "domain", "classification", "levels", "invalid", "firstCharacters")
"""The facts that a definition may state."""
Rules = list[tuple[Place, RowRule | TableRule | Expectation]]


def read_contract(path: Path, servers: Mapping[str, ServerRule]) -> Contract:
    """Return the contract in `path`. Its table must be on a server that matches one of `servers`, the rules by source
    name.

    Raises ConfigurationError that lists every problem of the contract and of the files it names.
    """
    document = read_document(path)
    root = Place(document, document.data, [], [path])
    check_standard(root)
    contract = _contract(root, servers)
    left = undecided(document)
    if contract is None or root.problems or left:
        own, decided = str(path), {(each.line, each.column) for each in left}
        others = [each for each in root.problems if each.file != own or (each.line, each.column) not in decided]
        problems = _once([*left, *others])
        told = sorted(problems, key=lambda problem: (problem.file != own, problem.line or 0))
        raise BrokenContract(told, contract)
    return contract


def _once(problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems without those that the standard and Crowdgate both have with a value: the one that can be
    corrected stays.
    """
    best: dict[object, Problem] = {}
    for each in problems:
        same = (each.file, each.line, each.column, each.where, each.found, each.code if each.column is None else None)
        key = same if each.code is Code.VALUE else each
        if best.setdefault(key, each).corrected is None and each.corrected is not None:
            best[key] = each
    return list(best.values())


def _contract(root: Place, servers: Mapping[str, ServerRule]) -> Contract | None:
    custom_properties(root, {})
    server, identity, version = read_server(root, servers), _name(root / "id"), _name(root / "version")
    table = _table(root)
    if table is None:
        return None
    places = custom_properties(table, TABLE_FACTS)
    stated = {name: parse(TABLE_FACTS[name].value, place) for name, place in places.items()}
    for name in ("privacyUnit", "population"):
        if name not in places:
            table.refuse(f"no {name}", f"the custom property {name} on the table", None, Code.MISSING_KEY)
    unit = _unit(places, stated.get("privacyUnit"))
    population = _population(places["population"]) if stated.get("population") else None
    attributes, rules = _attributes(table, unit, places.get("definitions"))
    attributes = {name: _in_form(each, server) for name, each in attributes.items()}
    _check_person(table, places, unit, attributes)
    domains = {name: attribute.domain for name, attribute in attributes.items()}
    rules += _table_rules(table, places, stated.get("rowsAtMost"), domains)
    refuse_repeated_names(rules)
    columns = attributes
    if (of_persons := stated.get("personValues")) is not None:
        attributes = person_attributes(places["personValues"], of_persons, columns, unit)
    database = _database(table, places, stated, list(columns), unit, _is_database(root, server, servers))
    joint = _joint(places, stated.get("jointMargins") or [], attributes)
    analyses = read_analyses(places.get("analysis"), stated.get("analysis") or (), attributes)
    if server is None or unit is None or identity is None or version is None or population is None:
        return None
    return Contract(
        id=identity,
        version=version,
        population=population,
        unit=unit,
        server=server,
        attributes=tuple(attributes.values()),
        public=bool(stated.get("public")),
        sample=_sample(stated.get("sample")),
        rows_at_most=stated.get("rowsAtMost"),
        row_rules=tuple(rule for _, rule in rules if isinstance(rule, RowRule)),
        table_rules=tuple(rule for _, rule in rules if isinstance(rule, TableRule)),
        expectations=tuple(rule for _, rule in rules if isinstance(rule, Expectation)),
        files=tuple(root.files),
        joint=joint,
        analyses=analyses,
        row_attributes=() if attributes is columns else tuple(columns.values()),
        database=database,
    )


def _in_form(attribute: Attribute, server: Server | None) -> Attribute:
    """Return an attribute with the form of numbers and days that the server states, such as that of a CSV file."""
    settings = {} if server is None else server.settings
    form = CellForm(settings.get("decimalMark", POINT), settings.get("dayForm", ISO), attribute.form.first)
    return replace(attribute, form=form)


def _is_database(root: Place, server: Server | None, rules: Mapping[str, ServerRule]) -> bool:
    """Return whether the contract's table is in a database; with a faulty server, whether its type is one of these."""
    if server is not None:
        return rules[server.reader].is_database
    stated = {place.text("type") for place in (root / "servers").items()}
    return any(rule.is_database and rule.type in stated for rule in rules.values())


def _database(
    table: Place,
    places: dict[str, Place],
    stated: Mapping[str, Any],
    columns: Sequence[str],
    unit: PrivacyUnit | None,
    is_database: bool,
) -> DatabaseTable | None:
    joins = places.get("joins")
    if is_database:
        return read_database_table(table, joins, stated.get("joins") or (), columns, unit)
    refuse_database_facts(table, joins)
    return None


def _joint(
    places: dict[str, Place], names: Sequence[str], attributes: Mapping[str, Attribute]
) -> tuple[JointCounts, ...]:
    found = (read_joint(places["jointMargins"], name, attributes) for name in names)
    return tuple(each for each in found if each is not None)


def _name(at: Place) -> str | None:
    return at.value if isinstance(at.value, str) and check_labels(at, [at.value]) else None


def _population(at: Place) -> str | None:
    """Return the name of the population, which its budget has as well; None after a problem."""
    if isinstance(at.value, str) and re.fullmatch(NAME, at.value):
        return at.value
    word = re.sub(r"[^a-z0-9]+", "-", str(at.value).lower()).strip("-")[:63]
    expected = "at most 63 lower-case letters, digits and hyphens, as in the name of its budget"
    if _name(at) is not None:
        at.refuse(quoted_value(at.value), expected, word or None, Code.VALUE)
    return None


def _table(root: Place) -> Place | None:
    tables = (root / meant_key(root.value, "schema")).items()
    if len(tables) == 1:
        return tables[0].called(tables[0].text("name") or "schema")
    (root / "schema").refuse(f"a contract of {len(tables)} tables", "exactly one table in each contract")
    return None


def _unit(places: dict[str, Place], model: UnitModel | None) -> PrivacyUnit | None:
    if model is None:
        return None
    if model.rows > MOST_ROWS_EACH:
        (places["privacyUnit"] / "rows").refuse(
            f"a bound of {model.rows} rows per person", f"at most {MOST_ROWS_EACH} rows per person"
        )
        return None
    return PrivacyUnit(model.person, model.rows)


def _sample(model: SampleModel | None) -> InheritedSample | None:
    return None if model is None else InheritedSample(model.name, model.beta)


def _table_rules(table: Place, places: dict[str, Place], rows_at_most: int | None, domains: Domains) -> Rules:
    rules: Rules = [(place, rule) for place in (table / "quality").items() if (rule := table_rule(place, domains))]
    if rows_at_most is not None:
        bound = TableRule("rowsAtMost", Fact.ROWS, None, None, float(rows_at_most))
        rules.append((places["rowsAtMost"], bound))
    return rules


def _attributes(table: Place, unit: PrivacyUnit | None, shared: Place | None) -> tuple[dict[str, Attribute], Rules]:
    listed = (table / meant_key(table.value, "properties")).items()
    named = {place.text("name") for place in listed}
    is_known = unit is not None and unit.person in (None, *named)
    attributes: dict[str, Attribute] = {}
    rules: Rules = []
    for place in listed:
        name = place.text("name")
        if name is None:
            continue
        at = place.called(name if label_fault(name) is None else quoted_value(name))
        if name in attributes:
            at.refuse("a second property (column) of this name", "each property once", None, Code.TWICE)
            continue
        person = unit.person if unit is not None and is_known else name  # any column, while it is not known
        attributes[name] = _attribute(at, name, person, shared, rules)
    if not attributes:
        table.refuse("no properties", "a property for each column")
    return attributes, rules


def _check_person(
    table: Place, places: dict[str, Place], unit: PrivacyUnit | None, attributes: dict[str, Attribute]
) -> None:
    if unit is None or unit.person is None:
        return
    at = places["privacyUnit"] / "person"
    if unit.person not in attributes:
        at.refuse(
            f"the contract has no property {quoted_value(unit.person)}",
            "the name of a property (column) of this contract",
            nearest(unit.person, list(attributes)),
            Code.UNKNOWN_NAME,
        )
    elif attributes[unit.person].role is not Role.DIRECT_IDENTIFIER and not _is_doubtful(unit.person, at.problems):
        others = any(each.role is Role.DIRECT_IDENTIFIER for each in attributes.values())  # one may be the person's
        role = None if others else _stated_role(table, unit.person)
        (role or at).refuse(
            f"the person column {quoted_value(unit.person)} has another privacyRole",
            f"privacyRole {Role.DIRECT_IDENTIFIER} for the person column",
            corrected=None if role is None else role.document.text.replaced(role.location, Role.DIRECT_IDENTIFIER),
        )


def _stated_role(table: Place, name: str) -> Place | None:
    """Return the place of the role that a column itself states; None if a definition states it."""
    column = next(each for each in (table / meant_key(table.value, "properties")).items() if each.text("name") == name)
    stated = (each for each in (column / "customProperties").items() if each.text("property") == "privacyRole")
    return next(((each / "value").called(name, "privacyRole") for each in stated), None)


def _is_doubtful(name: str, problems: Sequence[Problem]) -> bool:
    """Return whether the role of a column is faulty itself."""
    return any(problem.where in (f"{name}.privacyRole", f"{name}.customProperties") for problem in problems)


def _attribute(at: Place, name: str, person: str | None, shared: Place | None, rules: Rules) -> Attribute:
    places = _with_definition(custom_properties(at, PROPERTY_FACTS), shared)
    stated = {key: parse(PROPERTY_FACTS[key].value, place) for key, place in places.items()}
    told = (at / "customProperties").value
    if "privacyRole" not in places and "like" not in places and (told is None or isinstance(told, list)):
        at.refuse(
            "a column without a privacyRole",
            "the custom property privacyRole with one of " + ", ".join(Role),
            None,
            Code.MISSING_KEY,
        )
    _check_flat(at)
    role = stated.get("privacyRole") or Role.OTHER
    model = stated.get("domain")
    logical = at.text(meant_key(at.value, "logicalType"))
    domain = None if model is None else build_domain(places["domain"], model, logical)
    stock = stated.get("classification")
    if stock is not None and "domain" not in places:
        domain = stock_domain(places["classification"], stock)
    if role is not Role.DIRECT_IDENTIFIER and domain is not None:
        check_labels(at / "name", [name])
    invalid: Literal["drop", "level"] = "level" if stated.get("invalid") == "level" else "drop"
    own = _rules(at, name, domain, person, failed="domain" in places and domain is None)
    rules += own
    return Attribute(
        name,
        role,
        description=at.text("description") or "",
        domain=domain,
        hierarchy=_hierarchy(places, stated, domain, invalid_level=invalid == "level"),
        invalid=invalid,
        accepted=_accepted(at, domain, [rule for _, rule in own if isinstance(rule, RowRule)]),
        margins=_margins(places, stated, domain),
        known_to_attackers=stated.get("knownToAttackers"),
        secret=stated.get("secret"),
        form=CellForm(first=_first_characters(places, stated, domain)),
    )


def _first_characters(places: dict[str, Place], stated: dict[str, Any], domain: Domain | None) -> int | None:
    """Return how many first characters of each cell are read; None for all, and after a problem."""
    first: int | None = stated.get("firstCharacters")
    if first is not None and domain is not None and (domain.grid is not None or domain.first_day is not None):
        places["firstCharacters"].refuse("first characters of numbers or days", "them for a column of codes only")
        return None
    longest = 0 if domain is None else max(map(len, domain.written or domain.labels), default=0)
    if first is None or domain is None or first == longest:
        return first
    which = "no code of the domain is so long" if first > longest else "no cell has the longer codes of the domain then"
    other = "longer" if first > longest else "shorter"
    found = f"first {first} characters, and {which}"
    places["firstCharacters"].refuse(found, f"{longest}, or {other} codes in the domain")
    return None


def _with_definition(own: dict[str, Place], shared: Place | None) -> dict[str, Place]:
    """Return the facts of a column by name, with those of the definition that it states as `like`; its own come
    first.
    """
    like = own["like"].value if "like" in own else None
    if not isinstance(like, str):
        return own
    known = list(shared.value) if shared is not None and isinstance(shared.value, dict) else []
    if shared is None or like not in known:
        expected = f"one of the table's definitions: {', '.join(known) or 'there are none'}"
        own["like"].refuse(quoted_value(like), expected, nearest(like, known), Code.UNKNOWN_NAME)
        return own
    stated = (shared / like).value
    return {key: shared / like / key for key in stated if key in SHARED} | own if isinstance(stated, dict) else own


def _check_flat(at: Place) -> None:
    """Refuse nested properties."""
    for key in ("properties", "items"):
        if (at / key).value is not None:
            (at / key).refuse(f"nested {key}", "a flat table: one property for each column")


def _rules(at: Place, name: str, domain: Domain | None, person: str | None, *, failed: bool) -> Rules:
    """Return the quality rules of an attribute, each with its place; none if its domain `failed`, which is reported
    already.
    """
    if failed:
        return []
    entries = (at / "quality").items()
    return [(entry, rule) for entry in entries if (rule := property_rule(entry, name, domain, person))]


def _hierarchy(
    places: dict[str, Place], stated: dict[str, Any], domain: Domain | None, *, invalid_level: bool
) -> Hierarchy | None:
    if domain is None:
        for key in ("levels", "invalid", "margins", "firstCharacters"):
            if key in places and not {"domain", "classification"} & {*places}:
                places[key].refuse(f"{key} without a domain", "a domain beside it")
        return None
    models, stock = stated.get("levels") or [], stated.get("classification")
    check_codes(places, [stock, *(each.classification for each in models)], domain)
    if stock is not None and "levels" not in places:
        models = stock_levels(stock)
    place = places.get("levels") or places.get("classification") or places["domain"]
    return build_hierarchy(place, models, domain, invalid_level=invalid_level)


def _margins(places: dict[str, Place], stated: dict[str, Any], domain: Domain | None) -> tuple[int, ...] | None:
    model: MarginsModel | None = stated.get("margins")
    if model is None or domain is None:
        return None
    if model.is_official:
        from crowdgate.contracts.official_table import read_official_counts

        return read_official_counts(places["margins"], model, domain)
    return read_margins(places["margins"], model.file, domain)


def _accepted(at: Place, domain: Domain | None, rules: Sequence[RowRule]) -> Bools | None:
    """Return one mark for each domain code: True if all row rules accept its label. Return None without a domain or row
    rules.
    """
    if domain is None or not rules:
        return None
    mask = np.array([accepts_all(rules, label) for label in domain.labels], dtype=np.bool_)[domain.values]
    mask.flags.writeable = False
    if not mask.any():
        (at / "quality").refuse("row rules that no value meets together", "rules that accept some value")
    return mask
