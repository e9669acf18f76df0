"""Measures of the guarantee itself: epsilon, delta, and bounds on the attacks that it permits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.accounting import pso
from crowdgate.accounting.membership import least_precision
from crowdgate.candidate import Cost, Measurement, OutputType, Range, Static
from crowdgate.guarantee import Guarantee, Part, group, replace_one_guarantee
from crowdgate.measures.base import NOT_NEGATIVE, SHARE, Aspect, BetterSide, Measure, MeasureClass

if TYPE_CHECKING:
    from crowdgate.policy.policy import GateRule

DEFAULT_WEIGHT = Fraction(1, 10**9)
DEFAULT_SKEW, DEFAULT_RECALL = Fraction(30), Fraction(1, 100)


def stated_weight(rule: GateRule) -> Fraction:
    """Return the predicate weight that a gate states, or the default."""
    return rule.options.get("weight", DEFAULT_WEIGHT)


def bounded_weight(rule: GateRule) -> Fraction | None:
    """Return the predicate weight at which a gate limits `pso_bound`, or None for a gate on another measure."""
    return stated_weight(rule) if rule.measure == PSO_BOUND.name else None


def _epsilon(static: Static, _: GateRule) -> Measurement:
    return Measurement.exact(static.guarantee.epsilon)


def _delta(static: Static, _: GateRule) -> Measurement:
    return Measurement.exact(static.guarantee.delta)


def least_bound(static: Static, spent: Cost, bound: Callable[[Fraction, Fraction], float]) -> float:
    """Return the least of `bound` over the points (epsilon, delta) that all releases keep."""
    return min(bound(*cost) for cost in kept_costs(static, spent))


def kept_costs(static: Static, spent: Cost) -> tuple[Cost, ...]:
    """Return the points (epsilon, delta) that all releases keep together, of which `spent` is the sum of all charges:
    the points of this release's joint cost, each with what was spent before; over a lifetime with a filter, the points
    of the curve of its caps. A release of a series has no point of its own: the series is spent as one release."""
    if static.lifetime is not None:
        return static.lifetime.points(static.budget[0])
    if static.series is not None:
        return (spent,)
    before = [all_ - own for all_, own in zip(spent, _release_cost(static), strict=True)]
    if static.guarantee.joint is None or min(before) < 0:
        return (spent,)
    return tuple((before[0] + epsilon, before[1] + delta) for epsilon, delta in static.guarantee.points)


def _bound(static: Static, rule: GateRule, spent: Cost) -> float:
    weight = stated_weight(rule)
    return least_bound(static, spent, lambda *cost: pso.bound(static.most_rows, weight, *cost))


def _bound_in_sample(static: Static, rule: GateRule, spent: Cost) -> float:
    weight, rate = stated_weight(rule), static.sampled_rate
    return least_bound(
        static, spent, lambda *cost: pso.bound_in_sample(static.most_rows, weight, cost[0], cost[1], rate)
    )


def _precision(static: Static, rule: GateRule, spent: Cost) -> float:
    """Return the upper bound on the precision of membership claims for an attacker who knows the number of people: this
    release part by part, or the best point of its joint cost; earlier ones counted twice. With a filter, all that it
    allows is counted twice."""
    skew, recall = rule.options.get("skew", DEFAULT_SKEW), rule.options.get("recall", DEFAULT_RECALL)
    if static.lifetime is not None:
        return least_precision((group(*point, 2) for point in kept_costs(static, spent)), recall, skew)
    if static.series is not None:
        return least_precision([group(*spent, 2)], recall, skew)
    form = replace_one_guarantee(static.guarantee, static.beta, static.rows_per_unit)
    joint = static.guarantee.joint
    points = ((form.epsilon, form.delta), *(() if joint is None else joint.replacements))
    rest = Part(
        "earlier", *(max(Fraction(0), all_ - own) for all_, own in zip(spent, _release_cost(static), strict=True))
    )
    before = Guarantee.of((rest,), unit=static.guarantee.unit).replace_one_form(None)
    together = ((epsilon + before.epsilon, delta + before.delta) for epsilon, delta in points)
    return least_precision(together, recall, skew)


def _release_cost(static: Static) -> Cost:
    return static.guarantee.epsilon, static.guarantee.delta


def _range_to_budget(static: Static, bound: Callable[[Cost], float]) -> Range:
    """Return the range of a bound: from its value at the present spend, with this release, to that at the whole budget,
    or at the spend if that is larger."""
    whole = (max(static.budget[0], static.spent[0]), max(static.budget[1], static.spent[1]))
    return bound(static.spent), bound(whole)


DISQUALIFIES = (
    "This check can only disqualify. A high figure says that a release can let an attacker describe exactly one"
    " person; a\nlow one is necessary and does not make a release anonymous."
)


def _pso(
    name: str, whose: str, formula: str, sentence: str, bound: Callable[[Static, GateRule, Cost], float]
) -> Measure:
    return Measure(
        name=name,
        summary=(
            f"greatest probability that an attacker describes exactly one person{whose}: {formula}, with all that the"
            " population has spent, including this release (predicate singling out: Cohen, Nissim 2020, Theorem 6.2;"
            " add/remove suffices)"
        ),
        sentence=f"{sentence} {DISQUALIFIES}",
        reads=MeasureClass.STATIC,
        shape=OutputType.STATIC,
        aspect=Aspect.SINGLING_OUT,
        better=BetterSide.SMALLER,
        accumulates=True,
        range=SHARE,
        reach=lambda static, rule: _range_to_budget(static, lambda spent: bound(static, rule, spent)),
        of_static=lambda static, rule: Measurement.exact(bound(static, rule, static.spent)),
        options=("weight",),
    )


def _of_guarantee(
    name: str, summary: str, sentence: str, of_static: Callable[[Static, GateRule], Measurement], values: Range
) -> Measure:
    return Measure(
        name=name,
        summary=summary,
        sentence=sentence,
        reads=MeasureClass.STATIC,
        shape=OutputType.STATIC,
        aspect=Aspect.PROMISE,
        better=BetterSide.SMALLER,
        accumulates=False,
        range=values,
        reach=lambda static, rule: (of_static(static, rule).value, of_static(static, rule).value),
        of_static=of_static,
    )


EPSILON = _of_guarantee(
    "guarantee_epsilon",
    "how much a person can change what is released: epsilon of one whole release, also in a series",
    "It limits epsilon: how much the data of any one person can change what is released, the protection and the rules"
    " that are\npaid for together, in one release; the budget limits a series. It repeats the promise above, so that"
    " nobody can\nloosen that by a slip.",
    _epsilon,
    NOT_NEGATIVE,
)
DELTA = _of_guarantee(
    "guarantee_delta",
    "with which probability a person can change it by more: delta of one whole release, also in a series",
    "It limits delta: the probability that the limit by epsilon leaves out, in one release. It repeats the promise"
    " above, so that\nnobody can loosen that by a slip.",
    _delta,
    SHARE,
)
PSO_BOUND = _pso(
    "pso_bound",
    "",
    "people (e^epsilon weight + delta)",
    "It limits the probability that an attacker describes exactly one person with the help of the releases, in words"
    " that\nfit a person drawn at random with probability {weight}. All earlier releases of these people count.",
    _bound,
)
PSO_BOUND_IN_SAMPLE = _pso(
    "pso_bound_in_sample",
    " of the sample",
    "people ((e^epsilon - 1 + beta) weight + delta), beta the mechanism's sampling rate (1 without a sample, and where"
    " people have several rows)",
    "It limits the probability that an attacker describes exactly one person of the sample, in words that fit a"
    " person\ndrawn at random with probability {weight}. All earlier releases of these people count.",
    _bound_in_sample,
)
MEMBERSHIP_PRECISION_BOUND = Measure(
    name="membership_precision_bound",
    summary=(
        "upper bound on the precision of any membership attack with at least `recall`, at `skew` non-members for"
        " each member: recall / (recall + skew (recall - delta) e^-epsilon). The attacker knows the number of"
        " people. All that the population has spent counts, including this release: this release's parts replaced"
        " one by one, earlier ones counted twice"
    ),
    sentence=(
        'It limits how often the claim "this person is in the table" can be right, whatever the method. There are'
        " {skew}\npeople outside for each one inside, and the claims find at least a share of {recall} of those"
        " inside. All earlier\nreleases of these people count. It is a bound by the guarantee, and no measurement."
    ),
    reads=MeasureClass.STATIC,
    shape=OutputType.STATIC,
    aspect=Aspect.INFERENCE,
    better=BetterSide.SMALLER,
    accumulates=True,
    range=SHARE,
    reach=lambda static, rule: _range_to_budget(static, lambda spent: _precision(static, rule, spent)),
    of_static=lambda static, rule: Measurement.exact(_precision(static, rule, static.spent)),
    options=("skew", "recall"),
)
