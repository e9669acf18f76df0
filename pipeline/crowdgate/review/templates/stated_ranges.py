"""Ranges of numbers and of days as codebooks write them: `0 to 140`, `1,000 - 9,999`, `1.5.2020 to 30.6.2020`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor

from crowdgate.contracts.cell_form import ISO
from crowdgate.domain import parse_date, parse_number
from crowdgate.review.templates.draft_column import Values
from crowdgate.review.templates.entry_forms import TO
from crowdgate.review.templates.special_labels import is_empty

UNIT = re.compile(r"\s*(?:%|[^\W\d]{1,10}(?:[/²][^\W\d]{1,6})?\.?)")
"""The unit behind a range: `0-120 years`."""
_OR_EMPTY = re.compile(r"\s*[,;]?\s+(?:or|oder|ou|o|of|lub|eller|nebo|e)\s+(?P<none>\S+)(?:\s.*)?$", re.IGNORECASE)
"""Words behind a range, of which the first says that the cell can be empty: `2020 to 2024 or blank if alive`."""
_THOUSANDS = r"-?[1-9]\d{0,2}(?:(?P<mark>[ ,.'\u00a0\u202f])\d{3})(?:(?P=mark)\d{3})*(?:[.,]\d{1,2})?"
"""A number with marks between its thousands."""
END = (
    r"(?:-?\d{1,3}(?:[ ,.'\u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?|-?\d+(?:[.,]\d+)?|\d{4}-\d\d-\d\d"
    r"|\d{1,2}[./-]\d{1,2}[./-]\d{4})"
)
_ONE_MARK = re.compile(r"-?[1-9]\d{0,2}[.,]\d{3}")
"""A number of which nothing says whether its mark is one of decimals or of thousands."""
_DECIMAL_MARK = re.compile(r"-?(?=0[.,]|\d+[.,](?!\d{3}$))\d+(?P<mark>[.,])\d+")
_GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:[.,']\d{3})+(?!\d)")
"""A whole number with marks between its thousands."""
RANGE = re.compile(
    r"(?:(?P<between>between|zwischen|entre|tussen|mell[aeo][mn])\s+"
    r"|(?:from|von|vom|de|desde|du|van|vanaf|fra|från|od|dal?)\s+)?"
    rf"(?P<low>{END})(?(between)\s+(?:and|und|et|y|e|en|og|och)\s+"
    rf"|(?:\s*(?:to|bis|t/m|-|–|\.\.)\s*|\s+{TO}\s+))(?P<high>{END})",
    re.IGNORECASE,
)
"""A range in words of several languages. `1 and 2` are two values, `between 1 and 2` is a range."""
_RANGE_IN_WORDS = re.compile(rf"(?<![\w.,/-]){RANGE.pattern}(?![\w/-])", re.IGNORECASE)
_MARKS, _SLASHED = ".-", ("DD/MM/YYYY", "MM/DD/YYYY")
LONGEST_RANGE = 300
"""The greatest length of a range with the words behind it."""
FINEST_STEP, MOST_STEPS = 2, 1000
"""The most decimals of the ends of a range, and the number of its steps, that are not rounded to whole numbers."""


@dataclass(frozen=True)
class ListedValues:
    """The values of a column with their labels, or its range, and the codes that stand for no value."""

    values: Values = ()
    bounds: tuple[str, str] | None = None
    missing: tuple[str, ...] = ()
    unread: str = ""
    """A list that is not read as a whole, or labels of a scale that name only some of its values: no domain."""
    decimals: int | None = None
    """The number of decimals with which the range is written."""
    top: bool = False
    """True if the greatest number of the range stands for all greater ones, too."""
    has_comma: bool = field(default=False, compare=False)
    """True if its decimals stand after a comma."""
    step: str = ""
    """The step of its numbers, if it is stated."""
    digits: int = field(default=0, compare=False)
    """The number of digits of both ends of a range, if one has a zero before it, as codes have: 0110. 1 if theirs
    differ, 0 if neither has one.
    """
    remark: str = field(default="", compare=False)
    """Words behind a range that are no unit, and not understood."""
    day_form: str = field(default="", compare=False)
    """The form of the days of its range, if only one fits."""
    from_zero: bool = field(default=False, compare=False)
    """True if only the greatest number is stated, so that the least one is a guess."""


def range_alone(text: str) -> str:
    """Return a range without its unit, and without words that the cell can be empty; other texts unchanged."""
    if len(text) > LONGEST_RANGE:
        return text
    found = _OR_EMPTY.search(text)
    if found and is_empty(found["none"]) and RANGE.fullmatch(text[: found.start()]):
        return text[: found.start()]
    text = _without_currency(text)
    start = RANGE.match(text)
    return start[0] if start and UNIT.fullmatch(text[start.end() :]) else text


def _without_currency(text: str) -> str:
    """Return a range of money, whose commas stand between thousands beside signs of currencies, as one of plain
    numbers; other texts unchanged.
    """
    plain = re.sub(r"[$£](-?\d{1,3}(?:,\d{3})*)", lambda each: each[1].replace(",", ""), text)
    found = RANGE.match(plain)
    behind = plain[found.end() :] if found else text
    return plain if found and (not behind or UNIT.fullmatch(behind)) else text


def range_ends(text: str) -> tuple[str, str] | None:
    """Return the ends of a range as they are written, without its unit; None if a text is something else."""
    found = RANGE.fullmatch(range_alone(text.strip()))
    return (found["low"], found["high"]) if found else None


def stated_range(least: str, greatest: str) -> ListedValues:
    """Return a range of numbers, with the decimals that it is written with; or a range of days. Empty if these are
    neither. Ends that fine steps would have to reach are rounded outwards to whole numbers.
    """
    days = [parse_day(each) for each in (least, greatest)]
    days, form = (days, _form((least, greatest))) if any(days) else _slashed_days((least, greatest))
    if days[0] and days[1] and days[0] <= days[1]:
        return ListedValues(bounds=(days[0], days[1]), day_form=form)
    texts = [point_number(without_thousands(each.strip())) for each in (least, greatest)]
    if _has_doubtful_mark((least, greatest)):
        return ListedValues()
    low, high = map(parse_number, texts)
    if low is None or high is None or low > high:
        return ListedValues()
    decimals = max(len(each.partition(".")[2]) for each in texts)
    has_comma = any(
        "." in text and each.rfind(",") > each.rfind(".") for text, each in zip(texts, (least, greatest), strict=True)
    )
    lengths = {len(each) for each in texts}
    digits = (lengths.pop() if len(lengths) == 1 else 1) if any(re.match(r"0\d", each) for each in texts) else 0
    digits = 1 if digits and decimals else digits
    fine = max(len(_without_zeros(each).partition(".")[2]) for each in texts)
    is_short = fine <= FINEST_STEP and (high - low) * 10**fine < MOST_STEPS
    bounds = (_without_zeros(texts[0]), _without_zeros(texts[1])) if is_short else (str(floor(low)), str(ceil(high)))
    return ListedValues(bounds=bounds, decimals=decimals, has_comma=has_comma, digits=digits)


def _has_doubtful_mark(ends: Sequence[str]) -> bool:
    """Return whether the mark in an end of a range can be one of decimals or of thousands: it is one of decimals in
    0.532, and so is the same one beside it.
    """
    texts = [without_thousands(each.strip()) for each in ends]
    known = {found["mark"] for each in texts if (found := _DECIMAL_MARK.fullmatch(each))}
    return any(_ONE_MARK.fullmatch(each) and known != {*re.findall(r"[.,]", each)} for each in texts)


def _without_zeros(number: str) -> str:
    """Return a number without the zeros at the ends of its decimals and before it: 0.1 of 0.1000."""
    text = number.rstrip("0").rstrip(".") if "." in number else number
    return text if "." in text else str(floor(parse_number(text) or 0))


def whole_range(text: str) -> str:
    """Return the text of a cell on whole numbers, without the marks between the thousands of a range, and the points
    between those of any number: 1.000 to 2.000 is none of decimals there.
    """
    found = RANGE.search(text)
    if found is not None:
        text = text.replace(found[0], _GROUPED.sub(lambda each: re.sub(r"[.,']", "", each[0]), found[0]))
    return re.sub(r"(?<![\w.,])-?[1-9]\d{0,2}(?:\.\d{3})+(?![\w,]|\.\d)", lambda each: each[0].replace(".", ""), text)


def days_in_words(texts: Sequence[str]) -> ListedValues:
    """Return the one range of days among words: `date of entry, between 2022-01-01 and 2022-12-31`; empty if there is
    none, or if there are several.
    """
    found = {(each["low"], each["high"]) for text in texts for each in _RANGE_IN_WORDS.finditer(text)}
    ranges = [each for ends in found if (each := stated_range(*ends)).bounds and parse_date(each.bounds[0])]
    return ranges[0] if len(ranges) == 1 else ListedValues()


def without_thousands(text: str) -> str:
    """Return a number without the marks between its thousands, where these are no decimal mark: several, blanks, or
    beside another mark. `1.000` stays.
    """
    found = re.fullmatch(_THOUSANDS, text)
    if found is None or (found["mark"] in ",." and _ONE_MARK.fullmatch(text)):
        return text
    end = re.search(r"[.,]\d{1,2}$", text)
    whole = re.sub(r"[^\d-]", "", text[: end.start()] if end else text)
    return whole + (end[0] if end else "")


def point_number(text: str) -> str:
    """Return a number with a decimal comma as one with a point; other texts unchanged."""
    return text.replace(",", ".") if re.fullmatch(r"-?\d+,\d+", text) else text


def parse_day(text: str) -> str | None:
    """Return a day, written YYYY-MM-DD, DD.MM.YYYY or DD-MM-YYYY, as YYYY-MM-DD; None if it is no day."""
    found = re.fullmatch(r"(\d{1,2})([.-])(\d{1,2})\2(\d{4})", text.strip())
    day = parse_date(f"{found[4]}-{found[3]:0>2}-{found[1]:0>2}" if found else text.strip())
    return None if day is None else day.isoformat()


def _form(texts: Sequence[str]) -> str:
    """Return the form of days that are written YYYY-MM-DD, DD.MM.YYYY or DD-MM-YYYY; empty if they differ."""
    forms = {
        ISO if re.match(r"\d{4}", each.strip()) else f"DD{mark}MM{mark}YYYY"
        for each in texts
        for mark in _MARKS
        if mark in each
    }
    return forms.pop() if len(forms) == 1 else ""


def _slashed_days(texts: Sequence[str]) -> tuple[list[str | None], str]:
    """Return days with strokes as YYYY-MM-DD, and their form, if only one order of day and month fits all of them; days
    that are the same in both orders have no form.
    """
    orders = [
        [parse_day(each.strip().replace("/", "-")) for each in texts],
        [parse_day(re.sub(r"(\d+)/(\d+)/", r"\2-\1-", each.strip())) for each in texts],
    ]
    is_slashed = all("/" in each for each in texts)
    fit = [(d, form) for d, form in zip(orders, _SLASHED, strict=True) if is_slashed and None not in d]
    if len(fit) == 1:
        return fit[0]
    return (fit[0][0], "") if fit and fit[0][0] == fit[1][0] else ([None] * len(texts), "")


def compact_days(listed: ListedValues) -> ListedValues:
    """Return a range of numbers YYYYMMDD as one of days; others unchanged."""
    days = [parse_date(f"{each[:4]}-{each[4:6]}-{each[6:]}") for each in listed.bounds or () if len(each) == 8]
    if len(days) != 2 or days[0] is None or days[1] is None:
        return listed
    return replace(listed, bounds=(days[0].isoformat(), days[1].isoformat()), decimals=None)


def without_other_days(listed: ListedValues) -> ListedValues:
    """Return a range of numbers that are days written MMDDYYYY or DDMMYYYY, which no table is read with, as unread;
    others unchanged.
    """
    ends = [each.zfill(8) if listed.digits == 8 else each for each in listed.bounds or ()]
    found = [re.fullmatch(r"(\d\d)(\d\d)((?:19|20)\d\d)", each) for each in ends]
    days = [
        each and (parse_date(f"{each[3]}-{each[1]}-{each[2]}") or parse_date(f"{each[3]}-{each[2]}-{each[1]}"))
        for each in found
    ]
    is_other = bool(days) and all(days) and compact_days(listed) == listed
    return replace(listed, bounds=None, decimals=None, digits=0, unread=" to ".join(ends)) if is_other else listed
