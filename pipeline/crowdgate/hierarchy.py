"""Generalisation hierarchies: named levels of one attribute, each a lookup table from domain codes to level codes.

The levels `exact` (the domain) and `any` (one value) exist for each attribute. Levels are public: they never depend on
the data, and each is a function of the level before it (they nest).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, gcd, lcm

import numpy as np

from crowdgate.arrays import Codes, Integers
from crowdgate.domain import Domain, Grid, number_label

EXACT, ANY = "exact", "any"
ANY_LABEL = "*"
INVALID_LABEL = "(invalid)"


@dataclass(frozen=True, eq=False)
class Level:
    """A generalisation level of one attribute: `labels` of its level codes, and in `codes` the level code of each
    domain code.

    `values` are the level codes of the domain's values, if these are fewer than its codes.
    """

    name: str
    labels: tuple[str, ...]
    codes: Codes
    values: Codes | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def of_values(self) -> Codes:
        """Level code of each value of the level `exact`, in the domain's order."""
        return self.codes if self.values is None else self.values


class Numbers(Level):
    """A level without labels: the numbers of a grid that is finer than the level `exact`. Sums are taken over these
    numbers, which are never published."""

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The levels of one attribute, from `exact` to `any`. `finest` has a code for each code of the domain: `exact`, or
    the numbers of a finer grid."""

    levels: tuple[Level, ...]
    finest: Level

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Level names, finest first."""
        return tuple(level.name for level in self.levels)

    def level(self, name: str) -> Level:
        """Return the level called `name`. Raises KeyError if there is none."""
        return {level.name: level for level in self.levels}[name]


def hierarchy(domain: Domain, named: Sequence[tuple[str, Sequence[str]]], *, invalid_level: bool) -> Hierarchy:
    """Return a hierarchy from the labels that each level gives to each domain value, finest level first.

    With `invalid_level` each level but `any` has one further value for cells outside the domain. Raises ValueError if a
    level does not nest in the one before it.
    """
    extra = [INVALID_LABEL] if invalid_level else []
    columns = [(EXACT, domain.labels), *named, (ANY, [ANY_LABEL] * len(domain))]
    for (finer_name, finer), (name, coarser) in pairwise(columns):
        split = first_split(finer, coarser)
        if split is not None:
            raise ValueError(f"level {name!r} does not nest in {finer_name!r}: it splits {split!r}")
    # a cell outside the domain has the last code, and at each level but `any` the last value
    codes = np.append(domain.values, np.int32(len(domain))) if invalid_level else domain.values
    values = [[*labels, *(extra if name != ANY else extra and [ANY_LABEL])] for name, labels in columns]
    levels = tuple(_level(name, labels, codes) for (name, _), labels in zip(columns, values, strict=True))
    fine = Numbers(EXACT, (), _readonly(np.arange(len(codes), dtype=np.int32)), levels[0].values)
    return Hierarchy(levels, levels[0] if domain.size == len(domain) else fine)


def first_split(finer: Sequence[str], coarser: Sequence[str]) -> str | None:
    """Return the first label of the finer level whose domain values have several labels at the coarser level, or None
    if the levels nest. Both sequences hold one label for each domain value."""
    parent: dict[str, str] = {}
    for label, above in zip(finer, coarser, strict=True):
        if parent.setdefault(label, above) != above:
            return label
    return None


@dataclass(frozen=True)
class LevelValue:
    """A value of a level: its label, and the domain values that it covers. `values` is their number, `members` are
    their labels, with runs of numbers or days as `first to last`."""

    label: str
    values: int
    members: tuple[str, ...]


def value_groups(domain: Domain, level: Level) -> list[LevelValue]:
    """Return each value of a level with the domain values that it covers, in the level's order."""
    codes = level.of_values[: len(domain)]
    held = np.split(np.argsort(codes, kind="stable").astype(np.int64), np.cumsum(np.bincount(codes))[:-1])
    return [
        LevelValue(label, len(own), tuple(_members(domain, own)))
        for label, own in zip(level.labels, held, strict=False)
    ]


def _members(domain: Domain, codes: Integers) -> Iterator[str]:
    if domain.grid is None and domain.first_day is None:
        yield from (domain.labels[code] for code in codes)
        return
    for run in np.split(codes, np.flatnonzero(np.diff(codes) != 1) + 1):
        low, high = domain.labels[run[0]], domain.labels[run[-1]]
        yield low if low == high else f"{low} to {high}"


def _level(name: str, labels: Sequence[str], codes: Codes) -> Level:
    """Return the level that gives `labels` to the domain values. `codes` hold the place of the value of each domain
    code."""
    index: dict[str, int] = {}
    found = np.fromiter((index.setdefault(label, len(index)) for label in labels), dtype=np.int32, count=len(labels))
    finer = len(codes) != len(found)
    return Level(name, tuple(index), _readonly(found[codes] if finer else found), _readonly(found) if finer else None)


def _readonly(codes: Codes) -> Codes:
    codes.flags.writeable = False
    return codes


def coarser_codes(finer: Level, coarser: Level) -> Codes:
    """Return for each code of the finer level the code of the coarser level that contains it. Levels of one attribute
    nest, so any domain value of a finer code determines the coarser one."""
    codes = np.zeros(len(finer), dtype=np.int32)
    codes[finer.codes] = coarser.codes
    return codes


def nests(finer: Level, coarser: Level) -> bool:
    """Return True if each value of the finer level lies in one value of the coarser level."""
    return bool((coarser_codes(finer, coarser)[finer.codes] == coarser.codes).all())


def by_width(domain: Domain, width: Fraction, origin: Fraction = Fraction(0)) -> list[str]:
    """Return for each value of a numeric domain the label of its interval [origin + j width, origin + (j + 1) width), j
    a whole number. Intervals are open where the domain is (`90+`).

    Raises ValueError if the domain is not numeric, the width is no multiple of its step, or intervals would begin
    between its values.
    """
    grid = domain.grid
    if grid is None or width <= 0 or width % grid.step:
        raise ValueError("width needs a numeric domain and a positive multiple of its step")
    if (origin - grid.first) % grid.step:
        raise ValueError(f"intervals must begin at values of the domain: add an origin, such as {grid.first}")
    start, step = (grid.first - origin) / width, grid.step / width
    unit = lcm(start.denominator, step.denominator)
    first, each = int(start * unit), int(step * unit)  # whole numbers: a million in a second
    return _intervals(domain, grid, [(first + each * code) // unit for code in range(grid.size)])


def by_cuts(domain: Domain, cuts: Sequence[Fraction]) -> list[str]:
    """Return for each value of a numeric domain the label of its interval, from one cut up to the next. Intervals are
    open where the domain is.

    A cut may lie between two values. Raises ValueError if the domain is not numeric, no value lies between two cuts, or
    a cut is inside an interval that is one value of the domain.
    """
    grid = domain.grid
    if grid is None:
        raise ValueError("cuts need a numeric domain")
    if not cuts or any(low >= high for low, high in pairwise([grid.first, *cuts])):
        raise ValueError(f"cuts must rise, from above {number_label(grid.first)} (decimals have a point: 18.5)")
    if not (grid.whole and grid.each == 1):
        _check_cuts(grid, cuts)
    starts = [ceil((cut - grid.first) / grid.step) for cut in cuts]
    for cut, start, before in zip(cuts, starts, [0, *starts], strict=False):
        if start <= before:
            raise ValueError(f"no value of the domain lies between the cut {number_label(cut)} and the one before it")
        if start >= grid.size:
            raise ValueError(f"no value of the domain lies above the cut {number_label(cut)}")
    return _intervals(domain, grid, np.searchsorted(starts, np.arange(grid.size), side="right").tolist())


def _check_cuts(grid: Grid, cuts: Sequence[Fraction]) -> None:
    """Check that no cut is inside a cell of a grid. Raises ValueError with the step that would have all cuts."""
    inside = next((cut for cut in cuts if (cut - grid.first) % grid.step), None)
    if inside is not None:
        unit = lcm(grid.step.denominator, *((cut - grid.first).denominator for cut in cuts))
        step = Fraction(gcd(int(grid.step * unit), *(int((cut - grid.first) * unit) for cut in cuts)), unit)
        low = grid.first + (inside - grid.first) // grid.step * grid.step
        held = (
            f"{number_label(inside)} is inside the interval from {number_label(low)} to {number_label(low + grid.step)}"
        )
        raise ValueError(f"{held}, which is one value of the domain: with step: {number_label(step)} all cuts fit")


def _intervals(domain: Domain, grid: Grid, numbered: Sequence[int]) -> list[str]:
    """Return for each value of a numeric domain the label of its interval: least and greatest value, or the open side.
    `numbered` holds the number of each value's interval, ascending."""
    last = {interval: code for code, interval in enumerate(numbered)}
    first = {interval: code for code, interval in reversed(list(enumerate(numbered)))}
    if grid.top and grid.bottom and len(last) == 1:
        raise ValueError("intervals must be smaller: one, open at both ends, would hold every number")
    labels = {interval: _interval(domain, grid, first[interval], last[interval]) for interval in last}
    return [labels[interval] for interval in numbered]


def _interval(domain: Domain, grid: Grid, first: int, last: int) -> str:
    low, high = (number_label(grid.first + grid.step * code) for code in (first, last))
    if grid.bottom and first == 0:
        return f"{high} or less"
    if grid.top and last == len(domain) - 1:
        return f"{low}+"
    return low if low == high else f"{low} to {high}"


def by_prefix(domain: Domain, length: int) -> list[str]:
    """Return each label of a domain with its first `length` characters, the rest masked with `*`."""
    if length < 1:
        raise ValueError("prefix is the number of characters that stay, at least 1")
    if length > max(map(len, domain.labels)):
        raise ValueError(f"no value has {length} characters; prefix is the number of characters that stay")
    return [label[:length] + "*" * max(0, len(label) - length) for label in domain.labels]


def by_date_part(domain: Domain, part: str) -> list[str]:
    """Return for each day of a domain of dates the label of its `part`: day, month, quarter or year, e.g. `2024-03`."""
    if domain.first_day is None:
        raise ValueError("part needs a domain of dates")
    return [_DATE_PARTS[part](domain.first_day + timedelta(days=i)) for i in range(len(domain))]


_DATE_PARTS: dict[str, Callable[[date], str]] = {
    "day": lambda day: day.isoformat(),
    "month": lambda day: f"{day:%Y-%m}",
    "quarter": lambda day: f"{day.year} Q{(day.month + 2) // 3}",
    "year": lambda day: str(day.year),
}
DATE_PARTS = tuple(_DATE_PARTS)


def by_tree(finer: Sequence[str], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return for each label of the finer level the name of its group; `groups` list the labels of each group. Raises
    ValueError naming a value in no group, or in two."""
    group_of: dict[str, str] = {}
    known = set(finer)
    for group, members in groups.items():
        for member in members:
            if member not in known:
                raise ValueError(f"{member!r} is no value of the level before it")
            if group_of.setdefault(member, group) != group:
                raise ValueError(f"{member!r} is in two groups")
    missing = [label for label in dict.fromkeys(finer) if label not in group_of]
    if missing:
        raise ValueError(
            f"{missing[0]!r} is in no group" + (f" (nor are {len(missing) - 1} others)" if missing[1:] else "")
        )
    return [group_of[label] for label in finer]


def by_file(domain: Domain, rows: Mapping[str, str]) -> list[str]:
    """Return the group that a levels file gives to each domain value. Raises ValueError naming a missing value."""
    missing = [label for label in domain.labels if label not in rows]
    if missing:
        raise ValueError(f"the levels file has no row for {missing[0]!r}")
    return [rows[label] for label in domain.labels]
