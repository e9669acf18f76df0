"""A table and its codebook as one description: its place and columns by its header, their values by the codebook."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from crowdgate.contracts.cell_form import COMMA, ISO
from crowdgate.review.templates.draft_column import DraftColumn, DraftSource, cannot_draft
from crowdgate.sources.table_header import CellType

BY_HAND = (
    "a table with a row for each variable, and the headings variable, label, type, values, missing. In a text, codes "
    "stand on indented lines below the name of their variable"
)
"""The forms of codebooks that people can write by hand."""


def with_codebook(
    table: DraftSource, path: Path, columns: Sequence[DraftColumn], left_out: int = 0, headings: str = ""
) -> DraftSource:
    """Return a table's description with what a codebook says of its columns; names may differ in their case. It states
    how many variables match no column, with the `left_out` ones that are not in `columns`.

    Raises ConfigurationError if the codebook describes none of them.
    """
    folded = Counter(each.name.casefold() for each in columns)
    by_name = {each.name.casefold(): each for each in columns if folded[each.name.casefold()] == 1}
    by_name |= {each.name: each for each in columns}
    found = [(each, by_name.get(each.name) or by_name.get(each.name.casefold())) for each in table.columns]
    if not any(book for _, book in found):
        raise cannot_draft(path, "none of the table's columns", "a codebook of this table")
    merged = tuple(column if book is None else _merged(column, book) for column, book in found)
    names = {column.name.casefold() for column in table.columns}
    unmatched = left_out + sum(each.name.casefold() not in names for each in columns)
    undescribed = sum(book is None or not says_something(book) for _, book in found)
    if undescribed == len(found):
        said = f" ({headings})" if headings else ""
        raise cannot_draft(path, f"nothing on any column that can be used{said}", BY_HAND)
    stated = sum(book is not None and bool(book.values or book.bounds) for _, book in found)
    nothing = "" if stated else "NO VALUE AND NO RANGE of any column is understood, see the headings ignored; "
    counts = f"columns whose values or range it states: {stated}; its variables without a column here: {unmatched}"
    counts += f"; columns that it does not describe: {undescribed}"
    note = f"{nothing}{headings}; {counts}" if headings else f"{nothing}{counts}"
    books = [book for _, book in found if book is not None]
    forms = _forms(books, table.settings) if table.format == "csv" else {}
    note += f"; from it {' and '.join(f'{key} {value}' for key, value in forms.items())}" if forms else ""
    settings = {**table.settings, **forms}
    if any(each.decimals and each.bounds for each in books):
        merged = tuple(replace(each, without_decimals=True) for each in merged)
    return replace(table, columns=merged, codebook=f"the codebook {path.name}", note=note, settings=settings)


def says_something(column: DraftColumn) -> bool:
    """Return whether a codebook says anything of a column but its name."""
    facts = (
        column.description,
        column.values,
        column.bounds,
        column.missing,
        column.unread,
        column.remark,
        column.role,
    )
    return any(facts) or column.direct or column.type is not CellType.UNKNOWN


def _forms(columns: Sequence[DraftColumn], stated: Mapping[str, str]) -> dict[str, str]:
    """Return the form of days, where a codebook states one, and a decimal comma, where it writes its ranges so and the
    settings `stated` leave the mark open: many tables with commas between cells have points, whatever their codebook.
    """
    days = {each.day_form for each in columns if each.day_form} or {
        each.range_form for each in columns if each.range_form
    }
    has_comma = {each.has_comma for each in columns if each.has_comma or (each.decimals and each.bounds)}
    found = {"dayForm": next(iter(days))} if len(days) == 1 and ("dayForm" in stated or days != {ISO}) else {}
    return found | ({"decimalMark": COMMA} if has_comma == {True} and "decimalMark" in stated else {})


def _merged(column: DraftColumn, book: DraftColumn) -> DraftColumn:
    """Return a column with the facts of both; what the table's own file says of it comes first."""
    stated = column.type is not CellType.UNKNOWN
    if not (book.values or book.bounds) and (column.values or column.bounds):
        own = column.values, column.bounds, column.unread, column.top
        book = replace(book, values=own[0], bounds=own[1], unread=own[2], top=own[3], is_designed=column.is_designed)
    return replace(
        book,
        name=column.name,
        type=column.type if stated else CellType.TEXT if book.values and not book.bounds else book.type,
        description=book.description or column.description,
        direct=column.direct or book.direct,
        missing=tuple(dict.fromkeys([*book.missing, *column.missing])),
        role=book.role or column.role,
    )
