"""Whether a policy is informed by confidential data, as far as its ledger is at hand."""

from crowdgate.errors import CrowdgateError
from crowdgate.jobs.ledgers import ledger_at
from crowdgate.kind.plan import Plan
from crowdgate.manifest import INFORMED

UNKNOWN = "Whether it is informed by confidential data is not known: its ledger can't be read here."


def informed(plan: Plan) -> bool | None:
    """Whether a release of the policy would be marked so now; None where the ledger of its budget can't be read."""
    bundle = plan.bundle
    try:
        ledger = ledger_at(bundle.root, None, bundle.budget.spec.ledger)
        return ledger.informed(bundle.contract.population, bundle.digest)
    except CrowdgateError:
        return None


def informed_words(found: bool | None) -> list[str]:
    """What is said of it; nothing of a policy that is not informed."""
    return [UNKNOWN] if found is None else [INFORMED] if found else []
