"""The certificate as a picture: a square for each pair of columns, darker for a larger error.

The SVG is written by hand, so that one release always has the same bytes.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import combinations
from math import ceil
from typing import BinaryIO

from crowdgate.kinds.synthetic.certificate import Certificate

SIDE = 26
"""Side of a square."""
LETTER = 7
"""Approximate width of a letter."""
KEY = 400
"""Least width of the picture, which the key needs."""
LONGEST = 24
"""Largest number of letters of a name."""
STEPS = ((0.01, "#edf8e9"), (0.02, "#c7e9c0"), (0.05, "#fee391"), (0.1, "#fe9929"), (0.2, "#d95f0e"), (9e9, "#993404"))
"""Colour of the errors up to each limit."""
DARK = 0.2
"""Letters are white above this error."""


def write_picture(into: BinaryIO, names: Sequence[str], certified: Certificate | None) -> None:
    """Write the columns down and across. Each square shows the upper confidence limit of its pair in percent, rounded
    up, with a frame if the pair is not trustworthy. A release without rows has no squares."""
    into.write("\n".join(_lines([_short(name) for name in names], certified)).encode() + b"\n")


def _lines(names: Sequence[str], certified: Certificate | None) -> Iterator[str]:
    margin = 10 + LETTER * max(map(len, names))
    top = margin + SIDE * len(names) + 10
    width, height = max(KEY, top), top + 54
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="11">'
    )
    yield f'<rect width="{width}" height="{height}" fill="white"/>'
    for at, name in enumerate(names):
        middle = margin + SIDE * at + SIDE / 2
        yield f'<text x="{margin - 5}" y="{middle + 4:g}" text-anchor="end">{escape(name)}</text>'
        yield f'<text transform="translate({middle + 4:g} {margin - 5}) rotate(-90)">{escape(name)}</text>'
    if certified is not None:
        yield from _squares(len(names), margin, certified)
    yield from _key(top)
    yield "</svg>"


def _squares(columns: int, margin: int, certified: Certificate) -> Iterator[str]:
    found = zip(certified.upper.tolist(), certified.trustworthy.tolist(), strict=True)
    for (one, other), (upper, trusted) in zip(combinations(range(columns), 2), found, strict=True):
        for down, across in ((one, other), (other, one)):
            x, y = margin + SIDE * across, margin + SIDE * down
            yield f'<rect x="{x + 1}" y="{y + 1}" width="{SIDE - 2}" height="{SIDE - 2}" {_filled(upper, trusted)}/>'
            place = f'x="{x + SIDE / 2:g}" y="{y + SIDE / 2 + 4:g}" fill="{"white" if upper > DARK else "black"}"'
            yield f'<text {place} text-anchor="middle">{_percent(upper)}</text>'


def _key(top: int) -> Iterator[str]:
    x = 10
    for limit, colour in STEPS:
        said = f"to {100 * limit:g} %" if limit < 1 else "more"
        yield f'<rect x="{x}" y="{top}" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{x + 15}" y="{top + 10}">{said}</text>'
        x += 62
    yield f'<text x="10" y="{top + 32}">upper limit of each pair\'s distance, in percent of all rows;</text>'
    yield f'<text x="10" y="{top + 46}">framed: not trustworthy</text>'


def _filled(upper: float, trusted: bool) -> str:
    return f'fill="{_colour(upper)}" stroke="{_colour(upper) if trusted else "black"}"'


def _colour(upper: float) -> str:
    return next(colour for limit, colour in STEPS if upper <= limit)


def _percent(upper: float) -> str:
    tenths = ceil(1000 * upper)
    return f"{tenths / 10:.1f}" if tenths < 100 else f"{ceil(100 * upper)}" if upper <= 9.99 else "&gt;"


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
