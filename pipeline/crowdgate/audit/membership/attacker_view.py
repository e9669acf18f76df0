"""A release as an attacker on membership sees it, and by how much members make it likelier.

Everything is known of a target that the release tells of anybody: a target is a cell of the population, or a person who
has rows in several.
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
"""Tuples that were not released, by classes that were, that are compared: of more the nearest are not looked for."""
_NEVER = 1e-9
"""In place of 0, below a fraction line or in a logarithm."""


@dataclass(frozen=True, eq=False)
class ShadowModel:
    """A fitted model: the log odds of a member are linear in standardised features."""

    middle: Floats
    spread: Floats
    slopes: Floats


@dataclass(frozen=True, eq=False)
class MembershipAttackerView:
    """What an attacker sees: a release, and the population with the size of the table. `shadow` is what he learned from
    releases of his own (None: nothing)."""

    seen: MechanismOutput
    crowd: TargetPopulation
    shadow: ShadowModel | None = None

    @property
    def releases_rows(self) -> bool:
        """Whether rows are released at all, whoever's they are."""
        return self.seen.released_rows is not None

    @property
    def nothing(self) -> bool:
        """Whether nothing is told that attacks read."""
        return not self.releases_rows and not self.seen.tables

    @cached_property
    def tuples(self) -> DistinctTuples:
        """The tuples of the population at the released levels."""
        return self.crowd.population.tuples(self.seen.levels)

    @cached_property
    def rows_per_tuple(self) -> Floats:
        """Rows of the population in each tuple."""
        return self.crowd.rows_per_tuple(self.tuples)

    @cached_property
    def counts(self) -> Floats:
        """Released rows of each tuple."""
        assert self.seen.released_rows is not None, "rows are released"
        return self.tuples.counts_of(self.seen.released_rows).astype(np.float64)

    @cached_property
    def inclusion_probability(self) -> float:
        """How likely a row of the population is in the table and in the sample."""
        return float(self.seen.beta) * self.crowd.share

    @cached_property
    def log_rows(self) -> Floats:
        """By cells: the logarithm of how much likelier the released count of its class is with a member (zeros without
        rows of people)."""
        if self.seen.rows is None:
            return np.zeros(len(self.crowd.population.cells))
        return self.log_ratio_by_person(self.counts)

    def log_ratio_by_person(self, counts: Floats) -> Floats:
        """The same of such counts of people's rows by tuples."""
        present = _member_ratios(counts, self.rows_per_tuple, float(self.seen.beta), self.crowd.share)
        ratio = np.where(counts > 0, present, self._absent())
        return np.asarray(np.log(np.maximum(ratio, _NEVER))[self.tuples.of_cell], dtype=np.float64)

    def _absent(self) -> Floats:
        """1 - beta f(k - 1) / F(k - 1): a class below k is not released."""
        beta, last = float(self.seen.beta), self.seen.least - 1
        below, less = (
            _binomial_cdf(number, self.rows_per_tuple - 1, self.inclusion_probability) for number in (last, last - 1)
        )
        share = np.divide(below - less, below, out=np.ones_like(below), where=below > 0)
        return np.asarray(1 - beta * share, dtype=np.float64)

    @cached_property
    def residuals(self) -> tuple[Floats, Floats]:
        """By tables and cells: how far the noisy count of the target's cell is above what is expected, in standard
        deviations of noise and sampling; and how far a member moves it, in the same."""
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
        """By cells: the logarithm of how much likelier the noisy counts are with a member, tables as if independent."""
        far, step = self.residuals
        return np.asarray((step * far - step * step / 2).sum(axis=0), dtype=np.float64)

    @cached_property
    def log_exact(self) -> Floats:
        """The same as if there were no noise."""
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
        """By cells: in how many attributes the nearest released class agrees, and beyond that its rows as a share of
        the greatest class's. All are equal where no class is released, and so are those without a class where too much
        is to be compared. None for a kind without rows."""
        rows = self.seen.released_rows
        if rows is None or not rows.names:
            return None
        most = rows.counts.max(initial=0) + 1
        missing = np.flatnonzero(self.counts == 0)
        found = len(self.tuples.levels) + self.counts / most
        found[missing] = self._agreeing(rows, missing, most)
        return np.asarray(found[self.tuples.of_cell], dtype=np.float64)

    def _agreeing(self, rows: Histogram, missing: Integers, most: int) -> Floats:
        """How near the nearest class is to each of these tuples, which have none of their own."""
        if len(missing) * len(rows) > MOST_PAIRS:
            return np.zeros(len(missing))
        agree = np.zeros((len(missing), len(rows)), dtype=np.int16)
        for name, mine in zip(self.tuples.levels, self.tuples.codes, strict=True):
            agree += mine[missing, None] == rows.codes[rows.names.index(name)][None, :]
        return np.asarray((agree + rows.counts[None, :] / most).max(axis=1, initial=0), dtype=np.float64)


def _member_ratios(counts: Floats, held: Floats, beta: float, share: float) -> Floats:
    """How much likelier counts of a sample are with a member: 1 - beta + beta f(c - 1) / f(c), where f is the law of
    the count of all others, Bin(held - 1, beta share)."""
    tried = min(1 - _NEVER, beta * share)
    rest = np.maximum(held - counts, _NEVER)
    return np.asarray(1 - beta + beta * counts * (1 - tried) / (rest * tried), dtype=np.float64)


def _binomial_cdf(number: int, rows: Floats, share: float) -> Floats:
    """P(Bin(rows, share) <= number)."""
    from scipy.special import betainc  # a release reads records of audits, and plays none

    if number < 0:
        return np.zeros(len(rows))
    found = betainc(np.maximum(1, rows - number), number + 1, 1 - share)
    return np.where(rows > number, found, 1.0)
