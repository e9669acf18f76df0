"""Anonymity sets: the number of people who share a combination of values, for each subset of attributes at each named
level.

M. Koot, Measuring and predicting anonymity (thesis, 2012), chapter 3, Tables 3.2 to 3.5. Few wide histograms cover all
subsets (`cover`); smaller subsets and coarser levels are sums of them, since levels nest.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from crowdgate.arrays import AnyIntegers, Integers
from crowdgate.hierarchy import Level, coarser_codes
from crowdgate.histogram import Histogram, View, collapse, project
from crowdgate.risk.set_sizes import (
    SIZES,
    SizeSummary,
    ValueGroup,
    by_value,
    by_value_of_people,
    correlation,
    quartile,
    summary,
    summary_of_people,
)

__all__ = [
    "SIZES",
    "Cover",
    "CubeSums",
    "Grouping",
    "Levels",
    "SizeSummary",
    "ValueGroup",
    "by_value",
    "by_value_of_people",
    "correlation",
    "cover",
    "dense",
    "groupings",
    "measure_groupings",
    "measure_groupings_of_people",
    "people_by_cell",
    "quartile",
    "summary",
    "summary_of_people",
]

CUBE_CELLS = 1 << 17
"""Number of cells up to which a covering histogram is extended: 1 MiB, which fits into a cache."""
DENSE_SUBSET = 1 << 20
"""Number of cells of a subset that may have a counter for each cell: 8 MiB, and there may be a hundred of these."""
SEEDS = 100
"""Number of subsets from which a covering histogram is grown; the best one is used."""

Levels = Mapping[str, Sequence[Level]]
"""The levels of each attribute to measure, finest first."""
Cube = Integers
Subset = tuple[str, ...]
Sized = tuple[tuple[int, ...], SizeSummary]
"""The places of levels, and the sizes of the sets at them."""


@dataclass(frozen=True)
class Grouping:
    """Attributes at one level each, by its name, and a summary of the sizes of the anonymity sets that they form."""

    levels: Mapping[str, str]
    summary: SizeSummary


def groupings(levels: Levels, up_to: int) -> int:
    """Return the number of groupings: subsets of 1 to `up_to` attributes, each attribute at each of its levels."""
    counts = [len(each) for each in levels.values()]
    return sum(prod(chosen) for size in range(1, up_to + 1) for chosen in combinations(counts, size))


@dataclass(frozen=True, eq=False)
class Cover:
    """The views to count: each subset of at most `up_to` attributes lies in one of the dense `cubes` at finest levels,
    except for the `wide` ones, which have too many cells."""

    levels: Levels
    up_to: int
    cubes: tuple[Subset, ...]
    wide: frozenset[Subset]

    @property
    def views(self) -> dict[str, View]:
        """The views to count, by a name for each cube: the cube's attributes at their finest levels."""
        return {_key(names): View({name: self.levels[name][0] for name in names}) for names in self.cubes}


def cover(levels: Levels, up_to: int, cells: int = CUBE_CELLS, most: int = DENSE_SUBSET) -> Cover:
    """Return a greedy cover of the subsets of at most `up_to` attributes by cubes, i.e. histograms of several
    attributes at finest levels: each next cube is the one that covers the most subsets that none covers yet.

    A cube is grown from an uncovered subset by the attribute that adds the most, while it has at most `cells` cells; a
    larger subset is a cube of its own, up to `most`.
    """
    sizes = {name: len(each[0]) for name, each in levels.items()}
    every = [frozenset(each) for size in range(1, up_to + 1) for each in combinations(levels, size)]
    fits = [subset for subset in every if _cells(subset, sizes) <= most]
    cubes: list[frozenset[str]] = []
    left = _maximal_subsets(fits)
    while left:
        grown = {_grow_cube(seed, left, sizes, cells) for seed in sorted(left, key=sorted)[:SEEDS]}
        best = min(grown, key=lambda cube: (-_covered_subsets(cube, left), _cells(cube, sizes), sorted(cube)))
        cubes.append(best)
        left = {subset for subset in left if not subset <= best}
    fitting = set(fits)
    wide = [_ordered(levels, subset) for subset in every if subset not in fitting]
    return Cover(levels, up_to, tuple(_ordered(levels, cube) for cube in cubes), frozenset(wide))


def _maximal_subsets(subsets: Sequence[frozenset[str]]) -> set[frozenset[str]]:
    """Return the subsets of attributes that lie in no other given subset; a cover of these covers all."""
    inside = {other - {name} for other in subsets for name in other}
    return {subset for subset in subsets if subset not in inside}


def _grow_cube(seed: frozenset[str], left: set[frozenset[str]], sizes: Mapping[str, int], cells: int) -> frozenset[str]:
    cube = seed
    while True:
        wider = [cube | {name} for name in sizes if name not in cube and _cells(cube, sizes) * sizes[name] <= cells]
        if not wider:
            return cube
        cube = min(wider, key=lambda each: (-_covered_subsets(each, left), _cells(each, sizes), sorted(each)))


def _covered_subsets(cube: frozenset[str], left: set[frozenset[str]]) -> int:
    return sum(subset <= cube for subset in left)


def _cells(subset: frozenset[str], sizes: Mapping[str, int]) -> int:
    return prod(sizes[name] for name in subset)


def _ordered(levels: Levels, subset: frozenset[str]) -> Subset:
    return tuple(name for name in levels if name in subset)


def _key(names: Subset) -> str:
    return "\n".join(names)


def measure_groupings(
    cover: Cover, cubes: Mapping[str, Histogram], whole: Histogram | None = None
) -> Iterator[Grouping]:
    """Yield all groupings of a counted cover: by number of attributes, then in the order of attributes and levels. Wide
    subsets are sums of `whole`, a histogram of all their attributes at finest levels."""
    known = _finest(cover, cubes)
    for size in range(1, cover.up_to + 1):
        for names in combinations(cover.levels, size):
            levels = [cover.levels[name] for name in names]
            if names in known:
                yield from _make_grouping(names, levels, _dense_levels(known[names], levels, ()))
            else:
                assert whole is not None, "a cover with wide subsets needs it"
                yield from _make_grouping(names, levels, _sparse_levels(project(whole, names), levels, ()))


def _make_grouping(names: Subset, levels: Sequence[Sequence[Level]], sizes: Iterator[Sized]) -> Iterator[Grouping]:
    for at, found in sizes:
        chosen = {name: each[i].name for name, each, i in zip(names, levels, at, strict=True)}
        yield Grouping(chosen, found)


def _finest(cover: Cover, cubes: Mapping[str, Histogram]) -> dict[Subset, Cube]:
    """Return the counts of each subset of attributes that is not wide, at finest levels, summed from the cubes."""
    every = [each for size in range(1, cover.up_to + 1) for each in combinations(cover.levels, size)]
    found: dict[Subset, Cube] = {}
    for names in sorted(cover.cubes, key=lambda names: prod(len(cover.levels[name][0]) for name in names)):
        sums = CubeSums(names, dense(cubes[_key(names)]))
        found |= {each: sums.over(each) for each in every if each not in found and set(each) <= set(names)}
    return found


def dense(histogram: Histogram) -> Cube:
    """Return the histogram as an array with a counter for each cell and an axis for each column."""
    cube = np.zeros(histogram.sizes, dtype=np.int64)
    cube[tuple(histogram.codes)] = histogram.counts
    return cube


class CubeSums:
    """A cube (an array of counts with an axis for each attribute) and its sums so far: one attribute after another is
    summed out, the one of the fewest values last."""

    def __init__(self, names: Subset, cube: Cube) -> None:
        self._names = names
        self._sizes = dict(zip(names, cube.shape, strict=True))
        self._known = {names: cube}

    def over(self, names: Subset) -> Cube:
        """Return the cube's counts summed to the attributes `names`, in the cube's order."""
        if names not in self._known:
            dropped = min((name for name in self._names if name not in names), key=self._sizes.__getitem__)
            wider = tuple(name for name in self._names if name in names or name == dropped)
            self._known[names] = self.over(wider).sum(axis=wider.index(dropped))
        return self._known[names]


def _dense_levels(cube: Cube, levels: Sequence[Sequence[Level]], at: tuple[int, ...]) -> Iterator[Sized]:
    """Yield (places of the levels, summary of the sizes of the anonymity sets) for all combinations of levels of the
    cube's attributes; `at` holds the places already chosen for the first attributes."""
    if len(at) == len(levels):
        yield at, summary(cube[cube > 0])
        return
    for i, level in enumerate(levels[len(at)]):
        if i:
            cube = _coarser(cube, len(at), coarser_codes(levels[len(at)][i - 1], level))
        yield from _dense_levels(cube, levels, (*at, i))


def _coarser(cube: Cube, axis: int, parents: AnyIntegers) -> Cube:
    """Return the cube with one axis at a coarser level: the counts of codes with an equal parent, i.e. code at that
    level, are added up."""
    order = np.argsort(parents, kind="stable")
    starts = np.flatnonzero(np.diff(parents[order], prepend=-1))
    if (order[1:] < order[:-1]).any():
        cube = cube.take(order, axis)
    return np.add.reduceat(cube, starts, axis)


def _sparse_levels(cells: Histogram, levels: Sequence[Sequence[Level]], at: tuple[int, ...]) -> Iterator[Sized]:
    """Yield what `_dense_levels` yields, (places of the levels, summary of set sizes), for a histogram of occurring
    cells; with a counter for each cell once these are few."""
    if prod(cells.sizes) <= DENSE_SUBSET:
        yield from _dense_levels(dense(cells), levels, at)
    elif len(at) == len(levels):
        yield at, summary(cells.counts)
    else:
        for i, level in enumerate(levels[len(at)]):
            if i:
                cells = _coarser_tuples(cells, len(at), coarser_codes(levels[len(at)][i - 1], level), len(level))
            yield from _sparse_levels(cells, levels, (*at, i))


def _coarser_tuples(cells: Histogram, axis: int, parents: AnyIntegers, size: int) -> Histogram:
    codes, sizes = list(cells.codes), list(cells.sizes)
    codes[axis], sizes[axis] = parents[codes[axis]], size
    return collapse(cells.names, tuple(sizes), codes, cells.counts)


def people_by_cell(entries: Histogram, names: Subset) -> Histogram:
    """Return the number of people in each cell of some columns, where a person may be in several. The first column of
    `entries` is the person; a person counts once in a cell, whatever the number of rows."""
    distinct = project(entries, (entries.names[0], *names))
    once = np.ones(len(distinct), dtype=np.int64)
    return collapse(names, distinct.sizes[1:], distinct.codes[1:], once)


def measure_groupings_of_people(entries: Histogram, levels: Levels, up_to: int) -> Iterator[Grouping]:
    """Yield all groupings, in the order of `measure_groupings`, where a person may be in several sets (see
    `summary_of_people`). These do not add up, so each grouping is counted individually."""
    for size in range(1, up_to + 1):
        for names in combinations(levels, size):
            own = [levels[name] for name in names]
            cells = project(entries, (entries.names[0], *names))
            yield from _make_grouping(names, own, _levels_of_people(cells, own, ()))


def _levels_of_people(cells: Histogram, levels: Sequence[Sequence[Level]], at: tuple[int, ...]) -> Iterator[Sized]:
    if len(at) == len(levels):
        yield at, summary_of_people(cells)
        return
    for i, level in enumerate(levels[len(at)]):
        if i:
            parents = coarser_codes(levels[len(at)][i - 1], level)
            cells = _coarser_tuples(cells, len(at) + 1, parents, len(level))
        yield from _levels_of_people(cells, levels, (*at, i))
