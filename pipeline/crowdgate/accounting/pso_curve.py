"""The bound on singling out over all weights of interest: no one weight is the right one."""

from dataclasses import dataclass
from fractions import Fraction

from crowdgate.accounting.numbers import Number, raised, whole
from crowdgate.accounting.pso import bound, bound_in_sample
from crowdgate.accounting.pso_baselines import baseline_up_to

SHARES = tuple(Fraction(text) for text in ("0.001", "0.003", "0.01", "0.03", "0.1", "0.3", "1"))
"""Of 1/n: from a predicate that hardly any table has a row of, to the one that whoever sees nothing would choose."""

_BASELINE_SLACK = 1e-9


@dataclass(frozen=True)
class WeightBounds:
    """Success of predicates up to a weight, at most: without the release, with it, and among its sampled rows."""

    weight: Fraction
    baseline: float
    bound: float
    in_sample: float

    @property
    def ratio(self) -> float:
        """How many times the baseline the bound is, rounded up."""
        return raised(self.bound / self._least)

    @property
    def excess(self) -> float:
        """How much the bound is above the baseline, rounded up."""
        return raised(self.bound - self._least)

    @property
    def _least(self) -> float:
        return self.baseline * (1 - _BASELINE_SLACK)


def curve(n: Number, epsilon: Number, delta: Number, beta: Number) -> tuple[WeightBounds, ...]:
    """Points at weights from 1/1000 of 1/n up to 1/n, for at most `n` rows sampled at rate `beta` (1: all are kept).

    Beyond 1/n whoever sees nothing does better with a smaller weight, and the bound is that of weight 1/n or more.
    """
    rows = whole("n", n, 1)
    return tuple(
        WeightBounds(
            weight,
            baseline_up_to(rows, weight),
            bound(rows, weight, epsilon, delta),
            bound_in_sample(rows, weight, epsilon, delta, beta),
        )
        for weight in (share / rows for share in SHARES)
    )
