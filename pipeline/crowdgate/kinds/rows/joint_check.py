"""Check of the joint cost that a manifest of rows states: whether its parts give a larger curve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crowdgate.accounting.joint import GREATEST_EPSILON
from crowdgate.kinds.rows.joint_cost import MOST_K
from crowdgate.mechanisms.rows.charge_names import JOINT_PART, MARGINS_PART
from crowdgate.mechanisms.rows.joint_cost import LARGEST_K, MarginsLaw, RowsLaw, joint_rows, part_names
from crowdgate.noisy_counts.guarantee_check import curve_problems, series_problems, stated_noise

if TYPE_CHECKING:
    from crowdgate.kinds.rows.manifest_fields import RowsManifest


def stated_law(said: RowsManifest) -> RowsLaw | None:
    """Return the law of all parts of a published release, by its manifest; None if a manifest with a joint cost can't
    be of such a release."""
    mechanism, parts = said.mechanism, {part.name: part for part in said.guarantee.guarantee.parts}
    choice, margins = mechanism.choice, None
    if not joint_rows(mechanism.rows) or not 0 < mechanism.beta < 1 or mechanism.k > LARGEST_K:
        return None
    if mechanism.margins is not None:
        noise = stated_noise(mechanism.margins, mechanism.rows)
        if MARGINS_PART not in parts or noise is None:
            return None
        margins = MarginsLaw(parts[MARGINS_PART], None if choice is not None else noise)
    gates = tuple(gate.charge for gate in said.verdicts if gate.charge is not None)
    if JOINT_PART in parts:
        return None
    return RowsLaw(mechanism.beta, mechanism.rows, gates, None if choice is None else choice.epsilon, margins)


def joint_problems(said: RowsManifest) -> Iterator[str]:
    """Yield the problems of a manifest's joint cost: its parts give a larger curve than it states."""
    joint = said.guarantee.joint
    if joint is None:
        return
    law = stated_law(said) if said.guarantee.epsilon <= GREATEST_EPSILON else None
    if law is None:
        yield "its joint cost is none of such a release"
        return
    if {each.part: each.law for each in joint.laws} != part_names(law, [part.name for part in said.guarantee.parts]):
        yield "the laws of its parts are not the mechanism's"
    k = said.mechanism.k
    yield from curve_problems(said.guarantee, law.law(k).delta, law.replaced(k))


def stated_series_problems(said: RowsManifest) -> Iterator[str]:
    """Yield a problem of the series that a manifest states, by the law of its release."""
    if said.facts.series is not None:
        law = stated_law(said) if said.mechanism.k <= MOST_K else None
        yield from series_problems(said, None if law is None else law.law(said.mechanism.k))
