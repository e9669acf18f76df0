"""Expected retention of a table that is sampled and whose small classes are suppressed."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.kind.forecast import Axes, Basis, CellErrors
from crowdgate.kind.prior import ExpectedCounts, ExpectedRange, coarsened
from crowdgate.kinds.rows.retention_bounds import RetentionBounds, retention_bounds
from crowdgate.risk import retention
from crowdgate.risk.retention import (
    SampledRetention,
    estimate_moments,
    expected_retained_share,
    sampled_retention,
)

SHARE_SLACK, CLASSES_SLACK, CLASSES_SHARE = 0.01, 2.0, 0.04
"""The least half width of the range of the retained share; that of the number of classes, as a number and a share of
it."""
COINS = 3
"""Standard deviations of the sampling randomness on either side in the range for a known table."""
UNRELATED = (Basis.MARGINS, Basis.PARTLY)
"""Bases of which only limits are known."""
UNRELATED_NOTE = (
    "unknown where no counts relate attributes: the bounds hold for every table with these counts. A public table or a"
    " pilot release tells it (--from)"
)
ERROR_FACTOR = 1.5
"""Factor, either way, between the root mean square error of a table's cells and the expected one."""


@dataclass(frozen=True, eq=False)
class ExpectedRetention:
    """Retention in a Bernoulli(beta) sample of the expected people, with classes below k suppressed."""

    joint: ExpectedCounts
    k: int
    beta: Fraction

    @cached_property
    def _retention_moments(self) -> SampledRetention:
        return sampled_retention(self.joint.people, self.k, self.beta)

    @cached_property
    def _bounds(self) -> RetentionBounds:
        return retention_bounds(self.joint, self.k, self.beta)

    @property
    def is_known(self) -> bool:
        """True if counts relate the attributes: without relations an expectation is a guess, and only the limits
        hold."""
        return self.joint.basis not in UNRELATED or sum(len(level) > 1 for level in self.joint.axes.values()) < 2

    @property
    def expected(self) -> float:
        """The expected share of the sampled rows that are retained, without prediction limits."""
        counted = self.joint.basis is Basis.COUNTED
        return self._retention_moments.share if counted else retained_share(self.joint.people, self.k, self.beta)

    @cached_property
    def share(self) -> ExpectedRange:
        """The expected share of the sampled rows that are retained, with its prediction limits."""
        if self.joint.basis is Basis.COUNTED:
            found, wide = self._retention_moments.share, COINS * self._retention_moments.share_deviation
            return ExpectedRange(found, max(0.0, found - wide), min(1.0, found + wide))
        if self.joint.basis is Basis.MARGINS:
            return ExpectedRange(self.expected, self._bounds.least_share, self._bounds.greatest_share)
        return self.joint.range_of(lambda people: retained_share(people, self.k, self.beta), lambda _: SHARE_SLACK, 1.0)

    @cached_property
    def classes(self) -> ExpectedRange:
        """The expected number of retained classes (those with at least k sampled rows), with its prediction limits."""
        most = float(np.count_nonzero(self.joint.people))
        if self.joint.basis is Basis.COUNTED:
            found = self._retention_moments.classes
            wide = COINS * self._retention_moments.classes_deviation
            return ExpectedRange(found, max(0.0, found - wide), min(most, found + wide))
        if self.joint.basis is Basis.MARGINS:
            found = self._classes(self.joint.people)
            return ExpectedRange(found, self._bounds.least_classes, self._bounds.greatest_classes)
        return self.joint.range_of(self._classes, lambda found: CLASSES_SLACK + CLASSES_SHARE * found, most)

    @cached_property
    def probabilities(self) -> Floats:
        """For each class the probability that it is retained (has at least k sampled rows), in the shape of the
        table."""
        return _retention_probability(self.joint.people, self.k, self.beta)

    def _classes(self, people: Floats) -> float:
        own = people is self.joint.people
        return float((self.probabilities if own else _retention_probability(people, self.k, self.beta)).sum())

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """For each class, in people: the expected amount by which the estimate (released rows / beta) falls short of
        the class's size, and the variance of the estimate's error."""
        if self.joint.basis is Basis.COUNTED:
            return self._retention_moments.missing, self._retention_moments.variance
        return estimate_moments(self.joint.people, self.k, self.beta)

    def errors(self, axes: Axes) -> CellErrors | None:
        """Return the expected errors, in persons, of a table of the released rows over `axes` (level by attribute);
        None if an attribute is not among the released ones, or has another level."""
        own = self.joint.axes
        if any(name not in own or own[name].name != level.name for name, level in axes.items()):
            return None
        parts = (coarsened(part, own, axes).reshape(-1) for part in (self.joint.people, *self.moments))
        counts, loss, spread = parts
        rate = float(self.beta)
        named = {"sampling": np.sqrt(counts * (1 - rate) / rate), "suppression": loss}
        return CellErrors(np.sqrt(spread + loss**2), named, float(loss.sum() / max(counts.sum(), 1e-300)), ERROR_FACTOR)

    def tables(self) -> Iterator[Axes]:
        """Yield the axes (level by attribute) of each table of one or two attributes that have at least two values."""
        names = [name for name, level in self.joint.axes.items() if len(level) > 1]
        for chosen in (each for ways in (1, 2) for each in combinations(names, ways)):
            yield {name: self.joint.axes[name] for name in chosen}


def retained_share(people: Floats, k: int, beta: Fraction) -> float:
    """Return the expected share of the sampled rows that are retained; `people` is the expected number of people of
    each class."""
    cells = people[people > 0]
    return expected_retained_share(cells / cells.sum(), _whole_people(people), k, beta)


def _retention_probability(people: Floats, k: int, beta: Fraction) -> Floats:
    """Return for each class the probability that at least k of its people are sampled. It equals the probability that
    one further sampled person of the class is retained at k + 1."""
    return retention.retention_probabilities(people / people.sum(), _whole_people(people) + 1, k + 1, beta)


def _whole_people(people: Floats) -> int:
    return max(1, round(float(people.sum())))
