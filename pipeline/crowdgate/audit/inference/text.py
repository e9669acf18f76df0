"""Findings of an inference audit in words and tables for people, and as JSON for programs: answers to the four
questions that Francis and Wagner ask about every attack (section 2)."""

from collections.abc import Iterator
from typing import Any

from crowdgate.audit.common.audit import FinishedAudit
from crowdgate.audit.common.planted_faults import unseen_faults
from crowdgate.audit.common.text import (
    ENDS,
    attempt_text,
    controls_text,
    measurement_cells,
    measurement_json,
)
from crowdgate.audit.inference.findings import (
    InferenceControlResult,
    InferenceEstimate,
    InferenceFindings,
    ceiling_of,
    could_not_fail,
)
from crowdgate.audit.inference.record import InferenceRecord, InferenceSetting
from crowdgate.candidate import AuditQuestion, Measurement
from crowdgate.gate import Outcome
from crowdgate.kind.listing import Listing, text_listing
from crowdgate.number_text import BOUND, LEAST, Value, decimal, rounded, whole

Inferred = FinishedAudit[InferenceRecord, InferenceFindings]
RIGHT = ("secret", "whose", "coverage", "attack", "right", *ENDS)
PEOPLE = (("from (**)", LEAST), ("to (**)", BOUND))
GAIN = ("secret", "whose", "coverage", "non-members (*)", "as many (*)", "gain (*)", *ENDS, *PEOPLE)
QUESTIONS = (
    "How is the attack carried out?",
    "What can be learned?",
    "How likely is it right?",
    "For what share of people?",
)
UNSEEN = f"{unseen_faults(AuditQuestion.INFERENCE)} It can't see a fault that gives no better guesses of a secret."
STARRED = (
    "(*) Baseline: how often a guess from the same table without the person is right. It is given for exactly the"
    " people whom the attack guesses (the paper's estimand), and for as many of whom the baseline is most certain"
    " (equal coverage). The gain is the larger precision improvement of the two, (attack - baseline)/(1 - baseline)."
    " It is left out where a baseline is always right."
)
PEOPLE_STARRED = (
    "(**) Limits of the gain for people like these: other people of the same kind give other baselines. The limits"
    " before them are of releases of this table. An audit passes on its own table's people, and fails only on what is"
    " proven for people like them."
)
GDPR = (
    "What is inferred about people who are not in a table does not violate their privacy (Francis, Wagner, section"
    " 4.1). This test compares with such inference, by these attacks and these baselines; better ones of either kind"
    " may exist.",
    "In the words of the GDPR (section 4.8 of the paper): inference is one of three criteria of Opinion 05/2014 of"
    " the Article 29 Working Party. It is the possibility to deduce, with significant probability, the value of an"
    " attribute. The opinion states no number, and accepts inference that is merely probabilistic. The authors hold"
    " that enough uncertainty is left about people who are not in the data, against the known attacks. This test is"
    " of that criterion, not of singling out or of linking records. Its figures are of people together: single"
    " guesses may be right where the baseline is wrong. Whether a release is anonymous (recital 26) is a legal"
    " question, for which this is one of the facts.",
)


def verdict(found: Inferred) -> str:
    """Return one sentence that says whether an inference audit passed or failed."""
    said, setting = found.findings, found.record.setting
    assert said.gain is not None, "something was measured"
    limit = f"the limit is {decimal(setting.limit, 4)}"
    if said.outcome is Outcome.FAIL:
        where = "; ".join(
            f"{each.secret}, {each.group}, at coverage {rounded(each.coverage, 6)}" for each in said.beyond
        )
        return f"Not within the limit: a larger gain is proven for {where}; {limit}."
    if said.stricter:
        least = decimal(said.gain.upper, 3)
        return f"Stricter than inference needs: the gain of the best attack is at most {least}."
    most = decimal(max(0.0, float(said.gain.upper)), 3)
    return f"Within the limit: the gain over the baseline is at most {most} on average, and {limit}."


def lines(found: Inferred) -> list[str]:
    """Return sentences with all that a reader must know to understand an inference audit's figures."""
    setting = found.record.setting
    secrets = ", ".join(f"{name} ({own})" for name, own in setting.secrets)
    return [
        *_ceiling_text(found),
        STARRED,
        PEOPLE_STARRED,
        f"Asked: {secrets}; known of everybody: {', '.join(setting.known)}.",
        f"One table of n = {whole(setting.n)} units of {setting.population}, of which {whole(setting.releases)}"
        f" releases were made. Everybody in it is a target. {_left_out_text(setting)} Attacks and baselines are"
        " chosen on a fifth of the targets and a tenth of the releases; figures are of the others. Confidence limits"
        " are one-sided, and hold for the mean over releases whatever its distribution.",
        *_refutations_text(found),
        *_small_groups_text(found),
        *_raw_columns_text(found),
        *_outside_text(found),
        attempt_text(found.record),
        controls_text(found.findings.controls),
        *GDPR,
    ]


def _left_out_text(setting: InferenceSetting) -> str:
    """Return a sentence that says which rows the baselines were fitted without, and which units are targets."""
    times = f"{setting.blocks} times, each time without 1 in {setting.blocks} of the units"
    how = "without one unit at a time (leave-one-out)" if setting.blocks >= setting.n else times
    if setting.rows == 1:
        return f"Baselines were fitted {how}, and asked for those."
    return (
        f"A unit is a person with up to {setting.rows} rows: each row is a target by itself."
        f" Baselines were fitted {how}, with all their rows, and asked for those."
    )


def _refutations_text(found: Inferred) -> Iterator[str]:
    for each in found.findings.refuted:
        yield (
            f"Above both baselines: {each.attack} of {each.secret}, {each.group}, at coverage"
            f" {rounded(each.coverage, 6)}."
        )


def _small_groups_text(found: Inferred) -> Iterator[str]:
    for each in found.findings.few:
        yield (
            f"Inconclusive for {each.secret}, {each.group}: figures would be of {whole(each.targets)} people, and"
            f" {whole(each.needed)} are needed."
        )


def _ceiling_text(found: Inferred) -> Iterator[str]:
    """Yield a warning if the audit could not have failed: if even the policy's columns of every row, unchanged, gain at
    most the limit for every secret, group and coverage."""
    ceiling = ceiling_of(found.record.played, found.record.setting)
    if ceiling is not None and not found.record.setting.ceiling:
        sentence = could_not_fail(ceiling, found.record.setting)
        yield f"{sentence[0].upper()}{sentence[1:]}."


def _raw_columns_text(found: Inferred) -> Iterator[str]:
    for secret, gain in found.findings.shown.items():
        own = "the baseline is always right" if gain is None else f"the gain is {decimal(gain, 3)}"
        yield f"Looked up in the policy's attributes of every row exactly, {own} for {secret}, at coverage 1."


def _outside_text(found: Inferred) -> Iterator[str]:
    """Yield comparisons of the prior framework with the non-member one (section 4.7), where the prior framework
    misleads."""
    for each in found.findings.estimates:
        if each.outside is not None and each.coverage == 1 and each.outside < float(each.base_of_these.value):
            yield (
                f"Another baseline, the same attack on people outside the release, gives {rounded(each.outside)} for"
                f" {each.secret} in place of {rounded(each.base_of_these.value)}. A baseline from released data can"
                " be as weak as the release (section 4.7)."
            )


def listings(found: Inferred) -> list[Listing]:
    """Return three tables: precision of the best attacks, their gain over the baselines, and precision of all
    attacks."""
    every = found.findings.estimates
    attacks = [
        [secret.secret, name, *(_precision_text(*each) for each in own)]
        for secret in found.record.policy_results.secrets
        for name, own in secret.precision.items()
    ]
    return [
        text_listing("How often the best attack is right", RIGHT, map(_precision_row, every)),
        text_listing("What is known without the person, and the gain", GAIN, map(_improvement_row, every)),
        text_listing(
            "All attacks: how often they are right, and in brackets for what share they guess, by coverage",
            ("secret", "attack", *(rounded(each, 6) for each in (1, 0.1, 0.01, 0.001))),
            attacks,
        ),
    ]


def _precision_text(precision: float | None, guessed: float | None) -> str:
    return "" if precision is None or guessed is None else f"{rounded(precision)} ({rounded(guessed, 2)})"


def _precision_row(each: InferenceEstimate) -> list[Value]:
    return [each.secret, each.group, each.predicted, each.attack, *measurement_cells(each.precision)]


def _improvement_row(each: InferenceEstimate) -> list[Value]:
    gain = (None, None, None) if each.gain is None else measurement_cells(each.gain)
    people = (None, None) if each.for_people is None else measurement_cells(each.for_people)[1:]
    return [each.secret, each.group, each.predicted, each.base_of_these.value, each.base.value, *gain, *people]


def json_fields(found: Inferred) -> dict[str, Any]:
    """Return the fields that `--json` prints for an inference audit, by name."""
    said = found.findings
    return {
        "gain": _json(said.gain), "estimates": [_estimate(each) for each in said.estimates],
        "refuted": [[each.secret, each.group, each.coverage] for each in said.refuted],
        "beyond": [[each.secret, each.group, each.coverage] for each in said.beyond],
        "too_few": [[each.secret, each.group, each.targets, each.needed] for each in said.few],
        "shown": dict(said.shown), "controls": {each.control: _control(each) for each in said.controls},
    }  # fmt: skip


def _control(judged: InferenceControlResult) -> dict[str, Any]:
    return {"must": judged.must, "works": judged.works, "gain": judged.gain}


def _estimate(each: InferenceEstimate) -> dict[str, Any]:
    return {
        "secret": each.secret, "group": each.group, "coverage": each.coverage, "predicted": each.predicted,
        "attack": each.attack, "baselines": list(each.baselines), "precision": _json(each.precision),
        "baseline_of_these": _json(each.base_of_these), "baseline": _json(each.base),
        "improvement_of_these": _json(each.improvement_of_these), "improvement": _json(each.improvement),
        "gain_for_people": _json(each.for_people), "above": _json(each.above), "p": each.p, "outside": each.outside,
    }  # fmt: skip


def _json(measured: Measurement | None) -> dict[str, float | None] | None:
    return None if measured is None else measurement_json(measured)
