"""Noise of a release of tables whose total is met jointly: the least at which noise and gates together keep it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from crowdgate.accounting.joint import GREATEST_EPSILON, least_epsilon
from crowdgate.accounting.numbers import down
from crowdgate.guarantee import Part
from crowdgate.mechanisms.tables.joint_cost import TablesLaw, noise_law, with_raised_spend

if TYPE_CHECKING:
    from fractions import Fraction

    from crowdgate.accounting.joint import JointLaw
    from crowdgate.errors import Finding
    from crowdgate.guarantee import Guarantee, JointCost
    from crowdgate.kind.kind import Allowance
    from crowdgate.mechanisms.tables.dp_tables import DpTables

_MOST = 10
"""Greatest epsilon of which it is said what a policy leaves unused."""

Planned = tuple["DpTables | None", "JointCost | None", Sequence["Finding"]]


def planned_jointly(mechanism: DpTables, allowance: Allowance) -> Planned:
    """Return the tables with the greatest noise budget that the joint cost permits, and that cost; or None and the
    findings against the policy. `mechanism` is planned by the sum of the parts."""
    gates = allowance.gates or ()
    part = Part(mechanism.part.name, allowance.epsilon, allowance.delta)
    try:
        found = with_raised_spend(mechanism, part, gates)
    except ValueError:
        return None, None, [_unknown(mechanism, allowance)]
    cost = TablesLaw(noise_law(found), gates).cost(allowance.total, allowance.delta)
    return found, cost, ()


def _unknown(mechanism: DpTables, allowance: Allowance) -> Finding:
    """Return the finding that the joint cost is not known, with what helps: a law of Laplace noise that is computed too
    coarsely for a delta is one for Gaussian noise, and the sum of the parts needs no law.
    """
    if not allowance.delta:
        helps = "a delta above 0"
    elif allowance.total > GREATEST_EPSILON or mechanism.budget.noise == "gaussian":
        helps = "a smaller epsilon"
    else:
        helps = "noise: gaussian"
    found = "a total that is met jointly, and noise whose joint cost is not known"
    return ("noise",), found, f"{helps}, or no `accounting: joint` and epsilons in place of shares of gates", None


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
