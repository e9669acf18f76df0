"""The guarantee of a declared series in plain words, beside that of one of its releases."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.guarantee import Guarantee, Part, group

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan

ONE = "for one release"
"""The words for one release of a series, after a figure."""


def guarantees(plan: Plan) -> Iterator[tuple[str, Guarantee]]:
    """Yield the guarantees of a policy, each with the releases that it is about in words: that of its whole series and
    that of one release, or without a series only that of a release, with no words."""
    once, series = plan.guarantee, plan.series
    if series is None:
        yield "", once
        return
    part = Part("series", series.epsilon, series.delta)
    yield f"for the whole series of {series.releases} releases", Guarantee.of((part,), once.relation, once.unit)
    yield ONE, once


def stated_guarantees(plan: Plan) -> list[str]:
    """Return the guarantees of a policy in numbers."""
    once = plan.guarantee_text()[0]
    return [_of(about, once if about in ("", ONE) else own.words()) for about, own in guarantees(plan)]


def replaced_guarantees(plan: Plan) -> str:
    """Return the guarantees of a policy for a unit replaced by another, in numbers. A series counts as any mechanism of
    its guarantee, so that a replacement is a removal and an addition."""
    once = plan.guarantee_text()[1]
    return " ".join(
        _of(about, once if about in ("", ONE) else own.replace_one_form(None).words())
        for about, own in guarantees(plan)
    )


def groups_of(plan: Plan, units: int) -> Iterator[tuple[str, float, float]]:
    """Yield epsilon and delta for so many units together, by the releases that they are about."""
    for about, own in guarantees(plan):
        yield about, *group(own.epsilon, min(own.delta, Fraction(1)), units)


def _of(about: str, sentence: str) -> str:
    return f"{about[0].upper()}{about[1:]}: {sentence[0].lower()}{sentence[1:]}" if about else sentence
