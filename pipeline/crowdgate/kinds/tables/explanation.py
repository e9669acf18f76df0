"""Explanation of how tables are protected, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.kind.explanation import SAMPLED, SECRET_SAMPLE, Explanation
from crowdgate.kind.section import Lead, Section
from crowdgate.number_text import decimal, stated_number

if TYPE_CHECKING:
    from crowdgate.kinds.tables.plan import TablesPlan

NOT_PROTECTED = (
    "k-anonymity is not guaranteed here, and alone would not prevent singling out. {small} Epsilon limits how well a"
    " true 1 can be distinguished from noise."
)
SMALL = "Small counts are published, too."
SMALL_LEFT_EMPTY = "A small count has the same noise as a large one; it is left empty because that noise hides it."
LEFT_EMPTY = " Numbers that are not trustworthy are left empty; the noisy values alone decide that."


def explanation(planned: TablesPlan) -> Explanation:
    """Return the explanation of the number of tables and cells, the noise, and the limit of trustworthy numbers."""
    work, beta = planned.mechanism.workload, planned.mechanism.beta
    numbers = planned.mechanism.noisy_numbers
    tables = f"{len(work.items)} tables are published, made from {numbers} numbers. No row of anybody is."
    limit = stated_number(planned.spec.relative_error)
    left_empty = LEFT_EMPTY if planned.spec.suppress else ""
    trust = f"It counts as trustworthy if its 95 % interval is within {limit} of it.{left_empty}"
    sampled = f"{SAMPLED.format(beta=stated_number(beta))}, which leaves more epsilon for the noise."
    said = [
        Lead("Tables.", tables),
        _noise(planned),
        Lead("How large it is.", f"Every number says how far it may be off. {trust}"),
        *([Lead("Sample.", f"{sampled} Numbers are scaled back.")] if beta != 1 else []),
    ]
    return Explanation([Section("", said)], [SECRET_SAMPLE] if beta != 1 else [], [_not_protected(planned)])


def _not_protected(planned: TablesPlan) -> str:
    return NOT_PROTECTED.format(small=SMALL_LEFT_EMPTY if planned.spec.suppress else SMALL)


def _noise(planned: TablesPlan) -> Lead:
    noise = planned.mechanism.budget.noise
    return Lead(
        "Noise.",
        f"A random whole number is added to each of these numbers: discrete {noise.capitalize()} noise. Epsilon limits"
        " how well anybody can recognize from a published count whether it contains one person more or less. Every cell"
        " is published, empty ones included, so that the presence of a cell reveals nothing; no total is exact."
        f" {_spend(planned)}",
    )


def _spend(planned: TablesPlan) -> str:
    budget, sampled = planned.mechanism.budget, planned.mechanism.beta != 1
    on_sample = " on the sample, which is at most the guarantee's epsilon for anybody who does not know the sample"
    if budget.noise == "laplace":
        return f"The noise costs epsilon {decimal(budget.spend)} in all{on_sample if sampled else ''}."
    return (
        f"The noise costs rho {decimal(budget.spend)} in all, the measure by which such noise adds up; epsilon and"
        " delta follow from it."
    )
