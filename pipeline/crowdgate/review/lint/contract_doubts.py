"""Doubts about a contract: statements that are allowed and often mistakes, found from its text, never the table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from crowdgate.contracts.models import quoted_value
from crowdgate.documents.yaml_scalars import quoted
from crowdgate.documents.yaml_text import Document, Location, read_document
from crowdgate.domain import parse_number
from crowdgate.number_text import exact_text

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Attribute, Contract
    from crowdgate.domain import Domain

SHOWN = 3
"""The greatest number of values that a warning names."""
FEW_SHORT = 10
"""One in so many codes may be shorter than the first characters that are read: codes for unknown values."""
YEARS = range(1800, 2101)
"""Numbers that are probably years."""
_NUMBER_IN_WORDS = re.compile(r"\d\S*\s+\S*[^\W\d]|[^\W\d]\S*\s+-?\d")
"""A number beside a word."""
_CODE_AND_LABEL = re.compile(r"([+-]?\d{1,6}|[^\W\d_]{1,3})\s*(?:=\s*|:\s+|[-\u2013](?:\s+|(?=[^\W\d_])))(\S.*)")
"""A text such as `1 = Male`, `M: Male`, `1 - Male` or `1-Male`; an interval such as 10-19 is none."""


MOST_NAMED = 40
"""The greatest number of columns that a warning names."""
_GUESSED = re.compile(
    r"^ *- (?:\{)?name: (?P<name>\"(?:[^\"\\]|\\.)*\"|[^\",#\n]*?)(?: *,.*\})? +# role (?P<mark>guessed|unknown)", re.M
)
"""The line of a column with the comment of a draft that its role is guessed, or unknown."""


@dataclass(frozen=True, eq=False)
class ContractText:
    """A contract and, once something in it is doubtful, its text."""

    contract: Contract

    @cached_property
    def document(self) -> Document:
        """The contract's file."""
        return read_document(self.contract.files[0])

    @cached_property
    def server(self) -> Location:
        """The place of the server that has the table."""
        servers = self.document.data["servers"]
        path = self.contract.server.settings.get("path")
        return "servers", next((i for i, each in enumerate(servers) if path and each.get("path") == path), 0)

    def property_of(self, at: Location, name: str) -> Location | None:
        """Return the place of the value of a custom property at a place of the contract; None if none has the name."""
        stated = self.value(at).get("customProperties") or []
        ours = (None, "crowdgate")
        own = [i for i, each in enumerate(stated) if each.get("property") == name and each.get("vendor") in ours]
        return (*at, "customProperties", own[0], "value") if own else None

    def stated(self, column: str, name: str) -> Location | None:
        """Return the place of a property that a column, or its definition, states; None if it has none."""
        table: Location = ("schema", 0)
        columns = [each["name"] for each in self.value((*table, "properties"))]
        at: Location = (*table, "properties", columns.index(column))
        own, like = self.property_of(at, name), self.property_of(at, "like")
        shared = self.property_of(table, "definitions")
        if own is not None or like is None or shared is None:
            return own
        return (*shared, self.value(like), name)

    def domain(self, column: str) -> Location | None:
        """Return the place of the domain that a column, or its definition, states; None if it has none."""
        return self.stated(column, "domain")

    def value(self, at: Location) -> Any:
        """Return the value at a place; an empty mapping if there is none."""
        found: Any = self.document.data
        for part in at:
            inside = isinstance(found, list) or (isinstance(found, Mapping) and part in found)
            found = found[part] if inside else {}
        return found


Doubt = tuple[Location, str]
"""The place in a contract, and the sentence of a warning."""


def unstated_forms(text: ContractText) -> Iterator[Doubt]:
    """Yield a warning for a file with semicolons that has decimal numbers or days, and a contract that leaves open how
    the file states them.
    """
    if text.contract.server.settings.get("delimiter") != ";":
        return
    domains = [each.domain for each in text.contract.columns.values() if each.domain is not None]
    forms = {
        "decimalMark": (any(_has_decimals(each) for each in domains), "decimal numbers", 'a point; a comma is ","'),
        "dayForm": (any(each.first_day is not None for each in domains), "days", "YYYY-MM-DD"),
    }
    for name, (is_needed, what, default) in forms.items():
        if is_needed and text.property_of(text.server, name) is None:
            words = f"a file with semicolons and {what}, and no {name}. State it, even if it is the default: {default}"
            yield text.server, words


def _has_decimals(domain: Domain) -> bool:
    return domain.grid is not None and not domain.grid.whole


def doubtful_domains(text: ContractText) -> Iterator[Doubt]:
    """Yield a warning for each part of a domain that is probably mistyped."""
    for column in text.contract.columns.values():
        if column.domain is not None:
            for find in (
                _missing_within, _missing_in_words, _without_labels, _codes_with_labels, _digit_too_many, _longer_cells,
            ):  # fmt: skip
                yield from find(text, column, column.domain)


def _missing_within(text: ContractText, column: Attribute, domain: Domain) -> Iterator[Doubt]:
    found = [each for each in domain.missing if _is_within(domain, each)][:SHOWN]
    if found and (at := text.domain(column.name)) is not None:
        words = f"{column.name} has {', '.join(map(quoted_value, found))} in `missing`, and within its range:"
        yield (*at, "missing"), f"{words} a cell with it counts as missing. Correct `missing`, or the range"


def _missing_in_words(text: ContractText, column: Attribute, domain: Domain) -> Iterator[Doubt]:
    """Yield a doubt about missing codes of numbers that have words beside a number: `98 or 99`."""
    found = [each for each in domain.missing if domain.grid is not None and _NUMBER_IN_WORDS.search(each)][:SHOWN]
    if found and (at := text.domain(column.name)) is not None:
        words = f"{column.name} has {', '.join(map(quoted_value, found))} in `missing`: only cells with this whole text"
        yield (*at, "missing"), f"{words} count as missing. State each code by itself"


def _longer_cells(text: ContractText, column: Attribute, domain: Domain) -> Iterator[Doubt]:
    """Yield a doubt about first characters of codes that are in part shorter, as in ICD-9 with its E codes."""
    codes, first = domain.written or domain.labels, column.form.first
    short = [each for each in codes if first is not None and len(each) < first]
    if len(short) * FEW_SHORT > len(codes) and (at := text.stated(column.name, "firstCharacters")) is not None:
        words = f"{column.name} is read by its first {first} characters, and codes of its domain have fewer, such as"
        yield at, f"{words} {quoted_value(short[0])}: longer cells are none of them. State codes of one length"


def _is_within(domain: Domain, missing: str) -> bool:
    number = None if domain.grid is None else parse_number(missing)
    return domain.grid is not None and number is not None and domain.grid.first <= number <= domain.grid.last


def _without_labels(text: ContractText, column: Attribute, domain: Domain) -> Iterator[Doubt]:
    if domain.written is None or (at := text.domain(column.name)) is None:
        return
    labels = text.value((*at, "labels"))
    without = [value for value in domain.written if value not in labels]
    if 0 < len(without) < len(labels):
        named = ", ".join(map(quoted_value, without[:SHOWN])) + (", ..." if len(without) > SHOWN else "")
        words = (
            f"{column.name} has no label for {named}, and has labels for its other values. Add the label; to publish"
        )
        yield (*at, "labels"), f"{words} a value as it is, state the value itself as its label"


def _codes_with_labels(text: ContractText, column: Attribute, domain: Domain) -> Iterator[Doubt]:
    if domain.grid is not None or domain.first_day is not None or domain.written is not None:
        return
    parts = [found.groups() for each in domain.labels if (found := _CODE_AND_LABEL.fullmatch(each))]
    is_both = len(parts) == len(domain.labels) == len({code for code, _ in parts})
    if not is_both or all(label[0].isdigit() for _, label in parts) or (at := text.domain(column.name)) is None:
        return
    codes, labels = (", ".join(each) for each in zip(*(_code_and_label(*part) for part in parts[:2]), strict=True))
    words = f"each value of {column.name} looks like a code with its label, such as {quoted_value(domain.labels[0])}"
    more = ", ..." if len(parts) > 2 else ""
    yield (
        (*at, "values"),
        (
            f"{words}: only cells with this whole text fit. If cells have the codes, write values: [{codes}{more}],"
            f" labels: {{{labels}{more}}}"
        ),
    )


def _code_and_label(code: str, label: str) -> tuple[str, str]:
    return f'"{code}"', f'"{code}": {label[:30]}'


def _digit_too_many(text: ContractText, column: Attribute, domain: Domain) -> Iterator[Doubt]:
    grid = domain.grid
    if grid is None or not grid.whole or grid.first not in YEARS or len(exact_text(grid.last)) != 5:
        return
    years = [int(exact_text(grid.last)[:i] + exact_text(grid.last)[i + 1 :]) for i in range(5)]
    is_year = any(each in YEARS and each >= grid.first for each in years)
    if is_year and grid.last % 100 and (at := text.domain(column.name)) is not None:
        first, last = exact_text(grid.first), exact_text(grid.last)
        yield (*at, "to"), f"{column.name} begins with {first}, like a year, and ends with {last}: is a digit too many?"


def unstated_rows(text: ContractText) -> Iterator[Doubt]:
    """Yield a warning for persons who may have several rows, if the contract leaves open how many are retained."""
    if text.contract.unit.person is None or text.contract.row_attributes or text.contract.unit.rows != 1:
        return
    at = text.property_of(("schema", 0), "privacyUnit")
    if at is not None and "rows" not in text.value(at):
        words = (
            "privacyUnit states no rows, so 1 row of each person is retained and all others are left out. State rows:"
        )
        yield at, f"{words} the most rows of a person that you need, or 1"


def guessed_roles(text: ContractText) -> Iterator[Doubt]:
    """Yield one warning for all columns whose comments, as drafts write them, say that roles are guessed or unknown."""
    marks = {found["name"]: found["mark"] for found in text.document.text.find(_GUESSED)}
    columns = [each["name"] for each in text.value(("schema", 0, "properties"))]
    named = {mark: [each for each in columns if marks.get(quoted(each)) == mark] for mark in ("guessed", "unknown")}
    listed = "; ".join(f"{mark}: {_shortened(each)}" for mark, each in named.items() if each)
    if listed:
        words = f"privacyRole as a draft wrote it, {listed}. Unknown ones are quasi-identifier"
        then = "Correct those that do not fit, then replace `role guessed` and `role unknown` by `role checked`"
        yield ("schema", 0, "properties"), f"{words}. {then}"


def _shortened(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


DOUBTS: dict[str, Callable[[ContractText], Iterator[Doubt]]] = {
    "CG232": unstated_forms,
    "CG233": doubtful_domains,
    "CG234": unstated_rows,
    "CG235": guessed_roles,
}
"""The rules of these warnings by their codes."""
