"""Contradictions in the description of a column: types and ranges of other kinds, values that are missing codes."""

from dataclasses import replace

from crowdgate.domain import parse_number
from crowdgate.review.templates.contract_draft import DraftColumn
from crowdgate.sources.table_header import CellType

_DAYS, _NUMBERS = (CellType.DAY, CellType.MOMENT), (CellType.WHOLE, CellType.NUMBER)


def consistent(column: DraftColumn) -> DraftColumn:
    """Return a column without what contradicts its type or its missing codes. A range of another kind than the type is
    left to decide.
    """
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
