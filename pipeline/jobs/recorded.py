"""The end of a release that ran before: reported, completed from its staged bytes, spent or lost."""

from pathlib import Path

from pipeline.errors import LedgerRefused
from pipeline.io import publisher
from pipeline.io.ledger import Entry, Ledger, State
from pipeline.jobs.plan import Plan
from pipeline.jobs.run import Result


def recorded(plan: Plan, ledger: Ledger, entry: Entry, root: Path) -> Result:
    """The end of a release that ran before; publishes what was committed and not yet moved."""
    if entry.policy_digest != plan.bundle.digest:
        raise LedgerRefused(f"{entry.release_id} was used with other policy files; use a new version or slot")
    if entry.state is State.WITHHELD:
        return Result("withheld", entry.release_id, None, plan.guarantee, ())
    if entry.state is State.RESERVED or entry.manifest_digest is None or entry.destination is None:
        message = f"{entry.release_id} has started and not ended: it crashed or still runs; use a new slot"
        raise LedgerRefused(message, "spent")
    destination = Path(entry.destination)
    if not publisher.complete(destination, entry.manifest_digest):
        if entry.state is State.PUBLISHED:
            raise LedgerRefused(f"{entry.release_id} was published and its files are lost or changed", "lost")
        publisher.publish(publisher.recover(root, entry.release_id, entry.manifest_digest), destination)
    if entry.state is State.COMMITTED:
        ledger.published(entry.release_id)
    return Result("published", entry.release_id, destination, plan.guarantee, ())
