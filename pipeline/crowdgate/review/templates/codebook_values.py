"""The values of a column as codebooks write them in one cell: `1=Male; 2=Female`, `1, Yes | 0, No` or `0 to 140`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil

from crowdgate.contracts.cell_form import ISO
from crowdgate.domain import parse_number
from crowdgate.review.templates.code_runs import has_next, run_entries
from crowdgate.review.templates.codes_behind_labels import (
    code_behind,
    ends_in_code,
    with_codes_first,
    without_codes_behind,
)
from crowdgate.review.templates.codes_outside import codes_beyond, counted_as_missing, negative_codes
from crowdgate.review.templates.dictionary_types import day_form
from crowdgate.review.templates.draft_column import Values
from crowdgate.review.templates.entry_forms import TO, plain_entries
from crowdgate.review.templates.figure_columns import plain_labels, with_doubtful_figures, without_marked_counts
from crowdgate.review.templates.one_ended_ranges import from_zero, lacks_end
from crowdgate.review.templates.open_ends import is_cut_note, is_open_end, is_open_start
from crowdgate.review.templates.special_labels import (
    alternatives,
    is_abbreviation,
    is_empty,
    is_empty_entry,
    is_special,
    is_unknown,
    names_no_code,
    without_empty,
)
from crowdgate.review.templates.stated_ranges import (
    END,
    LONGEST_RANGE,
    RANGE,
    UNIT,
    ListedValues,
    parse_day,
    point_number,
    range_alone,
    stated_range,
)
from crowdgate.review.templates.stepped_ranges import is_elided, is_step_of, range_and_step, without_elision
from crowdgate.review.templates.value_brackets import are_brackets

_COMMA = r"(?:(?<!\d),|,(?!\d{3}(?!\d)))"
"""A comma that is no mark between thousands."""
_CODE = r"[\"']?(?P<code>[^\"'=:,|\[\]]{1,40}?)[\"']?"
_FORMS = (
    re.compile(rf"{_CODE}\s*(?:=|:)\s*\[?(?P<label>.*?)\]?", re.DOTALL),
    re.compile(r"(?P<code>[\w.+-]{1,20})\s*\((?P<label>(?=[^()=]*[^\W\d_])[^()=]+)\)"),
    re.compile(rf"{_CODE}\s*(?:{_COMMA}|\s[-–—]\s|\t)\s*(?P<label>.*?)", re.DOTALL),
    re.compile(r"(?P<code>-?\d{1,6}|[A-Z]{1,3})(?:[.)]\s+|(?<=\d)[.)](?=[^\W\d]))(?P<label>\S.*?)", re.DOTALL),
    re.compile(r"(?P<code>-?\d{1,6})\s?[-–—](?P<label>[^\W\d_].*?)", re.DOTALL),
    re.compile(r"(?P<code>[A-Z])\s?[-–—](?P<label>[^\W\d_]{2}.*?)", re.DOTALL),
    re.compile(r"(?P<code>-?\d{1,6}|[A-Z]{1,3})\s*[-–—]\s+(?P<label>\S.*?)", re.DOTALL),
    re.compile(
        rf"(?P<code>-?\d{{7,9}}|-?[A-Z0-9]{{1,6}}(?:[.,]\d)?|[A-Z]{{1,3}}\d{{4,11}})\s+(?!{TO}\s)(?P<label>[^\s\d=:,;–—-].*?)",
        re.DOTALL,
    ),
)
"""The forms of an entry with a label. All entries of a cell have one form."""
_NUMBERED = re.compile(rf"(?P<code>\d{{1,4}})\s+(?!{TO}\s)(?P<label>[^\s=][^=]*)")
"""A form in which labels can begin with digits, where the codes ascend: `1 under 18`, `2 18-24`."""
_NEXT_CODE = re.compile(r",\s*(?=[\"']?[\w.+-]{1,20}[\"']?\s*[=:])")
"""A comma before a code, not one within a label."""
_NEXT_PLAIN = re.compile(
    r",\s*(?=-?\w{1,6}\s+[-–—]\s+[^\W\d])|,\s*(?=(?:-?\d{1,4}|[A-Z]{1,3})[-–—]\s*[^\W\d])|,\s*(?=-?\d{1,4}\s+[^\W\d])"
    r"|,\s*(?=[A-Z]{1,3}\d{1,4}\s+[^\W\d])"
)
"""A comma before a code that a dash, or only a blank, parts from its label: `1 - a, 2 - b` and `01 a, 02 b`."""
_PLAIN_ENTRY = re.compile(
    rf"-?\w{{1,6}}\s+[-–—]\s+[^\W\d].*|(?:-?\d{{1,4}}|[A-Z]{{1,3}})[-–—]\s*[^\W\d].*|(?:-?|[A-Z]{{1,3}})\d{{1,4}}\s+(?!{TO}\s)[^\W\d].*",
    re.DOTALL,
)
_LETTERS = re.compile(rf"(?P<low>[A-Za-z])(?:\s*[-–]\s*|\s+{TO}\s+)(?P<high>[A-Za-z])")
"""A range of letters. `F-M` are two sexes: with a dash, only ranges from A are."""
_NUMBERED_CODES = re.compile(
    rf"(?P<mark>[A-Za-z])(?P<low>\d{{1,4}})(?:\s*[-–]\s*|\s+{TO}\s+)(?P=mark)(?P<high>\d{{1,4}})"
)
"""A range of numbers behind one letter."""
MOST_MARKS = 16
"""The most marks and blanks in a row that can say something: lists with thousands of them would take minutes."""
_REPEATED_MARKS = re.compile(rf"(\W{{1,3}})\1{{{MOST_MARKS},}}")
MOST_CODES = 200
"""The most codes of a range that are values."""
_BEGINS_WITH_CODE = re.compile(r"(?:-?\d+|[A-Z]{1,3})(?:\s|$)")
"""The start of an entry behind a range: `0-5, 9` and `0-110, -1 unknown`."""
_CODES_BEHIND = re.compile(r"(?P<range>[^()=]+?)\s*\((?P<codes>[^()]*=[^()]*)\)")
"""A range with codes in brackets behind it: `0 to 140 (-1 = refused, -2 = unknown)`."""
_SINGLE_WORDS = re.compile(r"[\w-]{1,6}=[^\s=;,|]+(?:\s+[\w-]{1,6}=[^\s=;,|]+)+")
"""Codes whose labels are one word, with blanks between them: `1=Yes 0=No`."""
_INNER_CODE = re.compile(r"\s-?\w{1,6}\s?=\s*\S")
_INNER_PLAIN = re.compile(r"(?:,\s+|(?<!\d),)\d{1,4}\s+[^\W\d]")
"""A further code within a label: `mild 3 = severe`, `mild, 3 severe`. No such label is understood."""
_INNER_DASH = re.compile(r"[,;]\s+(?:-\d{1,4}\s+|-?\d{1,4}\s+[-–—]\s+)[^\W\d]")
"""A further code within a label, with a dash behind it, or a negative one."""
_CODED_TEXT = re.compile(r"[^\W\d_]{1,4}\d{3,}\S*\s+[^\W\d].*", re.DOTALL)
"""A text that begins with a code of letters and several digits."""
_CODED = re.compile(r"-?\d{1,6}\s*[-–—:.)]\s*[^\W\d_]{2}.*|-?\d{1,6}\s+[^\W\d].*", re.DOTALL)
"""A text that begins with a code and its label."""
QUOTES = "'\""
"""The quotation marks around codes and labels."""
_QUOTED_LABEL = re.compile(
    r"(?P<code>[^\s'\"]{1,20}|'[^'\"]{1,20}'|\"[^'\"]{1,20}\") ?[=:]? ?"
    r"(?:'(?P<one>[^']*)'|\"(?P<two>[^\"]*)\")[ ,;/]*"
)
"""A code with its label in quotation marks, as in SPSS: `1 'Male' 2 'Female'`."""
_CODE_BEHIND_RANGE = re.compile(
    rf"(?P<range>{RANGE.pattern})\s+(?P<entry>(?!0\d|\d{{3}}\b)\d+\s*=\s*[^=|;\n]+)", re.IGNORECASE
)
"""A range with one code behind it: `1 - 6  6 = 6 or more`. With three digits, the code can be a part of the end."""
_CODE_IN_WORDS = re.compile(
    r"(?<![\w.,-])(?P<code>-?\d+(?:[.,]\d+)?|[A-Z]{1,3}|[*?])(?:\s*[=:]\s*|\s+(?i:if|when|for|means|pomeni|znači|bedeutet|signifie|significa"
    r"|betekent|betyder|oznacza|znamená|означава|означает|wenn|falls|bei|für"
    r"|indien|als|voor|se|per|si|pour|para|om|hvis|ved|jeśli|gdy|dla|pokud)\s+)(?P<label>[^=:;,.()\[\]]+)"
)
"""A number, or a few capital letters, among words, with what it stands for."""
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)[ ,.'\u00a0\u202f](?=\d{3}(?!\d))")
_DASHED = re.compile(r"(?:(?<=[,;|/\n(])|(?<=[,;|/] )|^)[–−—](?=\d)|(?<![\d\s])−(?=\d)")
_CODE_BEHIND = re.compile(
    r"(?P<rest>.*?)(?:\s*[,;|]\s*(?:(?:or|and|oder|und|ou|et|o|y|e|of|en|eller|och|og|lub|albo|i|nebo)\s+)?"
    r"|\s+(?:or|and|oder|und|ou|et|o|y|e|of|en|eller|och|og|lub|albo|i|nebo)\s+)(?P<code>-?\d+(?:[.,]\d+)?)",
    re.IGNORECASE | re.DOTALL,
)
"""A code at the end, behind a comma or a word."""
_CODE_PART = re.compile(r"(?P<code>-?\d{1,4})\s*(?:[-–—]\s*|\s)(?P<label>[^\W\d].*)", re.DOTALL)
_HEAD = re.compile(r"[^\W\d][^=:;|\n]{0,60}:\s*(?=[^\s=:]{1,20}\s*=)")
"""The words before a list: `Sex: M = male, F = female`."""
ANSWERS = re.compile(
    r"yes|no|oui|non|ja|nein|nee|nej|nei|s[ií]|sì|sim|não|tak|nie|true|false|(fe)?male|(wo)?man|männlich|weiblich|frau"
    r"|mann|hombre|mujer|var[oó]n|homme|femme|uomo|donna|maschio|femmina|homem|mulher|vrouw|kvin(de|ne|na)|mand"
    r"|erkek|kadın|evet|hayır|άνδρας|γυναίκα|ναι|όχι|férfi|nő|igen|nem|bărbat|femeie|男性?|女性?|是|否|예|아니오|남자?|여자?|はい|いいえ"
    r"|mężczyzna|kobieta|masculino?|f[eé]minino?|femenino|ano|ne|muž|žena|kvinn?[oe]?",
    re.IGNORECASE,
)
"""The labels of two answers or sexes: a list, however far their codes are apart."""
_NOT = re.compile(r"^(?:not|no|non|ej|inte|ikke|nicht|kein\w*|niet|geen|nie|ne)[ -]+")
"""The words that deny a label."""
_REPEATED = re.compile(r"\(?(?P<code>-?[\w.]+?)(?:\)\s*|[.:]\s+|\s+[-–]\s+)(?P<label>\S.*)", re.DOTALL)
"""A label that begins with a code."""
_REPEATED_END = re.compile(r"^(\d+)\s+(\1\D.*)$")
"""A number, blanks, and a label that begins with the same number."""
_BARE = re.compile(r"[\w.+-]{1,20}")
"""A code without a label."""
_BARE_LIST = re.compile(r"(?:[\w.+-]{1,6},\s*){2}")
"""The start of a list of codes: `0, 1, 2 or more`."""
_UNCLEAR = re.compile(rf"{END}.*[.,/]\d{{3,4}}")
"""A range that can be read in two ways: `0 - 500.000` and `01/02/2020 - 03/04/2020`."""
_IN_BRACKETS = re.compile(r"\s*\((?=[^()=]*[^\W\d_])[^()=]+\)")
"""Words in brackets behind a code: `I (indeterminate)`, `1 (most deprived) to 10 (least deprived)`; counts are none."""
_FORM_OF_DAYS = re.compile(r"([dmyjthseagrå])\1{1,3}([/.:, -]([dmyjthseagrå])\3{1,3})+", re.IGNORECASE)
"""A form of days or times, such as dd/mm/yyyy: no list of values."""
_YEAR_SPAN = re.compile(r"(?:19|20)\d\d/(?:(?:19|20)\d\d|\d\d)")
"""One value that spans two years, such as the academic year 2022/23: no list of two values."""
_OTHER = re.compile(r"\b(other|another|none of|no opinion|andere[rs]?|sonstige[rs]?)\b", re.IGNORECASE)
"""The labels of codes that often stand apart from the others of a list."""
MOST_ANCHORS = 5
"""The most labels with gaps between their codes that count as points of a scale; more are a list of codes, and so are
three and more that begin above 1, unless their labels repeat numbers: `65 = 65 or older`."""
MOST_SKIPPED = 1
"""The most codes without labels between five labels that are a list."""
_OFTEN_SPECIAL = {8, 9, 88, 98, 99, 888, 998, 999}
"""The codes that often stand for answers beside a list: 1, 2 and 9 are no points of a scale."""
_KEPT_FOR_UNKNOWN = re.compile(r"-\d{1,4}|([789])\1{0,3}|9{1,3}[6-8]")
"""The codes that lists keep for unknown, unless the code before them is one of a value."""
_WORDS = re.compile(r"(?!(?:or|and|other|none|no|oder|und|ou|et)\b)[^\W\d]\S*(?:\s+\S+)+", re.IGNORECASE)
"""Several words that are no value."""
_CUT = re.compile(r"\bcoded|\bcap|\bmore|\bover|\babove|\bless|\bunder|\bbelow|\bmax|\bmin|\bexcept", re.IGNORECASE)
"""The words on the ends of a range."""
MOST_IN_RANGE = 100
"""The most codes of a range of missing codes."""
LONGEST_BARE = 30
"""The greatest length of a value in a list without labels."""


def listed_values(text: str) -> ListedValues:
    """Return what a cell of a codebook says about the values of a column; nothing if it is no list and no range."""
    text = _REPEATED_MARKS.sub(lambda each: each[0][:MOST_MARKS], text)
    if "/" in text and not set("=\n;|") & set(text.strip()) and is_special(text.strip()):
        return ListedValues()  # such as n/a, which are no two values
    text = with_codes_first(plain_entries(without_marked_counts(with_minus(text))))
    rest, behind = without_codes_behind(text)
    if behind:
        found = listed_values(rest)
        return replace(found, missing=(*found.missing, *behind))
    said = range_alone(_unwrapped(_HEAD.sub("", text.strip())))
    if (whole := from_zero(said)) != said and _is_plain_range(found := listed_values(whole)):
        return replace(found, from_zero=True)
    if lacks_end(said):
        return ListedValues(unread=said)
    text = range_alone(without_elision(said))
    if (days := _behind_form(text)) is not None:
        found = listed_values(days)
        fits = found.day_form in ("", ISO, day_form(text)) and found.bounds is not None
        return found if fits else ListedValues(unread=" ".join(said.split()))
    bare, step = range_and_step(text)
    if step and RANGE.fullmatch(range_alone(bare)):
        return _stepped(listed_values(bare), step, said)
    parts, step = _with_bare_range(_without_empty(_without_heading(_parts(text))))
    if not parts:
        return ListedValues()
    if step:
        return _stepped(listed_values("; ".join(parts)), step, said)
    if remark := _remark_behind(parts):
        return replace(listed_values(parts[0]), remark=remark)
    pairs = _pairs(parts)
    is_open = _UNCLEAR.fullmatch(text) or _YEAR_SPAN.fullmatch(text)
    is_list = len(parts) > 1 or "=" in text or _BARE_LIST.match(text) or is_open
    unread = ListedValues(unread=" ".join(said.split())) if is_list else ListedValues()
    if any(map(is_elided, parts)):
        return unread
    if not any(label for _, label in pairs) and any(map(_seems_coded, parts)) and not are_brackets(parts):
        return ListedValues(unread=" ".join(text.split()))  # else the texts would be values
    if len(pairs) != len(parts) or (len(parts) == 1 and not (_is_range(pairs[0][0]) or special_codes(pairs))):
        return unread
    return values_of_pairs(pairs, unread)


def _remark_behind(parts: Sequence[str]) -> str:
    """Return the words behind a range that are no values, as there are several, without a number, in the first part:
    `1..9; first stage unit; generated`. Empty if these are something else.
    """
    words = [each for each in parts[1:] if not re.search(r"[\d=:]", each) and not is_special(each)]
    is_remark = len(parts) > 1 and len(words) == len(parts) - 1 and _WORDS.fullmatch(words[0])
    return "; ".join(words) if is_remark and RANGE.fullmatch(parts[0]) and not _CUT.search(" ".join(words)) else ""


def _is_plain_range(found: ListedValues) -> bool:
    """Return whether a cell states a range, and perhaps codes for no value, and nothing else."""
    return found.bounds is not None and not (found.values or found.unread or found.remark or found.top)


def with_minus(text: str) -> str:
    """Return a text in which the dashes before numbers at the start of entries are the sign minus."""
    return _DASHED.sub("-", text)


def _behind_form(text: str) -> str | None:
    """Return the range of days behind their form: `YYYY-MM-DD, from 2021-04-01 to 2021-06-30`; None without both."""
    found = _FORM_OF_DAYS.match(text)
    behind = text[found.end() :].lstrip(" ,;:(").rstrip(" )") if found else ""
    ends = RANGE.fullmatch(behind)
    return behind if ends and not any(parse_number(each) for each in ends.group("low", "high")) else None


def range_beside(text: str, codes: Sequence[str]) -> ListedValues:
    """Return a range beside codes that other words call missing, with those: `0 to 5000, or -1`; empty for others."""
    rest, used = text.strip(), list[str]()
    while (found := _CODE_BEHIND.fullmatch(rest)) and point_number(found["code"]) in codes:
        rest, used = found["rest"].strip(), [point_number(found["code"]), *used]
    ends = RANGE.fullmatch(range_alone(rest)) if used else None
    stated = stated_range(*ends.group("low", "high")) if ends else ListedValues()
    return replace(stated, missing=tuple(used)) if stated.bounds else ListedValues()


def _with_bare_range(parts: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return the entries of a list in which the only range has lost its unit, as `0 to 98 years` beside codes with a
    sign of equality or for no value; and the step that stands behind the range.
    """
    bare = [range_alone(range_and_step(each)[0]) for each in parts]
    changed = [at for at, each in enumerate(parts) if bare[at] != each and RANGE.fullmatch(bare[at])]
    others = [each for at, each in enumerate(parts) if at not in changed]
    if len(changed) != 1 or not all(_is_coded(each) for each in others):
        return parts, ""
    return [bare[at] if at in changed else each for at, each in enumerate(parts)], range_and_step(parts[changed[0]])[1]


def _is_coded(entry: str) -> bool:
    """Return whether an entry is a code with a label behind a sign of equality, or with one for no value."""
    found = (pair for form in _FORMS if (pair := _pair(form, entry)) and pair[1])
    return "=" in entry or any(special_codes([pair]) or is_open_end(*pair) for pair in found)


def _seems_coded(entry: str) -> bool:
    """Return whether an entry that is no range begins with a code and its label."""
    return bool(_CODED.fullmatch(entry) or _CODED_TEXT.fullmatch(entry)) and not _is_range(entry)


def _stepped(found: ListedValues, step: str, text: str) -> ListedValues:
    """Return a range with its step; what stands there, as unread, if these do not fit."""
    decimals = len(step.partition(".")[2])
    if not is_step_of(found.bounds, step) or found.unread:
        return ListedValues(unread=" ".join(text.split()))
    return replace(found, step=step, decimals=max(decimals, found.decimals or 0))


def values_of_pairs(stated: Sequence[tuple[str, str]], unread: ListedValues) -> ListedValues:
    """Return what codes, and ranges, with their labels say; `unread` if they are no full list. Words for an empty cell
    are no code.
    """
    if not any(label for _, label in stated):  # each row of a variable can state both in one cell: `1: Yes`
        parts = _pairs([code for code, _ in stated])
        stated = parts if len(parts) == len(stated) else stated
    stated = [pair for each in stated for pair in _parted(*each)]
    bare = plain_labels(stated)
    if bare is None:
        return ListedValues(unread=with_doubtful_figures(stated))
    stated = bare
    entries = [f"{code} = {label}" if label else code for code, label in stated]
    if are_brackets(entries):
        return ListedValues(tuple(stated))
    empty = [is_empty_entry(each, entries) for each in entries]
    filled = [(without_empty(code), label) for (code, label), none in zip(stated, empty, strict=True) if not none]
    pairs = [pair for each in filled for pair in _expanded(*each)]
    if len({code for code, _ in pairs}) != len(pairs):
        return unread
    special = tuple(code for code, label in pairs if special_codes([(code, label)]))
    if are_brackets([code for code, _ in pairs if code not in special]):
        return without_unknown(ListedValues(tuple(pairs)))
    ranges = [code for code, _ in pairs if RANGE.fullmatch(code)]
    if ranges and (len(ranges) == 1 or any(label for _, label in pairs)):
        return _ranged(pairs, filled, ranges, special) or replace(unread, missing=tuple(map(point_number, special)))
    if special_codes(pairs) and not _are_places(pairs):
        return ListedValues(missing=special)
    return without_unknown(without_scale(tuple(pairs))) if pairs else ListedValues()


def _parted(code: str, label: str) -> list[tuple[str, str]]:
    """Return a range whose label is one code with its own label as both: `1 - 6` beside `6 = 6 or more`."""
    found = re.fullmatch(r"(\d+)\s*=\s*([^=]+)", label) if RANGE.fullmatch(code) else None
    return [(code, ""), (found[1], found[2])] if found else [(code, label)]


def _ranged(
    pairs: Sequence[tuple[str, str]], filled: Sequence[tuple[str, str]], ranges: Sequence[str], special: tuple[str, ...]
) -> ListedValues | None:
    """Return a range with the codes that stand for no value, and the words behind it; None if others stand there."""
    outside = _beyond(ranges[0], tuple(pair for pair in pairs if pair[0] not in (*ranges, *special)))
    others = [(code, label) for code, label in pairs if code not in (*ranges, *special, *outside)]
    labels = [label for code, label in filled if code in ranges and label and not UNIT.fullmatch(label)]
    missing = tuple(map(point_number, (*special, *outside)))
    if _names_number("; ".join(labels)):
        said = "; ".join(" ".join(filter(None, each)) for each in filled)
        return ListedValues(unread=said, missing=missing)
    found = _one_range(ranges, others)
    doubtful = tuple(pair for pair in pairs if pair[0] in outside and not pair[0].startswith("-"))
    remark = "; ".join(filter(None, [*labels, counted_as_missing(doubtful)]))
    return replace(found, missing=missing, remark=remark) if found else None


def _beyond(ends: str, labelled: Values) -> tuple[str, ...]:
    """Return the codes outside a range that stand for no value."""
    found = RANGE.fullmatch(ends)
    bounds = stated_range(*found.group("low", "high")).bounds if found else None
    return codes_beyond(bounds, labelled) if bounds else ()


def _names_number(remark: str) -> bool:
    """Return whether words behind a range begin with a number, be it behind `or`: it can be a further value."""
    return bool(re.match(r"(?:[^\W\d]{1,6}\s+)?-?\d", remark))


def _one_range(ranges: Sequence[str], others: Sequence[tuple[str, str]]) -> ListedValues | None:
    """Return a range, with its open end if that has a label: `95 = 95 or older` after 0-94 or 0-95. None if there are
    several ranges, or other codes.
    """
    found = RANGE.fullmatch(ranges[0])
    if found is None or len(ranges) > 1 or len(others) > 1:
        return None
    low, high = found.group("low", "high")
    ends = (
        {high, str(ceil(parse_number(high) or 0)) if "." in high else str(int(high) + 1)} if _is_plain(high) else set()
    )
    if others and not (others[0][0] in ends and is_open_end(*others[0])):
        return None
    stated = stated_range(low, others[0][0] if others else high)
    return replace(stated, top=bool(others)) if stated.bounds else None


def _is_plain(number: str) -> bool:
    """Return whether a number is written with digits, and perhaps a point."""
    return bool(re.fullmatch(r"\d+(?:\.\d+)?", number))


def _is_range(code: str) -> bool:
    return bool(RANGE.fullmatch(code)) or len(_expanded(code, "")) > 1


def _expanded(code: str, label: str) -> list[tuple[str, str]]:
    """Return the letters, or the codes `G01-G14`, of a range of them, each without a label; other codes with theirs."""
    if numbered := _NUMBERED_CODES.fullmatch(code):
        mark, low, high = numbered.group("mark", "low", "high")
        codes = codes_between(int(low), int(high), len(low)) if len(low) == len(high) else []
        return [(f"{mark}{each}", "") for each in codes] or [(code, label)]
    found = _LETTERS.fullmatch(code)
    low, high = (ord(each) for each in found.group("low", "high")) if found else (0, 0)
    is_known = found and found["low"].isupper() == found["high"].isupper() and low < high
    if not is_known or (("-" in code or "–" in code) and low not in (ord("A"), ord("a"))):
        return [(code, label)]
    return [(chr(each), "") for each in range(low, high + 1)]


def codes_between(low: int, high: int, digits: int) -> list[str]:
    """Return the codes of a range with zeros before them: 01 to 12; none if there are too many."""
    few = 0 < high - low < MOST_CODES
    return [f"{each:0{digits}}" for each in range(low, high + 1)] if few else []


def _unwrapped(text: str) -> str:
    """Return a list without the brackets and quotation marks of programs: `['m', 'w']` or `{"1": "Yes"}`."""
    is_wrapped = text[:1] + text[-1:] in ("[]", "{}", "()")
    return re.sub(r"(?<!\w)(['\"])(.*?)\1(?!\w)", r"\2", text[1:-1]) if is_wrapped and "]" not in text[:-1] else text


def without_unknown(listed: ListedValues) -> ListedValues:
    """Return values without those whose label says that the value is unknown: these are missing codes. A list that
    would be left with less than two values stays.
    """
    unknown = [
        code
        for code, label in listed.values
        if (is_unknown(label or code) or (label and is_special(label))) and not _is_place(code, listed.values)
    ]
    negative = [code for code in negative_codes(listed.values) if code not in unknown]
    kept = tuple(pair for pair in listed.values if pair[0] not in (*unknown, *negative))
    if not (unknown or negative) or len(kept) < 2:
        return listed
    said = counted_as_missing(tuple(pair for pair in listed.values if pair[0] in negative))
    return replace(listed, values=kept, missing=(*listed.missing, *unknown, *negative), remark=listed.remark or said)


def _is_place(code: str, values: Values) -> bool:
    """Return whether what can abbreviate "unknown" is a value of its list: DK of `DE, DK, SE`. It is if it is a code
    without another label, or if other labels are as short and its code is not one that lists keep for unknown.
    """
    label = dict(values)[code]
    if not is_abbreviation(label or code):
        return False
    others = [text for _, text in values if text and not (is_special(text) or ANSWERS.fullmatch(text))]
    follows = (number := _whole(code)) is not None and any(
        other == str(number - 1) and text in others for other, text in values
    )
    is_kept = _KEPT_FOR_UNKNOWN.fullmatch(code) is not None and (code.startswith("-") or not follows)
    return label in ("", code) or (not is_kept and any(len(text) <= len(label) for text in others))


def _are_places(pairs: Sequence[tuple[str, str]]) -> bool:
    """Return whether all labels of a list can abbreviate "unknown", and its codes are those of values: their labels, or
    the numbers from 1 on.
    """
    is_numbered = [code for code, _ in pairs] == [str(at) for at in range(1, len(pairs) + 1)]
    is_own = all(code == label for code, label in pairs)
    return len(pairs) > 1 and (is_numbered or is_own) and all(is_abbreviation(label) for _, label in pairs)


def _has_no_value(code: str, values: Values) -> bool:
    """Return whether the label of a code says that there is no value."""
    return special_codes([(code, dict(values)[code])]) and not _is_place(code, values)


def without_scale(values: Values, bounds: tuple[str, str] | None = None) -> ListedValues:
    """Return labelled values as the domain that they are, or as unread if they name only some values of a scale: one
    number, few numbers with gaps between them, or all inside `bounds` that reach beyond them.
    """
    plain = [(code, label) for code, label in values if not _has_no_value(code, values)]
    numbers = sorted(number for code, _ in plain if (number := _whole(code)) is not None)
    labelled = any(label for _, label in plain)
    if not labelled or len(numbers) < len(plain) or not plain:
        return ListedValues(values, bounds)
    others = {int(code) for code, label in plain if _OTHER.search(label)}
    points = [each for each in numbers if each != numbers[-1] or each not in others]
    if all(ANSWERS.fullmatch(label) for _, label in plain) or _is_negated([label for _, label in plain]):
        return ListedValues(values, bounds)
    is_scale = len(points) == 2 or points[0] <= 1 or any(code in label for code, label in plain)
    core = [each for each in points if not _is_apart(each)]
    if len(core) > 1 and core[-1] - core[0] == len(core) - 1:
        points = core  # the others stand apart from a list
    most = MOST_SKIPPED if len(points) == MOST_ANCHORS else 0
    has_gaps = is_scale and 1 < len(points) <= MOST_ANCHORS and points[-1] - points[0] >= len(points) + most
    limits = [_whole(each) for each in bounds or () if each not in dict(values)]
    beyond = any(each is not None and not numbers[0] <= each <= numbers[-1] for each in limits)
    if len(plain) > 1 and not has_gaps and not beyond:
        return ListedValues(values, bounds)
    named = "; ".join(f"{code} = {label}" for code, label in plain)
    missing = tuple(code for code, label in values if (code, label) not in plain)
    return ListedValues(bounds=bounds, missing=missing, unread=named)


def _is_negated(labels: Sequence[str]) -> bool:
    """Return whether of two labels one denies the other: `employed` and `not employed`."""
    bare = {_NOT.sub("", each.casefold()) for each in labels}
    return len(labels) == 2 and len(bare) == 1


def _is_apart(code: int) -> bool:
    """Return whether a code often stands for an answer beside a list."""
    return code in _OFTEN_SPECIAL or 90 <= code <= 99 or 990 <= code <= 999


def _whole(code: str) -> int | None:
    """Return the whole number that a code writes without a zero before it; None for other codes."""
    return int(code) if re.fullmatch(r"-?(0|[1-9]\d{0,8})", code) else None


def special_codes(values: Sequence[tuple[str, str]]) -> bool:
    """Return whether the labels of all values say that there is no value: such as 997, don't know."""
    return bool(values) and all(is_special(label) for _, label in values)


def codes_in_words(text: str) -> tuple[str, ...]:
    """Return the numbers that words on a variable call missing: 999 of `Weight in kg (999 = unknown)`."""
    text = with_minus(text)
    named = [point_number(found["code"]) for found in _CODE_IN_WORDS.finditer(text) if is_special(found["label"])]
    return tuple(dict.fromkeys([*named, *_codes_of_parts(text)]))


def _codes_of_parts(text: str) -> Iterator[str]:
    """Yield the codes of parts of words that are nothing but a code that lists keep for unknown and its meaning: `-8
    refused`, `99 - not asked`. `99 missing` can be a count.
    """
    for part in re.split(r"[,;()\n]\s*|\.\s+", text):
        if code := code_behind(part.strip(" .")):
            yield code
        found = _CODE_PART.fullmatch(part.strip(" ."))
        is_count = (
            found and not found["code"].startswith("-") and re.match(r"missing|no |unknown", found["label"], re.I)
        )
        if found and not is_count and _KEPT_FOR_UNKNOWN.fullmatch(found["code"]) and is_special(found["label"]):
            yield found["code"]


def has_open_end(end: str, words: Sequence[str]) -> bool:
    """Return whether words, or the codes that stand among them, say that a range has an open end: `4 = 4 or more`."""
    return any(is_cut_note(end, text) for text in words) or any(
        is_open_end(each["code"], each["label"])
        for text in words
        for each in _CODE_IN_WORDS.finditer(_BETWEEN_THOUSANDS.sub("", text))
        if each["code"] == end
    )


def has_open_start(start: str, words: Sequence[str]) -> bool:
    """Return whether codes among words say that the least number stands for smaller ones: `1930 = 1930 or earlier`."""
    found = (each for text in words for each in _CODE_IN_WORDS.finditer(text) if each["code"] == start)
    return any(is_open_start(each["code"], each["label"]) for each in found)


def bare_label(code: str, label: str) -> str:
    """Return a label without the code that it repeats: `Male` of `1. Male` and `(1) Male`."""
    found = _REPEATED.fullmatch(label)
    return found["label"] if found and found["code"] == code else label


def _parts(text: str) -> list[str]:
    """Return the entries of a list; the text itself if it is none. Codes in brackets behind a range are entries."""
    text = re.sub(r",\s*\n\s*", ", ", text)
    entries = [text] if _range_with_codes(text) else _entries(text)
    return [_REPEATED_END.sub(_labelled_end, part) for each in entries for part in _range_with_codes(each) or [each]]


def _labelled_end(found: re.Match[str]) -> str:
    """Return a number and its label that repeats it, `85  85 years and over`, with a sign of equality between them."""
    return f"{found[1]} = {found[2]}" if is_open_end(found[1], found[2]) else found[0]


def _range_with_codes(text: str) -> list[str]:
    """Return a range and the codes in brackets behind it; none if the text is something else."""
    found = _CODES_BEHIND.fullmatch(text) if len(text) <= LONGEST_RANGE else None
    bare = range_alone(found["range"]) if found else ""
    return [bare, *re.split(r"[;,]\s*", found["codes"])] if found and RANGE.fullmatch(bare) else []


def _entries(text: str) -> list[str]:
    """Return the entries of a list; the text itself if it is none."""
    if RANGE.fullmatch(bare := _IN_BRACKETS.sub("", text)):
        return [bare]
    if labelled := _quoted_labels(text):
        return labelled
    if _SINGLE_WORDS.fullmatch(text):
        return re.split(r"\s+", text)
    if found := _CODE_BEHIND_RANGE.fullmatch(text):
        return [found["range"], found["entry"]]
    for mark in ("|", "\n", ";", " / "):
        if mark in text:
            return [each.strip() for each in text.split(mark) if each.strip()]
    if len(parts := _NEXT_CODE.split(text)) > 1:
        codes = [each.strip() for each in re.split("[,/]", parts[0])]
        return [*codes, *parts[1:]] if all(map(_BARE.fullmatch, codes)) else parts
    if len(parts := _NEXT_PLAIN.split(text)) > 1 and all(map(_PLAIN_ENTRY.fullmatch, parts)):
        return parts
    if _FORM_OF_DAYS.fullmatch(text) or _YEAR_SPAN.fullmatch(text):
        return [text]
    if run := run_entries(text):
        return run
    if any(special_codes([pair]) for form in _FORMS if (pair := _pair(form, text))):
        return [text]  # such as 99 N/A
    for mark in (",", "/"):
        parts = [each.strip() for each in text.split(mark)]
        plain = [_IN_BRACKETS.sub("", each) for each in parts]
        if len(parts) > 1 and all(each and (" " not in each or _is_range(each)) for each in plain):
            return parts
    first = RANGE.match(bare)
    others = re.split(r",\s+", bare[first.end() :]) if first else []
    is_listed = len(others) > 1 and not others[0] and all(map(_BEGINS_WITH_CODE.match, others[1:]))
    return [bare[: first.end()], *others[1:]] if first and is_listed else [text]


def _quoted_labels(text: str) -> list[str]:
    """Return the entries of a list whose labels stand in quotation marks; none if other words stand there."""
    text, at, found = " ".join(text.split()), 0, list[str]()
    while at < len(text) and (each := _QUOTED_LABEL.match(text, at)):
        found.append(f"{each['code'].strip(QUOTES)} = {each['one'] or each['two'] or ''}")
        at = each.end()
    return found if at == len(text) and len(found) > 1 else []


def _without_heading(parts: Sequence[str]) -> Sequence[str]:
    """Return the entries of a list without a first one that names the column, beside codes for no value: `1900 =
    unknown` of `Year of birth; 1900 = unknown`."""
    others = [each for part in parts[1:] if (each := _pair(_FORMS[0], part)) is not None]
    coded = len(others) == len(parts) - 1 and special_codes(others)
    named = coded and re.fullmatch(r"[^\W\d_]{4,}( [^\W\d_]+)*", parts[0])
    return parts[1:] if named else parts


def _without_empty(parts: Sequence[str]) -> Sequence[str]:
    """Return the entries of a list without those for an empty cell, with their words: `blank Not asked`."""
    if len(parts) == 1 and is_empty_entry(parts[0], parts):
        return []
    kept = [each for each in parts if not is_empty_entry(each, parts)]
    return kept if len(kept) > 1 else parts


def _pairs(parts: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Return the code and the label of each entry: in the first form that all have, where ranges and, beside signs of
    equality, single codes need no label; or else without labels. An entry that is not read is left out.
    """
    if are_brackets(parts):
        return [(each, "") for each in parts]
    for form in _FORMS:
        pairs = [pair for each in parts if (pair := _pair(form, each)) is not None]
        if len(pairs) == len(parts) and any(label for _, label in pairs):
            return pairs
    if sum(map(_is_range, parts)) == 1 < len(parts):  # beside a range, each code has the form that it has
        own = [next(filter(None, (_pair(form, each) for form in _FORMS)), None) for each in parts]
        if all(each is not None and (each[1] or _is_range(each[0])) for each in own):
            return [each for each in own if each is not None]
    numbered = [(found["code"], found["label"]) for each in parts if (found := _NUMBERED.fullmatch(each))]
    is_one_each = not any(
        _INNER_PLAIN.search(label) or has_next(code, label) or ends_in_code(label) for code, label in numbered
    )
    if (
        len(parts) == len(numbered) > 1
        and is_one_each
        and all(int(one) < int(two) for (one, _), (two, _) in pairwise(numbered))
    ):
        return numbered
    worded = [each for each in parts if codes_in_words(each)]
    return [(each, "") for each in parts if len(each) <= LONGEST_BARE and not _FORMS[0].fullmatch(each) and not worded]


def _pair(form: re.Pattern[str], entry: str) -> tuple[str, str] | None:
    """Return the code and the label of an entry of a form; None for another form."""
    if _is_range(bare := _IN_BRACKETS.sub("", entry)):
        return bare, ""
    if form in _FORMS[:2] and _BARE.fullmatch(entry):
        return entry, ""
    found = form.fullmatch(entry)
    code, label = (found["code"].strip(), " ".join(found["label"].split())) if found else ("", "")
    further = (
        _INNER_CODE.search(label) or _INNER_DASH.search(label) or (form is _FORMS[-1] and _INNER_PLAIN.search(label))
    )
    is_one = (
        code.count("(") == code.count(")")
        and not further
        and not ends_in_code(label)
        and not (form is _FORMS[-1] and has_next(code, label))
    )
    return (code, label) if code and label and is_one else None


def missing_codes(text: str, *, has_comma: bool = False) -> tuple[str, ...]:
    """Return the codes in a cell that says what means "missing", with or without labels. Where numbers have a decimal
    comma, 99,9 is one.
    """
    if has_comma and point_number(text.strip()) != text.strip():
        return (point_number(text.strip()),)
    text, behind = without_codes_behind(with_minus(text))
    if behind:
        return (*missing_codes(text, has_comma=has_comma), *behind) if text.strip() else behind
    parts = [each for part in _parts(text.strip()) for each in part.split(", ")] if "=" not in text else _parts(text)
    pairs = (_missing_pair(each) for part in parts for each in alternatives(part.strip()))
    codes = (
        each for code, _ in pairs if code and len(code) <= LONGEST_BARE for each in _range_of_codes(without_empty(code))
    )
    filled = (each for each in codes if not (is_empty(each) or is_empty_entry(each, [each]) or names_no_code(each)))
    return tuple(parse_day(code) or point_number(code) for code in filled)


def _missing_pair(entry: str) -> tuple[str, str]:
    """Return a missing code and its label, which has no number in forms without a sign of equality: 99 (refused)."""
    found = (pair for form in _FORMS[1:] if (pair := _pair(form, entry)) and pair[1] and not re.search(r"\d", pair[1]))
    numbered = next((pair for pair in found if parse_number(point_number(pair[0])) is not None), None)
    return _pair(_FORMS[0], entry) or numbered or (entry, "")


def _range_of_codes(code: str) -> list[str]:
    """Return each whole number of a short range of missing codes: `-9 thru -1`; another code alone."""
    found = RANGE.fullmatch(code)
    low, high = (_whole(each) for each in found.group("low", "high")) if found else (None, None)
    if low is None or high is None or not 0 <= high - low < MOST_IN_RANGE:
        return [code]
    return [str(each) for each in range(low, high + 1)]
