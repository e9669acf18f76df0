"""Success of predicate singling out by the weight of the predicate, compared with the blind attacker and the gates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.accounting import pso
from crowdgate.accounting.pso_baselines import baseline_up_to
from crowdgate.accounting.pso_curve import SHARES
from crowdgate.kind.facts import static_before_data
from crowdgate.kind.picture import Picture, PicturePoint, Series
from crowdgate.measures.guarantees import bounded_weight, kept_costs
from crowdgate.number_text import FIGURE_UP

if TYPE_CHECKING:
    from crowdgate.candidate import Cost
    from crowdgate.manifest import Manifest
    from crowdgate.policy.policy import GateRule

NOTE = (
    "An attacker without any release reaches the baseline; an attacker with all releases of these people so far, at"
    " most the bound. No one weight is the right one; a gate holds the bound at its own."
)


def curve_of_release(said: Manifest) -> Picture:
    """Return a picture of the bound on predicate singling out by predicate weight, after a published release and all
    earlier ones of its people."""
    static = static_before_data(said)
    rules = [each.rule for each in said.verdicts]
    return singling_out(static.most_rows, {"with the releases, at most": kept_costs(static, static.spent)}, rules)


def singling_out(rows: int, kept: Mapping[str, Sequence[Cost]], rules: Sequence[GateRule]) -> Picture:
    """Return a picture of the bound on the success of predicate singling out by predicate weight, for at most `rows`
    rows: a curve for each name in `kept`, by the points (epsilon, delta) that its releases keep; the blind attacker;
    and the limits of gates."""
    gates = _gates(rules)
    weights = sorted({*(share / rows for share in SHARES), *gates})
    series = [
        Series(name, tuple(PicturePoint(float(each), _least_bound(rows, each, costs)) for each in weights), "joined")
        for name, costs in kept.items()
    ]
    baseline = tuple(PicturePoint(float(weight), baseline_up_to(rows, weight)) for weight in weights)
    series.append(Series("without releases", baseline, "joined"))
    if gates:
        series.append(
            Series("gate: at most", tuple(PicturePoint(float(each), float(limit)) for each, limit in gates.items()))
        )
    return Picture(
        "singling out", "Singling out, by how few fit the description", "weight of the predicate",
        "probability of success",
        tuple(series), (), "log", "log", NOTE, FIGURE_UP,
    )  # fmt: skip


def _least_bound(rows: int, weight: Fraction, costs: Sequence[Cost]) -> float:
    return min(pso.bound(rows, weight, *cost) for cost in costs)


def _gates(rules: Sequence[GateRule]) -> dict[Fraction, Fraction]:
    """Return the limits of the gates on the bound on singling out, by predicate weight."""
    stated = ((bounded_weight(each), each.at_most) for each in rules)
    return {weight: limit for weight, limit in stated if weight is not None and limit is not None}
