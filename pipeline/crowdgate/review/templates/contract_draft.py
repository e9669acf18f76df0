"""A draft of a contract from public facts about a table: a header, a codebook or a contract of another tool.

No cell is read. What only a person can know is left as `CHANGE (what to write)`; roles are guessed by the words in a
column's name or description, and marked.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from crowdgate.contracts.contract import Role
from crowdgate.contracts.domains import label_fault
from crowdgate.contracts.undecided import change
from crowdgate.documents.yaml_scalars import in_quotes, quoted
from crowdgate.errors import ConfigurationError, Problem, nearest
from crowdgate.review.templates.column_words import PERSONS, RECORDS, SHARED, THINGS, column_words
from crowdgate.review.templates.draft_column import MOST_QUOTED, UNGUESSED, DraftColumn, DraftSource, Values
from crowdgate.review.templates.draft_domain import (
    CUT_ICD_9,
    is_all_open,
    is_coarse,
    is_open,
    seems_whole,
    stated_properties,
)
from crowdgate.review.templates.draft_role import guessed_role, holds_free_text, role_in_draft
from crowdgate.review.templates.figure_columns import without_marked_counts
from crowdgate.sources.table_header import CellType

_LEVELS_OF_AGE = "[{name: 5 years, width: 5}, {name: 10 years, width: 10}, {name: 20 years, width: 20}]"
_LOGICAL = {
    CellType.WHOLE: "integer", CellType.NUMBER: "number", CellType.FLAG: "boolean", CellType.DAY: "date",
    CellType.MOMENT: "date", CellType.TIME: "time",
}  # fmt: skip
_LEVELS_OF_DAYS = "[{name: month, part: month}, {name: quarter, part: quarter}, {name: year, part: year}]"
_ANSWER = re.compile(
    r"y(es)?|no?|true|false|[01]|oui|non|ja|nein|nee|nej|nei|s[ií]|sì|sim|não|tak|nie|ano|ne", re.IGNORECASE
)
"""An answer to a question of yes or no."""
WIDTH = 120
"""The greatest width of the line of a column; longer ones have a line for each fact."""


def draft_contract(source: DraftSource, name: str, domains: Sequence[str] | None = None) -> str:
    """Return the text of a draft with the id `name`. Columns get a domain if their name says that they describe people,
    or if a codebook lists their values. With `domains`, these get one, and of the others those of whose domain
    something is known.

    Raises ConfigurationError for a column of `domains` that is not there.
    """
    names = [column.name for column in source.columns]
    for unknown in (each for each in domains or () if each not in names):
        found, expected = f"no column {unknown!r}", "columns of the draft"
        raise ConfigurationError(Problem("command line", None, "--domains", found, expected, nearest(unknown, names)))
    guessed = {column.name: role_in_draft(column) for column in source.columns}
    names = _described(source, domains)
    chosen = [c for c in source.columns if c.name in names]
    described = {c.name for c in chosen if guessed[c.name] is not Role.DIRECT_IDENTIFIER}
    shared = _shared(source, [column for column in source.columns if column.name in described])
    listed = any(column.values or column.bounds for column in chosen)
    doubted = [each.name for each in chosen if each.name in described and _has_doubtful_range(each)]
    ids = [column for column in source.columns if guessed[column.name] is Role.DIRECT_IDENTIFIER]
    head = list(_head(source, name, _unit_hint(ids), doubted, listed=listed))
    if any(each.name not in described and guessed[each.name] is not Role.DIRECT_IDENTIFIER for each in source.columns):
        open_ones = any(is_all_open(source, each) for each in source.columns if each.name in described)
        again = "; name there, too, each column whose whole domain is CHANGE, or it gets none" if open_ones else ""
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
    return [
        c.name for c in source.columns if c.name not in described and role_in_draft(c) is not Role.DIRECT_IDENTIFIER
    ]


def _described(source: DraftSource, domains: Sequence[str] | None) -> list[str]:
    """Return the names of the columns that get a domain, or would if they identified nobody."""
    known = _known(source)
    if domains is not None:  # of the others, those of whose domain something is known
        known = {c.name for c in source.columns if c.name in known and not is_all_open(source, c)}
    return [c.name for c in source.columns if c.name in known | {*(domains or ())}]


def _known(source: DraftSource) -> set[str]:
    """Return the names of the columns that get a domain unless a person says which: those with a role by their name or
    description, and those whose values something states.
    """
    named = [
        column
        for column in source.columns
        if label_fault(column.name) is None and not (column.is_weight or column.withheld)
    ]
    return {c.name for c in named if _has_known_name(c) or _has_statement(c) or _may_be_extremes(source, c)}


def _has_known_name(column: DraftColumn) -> bool:
    """Return whether a column's words suggest a role in which it can be published; a codebook's role suggests none."""
    guess = guessed_role(column)
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
    return _has_doubtful_range(column) and not is_open(source, column)


def _unit_hint(ids: Sequence[DraftColumn]) -> str:
    """Return the words on which column identifies persons: one whose name says so, or else that some are of other
    things. A key of rows identifies persons only where each has one row.
    """
    words = {each.name: column_words(each.name) | column_words(each.description) for each in ids}
    ids = [each for each in ids if not words[each.name] & SHARED and not each.is_day and not holds_free_text(each)]
    persons = [each.name for each in ids if column_words(each.name) & PERSONS]
    persons += [each.name for each in ids if words[each.name] & PERSONS and not column_words(each.name) & THINGS]
    persons += [each.name for each in ids if words[each.name] & RECORDS and words[each.name] & {*PERSONS, "study"}]
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
    yield from ("apiVersion: v3.1.0", "kind: DataContract", f"id: {quoted(name)}", "version: 1.0.0", "status: draft")
    yield f"servers: [{{{_server(source)}}}]"
    yield from ("schema:", f"  - name: {quoted(source.table or name)}")
    if source.server and source.physical:
        yield f"    physicalName: {quoted(source.physical)}"
    if listed:
        fixed = f"who fixed the values and ranges in {source.values_from} before the data were seen"
        if doubted:
            fixed += "; a range marked `extremes?` may be that of the cells: replace it, unless it is public"
        yield f"    description: {quoted(change(fixed))}"
    yield "    customProperties:"
    person = change(f"row if nobody has two rows, else {{person: COLUMN, rows: 1}}{unit}")
    yield f"      - {{property: privacyUnit, value: {quoted(person)}}}"
    population = change("a name for these people, whose lifetime budget pays")
    yield f"      - {{property: population, value: {quoted(population)}}}"


def _server(source: DraftSource) -> str:
    """Return the facts about the server of a draft: the file beside the contract, or a database as it was stated."""
    if source.server:
        return ", ".join(f"{key}: {quoted(value)}" for key, value in source.server.items())
    settings = ", ".join(f"{{property: {key}, value: {json.dumps(value)}}}" for key, value in source.settings.items())
    custom = f", customProperties: [{settings}]" if settings else ""
    return f"server: local, type: local, path: {quoted(source.path)}, format: {source.format}{custom}"


def _shared(source: DraftSource, columns: Sequence[DraftColumn]) -> dict[str, str]:
    """Return the name of the definition that a column shares with others: flags, values that recur in a codebook, and
    names that differ in their number only.
    """
    keys = {
        each.name: (each.type, each.values, _stem(each), role_in_draft(each), _stated(source, each)) for each in columns
    }
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
    words = re.sub(r"[0-9]+", "", column.description) if is_open(source, column) else ""
    return *stated_properties(source, column), words


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
        values = ", ".join(f"{key}: {value}" for key, value in stated_properties(source, one))
        facts = f"privacyRole: {role_in_draft(one) or UNGUESSED}, {values}, invalid: level"
        yield f"          {quoted(name)}: {{{facts}}}"


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
        typed.append(f"physicalName: {quoted(column.physical)}")
    properties = stated_properties(source, column)
    facts = [] if like and described else [f"privacyRole, value: {role or UNGUESSED}"]
    if described:
        values = [f"{key}, value: {value}" for key, value in properties]
        facts += [f"like, value: {quoted(like)}"] if like else values
        levels = "" if like else _levels(column)
        facts += [f"levels, value: {levels}"] if levels else []
        facts += [] if like else ["invalid, value: level"]  # an empty cell then costs no row
    if column.description:
        typed.append(f"description: {in_quotes(column.description[:200])}")
    held = [f"{{property: {fact}}}" for fact in facts]
    doubt = f"  # {_origin(column, role)}"
    doubt += "" if described or role is Role.DIRECT_IDENTIFIER else "; not published, as it has no domain"
    doubt += "" if described else _not_understood(column.withheld, "the codebook says")
    doubt += _also_known(column, described=described)
    is_quoted = described and is_open(source, column)  # in the words on what to decide
    doubt += "" if is_quoted or role is Role.DIRECT_IDENTIFIER else _not_understood(column.remark)
    doubt += "; E codes cut to 3 characters count as (invalid)" if described and properties == CUT_ICD_9 else ""
    doubt += _not_understood(column.unread_role, "role not understood")
    start = ", ".join([f"name: {quoted(column.name)}", *typed])
    line = f"      - {{{start}, customProperties: [{', '.join(held)}]}}"
    if len(line) <= WIDTH:
        yield line + doubt
        return
    yield f"      - name: {quoted(column.name)}{doubt}"
    yield from (f"        {each}" for each in typed)
    yield "        customProperties:"
    yield from (f"          - {each}" for each in held)


def _levels(column: DraftColumn) -> str:
    """Return the levels of ages, whose domain has each year, and of days; empty for other columns."""
    if column.is_age and not column.step and (column.bounds is not None or not column.unread):
        return _LEVELS_OF_AGE
    return _LEVELS_OF_DAYS if column.is_day and not column.values and not column.unread else ""


def _not_understood(text: str, what: str = "not understood") -> str:
    """Return what a comment quotes of the codebook that is not understood."""
    quoted = "".join(each for each in " ".join(without_marked_counts(text).split())[:MOST_QUOTED] if each.isprintable())
    return f"; {what}: {in_quotes(quoted)}" if quoted else ""


def _origin(column: DraftColumn, role: Role | None) -> str:
    """Return where the role of a column comes from, with the guess from its words, if that is another."""
    if role is None:
        return "role unknown"
    guess = guessed_role(column)
    if column.role is None or column.direct:
        return "role guessed: a weight of the survey" if column.is_weight else "role guessed"
    return "role from the codebook" + (f", not {guess} as its words suggest" if guess not in (None, role) else "")


def _also_known(column: DraftColumn, *, described: bool) -> str:
    """Return what a comment says of a column beside its role: missing codes that no domain states, and numbers that are
    coarser than their codebook.
    """
    if not described:
        return f"; missing: {', '.join(map(in_quotes, column.missing))}" if column.missing else ""
    guessed = ["the least number 0"] if column.from_zero and column.bounds else []
    guessed += ["whole numbers"] if not column.values and seems_whole(column) else []
    doubt = "; extremes?" if _has_doubtful_range(column) else ""
    if guessed or doubt:
        return doubt + (f"; {' and '.join(guessed)} guessed" if guessed else "")
    return "; sums and means round to 1: for precision: 0.1 the range is too wide" if is_coarse(column) else ""
