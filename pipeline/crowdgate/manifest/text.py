"""The guarantee in words: first plainly, then in numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.accounting.numbers import raised
from crowdgate.accounting.pso_curve import WeightBounds, stated_bounds
from crowdgate.number_text import decimal, whole

if TYPE_CHECKING:
    from crowdgate.candidate import Cost
    from crowdgate.guarantee import Guarantee
    from crowdgate.manifest.model import ApprovalFields, SeriesFields

_GREATEST_EXPONENT = 700.0

INFORMED = (
    "Informed by confidential data: this policy, with its contract and budget, was first used after a private record "
    "of the same population had been opened. What it owes to that record is not covered by the guarantee."
)
"""The text about informed policies, before and after their release."""


def approvals_text(approvals: Sequence[ApprovalFields]) -> str:
    """Return the sentence about the approvals of a release; empty without any."""
    given = [f"{each.name} on {each.day}" for each in approvals]
    return f"Approved before the data were read by {' and '.join(given)}." if given else ""


def series_text(series: SeriesFields | None) -> str:
    """Return the sentence about the series of a release; empty without one."""
    if series is None:
        return ""
    cost = f"epsilon {decimal(series.epsilon)}, delta {decimal(series.delta)}"
    return f"This release is one of a series of {series.releases}, which {series.paid_by} paid for at once: {cost}."


def guarantee_sentences(guarantee: Guarantee, beta: Fraction | None, rows: int = 1) -> list[str]:
    """Return the guarantee in words, then its replace-one form, for readers who treat the number of people as known.

    `beta` is the rate of safe k-anonymity's sample. Without it, and where levels chosen on that sample leave no part
    that is the mechanism alone, all parts count twice.
    """
    alone = any(part.name == "mechanism" for part in guarantee.parts)
    return [guarantee.words(), guarantee.replace_one_form(beta if alone else None, rows=rows).words()]


def plain_guarantee(
    people: int, rows: int, spent: Cost, kept: Sequence[Cost] = (), *, first: bool = False, lifetime: bool = False
) -> tuple[str, ...]:
    """Return the guarantee for people in sentences: the privacy cost and its meaning, the bounds on predicate singling
    out at the three stated weights, and their basis.

    The sentences hold for `people` people with at most `rows` rows each, after the privacy cost `spent` in all. `kept`
    are all points (epsilon, delta) that the releases keep (none: `spent` alone); each bound is that of the best one.
    With `first` they are about a population's first release, with `lifetime` about all releases that a budget in Renyi
    divergences allows. Bounds are rounded up. No key of a policy changes them but those that decide the number of
    people and the cost.
    """
    bounds = stated_bounds(people * rows, kept or (spent,))
    told = (_bound_sentence(each, rows) for each in bounds)
    return (
        *_cost_sentences(spent, first, lifetime),
        _singling_out_title(people, rows),
        *told,
        *_basis(people * rows, spent, "budget's" if lifetime else "joint" if len(kept) > 1 else ""),
    )


def guarantee_summary(
    people: int, rows: int, spent: Cost, kept: Sequence[Cost] = (), *, first: bool = False, lifetime: bool = False
) -> str:
    """Return the guarantee in three sentences: the privacy cost, the bounds on singling out at the three stated
    weights, and these weights. Parameters are as in `plain_guarantee`."""
    bounds = stated_bounds(people * rows, kept or (spent,))
    cost = _cost_text(spent, first, lifetime)
    return (
        f"{cost} An attacker describes exactly one of {_who(people, rows)} with {bounds_text(bounds)}."
        f" (Predicates that fit 1 {_one(rows)} in {weights_text(bounds)}.)"
    )


def bounds_text(bounds: Sequence[WeightBounds]) -> str:
    """Return the bounds on singling out at some weights, beside the baselines, and their factors over these."""
    blind = _listed(decimal(each.baseline, 2) for each in bounds)
    if all(each.bound >= 1 for each in bounds):
        return f"no bound below 1, beside {blind} without any release"
    most = _listed(decimal(each.bound, 2) for each in bounds)
    times = _listed(_factor_text(each.ratio) for each in bounds)
    return f"probability at most {most}, beside {blind} without any release ({times} times)"


def _factor_text(factor: float) -> str:
    return whole(math.ceil(factor)) if factor >= 100 else decimal(factor, 2)


def weights_text(bounds: Sequence[WeightBounds]) -> str:
    """Return the numbers of people, or rows, of whom predicates of these weights fit one."""
    return _listed(map(_fitting, bounds))


def _listed(each: Iterable[str]) -> str:
    *others, last = each
    return f"{', '.join(others)} and {last}"


def _cost_text(spent: Cost, first: bool, lifetime: bool) -> str:
    of = "this release, as the first of these people" if first else "this release and all earlier ones of these people"
    epsilon, delta = map(decimal, spent)
    if lifetime:
        return (
            f"Privacy cost of all releases of these people, past and future: at most epsilon {epsilon}, delta {delta}."
        )
    return f"Privacy cost of {of}: epsilon {epsilon}, delta {delta}."


def _cost_sentences(spent: Cost, first: bool, lifetime: bool) -> tuple[str, str]:
    epsilon, delta = spent
    times = decimal(raised(math.exp(min(float(epsilon), _GREATEST_EXPONENT))), 3)
    besides = "" if delta == 0 else f", apart from a probability of {decimal(delta)}"
    meaning = f"One person's data make any result at most {times} times as probable as it is without them{besides}."
    return _cost_text(spent, first, lifetime), meaning


def _singling_out_title(people: int, rows: int) -> str:
    return f"Predicate singling out: an attacker describes exactly one of {_who(people, rows)}."


def _bound_sentence(at: WeightBounds, rows: int) -> str:
    fits = f"With predicates that fit at most 1 {_one(rows)} in {_fitting(at)}"
    blind = f"the {decimal(at.baseline, 2)} without any release"
    if at.bound >= 1:
        return f"{fits}, the probability has no bound below 1, beside {blind}."
    return f"{fits}, the probability is at most {decimal(at.bound, 2)}, {decimal(at.ratio, 2)} times {blind}."


def _basis(rows: int, spent: Cost, curve: str) -> tuple[str, str]:
    epsilon, delta = map(decimal, spent)
    best = f", or the best point of the {curve} curve" if curve else ""
    return (
        f"The bound is n (e^epsilon w + delta), with n = {whole(rows)} rows, w the probability that a predicate fits a "
        f"row drawn at random, epsilon {epsilon} and delta {delta}{best} (Cohen, Nissim 2020).",
        "It holds if people are independent of each other, if nobody can predict the secret random bits and the noise, "
        "and if the contract is true.",
    )


def _who(people: int, rows: int) -> str:
    who = f"at most {whole(people)} people"
    return who if rows == 1 else f"the rows of {who} with at most {rows} rows each"


def _one(rows: int) -> str:
    return "person" if rows == 1 else "row"


def _fitting(at: WeightBounds) -> str:
    return whole(int(1 / at.weight))
