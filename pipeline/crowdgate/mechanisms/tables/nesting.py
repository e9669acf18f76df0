"""One attribute at the levels that tables use: coordinates that respect the nesting of levels.

The coordinates of the counts of a level are, coarsest first: their total, then for each level the contrasts between the
values that share a value of the level before, in an orthonormal basis of vectors that add up to 0 in each such group.
The coordinates of a coarser level are the first ones of a finer level: contrasts within its groups say nothing about
it. With one level they are a constant and the contrasts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.hierarchy import Level, coarser_codes
from crowdgate.system import lazy_libraries

_DENSE = 256
"""Number of values of a level up to which a matrix product is quicker than a reflection."""


@dataclass(frozen=True, eq=False)
class LevelStep:
    """The step from a level to the coarser one before it: the value there (`parents`) that each of its values belongs
    to.

    In each group a Householder reflection maps the constant vector to the place of the group's first value, so that the
    other places hold contrasts. Applied along the first of two axes.
    """

    parents: Integers

    @cached_property
    def sizes(self) -> Integers:
        """Number of finer values in each group, i.e. in each value of the coarser level."""
        return np.bincount(self.parents).astype(np.int64)

    @cached_property
    def mean(self) -> float:
        """Mean size of a value's group, over all values of the finer level."""
        return float(self.sizes[self.parents].mean())

    @cached_property
    def first(self) -> Integers:
        """Place of the first value of each group."""
        return np.unique(self.parents, return_index=True)[1].astype(np.int64)

    @cached_property
    def rest(self) -> Integers:
        """Places of all values that are not the first of their group."""
        return np.setdiff1d(np.arange(len(self.parents)), self.first)

    def reflect(self, values: Floats) -> Floats:
        """Return the values after a Householder reflection in each group. The reflection is its own inverse and its own
        transpose."""
        return np.asarray(values - self._vectors[:, None] * (self._sums @ values)[self.parents])

    def reflect_sparse(self, values: Floats) -> Floats:
        """Return `reflect(values)`, to the last bit, where at most one value in each column and group is not 0. It
        works on a matrix of few rows without SciPy, whose import takes longer."""
        sums = np.where(self.parents == np.arange(len(self.sizes))[:, None], self._vectors, 0.0)
        return np.asarray(values - self._vectors[:, None] * (sums @ values)[self.parents])

    @cached_property
    def _vectors(self) -> Floats:
        """Vectors a of length sqrt(2) in each group: v - a a'v reflects. 0 in groups of one value."""
        constant = 1 / np.sqrt(self.sizes)
        vectors = constant[self.parents]
        vectors[self.first] -= 1
        return np.asarray(vectors / np.sqrt(np.where(self.sizes > 1, 1 - constant, 1.0))[self.parents])

    @cached_property
    def _sums(self) -> Any:
        """The sparse matrix v -> a'v of all groups."""
        places = self.parents, np.arange(len(self.parents))
        return lazy_libraries.sparse.csr_array((self._vectors, places), shape=(len(self.sizes), len(self.parents)))


@dataclass(frozen=True, eq=False)
class Nesting:
    """The levels of one attribute with more than one value, coarsest first; `steps[rank - 1]` leads from the level of a
    rank to the one before. Rank 0 is the total, without any level."""

    levels: tuple[Level, ...]

    @classmethod
    def of(cls, levels: Iterable[Level]) -> "Nesting":
        """Return the nesting of levels of one attribute. Of levels with equally many values, which have equal groups,
        one is used."""
        sizes = {len(level): level for level in levels if len(level) > 1}
        return cls(tuple(sizes[size] for size in sorted(sizes)))

    @cached_property
    def steps(self) -> tuple[LevelStep, ...]:
        """The steps from each level to the one before it, the first to the total."""
        whole = [LevelStep(np.zeros(len(level), dtype=np.int64)) for level in self.levels[:1]]
        pairs = zip(self.levels[1:], self.levels, strict=False)
        return (*whole, *(LevelStep(coarser_codes(finer, coarser).astype(np.int64)) for finer, coarser in pairs))

    def size(self, rank: int) -> int:
        """Return the number of values of the level with this rank: 1 for rank 0, the total."""
        return len(self.levels[rank - 1]) if rank else 1

    def rank(self, level: Level) -> int:
        """Return the rank of a level: its place among the levels from 1 on, coarsest first; 0 for a level of one
        value."""
        return [1, *map(len, self.levels)].index(len(level))

    def places(self, level: Level) -> Integers | None:
        """Return for each value of the given level the place of the equal value in the nesting's level of this rank;
        None if both have one order."""
        rank = self.rank(level)
        if not rank or np.array_equal(level.codes, self.levels[rank - 1].codes):
            return None
        return coarser_codes(self.levels[rank - 1], level).astype(np.int64)

    def values(self, coordinates: Floats, rank: int) -> Floats:
        """Return the counts of a level from their coordinates, along the first of two axes."""
        return np.asarray(self.basis(rank) @ coordinates) if self._small(rank) else self._values(coordinates, rank)

    def transposed(self, values: Floats, rank: int) -> Floats:
        """Return the transpose of `values`, applied to counts: means over groups, and contrasts."""
        return np.asarray(self.basis(rank).T @ values) if self._small(rank) else self._transposed(values, rank)

    def basis(self, rank: int) -> Floats:
        """Return the matrix that maps coordinates to the counts of the level with this rank (the map of `values`)."""
        if rank not in self._bases:
            self._bases[rank] = self._basis(rank) if self._small(rank) else self._values(np.eye(self.size(rank)), rank)
        return self._bases[rank]

    def squared(self, coordinates: Floats, rank: int) -> Floats:
        """Return B'B c for the coordinates c, where B is the matrix that maps coordinates to counts of the level with
        this rank (`basis`)."""
        if not self._small(rank):
            return self._transposed(self._values(coordinates, rank), rank)
        if rank not in self._grams:
            self._grams[rank] = self.basis(rank).T @ self.basis(rank)
        return np.asarray(self._grams[rank] @ coordinates)

    def evened(self, rank: int) -> Floats:
        """Return weights of the values of a level, 1 on average, for which coordinates are orthogonal: proportional to
        the sizes of the groups that a value belongs to."""
        weights = np.ones(1)
        for step in self.steps[:rank]:
            weights = (weights * step.sizes)[step.parents] / step.mean
        return weights

    def evened_squares(self, rank: int) -> Floats:
        """Return for each coordinate the sum of squares of its basis vector on the level with this rank, weighted by
        `evened`."""
        if not rank:
            return np.ones(1)
        step = self.steps[rank - 1]
        return np.concatenate([self.evened_squares(rank - 1) / step.mean, self.evened(rank)[step.rest]])

    def shrinkage(self, block: int, rank: int) -> float:
        """Return a lower bound on the part of a squared contrast of level `block` that remains among the values of
        level `rank`: 1 over the sizes of the largest groups between."""
        return 1 / prod(int(step.sizes.max()) for step in self.steps[block:rank])

    def squares(self, block: int, rank: int) -> Floats:
        """Return for each value of level `rank` the sum of squares of its basis over the coordinates of level
        `block`."""
        if not block:
            return self.carried(np.ones(1), 0, rank)
        step = self.steps[block - 1]
        return self.carried(1 - 1 / step.sizes[step.parents], block, rank)

    def carried(self, squares: Floats, rank: int, finer: int) -> Floats:
        """Return variances by value of a level as variances of its mean by value of a finer one, along the last
        axis."""
        for step in self.steps[rank:finer]:
            squares = (squares / step.sizes**2)[..., step.parents]
        return squares

    @cached_property
    def coupled(self) -> int:
        """The rank up to which coordinates are dependent: the last level but the finest whose values form groups of
        unequal sizes among those of the next; 0 without one."""
        uneven = [rank for rank, step in enumerate(self.steps) if len(set(step.sizes.tolist())) > 1]
        return max(uneven, default=0)

    def ancestors(self, rank: int, finer: int) -> Integers:
        """Return for each value of level `finer` its value of level `rank`."""
        found = np.arange(self.size(finer))
        for step in reversed(self.steps[rank:finer]):
            found = step.parents[found]
        return found

    def _small(self, rank: int) -> bool:
        return self.size(rank) <= _DENSE

    def _basis(self, rank: int) -> Floats:
        if not rank:
            return np.ones((1, 1))
        step, before = self.steps[rank - 1], self.size(rank - 1)
        coarser = np.pad(self.basis(rank - 1), ((0, 0), (0, self.size(rank) - before)))
        return step.reflect_sparse(self._unreflected(coarser, np.eye(self.size(rank))[before:], step))

    def _values(self, coordinates: Floats, rank: int) -> Floats:
        if not rank:
            return coordinates
        step, before = self.steps[rank - 1], self.size(rank - 1)
        return step.reflect(self._unreflected(self._values(coordinates[:before], rank - 1), coordinates[before:], step))

    @staticmethod
    def _unreflected(coarser: Floats, contrasts: Floats, step: LevelStep) -> Floats:
        """Return the counts of a coarser level at the first place of each of its groups, contrasts elsewhere."""
        out = np.empty((len(step.parents), contrasts.shape[1]))
        out[step.first] = coarser / np.sqrt(step.sizes)[:, None]
        out[step.rest] = contrasts
        return out

    def _transposed(self, values: Floats, rank: int) -> Floats:
        if not rank:
            return values
        step = self.steps[rank - 1]
        reflected = step.reflect(values)
        means = reflected[step.first] / np.sqrt(step.sizes)[:, None]
        return np.concatenate([self._transposed(means, rank - 1), reflected[step.rest]])

    @cached_property
    def _grams(self) -> dict[int, Floats]:
        return {}

    @cached_property
    def _bases(self) -> dict[int, Floats]:
        return {}


def nestings_of(tables: Iterable[Mapping[str, Level]]) -> dict[str, Nesting]:
    """Return the nesting of each attribute that has a level of more than one value in a table, by name."""
    used: dict[str, list[Level]] = {}
    for levels in tables:
        for name, level in levels.items():
            if len(level) > 1:
                used.setdefault(name, []).append(level)
    return {name: Nesting.of(used[name]) for name in sorted(used)}
