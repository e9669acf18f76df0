"""Noise of a release of tables whose total is met jointly: the least at which noise and gates together keep it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from crowdgate.accounting.joint import GREATEST_EPSILON, least_epsilon
from crowdgate.accounting.numbers import down
from crowdgate.guarantee import Part
from crowdgate.mechanisms.tables.joint_cost import TablesLaw, noise_law, with_raised_spend
from crowdgate.noisy_counts.guarantee_check import curve_problems, series_problems, stated_noise

if TYPE_CHECKING:
    from fractions import Fraction

    from crowdgate.accounting.joint import JointLaw
    from crowdgate.errors import Finding
    from crowdgate.guarantee import Guarantee, JointCost
    from crowdgate.kind.kind import Allowance
    from crowdgate.kinds.tables.manifest_fields import TablesManifest
    from crowdgate.mechanisms.tables.dp_tables import DpTables

_MOST = 10
"""Greatest epsilon of which it is said what a policy leaves unused."""

_UNKNOWN: Finding = (
    ("noise",), "a total that is met jointly, and noise whose joint cost is not known",
    "a delta above 0, a smaller epsilon, or epsilons in place of shares", None,
)  # fmt: skip

Planned = tuple["DpTables | None", "JointCost | None", Sequence["Finding"]]


def planned_jointly(mechanism: DpTables, allowance: Allowance) -> Planned:
    """Return the tables with the greatest noise budget that the joint cost permits, and that cost; or None and the
    findings against the policy. `mechanism` is planned by the sum of the parts."""
    gates = allowance.gates or ()
    part = Part(mechanism.part.name, allowance.epsilon, allowance.delta)
    try:
        found = with_raised_spend(mechanism, part, gates)
    except ValueError:
        return None, None, [_UNKNOWN]
    cost = TablesLaw(noise_law(found), gates).cost(allowance.total, allowance.delta)
    return found, cost, ()


def joint_epsilon(mechanism: DpTables, guarantee: Guarantee) -> float | None:
    """Return the epsilon that noise and gates spend together at the release's delta, rounded up, for a policy whose
    parts add up to the total."""
    noise = noise_law(mechanism)
    if guarantee.joint is not None or not guarantee.delta or guarantee.epsilon > _MOST or not noise.is_known:
        return None
    gates = tuple(part.epsilon for part in guarantee.parts if part.name != mechanism.part.name)
    found = least_epsilon(TablesLaw(noise, gates).law.delta, down(guarantee.delta), near=1e-3)
    return min(float(guarantee.epsilon), found)


def joint_law(mechanism: DpTables, gates: tuple[Fraction, ...]) -> JointLaw | None:
    """Return the joint law of one release of tables with charged `gates` of these epsilons; None if it is not known."""
    noise = noise_law(mechanism)
    return TablesLaw(noise, gates).law if noise.is_known else None


def stated_series_problems(said: TablesManifest) -> Iterator[str]:
    """Yield a problem of the series that a manifest states, by the law of its release."""
    if said.facts.series is None:
        return
    noise = stated_noise(said.mechanism, said.mechanism.rows_per_unit, said.mechanism.beta)
    gates = tuple(gate.charge for gate in said.verdicts if gate.charge is not None)
    yield from series_problems(said, TablesLaw(noise, gates).law if noise is not None and noise.is_known else None)


def joint_problems(said: TablesManifest) -> Iterator[str]:
    """Yield the problems of a manifest's joint cost: its parts give a larger curve than it states."""
    joint, mechanism = said.guarantee.joint, said.mechanism
    noise = stated_noise(mechanism, mechanism.rows_per_unit, mechanism.beta)
    if joint is None:
        return
    if noise is None or not noise.is_known or said.guarantee.epsilon > GREATEST_EPSILON:
        yield "its joint cost is none of such a release"
        return
    gates = {part.name: "pure" for part in said.guarantee.parts if part.name != "mechanism"}
    if {each.part: each.law for each in joint.laws} != {"mechanism": noise.name, **gates}:
        yield "the laws of its parts are not the mechanism's"
    law = TablesLaw(noise, tuple(gate.charge for gate in said.verdicts if gate.charge is not None))
    yield from curve_problems(said.guarantee, law.law.delta, law.replaced())
