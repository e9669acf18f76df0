"""Least number of units of a drawn table from which rows are released at all.

A mechanism that suppresses classes smaller than k releases no row of a small table, and attackers have nothing to read.
Class sizes are those of the public population. If rows are drawn independently, the sampled sizes of a table's classes
are negatively associated (Joag-Dev, Proschan 1983). So the probability that none reaches k is at most the product of
those of the single classes, and the number of units here is an upper bound of the least one.
"""

from dataclasses import dataclass

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.audit.common.levels import POWER
from crowdgate.audit.common.population import Population
from crowdgate.candidate import MechanismFigures, OutputType
from crowdgate.kind.kind import Protection
from crowdgate.number_text import Rounding, decimal, rounded, whole
from crowdgate.system import lazy_libraries

MOST_UNITS = 10**8
"""Greatest number of units of a drawn table."""
_SURE = 0.999


@dataclass(frozen=True, eq=False)
class ReleasedRows:
    """Sampled classes of a table that is drawn from a public population: the share of the sampled rows that each class
    has (`shares`, those of equal classes once, `times` as often), the rows per unit before sampling, and k."""

    shares: Floats
    times: Floats
    rows: float
    figures: MechanismFigures

    def probability(self, units: int) -> float:
        """Return a lower bound of the probability that some row of a table of this many units is released."""
        k, rows = self.figures.least_class, round(units * self.rows)
        if rows < k:
            return 0.0
        reached = lazy_libraries.special.betainc(k, rows - k + 1, self.shares * float(self.figures.beta))
        with np.errstate(divide="ignore"):  # a class that reaches k for certain
            return float(-np.expm1((self.times * np.log1p(-reached)).sum()))

    def expected_share(self, units: int) -> float:
        """Return the expected number of released rows as a share of that of sampled rows. For sizes X it is the mean of
        X, where X is at least k, in parts of the mean of X: P(Bin(rows - 1, p) >= k - 1)."""
        k, rows = self.figures.least_class, round(units * self.rows)
        if rows < k:
            return 0.0
        reached = lazy_libraries.special.betainc(k - 1, rows - k + 1, self.shares * float(self.figures.beta))
        return float((self.times * self.shares) @ reached)

    @property
    def least_units(self) -> int | None:
        """The least number of units from which rows are released with probability POWER; None if no table is as
        large."""
        low, high = 0, MOST_UNITS
        if self.probability(high) < POWER:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.probability(middle) >= POWER else (middle, high)
        return high

    def text(self, units: int) -> str:
        """Return sentences for people, with the bound of the probability at the audit's own number of units."""
        k, least = self.figures.least_class, self.least_units
        likely = _share_text(self.probability(units), Rounding.DOWN)
        share = _share_text(self.expected_share(units), Rounding.NEAREST)
        bound = f"With {whole(units)} units its lower bound is {likely}"
        own = f"{bound}, and of the sampled rows a share of {share} is expected."
        if least is None:
            never = f"below {rounded(float(POWER), 6)} for every n"
            return f"The lower bound of the probability that rows are released is {never}. {own}"
        return (
            f"Rows are released with probability {rounded(float(POWER), 6)} from {whole(least)} units on, if rows are"
            f" drawn independently (k = {whole(k)}). {own}"
        )


def _share_text(share: float, rounding: Rounding) -> str:
    if share > _SURE:
        return f"above {_SURE}"
    return f"below {1 - _SURE:.3f}" if share < 1 - _SURE else decimal(share, 3, rounding)


def released_rows(protection: Protection, population: Population) -> ReleasedRows | None:
    """Return the classes of a mechanism's rows in a population, at the released levels or at the finest ones that can
    be chosen; None if it releases no rows of people, or suppresses no class."""
    figures = protection.figures
    if OutputType.ROWS not in protection.kind.shapes or not figures.levels or figures.least_class <= 1:
        return None
    classes = population.tuples(figures.levels).total(population.cells.counts)
    sizes, times = np.unique(classes[classes > 0], return_counts=True)
    total = float(sizes @ times)
    return ReleasedRows(sizes / total, times.astype(np.float64), total / population.size, figures)
