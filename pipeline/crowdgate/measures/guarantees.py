"""What the guarantee itself says: epsilon, delta, and the success of predicate singling out it allows."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.accounting import pso
from crowdgate.accounting.membership import greatest_precision
from crowdgate.candidate import Cost, Measurement, OutputType, Range, Static
from crowdgate.guarantee import Guarantee, Part, replace_one_guarantee
from crowdgate.measures.base import Aspect, Measure, MeasureClass

if TYPE_CHECKING:
    from crowdgate.policy.policy import GateRule

DEFAULT_WEIGHT = Fraction(1, 10**9)
DEFAULT_SKEW, DEFAULT_RECALL = Fraction(30), Fraction(1, 100)


def _epsilon(static: Static, _: GateRule) -> Measurement:
    return Measurement.exact(static.guarantee.epsilon)


def _delta(static: Static, _: GateRule) -> Measurement:
    return Measurement.exact(static.guarantee.delta)


def _bound(static: Static, rule: GateRule, spent: Cost) -> float:
    return pso.bound(static.most_rows, rule.options.get("weight", DEFAULT_WEIGHT), *spent)


def _bound_in_sample(static: Static, rule: GateRule, spent: Cost) -> float:
    weight = rule.options.get("weight", DEFAULT_WEIGHT)
    return pso.bound_in_sample(static.most_rows, weight, *spent, static.sampled_rate)


def _precision(static: Static, rule: GateRule, spent: Cost) -> float:
    """For who knows how many people there are: this release part by part, everything before it twice."""
    form = replace_one_guarantee(static.guarantee, static.beta, static.rows_per_unit)
    rest = Part(
        "earlier", *(max(Fraction(0), all_ - own) for all_, own in zip(spent, _release_cost(static), strict=True))
    )
    before = Guarantee.of((rest,), unit=static.guarantee.unit).replace_one_form(None)
    skew, recall = rule.options.get("skew", DEFAULT_SKEW), rule.options.get("recall", DEFAULT_RECALL)
    return greatest_precision(form.epsilon + before.epsilon, min(Fraction(1), form.delta + before.delta), recall, skew)


def _release_cost(static: Static) -> Cost:
    return static.guarantee.epsilon, static.guarantee.delta


def _range_to_budget(static: Static, bound: Callable[[Cost], float]) -> Range:
    """From what is spent with this release to the whole budget, or to what is spent where that is more."""
    whole = (max(static.budget[0], static.spent[0]), max(static.budget[1], static.spent[1]))
    return bound(static.spent), bound(whole)


def _pso(name: str, whose: str, bound: Callable[[Static, GateRule, Cost], float], formula: str) -> Measure:
    return Measure(
        name,
        MeasureClass.STATIC,
        OutputType.STATIC,
        f"how likely it is, at most, that any{whose} can be pointed at: {formula}, with all that the population has"
        " spent, including this release (predicate singling out: Cohen, Nissim 2020, Theorem 6.2; add/remove"
        " suffices)",
        reach=lambda static, rule: _range_to_budget(static, lambda spent: bound(static, rule, spent)),
        aspect=Aspect.SINGLING_OUT,
        of_static=lambda static, rule: Measurement.exact(bound(static, rule, static.spent)),
        options=("weight",),
        accumulates=True,
    )


def _fixed(measure: str) -> Measure:
    of_static = {"guarantee_epsilon": _epsilon, "guarantee_delta": _delta}[measure]
    return Measure(
        measure,
        MeasureClass.STATIC,
        OutputType.STATIC,
        f"how much a person can change what is released: {measure.removeprefix('guarantee_')} of mechanism and charged"
        " gates",
        reach=lambda static, rule: (of_static(static, rule).value, of_static(static, rule).value),
        aspect=Aspect.PROMISE,
        of_static=of_static,
    )


EPSILON = _fixed("guarantee_epsilon")
DELTA = _fixed("guarantee_delta")
PSO_BOUND = _pso("pso_bound", "one", _bound, "people (e^epsilon weight + delta)")
PSO_BOUND_IN_SAMPLE = _pso(
    "pso_bound_in_sample",
    "one of the sample",
    _bound_in_sample,
    "people ((e^epsilon - 1 + beta) weight + delta), at sampling rate beta",
)
MEMBERSHIP_PRECISION_BOUND = Measure(
    "membership_precision_bound",
    MeasureClass.STATIC,
    OutputType.STATIC,
    "how often, at most, a claim that somebody is in the table is right, of who finds a share `recall` of its members"
    " or more, where there are `skew` non-members for each member: recall / (recall + skew (recall - delta)"
    " e^-epsilon), with all that the population has spent, including this release, for who knows how many people"
    " there are",
    reach=lambda static, rule: _range_to_budget(static, lambda spent: _precision(static, rule, spent)),
    aspect=Aspect.INFERENCE,
    of_static=lambda static, rule: Measurement.exact(_precision(static, rule, static.spent)),
    options=("skew", "recall"),
    accumulates=True,
)
