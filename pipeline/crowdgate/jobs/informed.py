"""What its ledger says of a policy, as far as that is at hand: whether it is informed by confidential data, and whether
it would be refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.errors import CrowdgateError, LedgerRefused
from crowdgate.jobs.ledgers import ledger_at
from crowdgate.jobs.plan import budget_of
from crowdgate.manifest import INFORMED
from crowdgate.policy.policy import version_of

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan

UNKNOWN = "Whether it is informed by confidential data is not known: its ledger can't be read here."


def informed(plan: Plan) -> bool | None:
    """Whether a release of the policy would be marked so now; None where the ledger of its budget can't be read."""
    bundle = plan.bundle
    try:
        ledger = ledger_at(bundle.root, None, bundle.budget.spec.ledger)
        return ledger.informed(bundle.contract.population, bundle.digest)
    except CrowdgateError:
        return None


def refusal(plan: Plan) -> str | None:
    """Why the ledger would refuse a release of the policy now, but for what it has left: edited, frozen, or a version
    that was charged with other files; None where it would not, or can't be read here."""
    bundle = plan.bundle
    try:
        ledger = ledger_at(bundle.root, None, bundle.budget.spec.ledger)
    except CrowdgateError:
        return None
    try:
        ledger.check(bundle.contract.id, budget_of(bundle), version_of(bundle.policy), bundle.digest)
    except LedgerRefused as refused:
        return str(refused)
    except CrowdgateError:
        return None
    return None


def informed_words(found: bool | None) -> list[str]:
    """What is said of it; nothing of a policy that is not informed."""
    return [UNKNOWN] if found is None else [INFORMED] if found else []
