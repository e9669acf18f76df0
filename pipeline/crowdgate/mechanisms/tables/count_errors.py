"""The error of each published count after clipping, consistency and rounding, computed from published numbers alone.

The square of the error is E[(value - truth)^2], over the posterior of the true count given what is published. It has
three sources, each of which makes it smaller than the variance of the unbiased estimate:

1. the noise of the cell, with a prior of counts from 0 on (`posterior`);
2. margins that are known better than the sum of the cells' own noise: clipping at 0 is made up for by other cells of
   the margin, and so do their posterior means. With cells of posterior variance s and a margin of variance W from other
   tables, each mean moves by s / (sum s + W) of what the means lack of the margin;
3. finer tables, whose cells are known to be at least 0, too: their sums, if the values are nearer to these. Values of
   tables of at most one attribute are computed before finer tables (`coarse_to_fine`), so these say nothing of them:
   with these sums, stated errors were .85 of those that occur.

These are approximations: cells are taken as independent before (2), and noise as Normal. A test compares them with
errors that occur. No guarantee depends on them: the 95 % intervals are computed without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.mechanisms.tables.error_methods import BY_OTHER_CELLS, LATEST_METHOD, ErrorMethod
from crowdgate.mechanisms.tables.lattice import MarginLattice, Ranks, refines
from crowdgate.mechanisms.tables.posterior import Posterior, posterior

if TYPE_CHECKING:
    from crowdgate.mechanisms.tables.consistency import Axes

_ROUNDS = 3
"""Rounds over the margins of a table, whose means move each other's."""
_LARGE = 1e18
"""The variance of a margin that other tables say nothing about, in parts of the variance of a cell."""


@dataclass(frozen=True, eq=False)
class PublishedCounts:
    """One table of counts: its axes, the noise variance of its cells as drawn and after consistency, its unbiased
    estimates, and its published values; for the counted rows (the sample, if any)."""

    axes: Axes
    drawn: float
    after: Floats
    estimates: Floats
    values: Integers | Floats


def count_errors(tables: Sequence[PublishedCounts], rate: float, method: ErrorMethod = LATEST_METHOD) -> list[Floats]:
    """Return the error of each cell of the tables, scaled to the full table: the root of its expected square. `rate` is
    that of the sample, which adds (1 - rate) / rate^2 for each row of the sample."""
    out = []
    for table, found in zip(tables, _Posteriors(tables, method).found(), strict=True):
        squares = found.squares(table.values) + (1 - rate) * np.maximum(found.mean, 0)
        out.append((np.sqrt(squares) / rate).reshape(table.values.shape))
    return out


def variances_of_rows(tables: Sequence[PublishedCounts], columns: Mapping[int, str]) -> dict[int, float]:
    """Return for the tables at these places the variance of the number of rows of a group after consistency: of the sum
    of its counts of all values of the column, which `columns` names."""
    found = _Posteriors(tables)
    return {at: found.variance_of_rows(at, column) for at, column in columns.items()}


@dataclass(frozen=True, eq=False)
class _Margin:
    """A margin of a table: the margin's cell of each cell (`cells`), and the margin's variance from other tables."""

    cells: Integers
    size: int
    variance: float
    ranks: Ranks = ()

    def sums(self, numbers: Floats) -> Floats:
        return np.bincount(self.cells, numbers, self.size).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Posteriors:
    tables: Sequence[PublishedCounts]
    method: ErrorMethod = LATEST_METHOD

    @cached_property
    def _lattice(self) -> MarginLattice:
        return MarginLattice.of([table.axes for table in self.tables])

    @cached_property
    def _ranks(self) -> list[Ranks]:
        return [self._lattice.ranks(table.axes) for table in self.tables]

    def found(self) -> list[Posterior]:
        out: dict[int, Posterior] = {}
        before: dict[int, tuple[Posterior, float]] = {}
        for at in sorted(range(len(self.tables)), key=lambda at: -self.tables[at].values.size):
            table = self.tables[at]
            margins, alone = self._margins(at)
            own = posterior(table.estimates, alone, table.values, self.method)
            out[at] = self._nearest(at, before, _with_margins(own, table, margins))
            before[at] = own, float(alone.mean())
        return [out[at] for at in range(len(self.tables))]

    def variance_of_rows(self, at: int, column: str) -> float:
        """Return the variance of the sum of a table's cells over all values of the column."""
        ranks, columns = self._ranks[at], list(self._lattice.nestings)
        if column not in columns:  # at a level of one value
            return self._variance(ranks)
        place = columns.index(column)
        return self._variance((*ranks[:place], 0, *ranks[place + 1 :]))

    def _margins(self, at: int) -> tuple[list[_Margin], Floats]:
        """Return the finest margins of a table that other tables improve, and the variance of each cell that its own
        noise alone leaves: the variance after consistency without these margins."""
        table, ranks, known, kept = self.tables[at], self._ranks[at], [], 1.0
        for coarser in self._lattice.finest(ranks):
            size = self._lattice.size(coarser)
            each, variance = table.values.size / size, self._variance(coarser)
            gain = min(max(1 - variance / (each * table.drawn), 0.0), 1.0)
            if gain > 0 and each > 1:
                known.append((coarser, size, each, variance))
                kept *= 1 - gain / each
        alone = np.broadcast_to(table.after, table.values.shape).reshape(-1) / kept
        mean = float(alone.mean())
        return [
            _Margin(self._lattice.cells(table.axes, own), size, _others(variance, each * mean), own)
            for own, size, each, variance in known
        ], alone

    def _variance(self, margin: Ranks) -> float:
        """Return the mean variance of the cells of a margin, or a bound on it: that of the sum of independent cells."""
        ranks, sums = self._summed
        return float(sums[(ranks >= np.array(margin)).all(axis=1)].min()) / self._lattice.size(margin)

    @cached_property
    def _summed(self) -> tuple[Integers, Floats]:
        """The ranks of all tables, and the sum of the variances of each one's cells."""
        ranks = np.array(self._ranks, dtype=np.int64).reshape(len(self.tables), -1)
        return ranks, np.array([float(np.mean(table.after)) * table.values.size for table in self.tables])

    def _nearest(self, at: int, before: dict[int, tuple[Posterior, float]], own: Posterior) -> Posterior:
        """Return the posterior of a table's cells, or that of sums over a finer table if the published values are
        nearer to it."""
        if self.method in BY_OTHER_CELLS and sum(map(bool, self._ranks[at])) <= 1:
            return own
        finer = [other for other in before if refines(self._ranks[other], self._ranks[at])]
        values = self.tables[at].values
        sums = [self._sums(at, other, *before[other]) for other in finer]
        return min([own, *sums], key=lambda each: float(each.squares(values).mean()))

    def _sums(self, at: int, finer: int, before: Posterior, alone: float) -> Posterior:
        """Return the posterior of the sums over a finer table, given the table's own noise."""
        table, size = self.tables[at], self._lattice.size(self._ranks[at])
        margin = _Margin(self._lattice.cells(self.tables[finer].axes, self._ranks[at]), size, 0.0)
        order = self._lattice.cells(table.axes, self._ranks[at])
        mean, variance = margin.sums(before.mean)[order], margin.sums(before.variance)[order]
        other = _others(float(np.mean(table.after)), before.mean.size / size * alone)
        move = variance / (variance + other)
        return Posterior(mean + move * (table.estimates.reshape(-1) - mean), variance * (1 - move))


def _others(variance: float, cells: float) -> float:
    """Return the variance of a margin from other tables alone, given its `variance` and that of the sum of its cells'
    own noise."""
    return 1 / (1 / variance - 1 / cells) if variance < cells * (1 - 1e-9) else _LARGE * cells


def _with_margins(before: Posterior, table: PublishedCounts, margins: Sequence[_Margin]) -> Posterior:
    """Return the posterior given the margins' estimates as well."""
    mean, variance = before.mean, before.variance
    estimates = table.estimates.reshape(-1)
    for at, margin in _repeated(margins):
        moves = variance / (margin.sums(variance) + margin.variance)[margin.cells]
        mean = mean + moves * margin.sums(estimates - mean)[margin.cells]
        variance = variance * (1 - moves) if at == 0 else variance
    return Posterior(mean, variance)


def _repeated(margins: Sequence[_Margin]) -> Iterator[tuple[int, _Margin]]:
    for at in range(_ROUNDS):
        for margin in margins:
            yield at, margin
