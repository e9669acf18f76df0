"""A release that is approved before its publication: charged and staged, it waits until its manifest is approved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.errors import LedgerRefused
from crowdgate.kind.run import Result
from crowdgate.ledger.access_log import recorded_approvals
from crowdgate.planning.approvals import approvals_before, record_approvals

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.ledger.ledger import Ledger

WAITING = (
    "{why}. Its files are staged, and the privacy cost stays charged. The approver reads it with crowdgate report"
    " release {id}."
)


def waiting_release(plan: Plan, ledger: Ledger, release_id: str) -> Result | None:
    """Return the result of a committed release that lacks an approval before its publication; None if it has all that
    it needs, which the journal then says.
    """
    rule = plan.bundle.policy.spec.approval
    if rule is None or rule.before != "publication":
        return None
    if recorded_approvals(ledger.journal(), release_id, "publication") >= rule.at_least:
        return None  # the run that published it was killed before the ledger knew
    try:
        found = approvals_before("publication", plan, ledger, release_id)
    except LedgerRefused as refused:
        if refused.code != "unapproved":
            raise
        return Result("waiting", release_id, None, plan.guarantee, (), WAITING.format(why=refused, id=release_id))
    record_approvals(ledger, release_id, found)
    return None
