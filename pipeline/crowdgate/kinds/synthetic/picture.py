"""The certificate as a picture: a square for every pair of columns, the darker the farther rows are from the table.

It is SVG, written by hand, so that the same release has the same bytes.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import combinations
from typing import BinaryIO

from crowdgate.kinds.synthetic.certificate import Certificate

SIDE = 26
"""Of a square."""
LETTER = 7
"""The width of a letter, about."""
LONGEST = 24
"""Letters of a name at most."""
STEPS = ((0.01, "#edf8e9"), (0.02, "#c7e9c0"), (0.05, "#fee391"), (0.1, "#fe9929"), (0.2, "#d95f0e"), (9e9, "#993404"))
"""Colours up to a limit."""


def write_picture(into: BinaryIO, names: Sequence[str], certified: Certificate | None) -> None:
    """Columns down and across; each square tells the upper limit of its pair in hundredths. Empty without rows."""
    into.write("\n".join(_lines([_short(name) for name in names], certified)).encode() + b"\n")


def _lines(names: Sequence[str], certified: Certificate | None) -> Iterator[str]:
    margin = 10 + LETTER * max(map(len, names))
    size = margin + SIDE * len(names) + 10
    height = size + 40
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{height}" viewBox="0 0 {size} {height}"'
        ' font-family="sans-serif" font-size="11">'
    )
    yield f'<rect width="{size}" height="{height}" fill="white"/>'
    for at, name in enumerate(names):
        middle = margin + SIDE * at + SIDE / 2
        yield f'<text x="{margin - 5}" y="{middle + 4:g}" text-anchor="end">{escape(name)}</text>'
        yield f'<text transform="translate({middle + 4:g} {margin - 5}) rotate(-90)">{escape(name)}</text>'
    if certified is not None:
        yield from _squares(len(names), margin, certified)
    yield from _key(size)
    yield "</svg>"


def _squares(columns: int, margin: int, certified: Certificate) -> Iterator[str]:
    for (one, other), upper in zip(combinations(range(columns), 2), certified.upper.tolist(), strict=True):
        for down, across in ((one, other), (other, one)):
            x, y = margin + SIDE * across, margin + SIDE * down
            yield f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" fill="{_colour(upper)}" stroke="white"/>'
            place = f'x="{x + SIDE / 2:g}" y="{y + SIDE / 2 + 4:g}"'
            yield f'<text {place} text-anchor="middle">{_hundredths(upper)}</text>'


def _key(top: int) -> Iterator[str]:
    x = 10
    yield f'<text x="{x}" y="{top + 32}">upper limits of the distance of each pair, in hundredths of all rows</text>'
    for limit, colour in STEPS:
        said = f"to {limit:g}" if limit < 1 else "more"
        yield f'<rect x="{x}" y="{top}" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{x + 15}" y="{top + 10}">{said}</text>'
        x += 58


def _colour(upper: float) -> str:
    return next(colour for limit, colour in STEPS if upper <= limit)


def _hundredths(upper: float) -> str:
    return f"{100 * upper:.1f}" if upper < 0.0995 else f"{100 * upper:.0f}" if upper < 9.995 else "&gt;"


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
