"""A release that past runs would hold ends before the charge, unless a person charges it anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.forecast.chances.gate_chances import chances, next_release
from crowdgate.kind.run import Request, Result
from crowdgate.planning.budget_left import ledger_status, today
from crowdgate.releases.facts_of_run import facts_of_run

if TYPE_CHECKING:
    from crowdgate.forecast.chances.holding_gate import HoldingGate
    from crowdgate.kind.plan import Plan
    from crowdgate.planning.open_ledger import OpenedLedger

HELD = "Held: {gates}. Nothing was read, and nothing is charged. {next}"
NEXT = (
    "Change the policy (its limit, levels or parameters) in a new version, charge this release anyway if the table has"
    " changed (--anyway REASON), or publish nothing."
)
"""The next steps for a release that is held."""


def held_release(plan: Plan, opened: OpenedLedger, request: Request, release_id: str) -> Result | None:
    """Return the result of a release that is held; None if none of its gates holds it, or if it is charged anyway,
    which the journal then says with the reason."""
    gates = gates_that_hold(plan, opened)
    if not gates:
        return None
    if request.anyway is not None:
        opened.ledger().charge_anyway(release_id, request.anyway)
        return None
    words = HELD.format(gates="; ".join(map(str, gates)), next=NEXT)
    facts = facts_of_run(plan, opened.ledger(), release_id, charged=False)
    return Result("held", release_id, None, plan.guarantee, (), words, facts=facts)


def gates_that_hold(plan: Plan, opened: OpenedLedger) -> tuple[HoldingGate, ...]:
    """Return each gate that holds the next release of a policy, by its past runs."""
    day = today()
    standing = ledger_status(plan, opened, day)
    return chances(next_release(plan, opened, standing), standing, day).holds
