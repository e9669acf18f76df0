"""Explanation of how synthetic rows are made, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.kind.explanation import SAMPLED, SECRET_SAMPLE, Explanation, level_listing
from crowdgate.kind.section import Lead, Section
from crowdgate.number_text import decimal, stated_number

if TYPE_CHECKING:
    from crowdgate.kinds.synthetic.plan import SyntheticPlan

NOT_PROTECTED = (
    "Synthetic rows protect nobody by themselves: the protection is the noise. k-anonymity is not guaranteed here, and"
    " alone would not prevent singling out.",
    "Intervals and tests that are computed from the rows as if they were people look more certain than they are.",
)


def explanation(planned: SyntheticPlan) -> Explanation:
    """Return the explanation of the columns, the division of the budget, the certificate, and the number of impossible
    combinations."""
    levels, beta = planned.mechanism.finest, planned.mechanism.beta
    rows = (
        f"A model of the table is made from tables with noise, and rows of {len(levels)} columns are drawn from the"
        " model. No row is a person's. A row can equal a person's by chance, or because many people have the same"
        " values."
    )
    sampled = [Lead("Sample.", f"{SAMPLED.format(beta=stated_number(beta))}.")] if beta != 1 else []
    protection = (
        Section("", [Lead("Synthetic rows.", rows)], listings=[level_listing(levels)]),
        Section("", [_noise(planned), _certificate(planned), *_impossible(planned), *sampled]),
    )
    return Explanation(protection, [SECRET_SAMPLE] if sampled else [], NOT_PROTECTED)


def _noise(planned: SyntheticPlan) -> Lead:
    drawing = planned.mechanism.drawing
    budget = drawing.budget
    one_ways, rounds, certificate = (
        decimal(each, 4) for each in (sum(budget.one_ways), budget.rounds, budget.certificate)
    )
    return Lead(
        "Noise.",
        f"The table is read only through discrete Gaussian noise. It costs rho {decimal(budget.rho, 4)} in all, the"
        " measure by which such noise adds up; epsilon and delta follow from it. Its parts:"
        f" {one_ways} for the tables of one column, {rounds} for choosing and measuring some of"
        f" {len(drawing.candidates)} further tables, {certificate} for the certificate.",
    )


def _certificate(planned: SyntheticPlan) -> Lead:
    return Lead(
        "Certificate.",
        "It says of each pair of columns how far the rows are from the table, with limits that hold 95 times in 100. A"
        f" pair is trustworthy if its upper limit is at most {stated_number(planned.spec.pair_error)}. Nothing is"
        " guaranteed about three or more columns together.",
    )


def _impossible(planned: SyntheticPlan) -> list[Lead]:
    lines = len(planned.spec.impossible)
    said = (
        f"Combinations of values that the policy lists as impossible ({lines} line{'' if lines == 1 else 's'}) occur in"
        " no row. That must be public knowledge: listing what was seen in the table would break the guarantee."
    )
    return [Lead("What can't be.", said)] if lines else []
