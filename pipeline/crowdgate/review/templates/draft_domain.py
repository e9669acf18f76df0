"""The domain of a column in a draft, with what is left to decide: one CHANGE for a column without one."""

import re
from math import ceil, floor

from crowdgate.contracts.domains import label_fault
from crowdgate.contracts.undecided import change
from crowdgate.documents.yaml_scalars import in_quotes, quoted
from crowdgate.domain import parse_number
from crowdgate.limits import MOST_VALUES
from crowdgate.review.templates.column_words import (
    COUNTS,
    ICD_10,
    LONGEST_NAME,
    NO_COUNTS,
    PARTS_OF_CODES,
    PLACES,
    STOCK,
    STOCK_CHARACTERS,
    column_words,
    with_edition,
)
from crowdgate.review.templates.draft_column import MOST_QUOTED, DraftColumn, DraftSource, Values
from crowdgate.review.templates.figure_columns import without_marked_counts
from crowdgate.sources.table_header import CellType

ICD_9 = {"icd9", "cid9", "cie9", "cim9"}
"""The words for the ninth edition of the ICD."""
_THREE = re.compile(
    r"\b(?:3|three|drei|trois|tres|três|tre|drie)\W*(?:first |premiers )?(?:char\w*|digits?|positions?|stell\w*"
    r"|caract\w*|caratt\w*|zeichen|tekens?|tecken|tegn|posiciones|d[ií]gitos)",
    re.IGNORECASE,
)
"""The words that codes have three characters."""
CUT_ICD_9 = [("classification", "icd-9")]
"""The properties of a column of three characters of ICD-9. E codes have four there, so it has no firstCharacters."""
USUAL_DECIMALS = 2
"""The decimals of numbers whose precision is asked for, where their range is not too wide."""
LEAST_STEPS = 5
"""The least number of steps of 1 in a range of numbers with decimals; a shorter range has steps of 0.1."""
PUBLIC = "WHERE IT IS PUBLIC"
"""The words that stand for the source of a domain."""


def stated_properties(source: DraftSource, column: DraftColumn) -> list[tuple[str, str]]:
    """Return the properties that state the values of a column: a classification that its name or label names with its
    edition, or else a domain.
    """
    words = column_words(f"{column.name} {with_edition(column.description)}")
    is_text = column.type in (CellType.TEXT, CellType.UNKNOWN)
    has_codes = not (column.values or column.bounds or column.unread or words & PARTS_OF_CODES)
    if words & ICD_10 and not words & ICD_9 and is_text and has_codes:
        return [("classification", "icd-10"), ("firstCharacters", "3")]
    is_icd_9 = bool(words & ICD_9) and not words & ICD_10
    if is_icd_9 and has_codes and is_text and _THREE.search(column.description):
        return CUT_ICD_9
    return [("domain", _domain(source, column))]


def is_open(source: DraftSource, column: DraftColumn) -> bool:
    """Return whether a person must decide on the values of a column."""
    return any('"CHANGE (' in value for _, value in stated_properties(source, column))


def is_all_open(source: DraftSource, column: DraftColumn) -> bool:
    """Return whether nothing of the domain of a column is known: a person must write the whole of it."""
    return any(value.startswith('"CHANGE (') for _, value in stated_properties(source, column))


def _domain(source: DraftSource, column: DraftColumn) -> str:
    """Return the domain of a column, with what is left to decide."""
    if column.type is CellType.FLAG:
        return '{values: ["true", "false"], source: type of the column}'
    missing = f"missing: [{', '.join(map(in_quotes, column.missing))}], " if column.missing else ""
    is_stock = column.bounds is None and not column.unread
    if column.is_age and (is_stock or (column.bounds and not column.is_designed)):
        return f"{{from: 0, to: 90, top: true, {missing}source: ages in years}}"
    if column.values:
        values = ", ".join(in_quotes(value) for value, _ in column.values)
        named = ", ".join(f"{in_quotes(value)}: {quoted(label)}" for value, label in published_labels(column))
        labels = f"labels: {{{named}}}, " if named else ""
        return f"{{values: [{values}], {labels}{missing}source: {quoted(source.values_from)}}}"
    if column.bounds is not None and not column.is_weight:
        return f"{{{_range(column)}{missing}source: {quoted(source.values_from)}}}"
    return in_quotes(change(_to_decide(source, column)))


def _range(column: DraftColumn) -> str:
    """Return the range of a column, with its step, its precision and its open ends."""
    if column.bounds is None:
        return ""
    exact = _precision(column)
    bounds = column.bounds if column.step or exact.startswith("step: 0.") else _rounded(column.bounds)
    low, high, exact = _fitting(bounds, exact, column.step)
    top = "top: true, " if column.top and (low, high) == bounds else ""
    top = f"bottom: true, {top}" if column.bottom else top
    return f"from: {quoted(low)}, to: {quoted(high)}, {exact}{top}"


def _to_decide(source: DraftSource, column: DraftColumn) -> str:
    """Return what to write in place of a domain that nothing states, and what the codebook says of it."""
    codes = ", ".join(f"'{each}'" for each in column.missing)
    missing = f"missing: [{codes}], " if codes else ""
    said = (
        " ".join(without_marked_counts(column.unread or column.remark).split())[:MOST_QUOTED]
        .replace("(", "[")
        .replace(")", "]")
    )
    row = f", row {column.row}," if column.row else ""
    behind = f"; {source.values_from}{row} says: {said}" if said else ""
    listed = f"{{values: [A, B], {missing}source: {PUBLIC}}}"
    if column.is_weight:
        return (
            f"a weight of the survey: leave this column out, or {{from: 1, to: 9, {missing}source: {PUBLIC}}}{behind}"
        )
    if not column.unread and (column.is_day or column.type in (CellType.WHOLE, CellType.NUMBER)):
        ends = ("2020-01-01", "2020-12-31") if column.is_day else ("0", "99")
        money = "" if column.is_day else "; of money with step: 100, precision: 1"
        what = "the least and the greatest day" if column.is_day else "the least and the greatest number"
        return f"{what} that can be: {{from: {ends[0]}, to: {ends[1]}, {missing}source: {PUBLIC}}}{money}{behind}"
    kinds = "" if column.type in (CellType.WHOLE, CellType.NUMBER) else ", with logicalType integer, number or date"
    ranged = f"{{from: 0, to: 99, {missing}source: {PUBLIC}}} for numbers and days{kinds}"
    if column.unread:
        return f"each value that can be: {listed}, or {ranged}{behind}"
    if (stock := _stock(column)) is not None:
        most = STOCK_CHARACTERS.get(stock)
        first = f"of {most} characters, and firstCharacters: {most} for longer ones"
        form = f" {first}" if most else _CODES.get(stock, "")
        stated = f"in place of domain and its value write classification, value: {stock} for codes{form}"
        return f"{stated}; or {listed}{behind}"
    if column_words(f"{column.name} {column.description}") & PLACES:
        file = f"{{values: {{file: levels/NAME.csv, column: CODE}}, {missing}source: {PUBLIC}}}"
        return f"each value that can be: {file} with a CSV file of all codes, or {listed}{behind}"
    return f"each value that can be: {listed}, or {ranged}{behind}"


_CODES = {"iso-3166": " of two letters", "icd-9": " of 3 characters, such as 250 and V27, and E codes of 4"}
"""The codes of classifications that are read as a whole."""


def _precision(column: DraftColumn) -> str:
    """Return the precision of a range of numbers that may have decimals, as these are written; left to decide where
    they are not. A stated step is the precision, too.
    """
    if column.step and column.bounds is not None and not column.is_day:
        return f"step: {column.step}, precision: {column.step}, "
    is_number = column.type is CellType.NUMBER or (column.type is CellType.UNKNOWN and not column.is_day)
    if not is_number or column.bounds is None or column.is_age:
        return ""
    if seems_whole(column):
        return "step: 1, precision: 1, "
    low, high = map(int, _rounded(column.bounds))
    is_asked = column.decimals is None or (column.decimals == 0 and column.type is CellType.NUMBER)
    most = USUAL_DECIMALS if is_asked else column.decimals or 0
    decimals = next((each for each in range(most, 0, -1) if (1 + high - low) * 10**each <= MOST_VALUES), 0)
    if is_asked and decimals:
        words = f"the step of the numbers in the table, such as {_unit(decimals)}; sums and means round to it"
        return f"step: 1, precision: {quoted(change(words))}, "
    is_short = high - low < LEAST_STEPS and decimals
    step = max(int(bool(is_short)), *(len(each.partition(".")[2]) for each in column.bounds))
    return f"step: {_unit(step)}, precision: {_unit(decimals)}, "


def is_coarse(column: DraftColumn) -> bool:
    """Return whether the range of a column is too wide for its decimals."""
    is_number = bool(column.decimals) or (column.type is CellType.NUMBER and not seems_whole(column))
    return is_number and not column.values and column.bounds is not None and ", precision: 1," in _precision(column)


def _unit(decimals: int) -> str:
    """Return the unit of numbers with so many decimals: 0.01 of 2."""
    return f"0.{'0' * (decimals - 1)}1" if decimals else "1"


def _rounded(bounds: tuple[str, str]) -> tuple[str, str]:
    """Return a range of numbers, rounded outwards to whole ones; one of days unchanged."""
    low, high = map(parse_number, bounds)
    return bounds if low is None or high is None else (str(floor(low)), str(ceil(high)))


def seems_whole(column: DraftColumn) -> bool:
    """Return whether numbers of a range without decimals are counts, or years, by their name or description; or others
    in a codebook that writes decimals elsewhere.
    """
    words = column_words(column.name) | column_words(column.description)
    is_number = column.type is CellType.NUMBER and column.bounds is not None and not column.is_age
    is_count = bool(words & COUNTS) or column.without_decimals
    return is_number and not column.decimals and not column.may_have_decimals and is_count and not words & NO_COUNTS


def _fitting(bounds: tuple[str, str], exact: str, step: str) -> tuple[str, str, str]:
    """Return the ends of a range and the words on its precision, with steps so wide that a domain can have them all."""
    if parse_number(bounds[0]) is None:
        return *bounds, exact
    if any("." in each for each in (*bounds, step)):
        return *bounds, exact
    low, high = map(int, bounds)
    size = int(step or 1)
    wide = next(10**each for each in range(40) if (high - low) // (size * 10**each) + 2 <= MOST_VALUES) * size
    if wide == size:
        return *bounds, exact
    return bounds[0], str(low + wide * -(-(high - low) // wide)), f"step: {wide}, precision: {wide}, "


def _stock(column: DraftColumn) -> str | None:
    """Return the stock classification that the name of a column suggests, or else a short description; None if neither
    suggests any. An edition in the description counts before the name.
    """
    words = column_words(with_edition(column.description))
    known = [column_words(column.name), words if len(words) <= LONGEST_NAME else set[str]()]
    if words & ICD_9:
        return None if words & ICD_10 else "icd-9"
    return next((stock for each in known for word, stock in STOCK.items() if word in each), None)


def published_labels(column: DraftColumn) -> Values:
    """Return the values of a codebook with the labels that can be published in their place; none if labels collide."""
    found = tuple((value, label) for value, label in column.values if label and label != value)
    labels, values = {label for _, label in found}, {value for value, _ in column.values}
    fit = len(labels) == len(found) and not labels & values and all(label_fault(label) is None for label in labels)
    return found if fit else ()
