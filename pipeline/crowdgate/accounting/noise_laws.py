"""The law of a mechanism's noisy vectors, and the greatest noise budget whose joint cost keeps a total.

One unit changes each vector by at most its `Change`. Without a sample the vectors' pairs are multiplied. For noise that
is drawn on a Bernoulli sample of rate beta the product is sampled once (`part_laws.sampled`).

A replaced unit, without a sample. Its rows leave cells of each vector, and the other's rows enter cells. If all rows
change a vector in the same direction, a cell that both change moves by less than either of them. So two vectors with
the change of one unit dominate. Otherwise both may move the same cell, by twice the change together. This
bounds the root of the sum of squares of all changes, too, and the normal law dominates (Gaussian noise), or twice
the epsilon (Laplace noise).

A replaced unit, on a sample. Write A for outputs computed on the sample, G for independent steps, D and D' for the
tables of which one has unit i and the other has j, and C for their common rows. With probability 1 - beta j is not
sampled: A(D') >= (1 - beta) A(C) for each output. So for each epsilon the divergence of (A, G) on D from (A, G) on D'
at epsilon is at most that of the product of i's removal from A and G's pair at epsilon + ln(1 - beta).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from crowdgate.accounting import part_laws
from crowdgate.accounting.dominating_pairs import DominatingPair, composed
from crowdgate.accounting.joint import JointLaw, least_between, replaced
from crowdgate.accounting.numbers import down, raised, up
from crowdgate.accounting.tables_plan import NoiseKind
from crowdgate.accounting.zcdp import squared_sigma

LEAST_SQUARE = 3
"""The squared sigma that discrete Gaussian noise must exceed to be bounded by the normal law."""
_NEAR = 1e-5
_STEP, _STEPS = 1.25, 25
"""The factor of a step towards larger spends, and the greatest number of steps."""


@dataclass(frozen=True)
class NoisyVector:
    """A vector with noise: the largest `change` by one unit, the epsilon or rho that its noise spends, whether all rows
    change it in the same direction (`one_sided`), as they change counts, and the number of cells that a row changes."""

    change: int
    spend: Fraction
    one_sided: bool = True
    cells: int = 1


@dataclass(frozen=True)
class NoiseLaw:
    """The law of vectors with independent noise, for units of at most `rows` rows, on a sample of rate `beta` (1:
    without a sample)."""

    noise: NoiseKind
    vectors: tuple[NoisyVector, ...]
    rows: int = 1
    beta: Fraction = Fraction(1)

    @property
    def is_known(self) -> bool:
        """True if the law is more than an (epsilon, delta): where a unit changes several cells of a vector, or where
        rows can both raise and lower its numbers, Gaussian noise must not be too small."""
        several = self._cells > 1
        return self.noise == "laplace" or all(
            squared_sigma(each.change, each.spend) > LEAST_SQUARE
            for each in self.vectors
            if several or not each.one_sided
        )

    @property
    def _cells(self) -> int:
        """The largest number of cells of a vector that one unit changes."""
        return self.rows * max([each.cells for each in self.vectors], default=1)

    @property
    def name(self) -> str:
        """The name of the law, as manifests state it."""
        if self.noise == "gaussian":
            own = "discrete gaussians"
        else:
            own = "pure" if self.rows > 1 or all(each.change == 1 for each in self.vectors) else "discrete laplace"
        return own if self.beta == 1 else f"sampled {own}"

    def scaled(self, factor: Fraction) -> NoiseLaw:
        """Return the law with each spend multiplied by `factor`."""
        return replace(self, vectors=tuple(replace(each, spend=each.spend * factor) for each in self.vectors))

    def pair(self, times: int = 1) -> DominatingPair:
        """Return the pair for one unit (`times` 1), or for one removed and one added (2), of noise without a sample."""
        if self.noise == "laplace":
            return composed([pair for each in self.vectors for pair in self._laplace(each, times)])
        if times == 1 or all(each.one_sided for each in self.vectors):
            return part_laws.gaussians([_change(each, each.change) for each in self.vectors] * times, self._cells)
        own = [each for each in self.vectors if each.one_sided]
        both = [_change(each, 2 * each.change) for each in self.vectors if not each.one_sided]
        alike = [part_laws.gaussians([_change(each, each.change) for each in own] * 2, self._cells)] if own else []
        return composed([*alike, part_laws.gaussians(both, 2 * self._cells)])

    def joint(self, others: Sequence[DominatingPair]) -> JointLaw:
        """Return the joint law of the vectors and `others`, for one unit that is added or removed."""
        pair = self.pair()
        return JointLaw(None, (pair if self.beta == 1 else part_laws.sampled(pair, up(self.beta)), *others))

    def replaced(self, others: Sequence[DominatingPair]) -> Callable[[float], float]:
        """Return the curve of delta for one unit replaced by another; `others` state both changes."""
        if self.beta == 1:
            return replaced(JointLaw(None, (self.pair(2), *others)))
        law, rate = self.joint(others), up(self.beta)
        step = raised(-math.log1p(-rate)) if rate < 1 else math.inf
        return lambda epsilon: law.direction(epsilon - step, add=False) if step < math.inf else 1.0

    def _laplace(self, vector: NoisyVector, times: int) -> list[DominatingPair]:
        spend = up(vector.spend)
        if self.rows > 1 or (times > 1 and not vector.one_sided):
            return [part_laws.pure(times * spend)]
        return [part_laws.laplace(spend, vector.change)] * times


def greatest_factor(law: NoiseLaw, others: Sequence[DominatingPair], epsilon: Fraction, delta: float) -> Fraction:
    """Return a factor by which the spends of a law that keeps (epsilon, delta) together with `others` can be raised so
    that they still do, at most a relative 1e-5 below the greatest. Raises ValueError if the law itself does not."""

    def curve(part: float) -> float:
        """Return delta where spends are divided by `part`."""
        larger = law.scaled(Fraction(1 / part))
        return larger.joint(others).delta(down(epsilon)) if larger.is_known else 1.0

    high, below = 1.0, curve(1.0)
    if below > delta:
        raise ValueError("delta must be reachable by the joint law")
    for _ in range(_STEPS):
        low = high / _STEP
        above = curve(low)
        if above > delta:
            return Fraction(1 / least_between((low, above), (high, below), curve, delta, _NEAR))
        high, below = low, above
    return Fraction(1 / high)


def _change(vector: NoisyVector, change: int) -> part_laws.Change:
    return change, squared_sigma(vector.change, vector.spend)
