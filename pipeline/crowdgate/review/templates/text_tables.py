"""Tables in a text whose columns stand below each other: codes with their labels become points of a list.

Offices print them with counts beside each code, `Male      1     1,234     49.0`, which are passed over.
"""

import re
from collections.abc import Iterator, Sequence

from crowdgate.review.templates.dictionary_headings import places_of_codes

_GAP = re.compile(r"\s{2,}|\t")


def with_code_points(text: str) -> str:
    """Return a text in which the rows of codes below a line of headings are indented lines `1 = Male`."""
    return "\n".join(_lines(text))


def _lines(text: str) -> Iterator[str]:
    places: tuple[int, int] | None = None
    width = 0
    for line in text.splitlines():
        cells = _GAP.split(line.strip())
        if len(cells) > 1 and (found := places_of_codes(cells)) is not None:
            places, width = found, len(cells)
        elif places is not None and (entry := _entry(cells, places, width)):
            yield f"    {entry}"
        else:
            places = None if line.strip("-= ") or not line.strip() else places
            yield line


def _entry(cells: Sequence[str], places: tuple[int, int], width: int) -> str:
    """Return a code with its label, which stands below its heading, or else before the code, and is no count; empty for
    a row of another kind.
    """
    at, label = places
    beside = [cells[each] for each in (label, at - 1) if 0 <= each < len(cells)]
    words = [each for each in beside if re.search(r"[^\W\d]", each)]
    return f"{cells[at]} = {words[0]}" if len(cells) == width and words and " " not in cells[at] else ""
