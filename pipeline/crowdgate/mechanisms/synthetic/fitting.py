"""The model of noisy tables, round by round, and the rows that follow from it.

All steps depend on noisy numbers, public facts, and a published seed, so that anyone can repeat them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.limits import MOST_SYNTHETIC_ROWS
from crowdgate.mechanisms.synthetic.model import Impossible, Model, TableMeasurement, fit
from crowdgate.mechanisms.synthetic.rows import rows

if TYPE_CHECKING:
    from crowdgate.arrays import Codes, Integers
    from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table

STEPS, LAST_STEPS = 40, 120
"""Numbers of steps of a fit after a round, and of the last one."""


@dataclass(frozen=True, eq=False)
class MeasuredTable:
    """A table with discrete Gaussian noise of variance rows_per_unit^2/(2 rho) in each cell; the one-way tables are of
    round 0."""

    table: Table
    round: int
    rho: Fraction
    variance: Fraction
    noisy: Integers


@dataclass(frozen=True, eq=False)
class ModelFit:
    """The noisy tables measured so far, and the model fitted to them after their last round."""

    domain: ModelDomain
    impossible: Impossible
    measured: tuple[MeasuredTable, ...] = ()
    model: Model | None = None

    @classmethod
    def of(cls, domain: ModelDomain, impossible: Impossible, measured: Iterable[MeasuredTable]) -> ModelFit:
        """Return the fit to all measurements, in their order: a model after each round, started from the model before
        it."""
        out = cls(domain, impossible)
        for _, together in groupby(measured, key=lambda each: each.round):
            out = out.after(tuple(together))
        return out

    @cached_property
    def total(self) -> int:
        """Number of rows of the counted table, estimated from the noisy tables."""
        return total_of(self.measured)

    @property
    def number(self) -> int:
        """Number of synthetic rows: 0 if the estimated number of rows is below 1 or too large."""
        return self.total if 0 < self.total <= MOST_SYNTHETIC_ROWS else 0

    def after(self, together: tuple[MeasuredTable, ...]) -> ModelFit:
        """Return the fit after one more round, in which the tables `together` were measured."""
        known = replace(self, measured=(*self.measured, *together))
        return replace(known, model=known.fitted(STEPS))

    def finished(self) -> Model:
        """Return the model from which synthetic rows are drawn, fitted with LAST_STEPS steps."""
        return self.fitted(LAST_STEPS)

    def fitted(self, steps: int) -> Model:
        """Return a model of all measured tables, fitted with at most `steps` steps from the model before."""
        known = [TableMeasurement(each.table, each.noisy, each.variance) for each in self.measured]
        return fit(self.domain, known, max(1, self.total), self.model, steps, self.impossible)

    def rows(self, rng: np.random.Generator) -> tuple[Codes, ...]:
        """Return codes of the finest variables for all synthetic rows; no columns if there are no rows."""
        return rows(self.finished(), self.number, rng) if self.number else ()


def total_of(measured: Sequence[MeasuredTable]) -> int:
    """Return the estimated number of rows: the mean of the totals of all measured tables, weighted by 1/variance, to
    the nearest whole number."""
    weights = [1 / (each.variance * each.noisy.size) for each in measured]
    sums = [weight * int(each.noisy.sum()) for weight, each in zip(weights, measured, strict=True)]
    return round(sum(sums, Fraction(0)) / sum(weights, Fraction(0)))


def total_variance(measured: Sequence[MeasuredTable]) -> Fraction:
    """Return the noise variance of the estimated number of rows (`total_of`)."""
    return 1 / sum((1 / (each.variance * each.noisy.size) for each in measured), Fraction(0))


def seeded_generator(seed: bytes) -> np.random.Generator:
    """Return NumPy's PCG64 generator of random numbers with these bytes as its seed."""
    return np.random.Generator(np.random.PCG64(int.from_bytes(seed, "big")))
