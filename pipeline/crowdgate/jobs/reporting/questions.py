"""The four questions that Francis and Wagner (2025, section 2) would have a study of attacks answer, answered for a
published release: how an attack is carried out, what can be learned, how likely a guess is right, and for how many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdgate.accounting.numbers import decimal
from crowdgate.accounting.pso_baselines import baseline_up_to
from crowdgate.kind.facts import static_at_first
from crowdgate.measures import MEASURES, Aspect
from crowdgate.measures.guarantees import (
    DEFAULT_RECALL,
    DEFAULT_SKEW,
    DEFAULT_WEIGHT,
    MEMBERSHIP_PRECISION_BOUND,
    PSO_BOUND,
)
from crowdgate.policy.policy import GateRule

if TYPE_CHECKING:
    from crowdgate.candidate import Static
    from crowdgate.jobs.reporting.told import Told
    from crowdgate.manifest import Manifest
    from crowdgate.measures import Measure


@dataclass(frozen=True)
class Likely:
    """A guess: who makes it, how often it is right without the releases and with them, and how that is known."""

    guess: str
    without: str
    with_them: str
    known: str


def columns(said: Manifest) -> list[str]:
    """The columns that were read, by their names; none where the manifest does not say (format 1)."""
    return [] if said.estimand is None else sorted({*said.estimand.dropped, *said.estimand.invalid})


def secrets(told: Told) -> list[str]:
    """The columns that gates on inference name as what must not be guessed."""
    found = (each.rule.of for each in told.verdicts or () if MEASURES[each.measure].aspect is Aspect.INFERENCE)
    return sorted({each for each in found if each is not None})


def likely(told: Told, said: Manifest) -> list[Likely]:
    """How likely guesses are right."""
    static = static_at_first(said)
    return [_pointing(static), _claiming(static), *_measured(told)]


def failing(said: Manifest) -> str:
    """People times the delta of all releases."""
    return decimal(said.facts.people * said.facts.spent.delta, 4)


def _pointing(static: Static) -> Likely:
    rows, weight = static.most_rows, DEFAULT_WEIGHT
    guess = f"pointing at exactly one person, in words that fit one at random with probability {decimal(weight)}"
    without = decimal(baseline_up_to(rows, weight), 4)
    return Likely(guess, without, f"at most {_bound(PSO_BOUND, static)}", "follows from the promise")


def _claiming(static: Static) -> Likely:
    skew, recall = DEFAULT_SKEW, DEFAULT_RECALL
    guess = (
        f"claiming that somebody is in the table, for at least a share of {decimal(recall)} of those who are, where"
        f" {decimal(skew)} are not for each who is"
    )
    without = decimal(1 / (1 + skew), 4)
    return Likely(guess, without, f"at most {_bound(MEMBERSHIP_PRECISION_BOUND, static)}", "follows from the promise")


def _bound(measure: Measure, static: Static) -> str:
    rule = GateRule.model_construct(measure=measure.name, options={})
    found = None if measure.of_static is None else measure.of_static(static, rule)
    assert found is not None, "the guarantee always says it"
    return decimal(found.upper, 4)


def _measured(told: Told) -> Iterator[Likely]:
    """Guesses that audits played, as gates are judged by them."""
    found = [each for each in told.verdicts or () if MEASURES[each.measure].asks is not None]
    for each in found:
        yield Likely(each.gate, "see the audit", each.reason, "attackers played against this mechanism")
    if not any(MEASURES[each.measure].aspect is Aspect.INFERENCE for each in found):
        yield Likely(
            "guessing a secret of a person", "what holds of people like that person, in the table or not",
            "not measured on this release", "no audit of inference is a gate of the policy",
        )  # fmt: skip
