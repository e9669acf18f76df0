"""Check of the joint cost that a manifest of tables states: whether its parts give a larger curve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crowdgate.accounting.joint import GREATEST_EPSILON
from crowdgate.mechanisms.tables.joint_cost import TablesLaw
from crowdgate.noisy_counts.guarantee_check import curve_problems, series_problems, stated_noise

if TYPE_CHECKING:
    from crowdgate.kinds.tables.manifest_fields import TablesManifest


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


def stated_series_problems(said: TablesManifest) -> Iterator[str]:
    """Yield a problem of the series that a manifest states, by the law of its release."""
    if said.facts.series is None:
        return
    noise = stated_noise(said.mechanism, said.mechanism.rows_per_unit, said.mechanism.beta)
    gates = tuple(gate.charge for gate in said.verdicts if gate.charge is not None)
    yield from series_problems(said, TablesLaw(noise, gates).law if noise is not None and noise.is_known else None)
