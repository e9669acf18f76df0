"""The four questions for a study of attacks by Francis and Wagner (2025, section 2), answered for a published release.

They are: how an attack is carried out, what can be learned, how likely a guess is right, and for how many people.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from crowdgate.accounting.pso_curve import stated_bounds
from crowdgate.kind.facts import static_before_data
from crowdgate.kind.listing import text_listing
from crowdgate.kind.section import Section, paragraph
from crowdgate.measures import MEASURES, Aspect
from crowdgate.measures.guarantees import DEFAULT_RECALL, DEFAULT_SKEW, MEMBERSHIP_PRECISION_BOUND, kept_costs
from crowdgate.number_text import decimal, whole
from crowdgate.policy.policy import GateRule

if TYPE_CHECKING:
    from crowdgate.candidate import Static
    from crowdgate.history.ended_run import EndedRun
    from crowdgate.kind.picture import Picture
    from crowdgate.manifest import Manifest
    from crowdgate.measures import Measure


NO_ATTACK = "The guarantee holds against every attacker, with any knowledge and any computation. So it names no attack."
NONE_TRIED = "None was tried on this release: no record of an audit is published with it."
GROUPS = "What the files say of groups of people may be learned by anybody, also about people who are not in the table."
COLUMNS = ("guess", "without the releases", "with all of them so far", "how that is known")
FOLLOWS = "follows from the guarantee"
Guess = tuple[str, str, str, str]
"""A guess of an attacker, the probability that it is right without the releases and with them, and the evidence."""


def four_questions(told: EndedRun, said: Manifest, audits: Sequence[str], curve: Picture) -> Iterator[Section]:
    """Yield the four questions with their answers; `curve` is the picture of singling out."""
    yield Section("Four questions about an attack", ["After Francis and Wagner (2025)."])
    tried = "What was tried:" if audits else NONE_TRIED
    yield Section("How is an attack carried out?", [paragraph(NO_ATTACK, tried)], audits, level=3)
    learned = paragraph(GROUPS, _columns(said), _secrets(told))
    yield Section("What can be learned about people in the table?", [learned], level=3)
    guesses = text_listing("", COLUMNS, _attacker_guesses(told, said))
    yield Section("How likely is a guess right?", listings=[guesses], level=3)
    yield Section(pictures=lambda: [curve])
    yield Section("For how many people?", [_number_of_people(said)], level=3)


def _columns(said: Manifest) -> str | None:
    """Return a sentence on the columns that were read; None if the manifest lacks them (format 1)."""
    columns = [] if said.estimand is None else sorted({*said.estimand.dropped, *said.estimand.invalid})
    return f"Columns that were read: {', '.join(columns)}." if columns else None


def _secrets(told: EndedRun) -> str:
    """Return a sentence on the columns that gates on inference call secret."""
    found = {each.rule.of for each in told.verdicts or () if MEASURES[each.measure].aspect is Aspect.INFERENCE}
    secrets = sorted(each for each in found if each is not None)
    if not secrets:
        return "No rule names a column that must not be guessed."
    return f"Rules look at how far these could be guessed: {', '.join(secrets)}."


def _number_of_people(said: Manifest) -> str:
    people, failing = said.facts.people, decimal(said.facts.people * said.facts.spent.delta, 4)
    return (
        "The guarantee holds for every person, so it leaves out no share of people. Delta is, for each person, the"
        f" probability that the limit by epsilon leaves out. Over all {whole(people)} people that comes to {failing}"
        " (people times delta, of all releases so far). It should be far below 1. For how many people a guess can be"
        " made at all was measured only where an audit says so."
    )


def _attacker_guesses(told: EndedRun, said: Manifest) -> Iterator[Guess]:
    """Yield the guesses of attackers (singling out, membership, and those of audits), each with the probability that it
    is right."""
    static = static_before_data(said)
    yield from _singling_out_guesses(static)
    yield _membership_guess(static)
    yield from _audited_guesses(told)


def _singling_out_guesses(static: Static) -> Iterator[Guess]:
    for at in stated_bounds(static.most_rows, kept_costs(static, static.spent)):
        guess = f"describing exactly one person, by a predicate that fits at most 1 in {whole(int(1 / at.weight))}"
        bound = "no bound below 1" if at.bound >= 1 else f"at most {decimal(at.bound, 2)}"
        yield guess, decimal(at.baseline, 2), bound, FOLLOWS


def _membership_guess(static: Static) -> Guess:
    skew, recall = DEFAULT_SKEW, DEFAULT_RECALL
    guess = (
        f"claiming membership in the table, for at least a share of {decimal(recall)} of the members, at"
        f" {decimal(skew)} non-members for each member"
    )
    without = decimal(1 / (1 + skew), 4)
    return guess, without, f"at most {_bound(MEMBERSHIP_PRECISION_BOUND, static)}", FOLLOWS


def _bound(measure: Measure, static: Static) -> str:
    rule = GateRule.model_construct(measure=measure.name, options={})
    found = None if measure.of_static is None else measure.of_static(static, rule)
    assert found is not None, "the guarantee always says it"
    return decimal(found.upper, 4)


def _audited_guesses(told: EndedRun) -> Iterator[Guess]:
    """Yield a guess for each gate on an audit, with the gate's measurement, and one without a figure if no gate reads
    an audit of inference."""
    found = [each for each in told.verdicts or () if MEASURES[each.measure].asks is not None]
    for each in found:
        yield each.gate, "see the audit", each.reason, "attackers played against this mechanism"
    if not any(MEASURES[each.measure].aspect is Aspect.INFERENCE for each in found):
        yield (
            "guessing a secret of a person",
            "what holds of people like that person, in the table or not",
            "not measured on this release",
            "no audit of inference is a gate of the policy",
        )
