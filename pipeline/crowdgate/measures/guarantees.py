"""What the guarantee itself says: epsilon, delta, and the success of predicate singling out it allows."""

from fractions import Fraction

from crowdgate.accounting import pso
from crowdgate.candidate import Measurement, Range, Shape, Static
from crowdgate.measures.base import Measure, MeasureClass
from crowdgate.policy.policy import GateRule

DEFAULT_WEIGHT = Fraction(1, 10**9)


def _epsilon(static: Static, _: GateRule) -> Measurement:
    return Measurement.exact(static.guarantee.epsilon)


def _delta(static: Static, _: GateRule) -> Measurement:
    return Measurement.exact(static.guarantee.delta)


def _pso_bound(static: Static, rule: GateRule) -> Measurement:
    return Measurement.exact(_bound(static, rule, static.spent))


def _pso_reach(static: Static, rule: GateRule) -> Range:
    """From this release alone to a budget that is spent whole."""
    alone = (static.guarantee.epsilon, static.guarantee.delta)
    whole = (max(static.budget[0], alone[0]), max(static.budget[1], alone[1]))
    return _bound(static, rule, alone), _bound(static, rule, whole)


def _bound(static: Static, rule: GateRule, spent: tuple[Fraction, Fraction]) -> float:
    return pso.bound(static.most_rows, rule.options.get("weight", DEFAULT_WEIGHT), *spent)


def _fixed(measure: str) -> Measure:
    of_static = {"guarantee_epsilon": _epsilon, "guarantee_delta": _delta}[measure]
    return Measure(
        measure,
        MeasureClass.STATIC,
        Shape.STATIC,
        f"how much a person can change what is released: {measure.removeprefix('guarantee_')} of mechanism and charged"
        " gates",
        reach=lambda static, rule: (of_static(static, rule).value, of_static(static, rule).value),
        of_static=of_static,
    )


EPSILON = _fixed("guarantee_epsilon")
DELTA = _fixed("guarantee_delta")
PSO_BOUND = Measure(
    "pso_bound",
    MeasureClass.STATIC,
    Shape.STATIC,
    "how likely it is, at most, that anyone can be pointed at: people (e^epsilon weight + delta), with all that the"
    " population has spent, including this release (predicate singling out: Cohen, Nissim 2020, Theorem 6.2; add/remove"
    " suffices)",
    reach=_pso_reach,
    of_static=_pso_bound,
    options=("weight",),
)
