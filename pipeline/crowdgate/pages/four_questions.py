"""The four questions for a study of attacks by Francis and Wagner (2025, section 2), answered for a published release.

They are: how an attack is carried out, what can be learned, how likely a guess is right, and for how many people.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdgate.accounting.pso_curve import stated_bounds
from crowdgate.kind.facts import static_before_data
from crowdgate.measures import MEASURES, Aspect
from crowdgate.measures.guarantees import DEFAULT_RECALL, DEFAULT_SKEW, MEMBERSHIP_PRECISION_BOUND, kept_costs
from crowdgate.number_text import decimal, whole
from crowdgate.policy.policy import GateRule

if TYPE_CHECKING:
    from crowdgate.candidate import Static
    from crowdgate.history.ended_run import EndedRun
    from crowdgate.manifest import Manifest
    from crowdgate.measures import Measure


@dataclass(frozen=True)
class AttackerGuess:
    """A guess of an attacker, with the probability that it is right without the releases and with them, as text, and
    the evidence for these probabilities."""

    guess: str
    without: str
    with_them: str
    known: str


def columns(said: Manifest) -> list[str]:
    """Return the columns that were read, by name; none if the manifest lacks them (format 1)."""
    return [] if said.estimand is None else sorted({*said.estimand.dropped, *said.estimand.invalid})


def secrets(told: EndedRun) -> list[str]:
    """Return the names of the columns that gates on inference call secret."""
    found = (each.rule.of for each in told.verdicts or () if MEASURES[each.measure].aspect is Aspect.INFERENCE)
    return sorted({each for each in found if each is not None})


def attacker_guesses(told: EndedRun, said: Manifest) -> list[AttackerGuess]:
    """Return the guesses of attackers (singling out, membership, and those of audits), each with the probability that
    it is right."""
    static = static_before_data(said)
    return [*_singling_out_guesses(static), _membership_guess(static), *_audited_guesses(told)]


def expected_failures(said: Manifest) -> str:
    """Return the number of people times the delta of all releases, as text."""
    return decimal(said.facts.people * said.facts.spent.delta, 4)


def _singling_out_guesses(static: Static) -> Iterator[AttackerGuess]:
    for at in stated_bounds(static.most_rows, kept_costs(static, static.spent)):
        guess = f"describing exactly one person, by a predicate that fits at most 1 in {whole(int(1 / at.weight))}"
        bound = "no bound below 1" if at.bound >= 1 else f"at most {decimal(at.bound, 2)}"
        yield AttackerGuess(guess, decimal(at.baseline, 2), bound, "follows from the guarantee")


def _membership_guess(static: Static) -> AttackerGuess:
    skew, recall = DEFAULT_SKEW, DEFAULT_RECALL
    guess = (
        f"claiming membership in the table, for at least a share of {decimal(recall)} of the members, at"
        f" {decimal(skew)} non-members for each member"
    )
    without = decimal(1 / (1 + skew), 4)
    return AttackerGuess(
        guess, without, f"at most {_bound(MEMBERSHIP_PRECISION_BOUND, static)}", "follows from the guarantee"
    )


def _bound(measure: Measure, static: Static) -> str:
    rule = GateRule.model_construct(measure=measure.name, options={})
    found = None if measure.of_static is None else measure.of_static(static, rule)
    assert found is not None, "the guarantee always says it"
    return decimal(found.upper, 4)


def _audited_guesses(told: EndedRun) -> Iterator[AttackerGuess]:
    """Yield a guess for each gate on an audit, with the gate's measurement, and one without a figure if no gate reads
    an audit of inference."""
    found = [each for each in told.verdicts or () if MEASURES[each.measure].asks is not None]
    for each in found:
        yield AttackerGuess(each.gate, "see the audit", each.reason, "attackers played against this mechanism")
    if not any(MEASURES[each.measure].aspect is Aspect.INFERENCE for each in found):
        yield AttackerGuess(
            "guessing a secret of a person", "what holds of people like that person, in the table or not",
            "not measured on this release", "no audit of inference is a gate of the policy",
        )  # fmt: skip
