"""A column with the range that its label states, where nothing else states its values."""

from dataclasses import replace

from crowdgate.review.templates.draft_column import DraftColumn
from crowdgate.review.templates.label_ranges import note_range, states_limits, top_code
from crowdgate.review.templates.stated_ranges import stated_range
from crowdgate.sources.table_header import CellType

_NUMBERS = (CellType.WHOLE, CellType.NUMBER, CellType.UNKNOWN)


def with_label_range(column: DraftColumn, notes: str = "") -> DraftColumn:
    """Return a number with the range that its label, or a note, states; with these to decide on, where they say
    something of its ends that is not understood. Ages that are cut at a number begin at 0.
    """
    if column.values or column.bounds or column.type not in _NUMBERS or column.is_weight:
        return column
    words = [each for each in (column.description, notes) if each]
    top = top_code(" ".join(words))
    found = stated_range("0", top) if column.is_age and top else note_range(words)
    if found.bounds is None:
        said = "; ".join(filter(states_limits, words))
        return replace(column, unread=column.unread or said)
    has_codes = bool(column.missing) and not found.decimals  # labelled codes are whole numbers, as mostly the others
    is_top = found.top or top == found.bounds[1]
    ranged = replace(column, bounds=found.bounds, decimals=found.decimals, unread="", top=is_top)
    return replace(ranged, without_decimals=has_codes)
