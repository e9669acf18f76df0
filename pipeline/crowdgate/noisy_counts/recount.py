"""Recount consistent counts: standard errors from the plan, intervals from published numbers, sums against margins.

The equations of standard errors and the order of margins are those of the release code; they are tested elsewhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from crowdgate.accounting.discrete_laws import Law
from crowdgate.arrays import Floats
from crowdgate.mechanisms.tables.consistency import Axes, variances_after
from crowdgate.mechanisms.tables.lattice import MarginLattice, Ranks
from crowdgate.mechanisms.tables.residuals import ResidualNoise

SOLVED = 1e-6
"""Relative tolerance: standard errors solve equations in floats, in an order that varies between machines."""


@dataclass(frozen=True, eq=False)
class CountCells:
    """Published numbers of a table of counts, one for each cell in a flat array: the count, its unbiased estimate,
    standard error and interval limits. NaN where the published cell is empty."""

    value: Floats
    unbiased: Floats
    error: Floats
    lower: Floats
    upper: Floats

    @property
    def is_finite(self) -> bool:
        """True if no number is empty or infinite."""
        return all(np.isfinite(each).all() for each in (self.value, self.unbiased, self.error, self.lower, self.upper))


@dataclass(frozen=True, eq=False)
class CountsPlan:
    """The plan of counts that were made consistent: names and axes of all of them, including those behind quantiles,
    their noise distributions, the sampling rate, and half the width of an interval around the unbiased estimate, in
    standard errors. If the noise is on `residuals`, tables have no noise distribution of their own."""

    names: Sequence[str]
    axes: Sequence[Axes]
    laws: Sequence[Law]
    beta: Fraction
    width: Fraction
    residuals: ResidualNoise | None = None

    @cached_property
    def lattice(self) -> MarginLattice:
        """The lattice of the plan's tables and of the margins that they share."""
        return MarginLattice.of(self.axes)

    @cached_property
    def spread(self) -> Sequence[Floats]:
        """The variance of each cell of each table's unbiased estimates, without that of sampling."""
        if self.residuals is not None:
            return self.residuals.after
        return variances_after(self.axes, [law.variance for law in self.laws])[0]

    @property
    def drawn(self) -> list[float]:
        """The noise variance of the cells of each table as drawn, or what its residual amounts to."""
        return [law.variance for law in self.laws] if self.residuals is None else self.residuals.drawn

    def problems(self, published: Mapping[int, CountCells]) -> Iterator[str]:
        """Yield a problem for each published table whose numbers contradict the plan or another table. `published`
        holds the cells of tables by their place in `names`."""
        for at, each in published.items():
            for problem in self._cell_problems(each, self.spread[at].reshape(-1)):
                yield f"{self.names[at]}: {problem}"
        rate = float(self.beta)
        whole = {at: np.round(each.value * rate) for at, each in published.items()}
        linear = {at: each.unbiased for at, each in published.items()}
        places = list(published)
        own = np.array([self._ranks[at] for at in places])
        for ranks in self.lattice.members:
            holders = [places[i] for i in np.flatnonzero((own >= np.array(ranks)).all(axis=1))]
            for at, other in self._disagreeing_tables(ranks, holders, linear, SOLVED):
                yield f"{self.names[at]}: its unbiased estimates give other totals than those of {self.names[other]}"
            if self.lattice.agreeing or not any(ranks):
                for at, other in self._disagreeing_tables(ranks, holders, whole, 0.0):
                    yield f"{self.names[at]}: its counts give other totals than those of {self.names[other]}"
        for at, above in self._published_margins(places):
            for _ in self._disagreeing_tables(self._ranks[above], [above, at], whole, 0.0):
                yield f"{self.names[at]}: its counts do not add up to those of {self.names[above]}"

    def _cell_problems(self, found: CountCells, variances: Floats) -> Iterator[str]:
        value, unbiased, error, rate = found.value, found.unbiased, found.error, float(self.beta)
        known = ~np.isnan(value)
        if any((np.isnan(each) == known).any() for each in (unbiased, error, found.lower, found.upper)):
            yield "a line has only some of value, unbiased estimate, standard error and interval"
            return
        if (value[known] < 0).any() or (np.round(value * rate) / rate != value)[known].any():
            yield "a count is below 0, or not a multiple of its step"
        coins = (1 - rate) * np.maximum(unbiased * rate, 0)
        if (np.abs(error - np.sqrt(variances + coins) / rate) > SOLVED * error)[known].any():
            yield "a standard error does not follow from the stated noise"
        moved = float(self.width**2 * (1 - self.beta) / (2 * self.beta))
        half = np.sqrt(moved * moved + np.square(float(self.width) * error))
        lower = np.minimum(np.maximum(unbiased + moved - half, 0), value)
        upper = np.maximum(unbiased + moved + half, value)
        if (found.lower != lower)[known].any() or (found.upper != upper)[known].any():
            yield "an interval does not follow from unbiased estimate, standard error and value"

    def _disagreeing_tables(
        self, ranks: Ranks, holders: Sequence[int], tables: Mapping[int, Floats], near: float
    ) -> Iterator[tuple[int, int]]:
        """Yield (table, first table) for each of `holders`, places of tables, whose margin at `ranks` differs from the
        first one's by more than the relative tolerance `near`. Cells with an empty part are ignored."""
        found = {at: self._margin(ranks, at, tables[at]) for at in holders}
        for at in holders[1:]:
            first, own = found[holders[0]], found[at]
            if (np.abs(own - first) > near * np.maximum(1, np.abs(first))).any():
                yield at, holders[0]

    def _margin(self, ranks: Ranks, at: int, values: Floats) -> Floats:
        cells = self.lattice.cells(self.axes[at], ranks)
        return np.bincount(cells, values, self.lattice.size(ranks)).astype(np.float64)

    def _published_margins(self, places: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield (table, margin), both as places: for each published table the finest other table that is a margin of it
        or, if that is unpublished, the next coarser published one."""
        known = {self._ranks[at]: at for at in reversed(places)}
        for at in places:
            above = self.lattice.parent(self._ranks[at])
            while above is not None and above not in known:
                above = self.lattice.parent(above)
            if above is not None:
                yield at, known[above]

    @cached_property
    def _ranks(self) -> list[Ranks]:
        return [self.lattice.ranks(levels) for levels in self.axes]
