"""Ranges of which a codebook states one end: `up to 168`, `max. 168 hours`, `≥ 0`, `0+`."""

import re

from crowdgate.review.templates.open_ends import MORE_WORDS

_NUMBER = r"-?\d+(?:[ ,.'\u00a0\u202f]\d{3})*(?:[.,]\d+)?"
_UNIT = r"(?:\s*%|\s*[€$£]|\s+[^\W\d]{1,10}\.?)?"
_AT_MOST = (
    "up to", "at most", r"(?:a )?max(?:\.|imum|imal|imaal|imalt)?(?: of)?", "<=", "≤", "no more than",
    "not more than", r"bis(?: zu)?", "höchstens", r"jusqu['’]à", "au plus", "au maximum", r"máx(?:\.|imo)?",
    "hasta", "como máximo", "até", "no máximo", "fino a", "al massimo", r"mass(?:\.|imo)", "tot", "ten hoogste",
    "hoogstens", "upp till", "högst", "op til", "højst", "opp til", "høyst", "co najwyżej",
    r"maks(?:\.|ymalnie|imum)?", "nejvýše", "enintään", "en fazla", "legfeljebb", "το πολύ",
)  # fmt: skip
"""The words before the greatest number that can be."""
_SIZES = re.compile(
    r"\s*(?:char|zeich|caract|caratt|tecken|tegn|teken|znak|stell|digit|letter|byte|position|posicion|merkki|word|wört"
    r"|deci|dezi|déci|nachk|karakter|χαρακτ|entr|items?\b|answers?|selec)",
    re.IGNORECASE,
)
"""The starts of units of the size of a text, or of the number of answers."""
_MOST = re.compile(
    rf"(?:{'|'.join(_AT_MOST)})"
    rf"\s*:?\s*(?P<end>\d[\d ,.'\u00a0\u202f]*?)(?P<rest>{_UNIT}(?:\s*[,;|].*)?)",
    re.IGNORECASE | re.DOTALL,
)
_LEAST = re.compile(
    rf"(?:(?:>=?|≥|at least|min(?:\.|imum)?|from|ab|mindestens|au moins|al menos|pelo menos|almeno"
    rf"|minst|mindst)\s*:?\s*{_NUMBER}{_UNIT}|{_NUMBER}\s*(?:\+|\.\.+|{MORE_WORDS}|and up){_UNIT})",
    re.IGNORECASE,
)


def from_zero(text: str) -> str:
    """Return a text that begins with the greatest number that can be as one that begins with a range from 0; others
    unchanged.
    """
    found = _MOST.fullmatch(text)
    is_size = found and _SIZES.match(found["rest"])
    return f"0 - {found['end'].strip()}{found['rest']}" if found and not is_size else text


def lacks_end(text: str) -> bool:
    """Return whether a text is the least number that can be, and says no greatest one."""
    return bool(_LEAST.fullmatch(text.strip()))
