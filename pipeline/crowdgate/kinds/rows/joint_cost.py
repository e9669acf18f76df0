"""Class size of a release of rows whose policy states shares: the least at which all parts together meet the total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.accounting.joint import GREATEST_EPSILON, least_epsilon
from crowdgate.accounting.numbers import down
from crowdgate.mechanisms.rows.charge_names import CHOICE_PART, JOINT_PART, MARGINS_PART
from crowdgate.mechanisms.rows.joint_cost import MarginsLaw, RowsLaw, joint_rows
from crowdgate.mechanisms.rows.safe_k import JointTotal, SafeK
from crowdgate.mechanisms.tables.joint_cost import noise_law
from crowdgate.number_text import decimal

if TYPE_CHECKING:
    from crowdgate.accounting.joint import JointLaw
    from crowdgate.errors import Finding
    from crowdgate.guarantee import Guarantee, JointCost, Part
    from crowdgate.kind.kind import Allowance
    from crowdgate.mechanisms.rows.spec import SafeKAnonymity

MOST_K = 5000
"""Greatest class size by the sum of the parts for which their joint cost is planned."""
_MOST = 10
"""Greatest epsilon of which it is said what a policy leaves unused."""

_NO_K: Finding = (
    (), f"no k of at most {MOST_K} reaches the total", "a smaller beta, a larger epsilon or delta, a smaller delta of "
    "margins, or epsilons in place of shares", None,
)  # fmt: skip

Planned = tuple[SafeK | None, "JointCost | None", Sequence["Finding"]]


def planned_jointly(spec: SafeKAnonymity, mechanism: SafeK, allowance: Allowance, parts: Sequence[Part]) -> Planned:
    """Return the mechanism with the class size that the joint cost needs, and that cost; or None and the findings
    against the policy. `mechanism` is planned by the sum of its `parts`."""
    if not joint_rows(mechanism.rows):
        found = f"shares, and {mechanism.rows} rows of a person: their joint cost is not known"
        return None, None, [((), found, "epsilons in place of shares, or at most 3 rows of a person", None)]
    if allowance.total > GREATEST_EPSILON:
        found = f"shares of an epsilon of {decimal(allowance.total)}: its joint cost is not known"
        return (
            None,
            None,
            [((), found, f"an epsilon of at most {GREATEST_EPSILON:g}, or epsilons in place of shares", None)],
        )
    if mechanism.k > MOST_K:
        return None, None, [_NO_K]
    law = planned_law(mechanism, allowance.gates or ())
    if law is None:
        found = "shares, and a choice of levels on the released sample: their joint cost is not known"
        return None, None, [(("choose", "on"), found, "`on: full`, or epsilons in place of shares", "full")]
    try:
        least = law.least_k(allowance.total, allowance.delta)
    except ValueError:
        return None, None, [_NO_K]
    k = least if spec.k == "least" else spec.k
    if k < least:
        found = f"{k} does not reach the total by the joint cost of all parts"
        return None, None, [(("k",), found, f"at least {least}, or `least`", str(least))]
    total = JointTotal(law, allowance.total, least)
    names = [part.name for part in parts]
    return replace(mechanism, k=k, joint=total), law.cost(k, allowance.total, allowance.delta, names), ()


def joint_epsilon(mechanism: SafeK, guarantee: Guarantee) -> float | None:
    """Return the epsilon that all parts spend together at the release's delta, rounded up, for a policy that states an
    epsilon for each of several parts."""
    own = {"mechanism", CHOICE_PART, JOINT_PART, MARGINS_PART}
    gates = tuple(part.epsilon for part in guarantee.parts if part.name not in own)
    if guarantee.joint is not None or len(guarantee.parts) < 2 or mechanism.rows > 1:
        return None
    if guarantee.epsilon > _MOST or mechanism.k > MOST_K:
        return None
    law = planned_law(mechanism, gates)
    if law is None:
        return None
    try:
        found = least_epsilon(law.law(mechanism.k).delta, down(guarantee.delta), near=3e-4)
    except ValueError:  # parts of unknown law alone take all of delta
        return None
    return min(float(guarantee.epsilon), found)


def joint_law(mechanism: SafeK, gates: tuple[Fraction, ...]) -> JointLaw | None:
    """Return the joint law of one release of rows with charged `gates` of these epsilons; None if it is not known."""
    law = planned_law(mechanism, gates) if joint_rows(mechanism.rows) and mechanism.k <= MOST_K else None
    return None if law is None else law.law(mechanism.k)


def planned_law(mechanism: SafeK, gates: tuple[Fraction, ...]) -> RowsLaw | None:
    """Return the law of a planned release; None with a choice on the released sample."""
    choice, margins = mechanism.choice, None
    if choice is not None and choice.on == "sample":
        return None
    if mechanism.margins is not None:
        noise = None if choice is not None else noise_law(mechanism.margins.tables(mechanism.levels))
        margins = MarginsLaw(mechanism.margins.part, noise)  # queries may differ by the choice
    on_full = None if choice is None else choice.epsilon
    return RowsLaw(mechanism.beta, mechanism.rows, gates, on_full, margins)
