"""The end of a release that ran before: reported, completed from its staged bytes, spent or lost."""

from pathlib import Path

from crowdgate.errors import CrowdgateError, LedgerRefused
from crowdgate.kind.plan import Plan
from crowdgate.kind.run import Result
from crowdgate.ledger.ledger import Entry, Ledger, State
from crowdgate.planning.catalogue import write_signed_catalogue
from crowdgate.planning.crashed_run import crashed_refusal
from crowdgate.publish import destination_claims, publisher
from crowdgate.publish.file_names import STAGING
from crowdgate.publish.reserved_space import free_space
from crowdgate.releases.facts_of_run import series_of_run
from crowdgate.releases.object_destination import (
    give_back_objects,
    publish_copy,
    put_catalogue_copy,
    recover_copy,
)
from crowdgate.releases.waiting import waiting_release


def resume_release(plan: Plan, ledger: Ledger, entry: Entry, here: Path) -> Result:
    """Return the result of a release that ran before; publish it if it was committed and not yet moved.

    `here` is the destination of the current request.
    """
    if entry.policy_digest != plan.bundle.digest:
        raise LedgerRefused(f"{entry.release_id} was used with other policy files; use a new version or slot")
    slot = entry.release_id.rpartition("/")[2]
    if entry.state is State.WITHHELD:
        _remove_claim(here, entry.release_id, ledger.id)
        give_back_objects(plan.bundle.root, here, entry.release_id, ledger.id)
        plain = f"Slot {slot} was already withheld: nothing was published, and it is not run again."
        series = series_of_run(plan, ledger, entry.release_id)
        return Result("withheld", entry.release_id, None, plan.guarantee, (), plain, repeated=True, series=series)
    if entry.state is State.WITHDRAWN:
        raise _withdrawn_refusal(ledger, entry)
    if entry.state is State.RESERVED or entry.manifest_digest is None or entry.destination is None:
        raise crashed_refusal(ledger, entry, "make the release with another slot (--as-of)")
    destination = plan.bundle.root / entry.destination
    root = destination.parents[entry.release_id.count("/")]
    waiting = waiting_release(plan, ledger, entry.release_id) if entry.state is State.COMMITTED else None
    if waiting is not None:
        return waiting
    if not publisher.is_complete(destination, entry.manifest_digest):
        where = (root, ledger.id, entry.release_id, entry.manifest_digest)
        _publish_staged(*where) if entry.state is State.COMMITTED else _recover_published(plan.bundle.root, *where)
    if entry.state is State.COMMITTED:
        publisher.sync_destination(destination, root / STAGING)
        publish_copy(plan.bundle.root, root, entry.release_id, ledger.id)
        ledger.published(entry.release_id, entry.number)
    _remove_claim(root, entry.release_id, ledger.id)
    give_back_objects(plan.bundle.root, root, entry.release_id, ledger.id)
    write_signed_catalogue(root, plan.bundle.root, ledger)
    put_catalogue_copy(plan.bundle.root, root)
    now = (
        "Its staged files are published now" if entry.state is State.COMMITTED else f"Slot {slot} was already published"
    )
    plain = f"{now}; nothing more is spent."
    series = series_of_run(plan, ledger, entry.release_id)
    return Result("published", entry.release_id, destination, plan.guarantee, (), plain, repeated=True, series=series)


def _remove_claim(root: Path, release_id: str, owner: str) -> None:
    """Remove the claim and the reserved space that a killed run of an ended release left."""
    free_space(root, release_id, owner)
    destination_claims.give_back(root, release_id, owner)


def _withdrawn_refusal(ledger: Ledger, entry: Entry) -> LedgerRefused:
    line = ledger.withdrawal(entry.release_id)
    assert line is not None, "the state follows from this line"
    said = (
        f"{entry.release_id} was withdrawn on {line.day} ({line.detail_values['reason']}), and is never released again"
    )
    return LedgerRefused(f"{said}; use a new slot or version", "withdrawn")


def _publish_staged(root: Path, owner: str, release_id: str, digest: str) -> None:
    """Publish a committed release, unless the run that committed it is doing so now."""
    try:
        staged = publisher.recover(publisher.staged_folder(root, owner, release_id), digest)
        destination_claims.claim(root, release_id, owner)
        publisher.publish(staged, root / release_id)
    except CrowdgateError:
        if not publisher.is_complete(root / release_id, digest):
            raise


def _recover_published(home: Path, root: Path, owner: str, release_id: str, digest: str) -> None:
    """Copy a release that is at its object store, and not here. Raises LedgerRefused if it is not there either."""
    if not (root / release_id).exists():
        recover_copy(home, root, release_id, owner, digest)
    if not publisher.is_complete(root / release_id, digest):
        said = f"{release_id} was published before, and its files are lost or changed"
        raise LedgerRefused(f"{said}. Use a new slot", "lost")


def committed_folders(ledger: Ledger, root: Path) -> set[str]:
    """Return the names of the staging folders that hold committed releases."""
    committed = (entry for entry in ledger.entries() if entry.state is State.COMMITTED)
    return {publisher.staged_folder(root, ledger.id, entry.release_id).name for entry in committed}
