"""Pictures as values: numbers with their ranges, and their limits. Drawing needs nothing else, and each picture is also
shown as a table."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from crowdgate.number_text import PLACE

SeriesStyle = Literal["marked", "joined", "dashed", "steps", "chosen"]
Place = float | str
"""Position of a number: on an axis, or under a name."""


@dataclass(frozen=True)
class PicturePoint:
    """A number of a picture at its place (a number or a name), with its confidence or prediction limits (None: none
    known)."""

    at: Place
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """Points under one name, drawn `joined` by lines (`dashed`: in the colour of the series before), as `steps` that
    hold until the next, `marked` one by one, or `chosen` among others."""

    name: str
    points: tuple[PicturePoint, ...]
    style: SeriesStyle = "marked"


def curve(name: str, points: Iterable[tuple[Place, float]], style: SeriesStyle = "joined") -> Series:
    """Return a series of points without limits."""
    return Series(name, tuple(PicturePoint(*each) for each in points), style)


@dataclass(frozen=True)
class Limit:
    """A named line that points are compared with: at a value or, with `of` "place", at a place."""

    name: str
    value: float
    of: Literal["value", "place"] = "value"


@dataclass(frozen=True)
class Picture:
    """A picture by its name, with a title and a note in words. `format` is the style of its numbers (see
    `format_value`). Places are numbers in all of its series, or names in all; names are listed one below the other, or
    `across` in their order. An axis of values is linear from 0 on, or linear and fitted to the values (`near`), or
    logarithmic."""

    name: str
    title: str
    place: str
    value: str
    series: tuple[Series, ...]
    limits: tuple[Limit, ...] = ()
    place_scale: Literal["linear", "log"] = "linear"
    value_scale: Literal["linear", "near", "log"] = "linear"
    note: str = ""
    format: str = PLACE
    across: bool = False

    @property
    def points(self) -> Iterator[PicturePoint]:
        """All points of all series."""
        return (point for each in self.series for point in each.points)

    @property
    def named(self) -> bool:
        """True if the places are names, not numbers."""
        return any(isinstance(point.at, str) for point in self.points)

    @property
    def ranged(self) -> bool:
        """True if some point has confidence or prediction limits."""
        return any(point.low is not None for point in self.points)
