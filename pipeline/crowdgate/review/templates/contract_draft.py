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
from math import ceil, floor
from pathlib import Path

from crowdgate.contracts.contract import Role
from crowdgate.contracts.domains import label_fault
from crowdgate.contracts.undecided import change
from crowdgate.domain import parse_number
from crowdgate.errors import Code, ConfigurationError, Problem, nearest
from crowdgate.limits import MOST_VALUES
from crowdgate.review.templates.column_words import (
    ADMISSIONS,
    AGE,
    COUNTS,
    DAYS,
    ENDS_IN_ID,
    ICD_10,
    LONGEST_NAME,
    NO_COUNTS,
    NO_FIRST_WORDS,
    NO_SENSITIVE,
    NO_YEARS,
    PARTS_OF_CODES,
    PERSONS,
    STOCK,
    STOCK_CHARACTERS,
    THINGS,
    column_words,
    plain_text,
    role_of,
    with_edition,
)
from crowdgate.review.templates.role_words import is_identifying, is_sensitive
from crowdgate.sources.table_header import CellType

NO_TABLE = "the table's file, relative to the contract, in the format beside it"
"""Words about the path of a table that its description does not name."""
Values = tuple[tuple[str, str], ...]
"""The values of a column in a codebook, each with its label (an empty text: none)."""

_LEVELS_OF_AGE = "[{name: 5 years, width: 5}, {name: 10 years, width: 10}, {name: 20 years, width: 20}]"
_LOGICAL = {
    CellType.WHOLE: "integer", CellType.NUMBER: "number", CellType.FLAG: "boolean", CellType.DAY: "date",
    CellType.MOMENT: "date", CellType.TIME: "time",
}  # fmt: skip
_LEVELS_OF_DAYS = "[{name: month, part: month}, {name: quarter, part: quarter}, {name: year, part: year}]"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_ .-]*[A-Za-z0-9_]|[A-Za-z]")
_ANSWER = re.compile(
    r"y(es)?|no?|true|false|[01]|oui|non|ja|nein|nee|nej|nei|s[ií]|sì|sim|não|tak|nie|ano|ne", re.IGNORECASE
)
"""An answer to a question of yes or no."""
_RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


UNGUESSED = Role.QUASI_IDENTIFIER
"""The role of a column whose name suggests none: the one that grants attackers most."""
MOST_QUOTED = 300
"""The greatest length of what a draft quotes of a codebook that is not read."""
GREATEST_AGE = 150
"""The greatest number that can end a range of ages in years."""
WIDTH = 120
"""The greatest width of the line of a column; longer ones have a line for each fact."""


@dataclass(frozen=True)
class DraftColumn:
    """A column as it is known without its cells. `values` are all of them by a codebook, `bounds` the least and the
    greatest number or day that it calls valid, `missing` the codes that it calls missing. The bounds are not
    `is_designed` if they may be the extremes of the table. `unread` is what a codebook says of values that is no full
    list of them, `decimals` the number of decimals of its numbers, `physical` its name in a database; a column `is_key`
    if it identifies rows. `day_form` is the form of its days by a codebook; it `has_comma` if its range is
    written with decimal commas there, and is `without_decimals` where only other ranges are written with decimals. The
    codebook states its `role`, and that the `top` of its range stands for all greater numbers. `remark` is what stands
    in the place of its values, and is not understood; `range_form` the form of days in which its range is written. The
    `bottom` of its range stands for all smaller numbers; `unread_role` is what it says of a role and is not understood.
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
    day_form: str = ""
    has_comma: bool = False
    without_decimals: bool = False
    role: Role | None = None
    top: bool = False
    remark: str = ""
    range_form: str = ""
    bottom: bool = False
    unread_role: str = ""

    @property
    def is_age(self) -> bool:
        """True if the name, or the description, says that these are ages in years, and no list of values contradicts
        it: a codebook may name a few ages only, such as 95 or more.
        """
        is_number = self.type in (CellType.WHOLE, CellType.NUMBER, CellType.UNKNOWN)
        name, words = column_words(self.name), column_words(self.description)
        named = name & AGE or (words & AGE and len(words) <= LONGEST_NAME)
        in_years = not (name | words) & NO_YEARS
        oldest = parse_number(self.bounds[1]) if self.bounds is not None else 0
        can_be = oldest is not None and oldest <= GREATEST_AGE
        return bool(named) and in_years and is_number and can_be and (not self.values or self.bounds is not None)

    @property
    def is_day(self) -> bool:
        """True if the type, or where no type is known the name or the first word of the description, says that these
        are days.
        """
        first = column_words(self.description.partition(" ")[0]) if self.bounds is None and not self.unread else set()
        named = column_words(self.name) & DAYS or first & DAYS - NO_FIRST_WORDS
        ranged = self.bounds is not None and parse_number(self.bounds[0]) is None
        return self.type in (CellType.DAY, CellType.MOMENT) or (
            self.type is CellType.UNKNOWN and not self.values and (ranged or (bool(named) and self.bounds is None))
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
    """Return the text of a draft with the id `name`. Columns get a domain if their name says that they describe people,
    or if a codebook lists their values. With `domains`, these get one, and of the others those that need no decision.

    Raises ConfigurationError for a column of `domains` that is not there.
    """
    names = [column.name for column in source.columns]
    for unknown in (each for each in domains or () if each not in names):
        found, expected = f"no column {unknown!r}", "columns of the draft"
        raise ConfigurationError(Problem("command line", None, "--domains", found, expected, nearest(unknown, names)))
    guessed = {column.name: _role(column) for column in source.columns}
    names = _described(source, domains)
    chosen = [c for c in source.columns if c.name in names]
    described = {c.name for c in chosen if guessed[c.name] is not Role.DIRECT_IDENTIFIER}
    shared = _shared(source, [column for column in source.columns if column.name in described])
    listed = any(column.values or column.bounds for column in chosen)
    doubted = [each.name for each in chosen if each.name in described and _has_doubtful_range(each)]
    ids = [column for column in source.columns if guessed[column.name] is Role.DIRECT_IDENTIFIER]
    head = list(_head(source, name, _unit_hint(ids), doubted, listed=listed))
    if any(each.name not in described and guessed[each.name] is not Role.DIRECT_IDENTIFIER for each in source.columns):
        open_ones = any(_is_open(source, each) for each in source.columns if each.name in described)
        again = ", and names those with CHANGE too, which else lose theirs" if open_ones else ""
        drafted = f"--domains A,B drafts one for A and B{again}"
        head.insert(
            2, f"# Columns without a domain are not published. {drafted}. By hand, add a domain and invalid: level."
        )
    return "\n".join([*head, *_definitions(source, shared), "    properties:", *(
        line for column in source.columns
        for line in _column(source, column, guessed[column.name], shared.get(column.name), column.name in described)
    )]) + "\n"  # fmt: skip


def without_domain(source: DraftSource, domains: Sequence[str] | None = None) -> list[str]:
    """Return the names of the columns that a draft leaves without a domain, so that they are not published."""
    described = {*_described(source, domains)}
    return [c.name for c in source.columns if c.name not in described and _role(c) is not Role.DIRECT_IDENTIFIER]


def _described(source: DraftSource, domains: Sequence[str] | None) -> list[str]:
    """Return the names of the columns that get a domain, or would if they identified nobody."""
    known = _known(source)
    if domains is not None:  # of the others, those that leave nothing to decide
        known = {c.name for c in source.columns if c.name in known and not _is_open(source, c)}
    return [c.name for c in source.columns if c.name in known | {*(domains or ())}]


def _known(source: DraftSource) -> set[str]:
    """Return the names of the columns that get a domain unless a person says which: those with a role by their name or
    description, and those whose values something states.
    """
    named = [column for column in source.columns if label_fault(column.name) is None]
    return {c.name for c in named if _has_known_name(c) or _has_statement(c) or _may_be_extremes(source, c)}


def _has_known_name(column: DraftColumn) -> bool:
    """Return whether a column's words suggest a role in which it can be published; a codebook's role suggests none."""
    guess = _guess(column)
    return guess is not None and (column.role is None or guess is not Role.DIRECT_IDENTIFIER)


def _has_statement(column: DraftColumn) -> bool:
    """Return whether a codebook, or its type, says which values a column has, be it in part."""
    return bool(
        column.type is CellType.FLAG or column.values or column.unread or (column.bounds and column.is_designed)
    )


def _has_doubtful_range(column: DraftColumn) -> bool:
    """Return whether a column gets a range that can be that of its cells, as a statistical package wrote it."""
    return column.bounds is not None and not column.is_designed and not column.values and not column.is_age


def _may_be_extremes(source: DraftSource, column: DraftColumn) -> bool:
    """Return whether a column has such a range, and nothing else to decide."""
    return _has_doubtful_range(column) and not _is_open(source, column)


def _unit_hint(ids: Sequence[DraftColumn]) -> str:
    """Return the words on which column identifies persons: one whose name says so, or else that some are of other
    things. A key of rows identifies persons only where each has one row.
    """
    words = {each.name: column_words(each.name) | column_words(each.description) for each in ids}
    persons = [each.name for each in ids if column_words(each.name) & PERSONS]
    persons += [each.name for each in ids if words[each.name] & PERSONS and not column_words(each.name) & THINGS]
    things = [each.name for each in ids if each.is_key or _is_thing(each, words[each.name])]
    others = [each.name for each in ids if each.name not in things]
    if persons or others:
        return f", COLUMN being a direct-identifier such as {[*persons, *others][0]}"
    return f", COLUMN naming one person; {things[0]} names a row, a case or a household" if things else ""


def _is_thing(column: DraftColumn, words: set[str]) -> bool:
    return bool(words & THINGS) or column.name.lower().startswith(("hh", "house"))


def _head(source: DraftSource, name: str, unit: str, doubted: Sequence[str], *, listed: bool) -> Iterator[str]:
    """Yield the lines of a draft down to the facts about its table; `unit` are words on the column of the person.

    With `listed` values or ranges of columns, a person must say that these are not those of the table, and above all of
    the `doubted` columns, whose ranges can be the extremes of its cells.
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
        if doubted:
            fixed += "; a range marked `extremes?` may be that of the cells: replace it, unless it is public"
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


def _shared(source: DraftSource, columns: Sequence[DraftColumn]) -> dict[str, str]:
    """Return the name of the definition that a column shares with others: flags, values that recur in a codebook, and
    names that differ in their number only.
    """
    keys = {each.name: (each.type, each.values, _stem(each), _role(each), _stated(source, each)) for each in columns}
    count, found, taken = Counter(keys.values()), dict[object, str](), set[str]()
    for key in (key for key, times in count.items() if times > 1):
        values, stem = key[1], key[2]
        base = (
            "truth" if key[0] is CellType.FLAG else "yesno" if _are_answers(values) else stem.strip("_ -.") or "shared"
        )
        name = next(each for i in range(len(columns) + 1) if (each := f"{base}{i or ''}") not in taken)
        taken.add(name)
        found[key] = name
    return {name: found[key] for name, key in keys.items() if key in found}


def _are_answers(values: Values) -> bool:
    """Return whether values are the two answers to a question, by their labels or codes."""
    return len(values) == 2 and all(_ANSWER.fullmatch(label or code) for code, label in values)


def _stated(source: DraftSource, column: DraftColumn) -> tuple[object, ...]:
    """Return what a definition would state of a column; and, if its values are left to decide, its description without
    numbers, as variables whose names differ in their number only may be of different things.
    """
    words = re.sub(r"[0-9]+", "", column.description) if _is_open(source, column) else ""
    return *_values(source, column), words


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
        values = ", ".join(f"{key}: {value}" for key, value in _values(source, one))
        facts = f"privacyRole: {_role(one) or UNGUESSED}, {values}, invalid: level"
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
        has_days = column.is_day and not column.values and not column.unread
        values = [f"{key}, value: {value}" for key, value in _values(source, column)]
        facts += [f"like, value: {_quoted(like)}"] if like else values
        is_listed = bool(column.unread) and column.bounds is None
        levels = _LEVELS_OF_AGE if column.is_age and not is_listed else _LEVELS_OF_DAYS if has_days else ""
        facts += [f"levels, value: {levels}"] if levels and not like else []
        facts += [] if like else ["invalid, value: level"]  # an empty cell then costs no row
    if column.description:
        typed.append(f"description: {_in_quotes(column.description[:200])}")
    held = [f"{{property: {fact}}}" for fact in facts]
    doubt = f"  # {_origin(column, role)}"
    doubt += "" if described or role is Role.DIRECT_IDENTIFIER else "; not published, as it has no domain"
    doubt += _also_known(column, described=described)
    doubt += _not_understood(column.remark) if role is not Role.DIRECT_IDENTIFIER else ""
    doubt += _not_understood(column.unread_role, "role not understood")
    start = ", ".join([f"name: {_quoted(column.name)}", *typed])
    line = f"      - {{{start}, customProperties: [{', '.join(held)}]}}"
    if len(line) <= WIDTH:
        yield line + doubt
        return
    yield f"      - name: {_quoted(column.name)}{doubt}"
    yield from (f"        {each}" for each in typed)
    yield "        customProperties:"
    yield from (f"          - {each}" for each in held)


def _not_understood(text: str, what: str = "not understood") -> str:
    """Return what a comment quotes of the codebook that is not understood."""
    quoted = "".join(each for each in " ".join(text.split())[:MOST_QUOTED] if each.isprintable())
    return f"; {what}: {_in_quotes(quoted)}" if quoted else ""


def _origin(column: DraftColumn, role: Role | None) -> str:
    """Return where the role of a column comes from, with the guess from its words, if that is another."""
    if role is None:
        return "role unknown"
    guess = _guess(column)
    if column.role is None or column.direct:
        return "role guessed"
    return "role from the codebook" + (f", not {guess} as its words suggest" if guess not in (None, role) else "")


def _also_known(column: DraftColumn, *, described: bool) -> str:
    """Return what a comment says of a column beside its role: missing codes that no domain states, and numbers that are
    coarser than their codebook.
    """
    if not described:
        return f"; missing: {', '.join(map(_in_quotes, column.missing))}" if column.missing else ""
    if _has_doubtful_range(column):
        return "; extremes?" + ("; whole numbers guessed" if _seems_whole(column) else "")
    if not column.values and _seems_whole(column):
        return "; whole numbers guessed"
    is_coarse = not column.values and column.bounds and column.decimals and ", precision: 1," in _precision(column)
    return "; sums and means round to 1: for precision: 0.1 the range is too wide" if is_coarse else ""


def _values(source: DraftSource, column: DraftColumn) -> list[tuple[str, str]]:
    """Return the properties that state the values of a column: a classification that its name or label names with its
    edition, or else a domain.
    """
    words = column_words(f"{column.name} {with_edition(column.description)}")
    is_text = column.type in (CellType.TEXT, CellType.UNKNOWN)
    has_codes = not (column.values or column.bounds or column.unread or words & PARTS_OF_CODES)
    if words & ICD_10 and is_text and has_codes:
        return [("classification", "icd-10"), ("firstCharacters", "3")]
    return [("domain", _domain(source, column))]


def _is_open(source: DraftSource, column: DraftColumn) -> bool:
    """Return whether a person must decide on the values of a column."""
    return any('"CHANGE (' in value for _, value in _values(source, column))


def _domain(source: DraftSource, column: DraftColumn) -> str:
    """Return the domain of a column, with what is left to decide."""
    if column.type is CellType.FLAG:
        return '{values: ["true", "false"], source: type of the column}'
    missing = f"missing: [{', '.join(map(_in_quotes, column.missing))}], " if column.missing else ""
    is_stock = column.bounds is None and not column.unread
    if column.is_age and (is_stock or (column.bounds and not column.is_designed)):
        return f"{{from: 0, to: 90, top: true, {missing}source: ages in years}}"
    if column.values:
        values = ", ".join(_in_quotes(value) for value, _ in column.values)
        named = ", ".join(f"{_in_quotes(value)}: {_quoted(label)}" for value, label in published_labels(column))
        labels = f"labels: {{{named}}}, " if named else ""
        return f"{{values: [{values}], {labels}{missing}source: {_quoted(source.values_from)}}}"
    if column.bounds is not None:
        fixed = _quoted(source.values_from)
        exact = _precision(column)
        bounds = column.bounds if exact.startswith("step: 0.") else _rounded(column.bounds)
        low, high, exact = _fitting(bounds, exact)
        top = "top: true, " if column.top and (low, high) == bounds else ""
        top = f"bottom: true, {top}" if column.bottom else top
        ends = f"from: {_quoted(low)}, to: {_quoted(high)}, {exact}{top}"
        return f"{{{ends}{missing}source: {fixed}}}"
    public = _quoted(change("where all values are public, other than the table"))
    if column.unread:
        known = " ".join(column.unread.split())[:MOST_QUOTED].replace("(", "[").replace(")", "]")
        each = _quoted(change(f"each value that can be, or from and to; by {source.values_from}: {known}"))
        return f"{{values: [{each}], {missing}source: {public}}}"
    if column.is_day or column.type in (CellType.WHOLE, CellType.NUMBER):
        what, more = ("day", "") if column.is_day else ("number", "; for sums of money, add step: 100, precision: 1")
        low, high = (
            _quoted(change(f"the {each} {what} that can be{also}"))
            for each, also in (("least", ""), ("greatest", more))
        )
        return f"{{from: {low}, to: {high}, {missing}source: {public}}}"
    stock = _stock(column)
    most = STOCK_CHARACTERS.get(stock or "")
    codes = (
        "its codes" if most is None else f"its codes of {most} characters, and firstCharacters: {most} for longer ones"
    )
    others = "from and to for numbers and days" if stock is None else f"classification, value: {stock}, for {codes}"
    each = _quoted(change(f"each value that can be, or {others}"))
    return f"{{values: [{each}], {missing}source: {public}}}"


def _precision(column: DraftColumn) -> str:
    """Return the precision of a range of numbers that may have decimals, as these are written; left to decide where
    they are not.
    """
    is_number = column.type is CellType.NUMBER or (column.type is CellType.UNKNOWN and not column.is_day)
    if not is_number or column.bounds is None or column.is_age:
        return ""
    if _seems_whole(column):
        return "step: 1, precision: 1, "
    if column.decimals is None or (column.decimals == 0 and column.type is CellType.NUMBER):
        words = "the step of the numbers in the table, such as 0.01; sums and means round to it"
        return f"step: 1, precision: {_quoted(change(words))}, "
    low, high = map(int, _rounded(column.bounds))
    numbers = 1 + high - low
    decimals = next((each for each in range(column.decimals, 0, -1) if numbers * 10**each <= MOST_VALUES), 0)
    step = max(len(each.partition(".")[2]) for each in column.bounds)
    return f"step: {_unit(step)}, precision: {_unit(decimals)}, "


def _unit(decimals: int) -> str:
    """Return the unit of numbers with so many decimals: 0.01 of 2."""
    return f"0.{'0' * (decimals - 1)}1" if decimals else "1"


def _rounded(bounds: tuple[str, str]) -> tuple[str, str]:
    """Return a range of numbers, rounded outwards to whole ones; one of days unchanged."""
    low, high = map(parse_number, bounds)
    return bounds if low is None or high is None else (str(floor(low)), str(ceil(high)))


def _seems_whole(column: DraftColumn) -> bool:
    """Return whether numbers of a range without decimals are counts, or years, by their name or description; or others
    in a codebook that writes decimals elsewhere.
    """
    words = column_words(column.name) | column_words(column.description)
    is_number = column.type is CellType.NUMBER and column.bounds is not None and not column.is_age
    is_count = bool(words & COUNTS) or column.without_decimals
    return is_number and not column.decimals and is_count and not words & NO_COUNTS


def _fitting(bounds: tuple[str, str], exact: str) -> tuple[str, str, str]:
    """Return the ends of a range and the words on its precision, with steps so wide that a domain can have them all."""
    if parse_number(bounds[0]) is None:
        return *bounds, exact
    if any("." in each for each in bounds):
        return *bounds, exact
    low, high = map(int, bounds)
    step = next(10**each for each in range(40) if (high - low) // 10**each + 2 <= MOST_VALUES)
    if step == 1:
        return *bounds, exact
    return bounds[0], str(low + step * -(-(high - low) // step)), f"step: {step}, precision: {step}, "


def _stock(column: DraftColumn) -> str | None:
    """Return the stock classification that the name of a column suggests, or else a short description; None if neither
    suggests any.
    """
    words = column_words(with_edition(column.description))
    for known in (column_words(column.name), words if len(words) <= LONGEST_NAME else set[str]()):
        if found := [stock for word, stock in STOCK.items() if word in known]:
            return found[0]
    return None


def published_labels(column: DraftColumn) -> Values:
    """Return the values of a codebook with the labels that can be published in their place; none if labels collide."""
    found = tuple((value, label) for value, label in column.values if label and label != value)
    labels, values = {label for _, label in found}, {value for value, _ in column.values}
    fit = len(labels) == len(found) and not labels & values and all(label_fault(label) is None for label in labels)
    return found if fit else ()


def _role(column: DraftColumn) -> Role | None:
    """Return the privacy role of a column by its codebook, or else by its words; None if neither says any."""
    return Role.DIRECT_IDENTIFIER if column.direct else column.role or _guess(column)


def _guess(column: DraftColumn) -> Role | None:
    """Return the privacy role that a column's name suggests, or else its description; None if neither suggests any."""
    if column.direct or (not column.values and ENDS_IN_ID.search(column.name.lower())):
        return Role.DIRECT_IDENTIFIER
    if column.is_age:
        return Role.QUASI_IDENTIFIER
    words, listed = column_words(column.description), bool(column.values)
    words -= ADMISSIONS if column.is_day else set()
    found = role_of(column_words(column.name), listed=listed)
    text = plain_text(column.description[:MOST_QUOTED]).lower()
    if (
        found is Role.QUASI_IDENTIFIER
        and is_sensitive(text)
        and len(words) <= LONGEST_NAME
        and not words & NO_SENSITIVE
    ):
        return Role.SENSITIVE  # `orientation_sex`
    if found or words & {"weight", "weights"}:
        return found
    greatest = parse_number(column.bounds[1]) if column.bounds else None
    names_somebody = not listed and not column.is_day and is_identifying(text, greatest)
    found = Role.DIRECT_IDENTIFIER if names_somebody else role_of(words, listed=listed)
    may_be_sensitive = found in (None, Role.QUASI_IDENTIFIER) and not column.is_day
    is_hidden = may_be_sensitive and is_sensitive(f"{plain_text(column.name).lower()} {text}")
    return Role.SENSITIVE if is_hidden else found


def _quoted(text: str) -> str:
    """Return a text as a scalar of YAML, in quotes unless it is plain."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _RESERVED and "CHANGE" not in text
    return text if plain else _in_quotes(text)


def _in_quotes(text: str) -> str:
    """Return a text as a scalar of YAML in quotes."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in quoted)
