"""A draft of a contract from public facts about a table: a header, a codebook or a contract of another tool.

No cell is read. What only a person can know is left as `CHANGE (what to write)`; roles are guessed by the words in a
column's name or description, and marked.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crowdgate.contracts.contract import Role
from crowdgate.contracts.domains import label_fault
from crowdgate.contracts.undecided import change
from crowdgate.errors import Code, ConfigurationError, Problem, nearest
from crowdgate.limits import MOST_VALUES
from crowdgate.sources.table_header import CellType

NO_TABLE = "the table's file, relative to the contract, in the format beside it"
"""Words about the path of a table that its description does not name."""
Values = tuple[tuple[str, str], ...]
"""The values of a column in a codebook, each with its label (an empty text: none)."""

_WORDS = {
    Role.DIRECT_IDENTIFIER: (
        "id", "uuid", "guid", "ssn", "nhs", "bsn", "name", "firstname", "lastname", "surname", "forename",
        "email", "mail", "phone", "telephone", "mobile", "address", "street", "passport", "iban", "username",
        "login", "person", "patient", "respondent", "client", "member", "caseid", "pid", "idno", "patid", "patientid",
        "recordid", "patnr", "fallnr", "fallnummer", "identification", "pat", "case", "fall", "record", "nachname",
        "vorname", "aktenzeichen", "personalnummer", "staff", "hash", "nom", "prenom", "identifier", "hhid",
    ),
    Role.SENSITIVE: (
        "income", "wage", "wages", "salary", "earnings", "debt", "loan", "credit", "gain", "loss", "diagnosis",
        "icd", "icd9", "icd10", "disease", "disorder", "illness", "hiv", "religion", "drug", "drugs", "alcohol",
        "smoker", "pregnant", "pregnancy", "disability", "disabled", "offense", "offence", "crime", "charge",
        "sentence", "recid", "recidivism", "treatment", "medication", "test", "result", "score", "grade",
        "cancer", "depression", "insulin", "smoke", "smokes", "smoking", "diabetes", "diabetic", "hypertension",
        "asthma", "diagnose", "krankheit", "raucher", "einkommen",
    ),
    Role.QUASI_IDENTIFIER: (
        "age", "sex", "gender", "birth", "born", "dob", "birthday", "year", "zip", "zipcode", "postcode",
        "postal", "plz", "puma", "region", "county", "city", "town", "municipality", "district", "state",
        "province", "country", "nationality", "citizenship", "citizen", "race", "ethnicity", "ethnic",
        "hispanic", "marital", "married", "education", "educ", "schooling", "school", "occupation",
        "profession", "job", "industry", "workclass", "employment", "household", "relationship", "children",
        "language", "date", "admitted", "admission", "ward", "isced", "isco", "nace",
        "geschlecht", "alter", "geburtsdatum", "aufnahmedatum", "entlassdatum", "beruf", "familienstand", "wohnort",
        "bundesland",
    ),
}  # fmt: skip
"""The words in names of columns that suggest a role, in order of precedence."""
_STOCK = {
    "icd10": "icd-10", "icd": "icd-10", "icd9": "icd-9", "isced": "isced-2011", "isco": "isco-08", "nace": "nace-2",
    "country": "iso-3166", "nationality": "iso-3166", "citizenship": "iso-3166",
}  # fmt: skip
"""The words in names of columns that suggest a stock classification."""
_STOCK_CHARACTERS = {"icd-10": 3, "isco-08": 2, "nace-2": 2}
"""The length of the codes of classifications whose tables often have longer ones."""
_NUMBERS = {"id", "uuid", "guid", "nr", "no", "number", "nummer", "identification", "identifier"}
"""The words that make a name of somebody an identifier: `case number`, but not `type of case`."""
_NUMBERED = {
    "household", "house", "hh", "dwelling", "family", "cluster", "serial", "interviewer", "unique", "pupil", "student",
    "employee", "taxpayer", "customer", "participant", "subject", "account", "reference", "applicant", "applicants",
    "ausweis", "ausweises", "reg", "register", "kunden", "mitglieds", "permit",
}  # fmt: skip
"""The words for what has a number: `household number`, but not `number of household members`."""
_PERSONS = {
    "person", "patient", "pat", "respondent", "client", "member", "pid", "patid", "patientid", "patnr", "staff",
    "personalnummer", "pupil", "student", "employee", "taxpayer", "customer", "participant", "subject", "applicant",
    "ssn", "nhs", "bsn", "passport", "persnr", "personid", "ausweis", "kunden", "mitglieds",
}  # fmt: skip
"""The words of identifiers that stand for one person."""
_THINGS = {
    "household", "house", "hh", "hhid", "houseid", "dwelling", "family", "cluster", "case", "caseid", "fall", "fallnr",
    "fallnummer", "aktenzeichen", "record", "recordid", "interviewer", "account", "serial",
}  # fmt: skip
"""The words of identifiers that stand for cases, records or several persons."""
_ENDS_IN_ID = re.compile(r"([^aioulcvhr]id|nummer|kennzeichen)$")
"""The names that run into `id`, such as `houseid` and `subjid`, but not `paid`, `steroid`, `covid` and `hybrid`."""
_PARTS = {"full", "first", "last", "middle", "given", "family"}
"""The words that say which name of a person a column holds."""
LONGEST_NAME = 5
"""The most words of a name, or a label, that can be that of an identifier."""
_LEVELS_OF_AGE = "[{name: 5 years, width: 5}, {name: 10 years, width: 10}, {name: 20 years, width: 20}]"
_LOGICAL = {
    CellType.WHOLE: "integer", CellType.NUMBER: "number", CellType.FLAG: "boolean", CellType.DAY: "date",
    CellType.MOMENT: "date", CellType.TIME: "time",
}  # fmt: skip
_AGE, _NO_YEARS = {"age", "alter"}, {
    "range", "group", "groups", "grp", "band", "class", "category", "cat", "bracket", "months", "days", "weeks",
    "gruppe", "tagen", "tage", "monaten", "monate",
}  # fmt: skip
"""The words for ages, and those that say that they are not in years."""
_LEVELS_OF_DAYS = "[{name: month, part: month}, {name: quarter, part: quarter}, {name: year, part: year}]"
_DAYS = {"date", "day", "dob", "birthday", "birthdate", "geburtsdatum", "aufnahmedatum", "entlassdatum"}
"""The words in names of columns that suggest days."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_ .-]*[A-Za-z0-9_]|[A-Za-z]")
_RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


UNGUESSED = Role.QUASI_IDENTIFIER
"""The role of a column whose name suggests none: the one that grants attackers most."""
MOST_QUOTED = 300
"""The greatest length of what a draft quotes of a codebook that is not read."""
WIDTH = 120
"""The greatest width of the line of a column; longer ones have a line for each fact."""


@dataclass(frozen=True)
class DraftColumn:
    """A column as it is known without its cells. `values` are all of them by a codebook, `bounds` the least and the
    greatest number or day that it calls valid, `missing` the codes that it calls missing. The bounds are not
    `is_designed` if they may be the extremes of the table. `unread` is what a codebook says of values that is no full
    list of them, `decimals` the number of decimals of its numbers, `physical` its name in a database; a column `is_key`
    if it identifies rows.
    """

    name: str
    type: CellType
    description: str = ""
    values: Values = ()
    bounds: tuple[str, str] | None = None
    direct: bool = False
    missing: tuple[str, ...] = ()
    is_designed: bool = True
    unread: str = ""
    decimals: int | None = None
    physical: str = ""
    is_key: bool = False

    @property
    def is_age(self) -> bool:
        """True if the name, or the description, says that these are ages in years, and no list of values contradicts
        it: a codebook may name a few ages only, such as 95 or more.
        """
        is_number = self.type in (CellType.WHOLE, CellType.NUMBER, CellType.UNKNOWN)
        name, words = _words(self.name), _words(self.description)
        named = name & _AGE or (words & _AGE and len(words) <= LONGEST_NAME)
        in_years = not (name | words) & _NO_YEARS
        return bool(named) and in_years and is_number and (not self.values or self.bounds is not None)

    @property
    def is_day(self) -> bool:
        """True if the type, or the name where no type is known, says that these are days."""
        return self.type in (CellType.DAY, CellType.MOMENT) or (
            self.type is CellType.UNKNOWN and not self.values and bool(_words(self.name) & _DAYS)
        )


@dataclass(frozen=True)
class DraftSource:
    """The public description of a table: where the table is, its columns, and what was read, in words. `codebook` is
    what states their values, if it is something else than what was `read`; `server` another server than a file's.
    """

    read: str
    path: str
    format: str
    columns: tuple[DraftColumn, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    codebook: str = ""
    server: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    """The headings of the codebook that were used, and those that were not."""
    table: str = ""
    """The name of the table, if it has another than its file."""
    physical: str = ""
    """The name of the table in its database, if it has one there."""

    @property
    def values_from(self) -> str:
        """The file or text that states the values of the columns, in words."""
        return self.codebook or self.read


def cannot_draft(path: Path, found: str, expected: str) -> ConfigurationError:
    """Return the error that a file is no description that a draft can be made from."""
    return ConfigurationError(Problem(str(path), None, "table", found, expected, code=Code.HEADER))


def draft_contract(source: DraftSource, name: str, domains: Sequence[str] | None = None) -> str:
    """Return the text of a draft with the id `name`. Columns of `domains` get a domain; by default those whose name
    says that they describe people, and those whose values a codebook lists.

    Raises ConfigurationError for a column of `domains` that is not there.
    """
    names = [column.name for column in source.columns]
    for unknown in (each for each in domains or () if each not in names):
        found, expected = f"no column {unknown!r}", "columns of the draft"
        raise ConfigurationError(Problem("command line", None, "--domains", found, expected, nearest(unknown, names)))
    guessed = {column.name: _role(column) for column in source.columns}
    known = {column.name for column in source.columns if guessed[column.name] is not None or _has_statement(column)}
    chosen = [c for c in source.columns if c.name in (known if domains is None else domains)]
    described = {c.name for c in chosen if guessed[c.name] is not Role.DIRECT_IDENTIFIER}
    shared = _shared([column for column in source.columns if column.name in described])
    listed = any(column.values or (column.bounds and column.is_designed) for column in chosen)
    ids = [column for column in source.columns if guessed[column.name] is Role.DIRECT_IDENTIFIER]
    head = list(_head(source, name, _unit_hint(ids), listed=listed))
    if any(each.name not in described and guessed[each.name] is not Role.DIRECT_IDENTIFIER for each in source.columns):
        head.insert(
            2,
            "# Columns without a domain are not published. --domains A,B drafts them; by hand add invalid: level.",
        )
    return "\n".join([*head, *_definitions(source, shared), "    properties:", *(
        line for column in source.columns
        for line in _column(source, column, guessed[column.name], shared.get(column.name), column.name in described)
    )]) + "\n"  # fmt: skip


def _has_statement(column: DraftColumn) -> bool:
    """Return whether a codebook says which values a column has, be it in part."""
    return bool(column.values or column.unread or (column.bounds and column.is_designed))


def _unit_hint(ids: Sequence[DraftColumn]) -> str:
    """Return the words on which column identifies persons: one whose name says so, or else that some are of other
    things. A key of rows identifies persons only where each has one row.
    """
    words = {each.name: _words(each.name) | _words(each.description) for each in ids}
    persons = [each.name for each in ids if _words(each.name) & _PERSONS]
    persons += [each.name for each in ids if words[each.name] & _PERSONS and not _words(each.name) & _THINGS]
    things = [each.name for each in ids if each.is_key or _is_thing(each, words[each.name])]
    others = [each.name for each in ids if each.name not in things]
    if persons or others:
        return f", COLUMN being a direct-identifier such as {[*persons, *others][0]}"
    return f", COLUMN naming one person; {things[0]} names a row, a case or a household" if things else ""


def _is_thing(column: DraftColumn, words: set[str]) -> bool:
    return bool(words & _THINGS) or column.name.lower().startswith(("hh", "house"))


def _head(source: DraftSource, name: str, unit: str, *, listed: bool) -> Iterator[str]:
    """Yield the lines of a draft down to the facts about its table; `unit` are words on the column of the person.

    With `listed` values or ranges of columns, a person must say that these are not those of the table.
    """
    read = f"{source.read} and {source.codebook}" if source.codebook else source.read
    yield "# yaml-language-server: $schema=../policies/schema/data-contract.json"
    yield f"# Drafted from {read}; no cell was read. Decide each CHANGE, and see whether the guesses are right."
    if source.note:
        yield f"# The codebook: {source.note}."
    yield from ("apiVersion: v3.1.0", "kind: DataContract", f"id: {_quoted(name)}", "version: 1.0.0", "status: draft")
    yield f"servers: [{{{_server(source)}}}]"
    yield from ("schema:", f"  - name: {_quoted(source.table or name)}")
    if source.server and source.physical:
        yield f"    physicalName: {_quoted(source.physical)}"
    if listed:
        fixed = f"who fixed the values and ranges in {source.values_from} before the data were seen"
        yield f"    description: {_quoted(change(fixed))}"
    yield "    customProperties:"
    person = change(f"row if nobody has two rows, else {{person: COLUMN, rows: 1}}{unit}")
    yield f"      - {{property: privacyUnit, value: {_quoted(person)}}}"
    population = change("a name for these people, whose lifetime budget pays")
    yield f"      - {{property: population, value: {_quoted(population)}}}"


def _server(source: DraftSource) -> str:
    """Return the facts about the server of a draft: the file beside the contract, or a database as it was stated."""
    if source.server:
        return ", ".join(f"{key}: {_quoted(value)}" for key, value in source.server.items())
    settings = ", ".join(f"{{property: {key}, value: {json.dumps(value)}}}" for key, value in source.settings.items())
    custom = f", customProperties: [{settings}]" if settings else ""
    return f"server: local, type: local, path: {_quoted(source.path)}, format: {source.format}{custom}"


def _shared(columns: Sequence[DraftColumn]) -> dict[str, str]:
    """Return the name of the definition that a column shares with others: flags, values that recur in a codebook, and
    names that differ in their number only.
    """
    keys = {
        each.name: (
            each.type, each.values, each.bounds, _stem(each), _role(each), each.missing, each.unread, each.decimals,
        )
        for each in columns
    }  # fmt: skip
    count, found, taken = Counter(keys.values()), dict[object, str](), set[str]()
    for key in (key for key, times in count.items() if times > 1):
        values, stem = key[1], key[3]
        base = "truth" if key[0] is CellType.FLAG else "yesno" if len(values) == 2 else stem.strip("_ -.") or "shared"
        name = next(each for i in range(len(columns) + 1) if (each := f"{base}{i or ''}") not in taken)
        taken.add(name)
        found[key] = name
    return {name: found[key] for name, key in keys.items() if key in found}


def _stem(column: DraftColumn) -> str:
    """Return a column's name without a number at its end; empty for columns whose type or values say all."""
    if column.type is CellType.FLAG or column.values:
        return ""
    return re.sub(r"[0-9]+$", "", column.name) if column.name[-1:].isdigit() else column.name


def _definitions(source: DraftSource, shared: Mapping[str, str]) -> Iterator[str]:
    first: dict[str, DraftColumn] = {}
    for column in source.columns:
        if column.name in shared:
            first.setdefault(shared[column.name], column)
    if first:
        yield from ("      - property: definitions", "        value:")
    for name, one in first.items():
        facts = f"privacyRole: {_role(one) or UNGUESSED}, domain: {_domain(source, one)}, invalid: level"
        yield f"          {_quoted(name)}: {{{facts}}}"


def _logical_type(column: DraftColumn, *, described: bool) -> str:
    """Return the logical type of a column: of texts, where nothing states another."""
    if described and column.is_age:
        return "integer"
    if column.is_day:
        return "date"
    if column.type is CellType.UNKNOWN and column.bounds and not column.values:
        return "number"
    return _LOGICAL.get(column.type, "string")


def _column(
    source: DraftSource, column: DraftColumn, role: Role | None, like: str | None, described: bool
) -> Iterator[str]:
    """Yield the line of a column, or its lines if it has a domain of its own."""
    logical = _logical_type(column, described=described)
    typed = [f"logicalType: {logical}"]
    if source.server and column.physical:
        typed.append(f"physicalName: {_quoted(column.physical)}")
    facts = [] if like and described else [f"privacyRole, value: {role or UNGUESSED}"]
    if described:
        facts += [f"like, value: {_quoted(like)}"] if like else [f"domain, value: {_domain(source, column)}"]
        levels = _LEVELS_OF_AGE if column.is_age else _LEVELS_OF_DAYS if column.is_day and not column.values else ""
        facts += [f"levels, value: {levels}"] if levels and not like else []
        facts += [] if like else ["invalid, value: level"]  # an empty cell then costs no row
    if column.description:
        typed.append(f"description: {_in_quotes(column.description[:200])}")
    held = [f"{{property: {fact}}}" for fact in facts]
    doubt = "  # role guessed" if role is not None else "  # role unknown"
    doubt += "" if described or role is Role.DIRECT_IDENTIFIER else "; not published, as it has no domain"
    start = ", ".join([f"name: {_quoted(column.name)}", *typed])
    line = f"      - {{{start}, customProperties: [{', '.join(held)}]}}"
    if len(line) <= WIDTH:
        yield line + doubt
        return
    yield f"      - name: {_quoted(column.name)}{doubt}"
    yield from (f"        {each}" for each in typed)
    yield "        customProperties:"
    yield from (f"          - {each}" for each in held)


def _domain(source: DraftSource, column: DraftColumn) -> str:
    """Return the domain of a column, with what is left to decide."""
    if column.type is CellType.FLAG:
        return '{values: ["true", "false"], source: type of the column}'
    missing = f"missing: [{', '.join(map(_in_quotes, column.missing))}], " if column.missing else ""
    if column.is_age and (column.bounds is None or not column.is_designed):
        return f"{{from: 0, to: 90, top: true, {missing}source: ages in years}}"
    if column.values:
        values = ", ".join(_in_quotes(value) for value, _ in column.values)
        named = ", ".join(f"{_in_quotes(value)}: {_quoted(label)}" for value, label in _labels(column))
        labels = f"labels: {{{named}}}, " if named else ""
        return f"{{values: [{values}], {labels}{missing}source: {_quoted(source.values_from)}}}"
    if column.bounds is not None:
        doubt = change(f"where this range is public; {source.values_from} may state the extremes of the table")
        fixed = _quoted(source.values_from if column.is_designed else doubt)
        exact = _precision(column)
        ends = f"from: {_quoted(column.bounds[0])}, to: {_quoted(column.bounds[1])}, {exact}"
        return f"{{{ends}{missing}source: {fixed}}}"
    public = _quoted(change("where all values are public, other than the table"))
    if column.unread:
        known = " ".join(column.unread.split())[:MOST_QUOTED].replace("(", "[").replace(")", "]")
        each = _quoted(change(f"each value that can be, or from and to; by {source.values_from}: {known}"))
        return f"{{values: [{each}], {missing}source: {public}}}"
    if column.is_day or column.type in (CellType.WHOLE, CellType.NUMBER):
        what, more = (
            ("day", "") if column.is_day else ("number", "; of amounts, with step: 100, precision: 1 beside it")
        )
        low, high = (
            _quoted(change(f"the {each} {what} that can be{also}"))
            for each, also in (("least", ""), ("greatest", more))
        )
        return f"{{from: {low}, to: {high}, {missing}source: {public}}}"
    stock = _stock(column)
    most = _STOCK_CHARACTERS.get(stock or "")
    codes = (
        "its codes" if most is None else f"its codes of {most} characters, and firstCharacters: {most} for longer ones"
    )
    others = "from and to for numbers and days" if stock is None else f"classification, value: {stock}, for {codes}"
    each = _quoted(change(f"each value that can be, or {others}"))
    return f"{{values: [{each}], source: {public}}}"


def _precision(column: DraftColumn) -> str:
    """Return the precision of a range of numbers that may have decimals, as these are written; left to decide where
    they are not.
    """
    is_number = column.type is CellType.NUMBER or (column.type is CellType.UNKNOWN and not column.is_day)
    if not is_number or column.bounds is None:
        return ""
    if column.decimals is None or (column.decimals == 0 and column.type is CellType.NUMBER):
        words = "the step of the numbers in the table, such as 0.01; sums and means round to it"
        return f"step: 1, precision: {_quoted(change(words))}, "
    numbers = 1 + abs(int(column.bounds[1]) - int(column.bounds[0]))
    decimals = next((each for each in range(column.decimals, 0, -1) if numbers * 10**each <= MOST_VALUES), 0)
    return f"step: 1, precision: {'0.' + '0' * (decimals - 1) + '1' if decimals else '1'}, "


def _stock(column: DraftColumn) -> str | None:
    """Return the stock classification that the name of a column suggests, or else a short description; None if neither
    suggests any.
    """
    described = re.sub(r"(?i)\b(icd)[- ]?(9|10)\b", r"\1\2", column.description)
    words = _words(described)
    for known in (_words(column.name), words if len(words) <= LONGEST_NAME else set[str]()):
        if found := [stock for word, stock in _STOCK.items() if word in known]:
            return found[0]
    return None


def _labels(column: DraftColumn) -> Values:
    """Return the values of a codebook with the labels that can be published in their place; none if labels collide."""
    found = tuple((value, label) for value, label in column.values if label and label != value)
    labels, values = {label for _, label in found}, {value for value, _ in column.values}
    fit = len(labels) == len(found) and not labels & values and all(label_fault(label) is None for label in labels)
    return found if fit else ()


def _role(column: DraftColumn) -> Role | None:
    """Return the privacy role that a column's name suggests, or else its description; None if neither suggests any."""
    if column.direct or (not column.values and _ENDS_IN_ID.search(column.name.lower())):
        return Role.DIRECT_IDENTIFIER
    words, listed = _words(column.description), bool(column.values)
    found = _role_of(_words(column.name), listed=listed)
    return found or (None if words & {"weight", "weights"} else _role_of(words, listed=listed))


def _role_of(words: set[str], *, listed: bool) -> Role | None:
    """Return the role that words suggest. A column whose values are `listed` identifies nobody by itself."""
    for role, known in _WORDS.items():
        if listed and role is Role.DIRECT_IDENTIFIER:
            continue
        hits = words & set(known)
        is_number = len(words) <= LONGEST_NAME and bool(_NUMBERS & words) and "of" not in words
        hits |= words & _NUMBERED if role is Role.DIRECT_IDENTIFIER and is_number else set()
        if role is Role.DIRECT_IDENTIFIER and not (is_number or hits == words - _PARTS):
            continue  # `name of country` names nobody
        if hits:
            return role
    return None


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+[0-9]*|[0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()))


def _quoted(text: str) -> str:
    """Return a text as a scalar of YAML, in quotes unless it is plain."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _RESERVED and "CHANGE" not in text
    return text if plain else _in_quotes(text)


def _in_quotes(text: str) -> str:
    """Return a text as a scalar of YAML in quotes."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in quoted)
