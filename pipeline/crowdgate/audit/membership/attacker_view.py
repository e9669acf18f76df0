"""A release as an attacker on membership sees it, with likelihood ratios of the release for members.

The attacker knows everything about a target that is released about anybody. A target is a cell of the population, or a
person who has rows in several cells.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.audit.common.tuples import DistinctTuples
from crowdgate.audit.membership.target_population import TargetPopulation, noisy_tuple_counts
from crowdgate.histogram import Histogram
from crowdgate.kind.mechanism_output import MechanismOutput

MOST_PAIRS = 1 << 24
"""Greatest number of pairs of an unreleased tuple and a released class that are compared: for more the nearest class is
not searched."""
_NEVER = 1e-9
"""Replacement for 0 in a denominator or in a logarithm."""


@dataclass(frozen=True, eq=False)
class ShadowModel:
    """Logistic regression fitted on the attacker's own releases: the log odds of membership are the sum of `slopes`
    times the features, each minus its mean (`middle`) and divided by its standard deviation (`spread`)."""

    middle: Floats
    spread: Floats
    slopes: Floats


@dataclass(frozen=True, eq=False)
class MembershipAttackerView:
    """View of a membership attacker: a release (`seen`), and the population with the size of the table (`crowd`).
    `shadow` is the model fitted on the attacker's own releases (None: no model)."""

    seen: MechanismOutput
    crowd: TargetPopulation
    shadow: ShadowModel | None = None

    @property
    def releases_rows(self) -> bool:
        """True if the release contains rows, of people or synthetic."""
        return self.seen.released_rows is not None

    @property
    def nothing(self) -> bool:
        """True if the release contains neither rows nor noisy tables, so that membership attacks have nothing to
        read."""
        return not self.releases_rows and not self.seen.tables

    @cached_property
    def tuples(self) -> DistinctTuples:
        """Distinct tuples of the population's attribute values at the levels of the released rows."""
        return self.crowd.population.tuples(self.seen.levels)

    @cached_property
    def rows_per_tuple(self) -> Floats:
        """Number of the population's rows with each tuple of attribute values at the released levels."""
        return self.crowd.rows_per_tuple(self.tuples)

    @cached_property
    def counts(self) -> Floats:
        """Number of released rows with each tuple of the population's attribute values."""
        assert self.seen.released_rows is not None, "rows are released"
        return self.tuples.counts_of(self.seen.released_rows).astype(np.float64)

    @cached_property
    def inclusion_probability(self) -> float:
        """Probability that a random row of the population is in the table and in its sample."""
        return float(self.seen.beta) * self.crowd.share

    @cached_property
    def log_rows(self) -> Floats:
        """Log likelihood ratio, for each cell of the population, of the released number of rows in the cell's class:
        with a member in the cell against without. Zeros if no rows of people are released."""
        if self.seen.rows is None:
            return np.zeros(len(self.crowd.population.cells))
        return self.log_ratio_by_person(self.counts)

    def log_ratio_by_person(self, counts: Floats) -> Floats:
        """Return, for each cell of the population, the log likelihood ratio of membership from `counts`, taken as
        released numbers of people's rows with each tuple: with a member in the cell against without."""
        present = _member_ratios(counts, self.rows_per_tuple, float(self.seen.beta), self.crowd.share)
        ratio = np.where(counts > 0, present, self._absent())
        return np.asarray(np.log(np.maximum(ratio, _NEVER))[self.tuples.of_cell], dtype=np.float64)

    def _absent(self) -> Floats:
        """Return, for each tuple, the likelihood ratio of a suppressed class (fewer than k sampled rows) with a member
        against without: 1 - beta f(k - 1) / F(k - 1), for the sampling rate beta and the distribution f (cumulative F)
        of the number of sampled rows of others."""
        beta, last = float(self.seen.beta), self.seen.least - 1
        below, less = (
            _binomial_cdf(number, self.rows_per_tuple - 1, self.inclusion_probability) for number in (last, last - 1)
        )
        share = np.divide(below - less, below, out=np.ones_like(below), where=below > 0)
        return np.asarray(1 - beta * share, dtype=np.float64)

    @cached_property
    def residuals(self) -> tuple[Floats, Floats]:
        """Two arrays by tables and cells: the noisy count for the cell minus its expectation, in standard deviations of
        noise and sampling; and the change that one member in the cell makes, in the same unit."""
        far, step = list[Floats](), list[Floats]()
        for table in self.seen.tables:
            tuples = self.crowd.population.tuples(table.levels)
            share = float(table.beta) * self.crowd.share
            expected = self.crowd.rows_per_tuple(tuples) * share
            spread = np.sqrt(table.variance + expected * (1 - share) + _NEVER)
            far.append(((noisy_tuple_counts(table, tuples) - expected) / spread)[tuples.of_cell])
            step.append((float(table.beta) / spread)[tuples.of_cell])
        cells = len(self.crowd.population.cells)
        return np.array(far).reshape(-1, cells), np.array(step).reshape(-1, cells)

    @cached_property
    def log_tables(self) -> Floats:
        """Log likelihood ratio, for each cell of the population, of all noisy counts: with a member in the cell against
        without, as if tables were independent."""
        far, step = self.residuals
        return np.asarray((step * far - step * step / 2).sum(axis=0), dtype=np.float64)

    @cached_property
    def log_exact(self) -> Floats:
        """Log likelihood ratio, for each cell of the population, of all noisy counts: with a member in the cell against
        without, computed as if counts had no noise and tables were independent."""
        found = np.zeros(len(self.crowd.population.cells))
        for table in self.seen.tables:
            tuples = self.crowd.population.tuples(table.levels)
            held = self.crowd.rows_per_tuple(tuples)
            counts = np.clip(noisy_tuple_counts(table, tuples), 0, held)
            ratio = _member_ratios(counts, held, float(table.beta), self.crowd.share)
            found += np.log(np.maximum(ratio, _NEVER))[tuples.of_cell]
        return found

    @cached_property
    def nearness(self) -> Floats | None:
        """Nearness of each cell of the population to the released classes: number of attributes in which the nearest
        class agrees, plus this class's share of the greatest class's rows. Without classes, or with too many pairs to
        compare, cells without a class are equal. None if the mechanism releases no rows."""
        rows = self.seen.released_rows
        if rows is None or not rows.names:
            return None
        most = rows.counts.max(initial=0) + 1
        missing = np.flatnonzero(self.counts == 0)
        found = len(self.tuples.levels) + self.counts / most
        found[missing] = self._agreeing(rows, missing, most)
        return np.asarray(found[self.tuples.of_cell], dtype=np.float64)

    def _agreeing(self, rows: Histogram, missing: Integers, most: int) -> Floats:
        """Return, for each tuple in `missing` (those without a released class), the nearness of the nearest released
        class: number of equal attributes, plus the class's rows divided by `most`. Zeros if too many pairs would be
        compared."""
        if len(missing) * len(rows) > MOST_PAIRS:
            return np.zeros(len(missing))
        agree = np.zeros((len(missing), len(rows)), dtype=np.int16)
        for name, mine in zip(self.tuples.levels, self.tuples.codes, strict=True):
            agree += mine[missing, None] == rows.codes[rows.names.index(name)][None, :]
        return np.asarray((agree + rows.counts[None, :] / most).max(axis=1, initial=0), dtype=np.float64)


def _member_ratios(counts: Floats, held: Floats, beta: float, share: float) -> Floats:
    """Return the likelihood ratio of each sampled count c with a member against without: 1 - beta + beta f(c - 1) /
    f(c), where beta is the sampling rate, and f the distribution Bin(held - 1, beta share) of the count of all
    others."""
    tried = min(1 - _NEVER, beta * share)
    rest = np.maximum(held - counts, _NEVER)
    return np.asarray(1 - beta + beta * counts * (1 - tried) / (rest * tried), dtype=np.float64)


def _binomial_cdf(number: int, rows: Floats, share: float) -> Floats:
    """Return, for each number of rows, the probability that a binomial variable with this many trials and success
    probability `share` is at most `number`."""
    from scipy.special import betainc  # loaded on first use: a release reads audit records and plays none

    if number < 0:
        return np.zeros(len(rows))
    found = betainc(np.maximum(1, rows - number), number + 1, 1 - share)
    return np.where(rows > number, found, 1.0)
