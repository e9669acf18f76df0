"""The attributes of a variable in its section of a text: `- Type: integer`, `- **Missing:** 99`, which are no codes."""

import re
from collections import Counter
from collections.abc import Sequence

from crowdgate.review.templates.codebook_values import ANSWERS
from crowdgate.review.templates.dictionary_headings import heading_key, heading_key_by_word
from crowdgate.review.templates.dictionary_types import stated_type
from crowdgate.sources.table_header import CellType

Attributes = dict[str, str]
"""The words of a section on a variable, by heading."""
_ATTRIBUTE = re.compile(r"(?:[-*+]\s+)?[*_`]*(?P<left>[^\W\d_][^:=|*`]{2,39}?)[*_`]*\s*:[*_`]*(?:\s+(?P<words>\S.*))?")
_HEADING_OF = {"least": "minimum", "greatest": "maximum", "role": "sensitivity"}
"""The headings of what attributes state, where they are not its own name."""
_UNIT = re.compile(r"units?|einheit|enhed|enhet|unité|unidade?|unità|eenheid|jednostka|jednotka", re.IGNORECASE)
_LAYOUT = re.compile(
    r"(?:start|end|record )?(?:pos(?:ition)?s?|columns?|cols?|location|record|deck|card)|start|end|decimals"
)
"""The left sides on the place of a variable in its line."""
_NEXT = re.compile(r"[.;,]?\s+(?=[*_]*(?P<left>[^\W\d_][^:.;,=*]{2,30})[*_]*:[*_]*\s)")
"""The blanks before a left side within a line."""
LEAST_SECTIONS = 3
"""The least number of sections in which a word recurs that is no code."""
LEAST_EACH = 2
"""The least number of attributes in one line, or in one table."""


def attribute(line: str, common: frozenset[str] = frozenset()) -> tuple[str, str] | None:
    """Return the heading and the words of a line that states an attribute; None for others, as for codes. A left side
    that is no known heading, but is `common`, is its own heading.
    """
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        return None
    left, words = found["left"].strip(), (found["words"] or "").strip("* ")
    is_common = left.casefold() in common
    key = heading_key(left) or (heading_key_by_word(left) if is_common else "")
    is_known = key or is_common or _UNIT.fullmatch(left) or _LAYOUT.fullmatch(left.casefold())
    return (_HEADING_OF.get(key, key or left), words) if is_known else None


def attributes_each(line: str) -> list[str]:
    """Return the parts of a line in which several attributes follow each other: `Type: integer Missing: 9`; or else the
    line alone.
    """
    starts = [each for each in _NEXT.finditer(line) if heading_key(each["left"])]
    if line.startswith(("|", "#")) or len(starts) + (attribute(line) is not None) < LEAST_EACH:
        return [line]
    ends = [*(each.start() for each in starts), len(line)]
    return [line[start:end] for start, end in zip([0, *(each.end() for each in starts)], ends, strict=True)]


def table_attributes(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table of two columns whose rows state attributes; none of a table of codes."""
    lines = [f"{row[0]}: {row[1]}" for row in rows if len(row) == 2 and row[0]]
    found = [each for each in lines if attribute(each)]
    return lines if len(found) >= LEAST_EACH and 2 * len(found) > len(lines) else []


def has_codes(stated: Attributes) -> bool:
    """Return whether the other points of a section can be codes: no attribute states values, a range, or a type of
    numbers with decimals, or of days.
    """
    kind = stated_type(stated.get("type", "")).type
    is_scale = kind in (CellType.NUMBER, CellType.DAY, CellType.MOMENT, CellType.TIME)
    return not (is_scale or stated.keys() & {"values", "range", "minimum", "maximum"})


def split_off(point: str) -> tuple[str, str]:
    """Return the left side and the words of a point that is neither an attribute nor a code."""
    found = _ATTRIBUTE.fullmatch(point)
    return (found["left"].strip(), found["words"] or "") if found else ("notes", point)


def recurring(blocks: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return the left sides, in lower case, that recur in most sections: those of codes differ, apart from answers."""
    found = [{each["left"].strip().casefold() for each in map(_ATTRIBUTE.fullmatch, block) if each} for block in blocks]
    lefts = [{each for each in block if not ANSWERS.fullmatch(each)} for block in found if block]
    counts = Counter(each for block in lefts for each in block)
    most = max(LEAST_SECTIONS, len(lefts) // 2 + 1)
    return frozenset(each for each, count in counts.items() if count >= most)
