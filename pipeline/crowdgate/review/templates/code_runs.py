"""Lists of codes with only blanks between their entries: `1-White 2-Black`, `1 Male 2 Female 9 Unknown`."""

import re
from collections.abc import Sequence
from itertools import pairwise

from crowdgate.review.templates.special_labels import is_special

LEAST_PADDED = 4
"""The least number of codes of two digits that need not ascend."""
_NEXT_MARKED = re.compile(r"[.,]?\s+(?=(?:\d{1,4}|[A-Z])\s?[-–—=:.)]\s*[^\W\d]|\d{1,4}\s?[=)]\s*\S)")
_NEXT_NUMBERED = re.compile(r"[.,]?\s+(?=\d{1,4}\s?[-–—=:.)]\s*[^\W\d]|\d{1,4}\s?[=)]\s*\S)")
"""The blanks where the first code is a number, as labels have letters with points: `17 - A. M. Lisboa`."""
_MARKED = re.compile(
    r"(?P<code>\d{1,4}|[A-Z])\s?(?P<mark>[-–—=:.)])\s*[^\W\d][^=]*|(?P<number>\d{1,4})\s?(?P<sign>[=)])\s*\S[^=]*",
    re.DOTALL,
)
"""An entry, and the blanks before the next one. Behind `=` and `)` a label can begin with a digit."""
_IN_LABEL = re.compile(
    r"\b(?:under|over|than|to|least|most|below|above|unter|über|als|bis|de|do|til|till|tot|än|enn|end|hasta|até|a|di)"
    r"\s+\d+\b"
    r"|(?<!\S)\d+\s+(?:to|bis|à|a|til|till|tot|do)\s+\d+(?!\S)"
    r"|(?<!\S)\d+\s+(?:or|and|oder|und|ou|et|o|y|e|of|en|eller|och|og|lub|i|nebo)\s+[^\W\d]",
    re.IGNORECASE,
)
"""The numbers that words make parts of a label: `under 15`, `15 to 24`, `75 and over`."""
_NUMBER = re.compile(r"(?<!\S)\d{1,4}(?!\S)")
_NO_LABEL = re.compile(r"of|per|and|or|to|in|out|von|pro|par|por|de|und|oder|et|ou|y|o|e|en|og|och|\W*", re.IGNORECASE)
"""The words that stand between two numbers of a sentence, and are no label."""


def run_entries(text: str) -> list[str]:
    """Return the entries of a list with only blanks between them; none if it is none, or can be read in two ways."""
    return _marked_run(text) or _plain_run(" ".join(text.split()))


def _marked_run(text: str) -> list[str]:
    """Return the entries of a list with one mark and ascending codes, or letters that differ."""
    parts = (_NEXT_NUMBERED if text[:1].isdigit() else _NEXT_MARKED).split(text)
    found = [each for each in map(_MARKED.fullmatch, parts) if each]
    codes = [each["code"] or each["number"] for each in found]
    if len(parts) < 2 or len(codes) < len(parts) or len({each["mark"] or each["sign"] for each in found}) > 1:
        return []
    numbers = [int(each) for each in codes if each.isdigit()]
    is_ascending = numbers == sorted({*numbers}) and len({*codes}) == len(codes)
    is_padded = len(numbers) >= LEAST_PADDED and len({*codes}) == len(codes) and {len(each) for each in codes} == {2}
    return parts if (is_ascending or is_padded) and len(numbers) in (0, len(codes)) else []


def _plain_run(text: str) -> list[str]:
    """Return the entries of a list without marks: each number in it is a code. Codes ascend from 0 or 1 without gaps,
    apart from those for no value.
    """
    masked = _IN_LABEL.sub(lambda each: "#" * len(each[0]), text)
    starts = [each.start() for each in _NUMBER.finditer(masked)]
    if len(starts) < 2 or starts[0] != 0:
        return []
    parts = [text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    pairs = [(code, label) for code, _, label in (each.partition(" ") for each in parts)]
    return parts if _are_codes([code for code, _ in pairs], [label for _, label in pairs]) else []


def has_next(code: str, label: str) -> bool:
    """Return whether the number after a code stands in its label, and can be a code with a label, too."""
    following = int(code) + 1 if code.isdigit() else None
    return following is not None and bool(re.search(rf"(?<!\S)0*{following}\s+[^\W\d]", label))


def _are_codes(codes: Sequence[str], labels: Sequence[str]) -> bool:
    """Return whether numbers with the words behind them can only be codes with their labels."""
    numbers = [int(each) for each in codes]
    plain = [number for number, label in zip(numbers, labels, strict=True) if not is_special(label)]
    follow = all(after == before + 1 for before, after in pairwise(plain))
    is_first = len(plain) > 1 and plain[0] in (0, 1)
    are_labels = len({*labels}) == len(labels) and not any(map(_NO_LABEL.fullmatch, labels))
    return is_first and follow and are_labels
