"""Contradictions in the description of a column: types and ranges of other kinds, values that are missing codes, values
that no contract can state.
"""

from dataclasses import replace

from crowdgate.contracts.domains import code_fault, label_fault
from crowdgate.domain import parse_number
from crowdgate.review.templates.contract_draft import DraftColumn, published_labels
from crowdgate.review.templates.special_labels import is_special
from crowdgate.sources.table_header import CellType

_DAYS, _NUMBERS = (CellType.DAY, CellType.MOMENT), (CellType.WHOLE, CellType.NUMBER)


def consistent(column: DraftColumn) -> DraftColumn:
    """Return a column without what contradicts its type or its missing codes. A range of another kind than the type is
    left to decide, and so are values that can't be stated.
    """
    column = _with_fit_values(column)
    numbers = {parse_number(each) for each in column.missing} - {None}
    values = tuple(pair for pair in column.values if parse_number(pair[0]) not in numbers)
    if column.bounds is None or not _is_contradiction(column):
        return replace(column, values=values)
    unread = column.unread or " to ".join(column.bounds)
    return replace(column, values=values, bounds=None, decimals=None, unread="" if values else unread)


def _is_contradiction(column: DraftColumn) -> bool:
    """Return whether a range is of days where the type is a number, or the other way round."""
    is_number = parse_number((column.bounds or ("",))[0]) is not None
    return column.type in (_DAYS if is_number else _NUMBERS)


def _with_fit_values(column: DraftColumn) -> DraftColumn:
    """Return a column whose values a contract can state: codes without a value that it can't are missing codes, such as
    `* = unknown`; with others, all are left to decide.
    """
    unfit = [pair for pair in column.values if code_fault(pair[0]) and is_special(pair[1])]
    missing = tuple(dict.fromkeys([*column.missing, *(code for code, _ in unfit)]))
    column = replace(column, values=tuple(each for each in column.values if each not in unfit), missing=missing)
    labelled = dict(published_labels(column))
    if not any((code_fault if code in labelled else label_fault)(code) for code, _ in column.values):
        return column
    listed = "; ".join(f"{code} = {label}" if label else code for code, label in column.values)
    return replace(column, values=(), bounds=None, unread=listed)
