"""The bound on singling out over all weights of interest, as no single weight is distinguished."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from crowdgate.accounting.numbers import Number, raised, whole
from crowdgate.accounting.pso import bound, bound_in_sample
from crowdgate.accounting.pso_baselines import baseline_up_to

SHARES = tuple(Fraction(text) for text in ("0.001", "0.003", "0.01", "0.03", "0.1", "0.3", "1"))
"""Weights in parts of 1/n: from a predicate that hardly any table satisfies, to the choice of an attacker without the
release."""

STATED_DIVISORS = (10, 100, 1000)
"""At most n rows: every page states the bound at the weights 1/(10 n), 1/(100 n) and 1/(1,000 n). At 1/n it is always
1 or more."""

_BASELINE_SLACK = 1e-9


@dataclass(frozen=True)
class WeightBounds:
    """Bounds on the success of predicates up to a weight: without the release, with it, and among its sampled rows."""

    weight: Fraction
    baseline: float
    bound: float
    in_sample: float

    @property
    def ratio(self) -> float:
        """Ratio of the bound to the baseline, rounded up."""
        return raised(self.bound / self._least)

    @property
    def excess(self) -> float:
        """The bound minus the baseline, rounded up."""
        return raised(self.bound - self._least)

    @property
    def _least(self) -> float:
        return self.baseline * (1 - _BASELINE_SLACK)


def curve(n: Number, costs: Sequence[tuple[Number, Number]], beta: Number) -> tuple[WeightBounds, ...]:
    """Return points at weights from 1/1000 of 1/n up to 1/n, for at most `n` rows sampled at rate `beta` (1: no
    sampling). `costs` are as in `stated_bounds`, and each of the two bounds is the least.

    Beyond 1/n an attacker without the release does better with a smaller weight, and the bound is that of weight 1/n or
    more.
    """
    rows = whole("n", n, 1)
    return tuple(_at(rows, share / rows, costs, beta) for share in SHARES)


def stated_bounds(n: Number, costs: Sequence[tuple[Number, Number]]) -> tuple[WeightBounds, ...]:
    """Return the points at the three weights that are always stated (STATED_DIVISORS), for at most `n` rows.

    `costs` are pairs of epsilon and delta that all releases keep together, at least one. The least bound counts.
    """
    rows = whole("n", n, 1)
    weights = [Fraction(1, each * rows) for each in STATED_DIVISORS]
    return tuple(_at(rows, at, costs, 1) for at in weights)


def _at(rows: int, weight: Fraction, costs: Sequence[tuple[Number, Number]], beta: Number) -> WeightBounds:
    return WeightBounds(
        weight,
        baseline_up_to(rows, weight),
        min(bound(rows, weight, *cost) for cost in costs),
        min(bound_in_sample(rows, weight, *cost, beta) for cost in costs),
    )
