"""Ranges with a step: `0 to 100 in steps of 5`, `multiples of 100` and `0, 5, 10, ..., 95`."""

import re
from itertools import pairwise

from crowdgate.domain import parse_number

_NUMBER = r"-?\d+(?:\.\d+)?"
_ELISION = re.compile(
    rf"(?P<first>{_NUMBER}(?:\s*,\s*{_NUMBER})+)\s*,?\s*(?:\.{{2,4}}|…|etc\.?|usw\.?)\s*,?\s*(?:(?:to|bis|à|a)\s+)?"
    rf"(?P<last>{_NUMBER})"
)
"""The first numbers of a list, and its last one."""
_ELIDED = re.compile(r"\.{2,}|…|etc\.?|usw\.?|and so on|u\.\s?s\.\s?w\.", re.IGNORECASE)
"""The mark of values that are left out."""
_OF = r"(?:\s+(?:of|von|de|di|om|på|av|van|co|o|zu))?"
_WORDS = (
    r"steps?|increments?|intervals?|multiples?|schritte?n?|schrittweite|vielfache[sn]?|pas|pasos?|passos?|passi|steg"
    r"|trin|stappen|veelvoud(?:en)?|múltiplos?|multipli|multip(?:el|lar)|krok\w*|násobk\w*|wielokrotno\w*"
)
_IN = r"(?:(?:in|by|en|em|i|par|mit|met|med|con|only|nur)\s+)*"
_STEP = re.compile(
    rf"(?P<range>.*?\S)[\s,;(]+(?:{_IN}(?:{_WORDS}){_OF}|by|rounded to (?:the )?nearest)"
    r"\s*[:=]?\s*[$£€]?(?P<step>\d{1,9}(?:[.,]\d{1,4})?)"
    r"(?:\s*(?:%|[^\W\d]{1,10}))?\)?",
    re.IGNORECASE | re.DOTALL,
)


def without_elision(text: str) -> str:
    """Return a list of numbers that leaves some out, `0, 5, 10, ..., 95`, as a range with its step; another text, and a
    list whose numbers have no common step, unchanged.
    """
    return _ELISION.sub(lambda each: _as_range(each["first"].split(","), each["last"]) or each[0], text)


def _as_range(first: list[str], last: str) -> str:
    texts = [each.strip() for each in first]
    numbers = [parse_number(each) or 0 for each in texts]
    steps = {after - before for before, after in pairwise(numbers)}
    step, end = steps.pop(), parse_number(last) or 0
    if steps or step <= 0 or end <= numbers[-1] or (end - numbers[0]) % step:
        return ""
    decimals = max(len(each.partition(".")[2]) for each in texts)
    return f"{texts[0]} - {last}" + ("" if step == 1 else f" in steps of {float(step):.{decimals}f}")


def is_elided(entry: str) -> bool:
    """Return whether an entry of a list says that values are left out."""
    return bool(_ELIDED.fullmatch(entry.strip()))


def range_and_step(entry: str) -> tuple[str, str]:
    """Return a range without the words on its step, and the step; an empty step if no words state one."""
    found = _STEP.fullmatch(entry)
    return (found["range"], found["step"].replace(",", ".")) if found else (entry, "")


def is_step_of(bounds: tuple[str, str] | None, step: str) -> bool:
    """Return whether a range of numbers has a whole number of steps."""
    size = parse_number(step)
    low, high = map(parse_number, bounds or ("", ""))
    return size is not None and size > 0 and low is not None and high is not None and (high - low) % size == 0
