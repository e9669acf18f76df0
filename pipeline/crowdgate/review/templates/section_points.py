"""The attributes of a variable in its section of a text: `- Type: integer`, `- **Missing:** 99`, which are no codes."""

import re
from collections import Counter
from collections.abc import Sequence

from crowdgate.review.templates.codebook_values import ANSWERS
from crowdgate.review.templates.dictionary_headings import heading_key, heading_key_by_word

Attributes = dict[str, str]
"""The words of a section on a variable, by heading."""
_ATTRIBUTE = re.compile(r"(?:[-*+]\s+)?[*_`]*(?P<left>[^\W\d_][^:=|*`]{2,39}?)[*_`]*\s*:[*_`]*(?:\s+(?P<words>\S.*))?")
_HEADING_OF = {"least": "minimum", "greatest": "maximum", "role": "sensitivity"}
"""The headings of what attributes state, where they are not its own name."""
LEAST_SECTIONS = 3
"""The least number of sections in which a word recurs that is no code."""


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
    return (_HEADING_OF.get(key, key or left), words) if key or is_common else None


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
