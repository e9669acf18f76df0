"""Explanation of how rows are protected, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.kind.explanation import SECRET_SAMPLE, Explanation, level_listing
from crowdgate.kind.section import Lead, Section
from crowdgate.number_text import decimal, rounded, stated_number

if TYPE_CHECKING:
    from crowdgate.guarantee import Part
    from crowdgate.mechanisms.rows.safe_k import SafeK

LEVELS = "Values are made coarser, and nothing that is not listed is published:"
FINEST = "The table shows the finest that can be chosen."
SECRET = (
    "The number of rows that are left out and the number of sampled rows stay secret: if they were published, the"
    " guarantee would not hold."
)
SECRET_INHERITED = (
    "The sample stays secret. For anybody who knows it, such as the body that drew it, the guarantee is weaker."
)


def explanation(safe: SafeK) -> Explanation:
    """Return the explanation of the sample, the levels, k with the least possible k, and the margins."""
    chosen = [] if safe.choice is None else [f"{safe.choice.words()} {FINEST}"]
    protection = (
        Section("", [_sample(safe), Lead("Levels.", LEVELS)], listings=[level_listing(safe.levels)]),
        Section("", [*chosen, _class_size(safe), SECRET, *_margins(safe)]),
    )
    assumed = SECRET_SAMPLE if safe.inherited is None else SECRET_INHERITED
    return Explanation(protection, [assumed], [_small_groups(safe)])


def _sample(safe: SafeK) -> Lead:
    beta = stated_number(safe.beta)
    if safe.inherited is not None:
        said = f"The table is a sample already, {safe.inherited}, which holds each person with probability {beta}."
        return Lead("Sample.", f"{said} Nothing is sampled again.")
    return Lead(
        "Sample.",
        f"Of every 100 rows about {rounded(100 * safe.beta)} are sampled: each with probability {beta}, independently,"
        " by secret random bits. Nobody can say whether a given row was sampled, and the guarantee rests on that.",
    )


def _class_size(safe: SafeK) -> Lead:
    k, least = safe.k, safe.least_k
    asked = f"The policy asks for {k}; the least that would do is {least}. With a smaller one,"
    return Lead(
        f"k is {k}.",
        "Sampled rows that are equal in all of these columns form a group. A group of fewer than"
        f" {k} is left out as a whole. {f'Why {k}: with a smaller k,' if k == least else asked} at this sampling rate,"
        f" {_too_small(safe)} With {k}, {'delta' if safe.joint is None else 'it'} comes to {decimal(safe.delta)}.",
    )


def _too_small(safe: SafeK) -> str:
    """Return what a smaller k would do: alone, or with all other parts of a release that states shares."""
    if safe.joint is None:
        return (
            "a group that appears or disappears would reveal more about one person than the part of the guarantee for"
            f" rows allows ({_cost(safe.part, ', ')})."
        )
    return (
        "all parts of the release together would reveal more about one person than the guarantee allows: their joint"
        f" delta at epsilon {decimal(safe.joint.epsilon)} would be too large."
    )


def _margins(safe: SafeK) -> list[Lead]:
    if safe.margins is None:
        return []
    return [
        Lead(
            "Counts beside the rows.",
            "Rows alone say nothing of how many people there are, since rare ones are missing. So counts of the whole"
            f" table are published with noise, for {'' if safe.joint is None else 'a share of '}"
            f"{_cost(safe.margins.part, ' and ')} of the total, and every row gets"
            " a weight by them.",
        )
    ]


def _small_groups(safe: SafeK) -> str:
    return (
        f"Groups of at least {safe.k} equal rows protect nobody by themselves. k-anonymity alone does not prevent"
        " singling out. From other k-anonymous releases, an attacker can describe exactly one person in about 37 of 100"
        " cases (Cohen and Nissim 2020). The protection is k with the secret sample, and levels that were fixed before"
        " or chosen through noise."
    )


def _cost(part: Part, joined: str) -> str:
    return f"epsilon {decimal(part.epsilon)}{joined}delta {decimal(part.delta)}"
