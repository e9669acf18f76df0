"""The range of a number that its label, or a note on it, states: `Score (0-30)`, `Range 0 to 112`, `De 0 a 80`."""

import re
from collections.abc import Sequence
from dataclasses import replace

from crowdgate.domain import parse_number
from crowdgate.review.templates.dictionary_types import DECIMAL_PLACES
from crowdgate.review.templates.entry_forms import RANGE_WORDS
from crowdgate.review.templates.stated_ranges import ListedValues, stated_range

_NUMBER = r"-?\d+(?:[.,]\d+)*"
_TO = r"(?:-|–|to|\.\.|through|thru|bis|à|a|hasta|até|tot|til|till|do|al|au|až|t/m)"
_ENDS = rf"(?P<low>{_NUMBER})\s*{_TO}\s*(?P<high>{_NUMBER})"
_FORMS = (
    re.compile(rf"\(\s*{_ENDS}\s*\)|\[\s*{_ENDS.replace('low', 'least').replace('high', 'most')}\s*\]"),
    re.compile(rf"\b(?:range|ranges from|from|scale|valid|score)[ :]+{_ENDS}(?![\w-]|[.,]\d)", re.IGNORECASE),
    re.compile(rf",\s+{_ENDS}\s*$"),
)
_WORDS = rf"(?:{'|'.join(RANGE_WORDS)}|échelle|skala|scale|gamma)"
_FROM = r"(?:from|de|desde|du|von|vom|van|vanaf|fra|från|od|da|dal)"
_BETWEEN = r"(?:between|entre|zwischen|tussen|mellem|mellom|mellan|fra)"
_AND = r"(?:and|und|et|y|e|en|og|och|i)"
_SENTENCES = (
    re.compile(
        rf"(?:{_WORDS}\s*[:=]?\s*(?:{_FROM}\s+)?|{_FROM}\s+){_ENDS}(?P<unit>\s*%|\s+[^\W\d]{{1,10}})?", re.IGNORECASE
    ),
    re.compile(rf"(?P<low>{_NUMBER})\s*\.\.\s*(?P<high>{_NUMBER})"),
    re.compile(rf"(?:{_WORDS}\s*[:=]?\s*)?{_BETWEEN}\s+(?P<low>{_NUMBER})\s+{_AND}\s+(?P<high>{_NUMBER})", re.I),
)
"""A sentence of a note that is a range, and says nothing else."""
_MOST, _LEAST = (
    re.compile(
        rf"\b(?:{words})\w*\.?(?: (?:value|wert|allowed|permitted))?\s*(?:[:=]|is|es|est|ist|de)?\s*(?P<n>{_NUMBER})"
        r"(?!\w)",
        re.I,
    )
    for words in (
        r"max|máx|mass|höchst|größt|najwięk|nejv|högst|største|suurin|greatest|highest|upper limit|hoogste",
        r"min|mín|mindest|kleinst|najmn|nejm|lägst|mindste|pienin|least|lowest|lower limit|laagste",
    )
)
_LIMIT = re.compile(
    rf"(?:{_MOST.pattern.replace('?P<n>', '')}|{_LEAST.pattern.replace('?P<n>', '')}"
    r"|\b(?:top|bottom)[- ]?coded|\bcapp?ed|\btruncated|\bcensored)|"
    rf"\b(?:{_WORDS}|{_BETWEEN}|{_FROM})\s*[:=]?\s*{_NUMBER}\s*(?:{_TO}|{_AND})\s*{_NUMBER}",
    re.IGNORECASE,
)
"""Words on the ends of a range."""
_START = re.compile(rf"{_ENDS}(?:\s*%|\s+[^\W\d]{{1,10}})?\s*(?:[;,]\s+(?:[^\W\d]|-?\d+\s*=)|\.\s|$)", re.IGNORECASE)
"""The range with which a note begins: `0-27; missing if refused`."""
_PAIR = re.compile(rf"(?<![\w.,/-]){_ENDS}(?![\w/-]|[.,]\d)", re.IGNORECASE)
"""Two numbers as of a range."""
_TOP = re.compile(rf"\btop[- ]?coded (?:at|to) (?P<top>{_NUMBER})(?![\w-]|\.\d)", re.IGNORECASE)
_COUNTED = {
    **dict.fromkeys(("one", "un", "una", "uno", "une", "ein", "eine", "een", "en", "ett", "um", "uma", "jedno"), 1),
    **dict.fromkeys(("two", "dos", "deux", "zwei", "due", "dois", "duas", "twee", "två", "to", "dwa", "dvě"), 2),
    **dict.fromkeys(("three", "tres", "trois", "drei", "tre", "três", "drie"), 3),
}
_DECIMALS = re.compile(
    rf"\b(?P<n>[1-9]|{'|'.join(_COUNTED)})\s*(?:{DECIMAL_PLACES})",
    re.IGNORECASE,
)
_YEARS = range(1900, 2100)


def label_range(label: str) -> ListedValues:
    """Return the one range of numbers in a label; empty if there is none, or if there are several. Two years are the
    time of a study, unless the label names years.
    """
    found = {ends for form in _FORMS for each in form.finditer(label) if (ends := _limits(each))}
    return _one(found, label)


def note_range(texts: Sequence[str]) -> ListedValues:
    """Return the one range of numbers that a sentence of notes on a variable is, or that a least and a greatest value
    state, or else that its label has in brackets; empty if there is none, or if there are several. A decimal comma, or
    marks between thousands, are read as in other ranges.
    """
    sentences = [each.strip() for text in texts for each in re.split(r"[.;](?:\s+|$)|[()\n]|,\s+(?=[^\W\d])", text)]
    found = {(each["low"], each["high"]) for text in sentences for form in _SENTENCES if (each := form.fullmatch(text))}
    found |= {(each["low"], each["high"]) for text in texts if (each := _START.match(text.strip()))}
    ends = [{each["n"] for text in texts for each in form.finditer(text)} for form in (_LEAST, _MOST)]
    if not found and all(len(each) == 1 for each in ends):
        found = {(ends[0].pop(), ends[1].pop())}
    joined = " ".join(texts)
    in_labels = (one for text in texts if (one := label_range(text)).bounds)
    listed = _one(found, joined) if found else next(in_labels, ListedValues())
    if listed.bounds is None:
        return listed
    return replace(listed, top=listed.top or top_code(joined) == listed.bounds[1])


def _one(found: set[tuple[str, str]], words: str) -> ListedValues:
    if len(found) != 1:
        return ListedValues()
    low, high = next(iter(found))
    numbers = [parse_number(each) for each in (low, high)]
    are_years = all(each in _YEARS for each in numbers)
    named = re.search(r"(?i)\b(?:year|jahr|ann[ée]e|año|anno|ano|jaar|år|rok)", words)
    return ListedValues() if are_years and not named else stated_range(low, high)


def _limits(found: re.Match[str]) -> tuple[str, str]:
    groups = found.groupdict()
    return groups["low"] or groups.get("least") or "", groups["high"] or groups.get("most") or ""


def states_limits(text: str) -> bool:
    """Return whether words on a variable say something of the ends of its range, be it only of one: two numbers, which
    are no years, can be both.
    """
    pairs = ([parse_number(each) for each in found.group("low", "high")] for found in _PAIR.finditer(text))
    return bool(_LIMIT.search(text)) or any(not {*_YEARS} & {*each} for each in pairs)


def top_code(label: str) -> str:
    """Return the number at which a label says that greater ones are cut, 95 of `Age, top-coded at 95`; or nothing."""
    found = _TOP.search(label)
    return found["top"] if found else ""


def decimals_in_words(text: str) -> int | None:
    """Return the number of decimals that words state: 2 of `7 enteros y 2 decimales`; None if they state none."""
    found = _DECIMALS.search(text)
    return None if found is None else _COUNTED.get(found["n"].lower()) or int(found["n"])
