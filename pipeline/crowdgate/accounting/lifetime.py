"""The promise of a lifetime that is counted in Renyi divergences: a filter, beside an additive budget that was closed.

A filter is fixed when it is opened, and keeps every point (epsilon, delta) of the curve of its caps, whatever is run
next. A budget that was additive before stays spent: its closed (epsilon, delta) is added to each point. So no figure
here depends on what was spent so far, which would be no promise where the next release depends on earlier ones.
"""

from dataclasses import dataclass
from fractions import Fraction

from crowdgate.accounting.renyi import Divergences
from crowdgate.accounting.renyi_filter import Filter

Point = tuple[Fraction, Fraction]
"""(epsilon, delta)."""
_NONE: Point = (Fraction(0), Fraction(0))
MOST_EPSILON = 100
LEAST_DELTA = Fraction(1, 10**100)
_RECORDED = 1 + Fraction(1, 10**9)
_STEPS = range(10, 31)
"""Epsilons of the stated curve, in twentieths of the total."""


@dataclass(frozen=True)
class Lifetime:
    """A filter, and the (epsilon, delta) of the additive budget that was `closed` before it was opened, or zero."""

    filter: Filter
    closed: Point = _NONE

    @classmethod
    def planned(cls, epsilon: Fraction, delta: Fraction, closed: Point = _NONE) -> "Lifetime":
        """Return the lifetime of total (epsilon, delta) with a new filter for all but the `closed` budget. Raises
        ValueError for a total above 100 or of delta 1, and if the filter would have epsilon 0, or a delta below 1e-100.
        """
        if not closed[0] < epsilon <= MOST_EPSILON or not closed[1] + LEAST_DELTA <= delta < 1:
            raise ValueError("epsilon above 0 up to 100, and delta from 1e-100 to below 1, for Renyi divergences")
        return cls(Filter.planned(epsilon - closed[0], delta - closed[1]), closed)

    def keeps(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Return whether all releases together keep (epsilon, delta), as recorded on any machine: the logarithms of
        another one may differ in their last digit."""
        return self.delta(epsilon) <= delta * _RECORDED

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return the delta that all releases together keep at `epsilon`: at least that of the closed budget; 1 at an
        epsilon below that of the closed budget."""
        if epsilon < self.closed[0]:
            return Fraction(1)
        return min(Fraction(1), self.closed[1] + Fraction(self.filter.delta(epsilon - self.closed[0])))

    def used(self, spent: Divergences) -> Fraction:
        """Return the part of the filter that `spent` uses: at the order that has most left, or of cut mass if that is
        larger. Above 1 only after a restoration."""
        cut = spent.cut / self.filter.cut_cap if self.filter.cut_cap else Fraction(0)
        return max(self.filter.part(spent), cut)

    def points(self, epsilon: Fraction) -> tuple[Point, ...]:
        """Return points (epsilon, delta) that all releases together keep, around the total `epsilon`, without those at
        delta 1."""
        found = ((epsilon * part / 20, self.delta(epsilon * part / 20)) for part in _STEPS)
        return tuple(point for point in found if point[1] < 1)
