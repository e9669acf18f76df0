"""The values of a column as codebooks write them in one cell: `1=Male; 2=Female`, `1, Yes | 0, No` or `0 to 140`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor

from crowdgate.domain import parse_date, parse_number
from crowdgate.review.templates.contract_draft import Values

_CODE = r"[\"']?(?P<code>[^\"'=:,|\[\]]{1,40}?)[\"']?"
_FORMS = (
    re.compile(rf"{_CODE}\s*(?:=|:)\s*\[?(?P<label>.*?)\]?", re.DOTALL),
    re.compile(r"(?P<code>[\w.+-]{1,20})\s*\((?P<label>(?=[^()=]*[^\W\d_])[^()=]+)\)"),
    re.compile(rf"{_CODE}\s*(?:,|\s[-–—]\s|\t)\s*(?P<label>.*?)", re.DOTALL),
    re.compile(r"(?P<code>[A-Z0-9]{1,6})\s+(?P<label>.*?)", re.DOTALL),
)
"""The forms of an entry with a label. All entries of a cell have one form."""
_NEXT_CODE = re.compile(r",\s*(?=[\"']?[\w.+-]{1,20}[\"']?\s*[=:])")
"""A comma before a code, not one within a label."""
_END = r"(?:-?\d+(?:[.,]\d+)?|\d{4}-\d\d-\d\d|\d{1,2}[.-]\d{1,2}[.-]\d{4})"
_RANGE = re.compile(
    r"(?:(?P<between>between|zwischen|entre|tussen|mell[ea][mn])\s+|(?:from|von|de|van|fra)\s+)?"
    rf"(?P<low>{_END})(?(between)\s+(?:and|und|et|y|e|en|og|och)\s+"
    rf"|(?:\s*(?:to|bis|t/m|-|–|\.\.)\s*|\s+(?:à|a|tot|til|till)\s+))(?P<high>{_END})",
    re.IGNORECASE,
)
"""A range in words of several languages. `1 and 2` are two values, `between 1 and 2` is a range."""
_SPECIAL_LABELS = (
    r"(i )?(do ?n[o'’]?t|dont) know",
    r"(i )?prefer not to (answer|say)",
    r"refused?( to answer)?",
    r"not (stated|known|specified|applicable|ascertained|asked|reported|recorded|measured|available|in universe)",
    r"no (answer|response)",
    r"missing( data)?",
    r"unknown|blank|niu|dk|missing/unknown",
    r"n\.?\s?[iau]\.?( ?u\.?)?",
    r"(appropriate |valid )?skip(ped)?|system missing|sys(tem)?miss?",
    r"(ohne|keine) (angaben?|antwort)|unbekannt|wei(ß|ss) (ich )?nicht|verweigert|trifft nicht zu|fehlend|k\.? ?a\.?",
    r"(ne sa(it|is) pas|nsp|sans (objet|réponse)|non[ -](réponse|(déclaré|renseigné|concerné)e?))",
    r"refus[ée]?|manquante?",
    r"n(o|ão) (sabe|contesta|respondeu?|informad[oa]|declarad[oa]|especificad[oa])|ns|nc|nr|ignorad[oa]|no consta",
    r"(sin|sem) (informaci[oó]n|informa[cç][aã]o|dat[oa]s?|resp[uo]\w+)|desconocid[oa]|non (sa|risponde|indicato)",
    r"weet (ik )?niet|onbekend|geweigerd|geen (antwoord|opgave)|wil niet zeggen|niet van toepassing",
    r"(vet|ved) (ikke|ej|inte)|(uppgift|svar) saknas|uoppgitt|uoplyst|ukjent|okänt?|ikke (be)?svart|vil ikke svare",
    r"nie wiem|trudno powiedzieć|brak (danych|odpowiedzi)|odmowa( odpowiedzi)?|nie dotyczy|ref|rf",
)
_SPECIAL = re.compile("|".join(_SPECIAL_LABELS), re.IGNORECASE)
"""The labels of codes that stand for no number."""
_CODE_IN_WORDS = re.compile(r"(?<![\w.,-])(?P<code>-?\d+(?:[.,]\d+)?)\s*[=:]\s*(?P<label>[^=:;,.()\[\]]+)")
"""A number among words, with what it stands for."""
_HEAD = re.compile(r"[^\W\d][^=:;|\n]{0,60}:\s*(?=[^\s=:]{1,20}\s*=)")
"""The words before a list: `Sex: M = male, F = female`."""
_YES_NO = re.compile(
    r"yes|no|oui|non|ja|nein|nee|nej|nei|s[ií]|sì|sim|não|tak|nie|true|false|(fe)?male|(wo)?man|männlich|weiblich|frau"
    r"|mann|hombre|mujer|var[oó]n|homme|femme|uomo|donna|maschio|femmina|homem|mulher|vrouw|kvin(de|ne|na)|mand"
    r"|mężczyzna|kobieta|masculino?|f[eé]minino?|femenino",
    re.IGNORECASE,
)
"""The labels of two answers or sexes: a list, however far their codes are apart."""
_REPEATED = re.compile(r"\(?(?P<code>-?[\w.]+?)(?:\)\s*|[.:]\s+|\s+[-–]\s+)(?P<label>\S.*)", re.DOTALL)
"""A label that begins with a code."""
_BARE = re.compile(r"[\w.+-]{1,20}")
"""A code without a label."""
_IN_BRACKETS = re.compile(r"\s*\((?=[^()=]*[^\W\d_])[^()=]+\)")
"""Words in brackets behind a code: `I (indeterminate)`, `1 (most deprived) to 10 (least deprived)`; counts are none."""
_FORM_OF_DAYS = re.compile(r"([dmyjthse])\1{1,3}([/.:, -]([dmyjthse])\3{1,3})+", re.IGNORECASE)
"""A form of days or times, such as dd/mm/yyyy: no list of values."""
_OTHER = re.compile(r"\b(other|another|none of|no opinion|andere[rs]?|sonstige[rs]?)\b", re.IGNORECASE)
"""The labels of codes that often stand apart from the others of a list."""
MOST_ANCHORS = 5
"""The most labels with gaps between their codes that count as points of a scale; more are a list of codes, and so are
three and more that begin above 1, unless their labels repeat numbers: `65 = 65 or older`."""
_OFTEN_SPECIAL = {8, 9, 88, 98, 99, 888, 998, 999}
"""The codes that often stand for answers beside a list: 1, 2 and 9 are no points of a scale."""
LONGEST_BARE = 30
"""The greatest length of a value in a list without labels."""


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
    has_comma: bool = field(default=False, compare=False)
    """True if its decimals stand after a comma."""


def listed_values(text: str) -> ListedValues:
    """Return what a cell of a codebook says about the values of a column; nothing if it is no list and no range."""
    text = _unwrapped(_HEAD.sub("", text.strip()))
    parts = _without_heading(_parts(text))
    pairs = _pairs(parts)
    unread = ListedValues(unread=" ".join(text.split())) if len(parts) > 1 or "=" in text else ListedValues()
    if len(pairs) != len(parts):
        return unread
    ranges = [found for code, _ in pairs if (found := _RANGE.fullmatch(code))]
    if len(ranges) == 1:
        others = [(code, label) for code, label in pairs if code != ranges[0][0]]
        stated = stated_range(*ranges[0].group("low", "high"))
        coded = not others or special_codes(others)
        return replace(stated, missing=tuple(code for code, _ in others)) if stated.bounds and coded else unread
    if len({code for code, _ in pairs}) != len(parts) or (len(parts) == 1 and not special_codes(pairs)):
        return unread
    if special_codes(pairs):
        return ListedValues(missing=tuple(code for code, _ in pairs))
    return without_scale(tuple(pairs))


def _unwrapped(text: str) -> str:
    """Return a list without the brackets and quotation marks of programs: `['m', 'w']` or `{"1": "Yes"}`."""
    is_wrapped = text[:1] + text[-1:] in ("[]", "{}", "()")
    return re.sub(r"(?<!\w)(['\"])(.*?)\1(?!\w)", r"\2", text[1:-1]) if is_wrapped and "]" not in text[:-1] else text


def without_scale(values: Values, bounds: tuple[str, str] | None = None) -> ListedValues:
    """Return labelled values as the domain that they are, or as unread if they name only some values of a scale: one
    number, few numbers with gaps between them, or all inside `bounds` that reach beyond them.
    """
    plain = [(code, label) for code, label in values if not special_codes([(code, label)])]
    numbers = sorted(number for code, _ in plain if (number := _whole(code)) is not None)
    labelled = any(label for _, label in plain)
    if not labelled or len(numbers) < len(plain) or not plain:
        return ListedValues(values, bounds)
    others = {int(code) for code, label in plain if _OTHER.search(label)}
    points = [each for each in numbers if each != numbers[-1] or each not in others]
    if all(_YES_NO.fullmatch(label) for _, label in plain):
        return ListedValues(values, bounds)
    is_scale = len(points) == 2 or points[0] <= 1 or any(code in label for code, label in plain)
    if len(points) > 2 and points[-1] in _OFTEN_SPECIAL and points[-2] - points[0] == len(points) - 2:
        points.pop()  # a code apart from the others
    has_gaps = is_scale and 1 < len(points) <= MOST_ANCHORS and points[-1] - points[0] >= len(points)
    limits = [_whole(each) for each in bounds or () if each not in dict(values)]
    beyond = any(each is not None and not numbers[0] <= each <= numbers[-1] for each in limits)
    if len(plain) > 1 and not has_gaps and not beyond:
        return ListedValues(values, bounds)
    named = "; ".join(f"{code} = {label}" for code, label in plain)
    missing = tuple(code for code, label in values if (code, label) not in plain)
    return ListedValues(bounds=bounds, missing=missing, unread=named)


def _whole(code: str) -> int | None:
    """Return the whole number that a code writes without a zero before it; None for other codes."""
    return int(code) if re.fullmatch(r"-?(0|[1-9]\d{0,8})", code) else None


def special_codes(values: Sequence[tuple[str, str]]) -> bool:
    """Return whether all values are numbers whose labels say that there is no value: such as 997, don't know."""
    numbers = all(parse_number(code) is not None for code, _ in values)
    return bool(values) and numbers and all(map(is_special, (label for _, label in values)))


def codes_in_words(text: str) -> tuple[str, ...]:
    """Return the numbers that words on a variable call missing: 999 of `Weight in kg (999 = unknown)`."""
    return tuple(point_number(found["code"]) for found in _CODE_IN_WORDS.finditer(text) if is_special(found["label"]))


def bare_label(code: str, label: str) -> str:
    """Return a label without the code that it repeats: `Male` of `1. Male` and `(1) Male`."""
    found = _REPEATED.fullmatch(label)
    return found["label"] if found and found["code"] == code else label


def is_special(label: str) -> bool:
    """Return whether a label says that there is no value, in one wording or in several: `don't know/no answer`."""
    wordings = [label, *([] if "/" not in label else label.split("/"))]
    said = [bool(_SPECIAL.fullmatch(each.strip(" ."))) for each in wordings]
    return said[0] or (len(said) > 1 and all(said[1:]))


def _parts(text: str) -> list[str]:
    """Return the entries of a list; the text itself if it is none."""
    if _RANGE.fullmatch(bare := _IN_BRACKETS.sub("", text)):
        return [bare]
    for mark in ("|", "\n", ";", " / "):
        if mark in text:
            return [each.strip() for each in text.split(mark) if each.strip()]
    if len(parts := _NEXT_CODE.split(text)) > 1:
        return parts
    if _FORM_OF_DAYS.fullmatch(text):
        return [text]
    for mark in (",", "/"):
        parts = [each.strip() for each in text.split(mark)]
        if len(parts) > 1 and all(each and " " not in _IN_BRACKETS.sub("", each) for each in parts):
            return parts
    return [each for each in re.split(r",\s+", text) if each] if _is_range_and_codes(text) else [text]


def _is_range_and_codes(text: str) -> bool:
    """Return whether a text is a range and codes after it: `0-5, 9`."""
    first, *others = (each.strip() for each in text.split(","))
    return bool(_RANGE.fullmatch(first) and others and all(_whole(each) is not None for each in others))


def _without_heading(parts: Sequence[str]) -> Sequence[str]:
    """Return the entries of a list without a first one that names the column, beside codes for no value: `1900 =
    unknown` of `Year of birth; 1900 = unknown`."""
    others = [each for part in parts[1:] if (each := _pair(_FORMS[0], part)) is not None]
    coded = len(others) == len(parts) - 1 and special_codes(others)
    named = coded and re.fullmatch(r"[^\W\d_]{4,}( [^\W\d_]+)*", parts[0])
    return parts[1:] if named else parts


def _pairs(parts: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Return the code and the label of each entry: in the first form that all have, where ranges and, beside signs of
    equality, single codes need no label; or else without labels. An entry that is not read is left out.
    """
    for form in _FORMS:
        pairs = [pair for each in parts if (pair := _pair(form, each)) is not None]
        if len(pairs) == len(parts) and any(label for _, label in pairs):
            return pairs
    return [(each, "") for each in parts if len(each) <= LONGEST_BARE and not _FORMS[0].fullmatch(each)]


def _pair(form: re.Pattern[str], entry: str) -> tuple[str, str] | None:
    """Return the code and the label of an entry of a form; None for another form."""
    if _RANGE.fullmatch(entry) or (form in _FORMS[:2] and _BARE.fullmatch(entry)):
        return entry, ""
    found = form.fullmatch(entry)
    code, label = (found["code"].strip(), " ".join(found["label"].split())) if found else ("", "")
    return (code, label) if code and label else None


def stated_range(least: str, greatest: str) -> ListedValues:
    """Return a range of numbers, rounded outwards to whole ones, as a domain has steps of 1 unless it states another,
    with the decimals that it is written with; or a range of days. Empty if these are neither.
    """
    days = [parse_day(each) for each in (least, greatest)]
    if days[0] and days[1] and days[0] <= days[1]:
        return ListedValues(bounds=(days[0], days[1]))
    texts = [point_number(each.strip()) for each in (least, greatest)]
    low, high = map(parse_number, texts)
    if low is None or high is None or low > high:
        return ListedValues()
    decimals = max(len(each.partition(".")[2]) for each in texts)
    has_comma = texts != [least.strip(), greatest.strip()]
    return ListedValues(bounds=(str(floor(low)), str(ceil(high))), decimals=decimals, has_comma=has_comma)


def point_number(text: str) -> str:
    """Return a number with a decimal comma as one with a point; other texts unchanged."""
    return text.replace(",", ".") if re.fullmatch(r"-?\d+,\d+", text) else text


def parse_day(text: str) -> str | None:
    """Return a day, written YYYY-MM-DD, DD.MM.YYYY or DD-MM-YYYY, as YYYY-MM-DD; None if it is no day."""
    found = re.fullmatch(r"(\d{1,2})([.-])(\d{1,2})\2(\d{4})", text.strip())
    day = parse_date(f"{found[4]}-{found[3]:0>2}-{found[1]:0>2}" if found else text.strip())
    return None if day is None else day.isoformat()


def missing_codes(text: str, *, has_comma: bool = False) -> tuple[str, ...]:
    """Return the codes in a cell that says what means "missing", with or without labels. Where numbers have a decimal
    comma, 99,9 is one.
    """
    if has_comma and point_number(text.strip()) != text.strip():
        return (point_number(text.strip()),)
    parts = [each for part in _parts(text.strip()) for each in part.split(", ")] if "=" not in text else _parts(text)
    pairs = (_pair(_FORMS[0], each.strip()) or (each.strip(), "") for each in parts)
    return tuple(parse_day(code) or point_number(code) for code, _ in pairs if code and len(code) <= LONGEST_BARE)
