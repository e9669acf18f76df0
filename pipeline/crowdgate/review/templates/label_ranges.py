"""The range of a number that its label, or a note on it, states: `Score (0-30)`, `Hours, range 0 to 112`."""

import re

from crowdgate.domain import parse_number
from crowdgate.review.templates.codebook_values import ListedValues, stated_range

_NUMBER = r"-?\d+(?:\.\d+)?"
_ENDS = rf"(?P<low>{_NUMBER})\s*(?:-|–|to|\.\.|through|thru|bis|à|a|hasta|até|tot|till|til|do)\s*(?P<high>{_NUMBER})"
_FORMS = (
    re.compile(rf"\(\s*{_ENDS}\s*\)|\[\s*{_ENDS.replace('low', 'least').replace('high', 'most')}\s*\]"),
    re.compile(rf"\b(?:range|ranges from|from|scale|valid|score)[ :]+{_ENDS}(?![\w-]|[.,]\d)", re.IGNORECASE),
    re.compile(rf",\s+{_ENDS}\s*$"),
)
_TOP = re.compile(rf"\btop[- ]?coded (?:at|to) (?P<top>{_NUMBER})(?![\w-]|\.\d)", re.IGNORECASE)
_YEARS = range(1900, 2100)


def label_range(label: str) -> ListedValues:
    """Return the one range of numbers in a label; empty if there is none, or if there are several. Two years are the
    time of a study, unless the label names years.
    """
    found = {ends for form in _FORMS for each in form.finditer(label) if (ends := _limits(each))}
    if len(found) != 1:
        return ListedValues()
    low, high = found.pop()
    numbers = [parse_number(each) for each in (low, high)]
    are_years = all(each in _YEARS for each in numbers)
    return ListedValues() if are_years and not re.search(r"(?i)\byear", label) else stated_range(low, high)


def _limits(found: re.Match[str]) -> tuple[str, str]:
    groups = found.groupdict()
    return groups["low"] or groups.get("least") or "", groups["high"] or groups.get("most") or ""


def top_code(label: str) -> str:
    """Return the number at which a label says that greater ones are cut, 95 of `Age, top-coded at 95`; or nothing."""
    found = _TOP.search(label)
    return found["top"] if found else ""
