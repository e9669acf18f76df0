"""Contradictions in the description of a column: types and ranges of other kinds, values that are missing codes, values
that no contract can state.
"""

import re
from dataclasses import replace

from crowdgate.contracts.domains import code_fault, label_fault
from crowdgate.domain import parse_number
from crowdgate.review.templates.draft_column import DraftColumn, Values
from crowdgate.review.templates.draft_domain import published_labels
from crowdgate.review.templates.figure_columns import plain_labels, with_doubtful_figures, without_figures
from crowdgate.review.templates.open_ends import is_open_end
from crowdgate.review.templates.special_labels import is_special
from crowdgate.sources.table_header import CellType

_DAYS, _NUMBERS = (CellType.DAY, CellType.MOMENT), (CellType.WHOLE, CellType.NUMBER)
_IN_BRACKETS = re.compile(r"\(\s*(?P<low>-?\d{1,4})\s*(?:[-–]|to|t/m|bis|à|a|til|till|do)\s*(?P<high>\d{1,4})\s*\)")
"""A range of whole numbers in brackets."""
LEFT_OUT = ".."
"""The mark behind the label before codes that are left out."""
_END = re.compile(r"(?:max|máx|min|mín)\w*\.?\s*[:=]?\s*-?\d[\d.,]*", re.IGNORECASE)
"""Words on one end of a range."""
_NONE = re.compile(
    r"none|never|zero|no|nothing|keine?|nie|aucune?|ningun[oa]|nessun[oa]|nenhum[a]?|geen|ingen|brak|żadn\w+", re.I
)


def consistent(column: DraftColumn) -> DraftColumn:
    """Return a column without what contradicts its type or its missing codes. A range of another kind than the type is
    left to decide, and so are values that can't be stated.
    """
    column = _with_named_end(_with_fit_values(_without_counts(_with_whole_list(column))))
    numbers = {parse_number(each) for each in column.missing} - {None}
    values = tuple(pair for pair in column.values if parse_number(pair[0]) not in numbers)
    if column.bounds is None or not _is_contradiction(column):
        return replace(column, values=values)
    unread = column.unread or " to ".join(column.bounds)
    return replace(column, values=values, bounds=None, decimals=None, unread="" if values else unread)


def _without_counts(column: DraftColumn) -> DraftColumn:
    """Return a column without the counts behind the labels of its values; left to decide where that is doubtful."""
    bare = plain_labels(column.values)
    if bare is None:
        return replace(column, values=(), unread=with_doubtful_figures(column.values))
    return column if bare == column.values else replace(column, values=bare)


def _with_whole_list(column: DraftColumn) -> DraftColumn:
    """Return a column whose list is left to decide where it is no whole one: codes are left out behind a label, or a
    value without a label is one end of a range.
    """
    has_gap = any(label.endswith(LEFT_OUT) for _, label in column.values)
    if not has_gap and not any(_END.fullmatch(code) and not label for code, label in column.values):
        return column
    bare = [(code, without_figures(code, label.removesuffix(LEFT_OUT).strip())) for code, label in column.values]
    listed = "; ".join(f"{code} = {label}" if label else code for code, label in bare)
    return replace(column, values=(), unread=f"{listed}{'; codes between them are left out' * has_gap}")


def _with_named_end(column: DraftColumn) -> DraftColumn:
    """Return a column whose labels, which are no full list, name the ends of its range, with that range."""
    named = re.findall(r"(?:^|; )(-?\d+) = ([^;]*)", column.unread)
    is_whole = "; ".join(f"{code} = {label}" for code, label in named) == column.unread
    return with_named_ends(column, tuple(named)) if is_whole else column


def with_named_ends(column: DraftColumn, labels: Values) -> DraftColumn:
    """Return a column with the range whose ends have `labels`, and no number between them, if its words state it, as in
    `Contentment (0-10)` with 0 = not at all and 10 = completely. Of ages, the label of the open end says enough.
    """
    codes = [code for code, _ in labels]
    ranges = {each.group("low", "high") for each in _IN_BRACKETS.finditer(column.description)}
    if column.bounds is None and len(codes) == 2 and (codes[0], codes[1]) in ranges:
        return replace(column, bounds=(codes[0], codes[1]), decimals=0, unread="")
    if column.bounds is None and column.type is CellType.WHOLE and _are_of_count(labels):
        return replace(column, bounds=("0", codes[-1]), decimals=0, unread="", top=True)
    if column.bounds is None and len(codes) == 1 and column.is_age and is_open_end(*labels[0]):
        return replace(column, bounds=("0", codes[0]), decimals=0, unread="", top=True)
    return column


def _are_of_count(labels: Values) -> bool:
    """Return whether labels begin with 0 for none and end with an open end: `0 = None`, `30 = 30 or more`."""
    return len(labels) > 1 and labels[0][0] == "0" and bool(_NONE.fullmatch(labels[0][1])) and is_open_end(*labels[-1])


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
