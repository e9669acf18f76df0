"""The steps of a release at an object store, beside those in the custodian's own copy. Each does nothing for a release
that goes to a folder.
"""

from contextlib import suppress
from pathlib import Path

from crowdgate.errors import CrowdgateError, VerificationFailed
from crowdgate.planning.catalogue import NAME, is_later
from crowdgate.publish import objects, publisher
from crowdgate.publish.fetched_objects import fetched_release
from crowdgate.publish.object_store import ObjectStore, address_of
from crowdgate.publish.publisher import StagedRelease
from crowdgate.settings import trusted_keys


def store_of(home: Path, root: Path) -> ObjectStore | None:
    """Return the object store whose copy the destination `root` of the working copy `home` is; None for a folder."""
    address = address_of(home, root)
    return None if address is None else ObjectStore(address)


def claim_objects(home: Path, root: Path, release_id: str, owner: str) -> None:
    """Claim a release in the store for the ledger `owner`; the previous holder of the claim may have published."""
    store = store_of(home, root)
    if store is not None:
        objects.claim_object(store, release_id, owner)
        try:
            objects.check_free_object(store, release_id)
        except BaseException:
            give_back_objects(home, root, release_id, owner)
            raise


def give_back_objects(home: Path, root: Path, release_id: str, owner: str) -> None:
    """Remove the claim of the ledger `owner`. Never raises a CrowdgateError: a remaining claim hinders no run of its
    own ledger.
    """
    with suppress(CrowdgateError):
        store = store_of(home, root)
        if store is not None:
            objects.give_back_object(store, release_id, owner)


def publish_copy(home: Path, root: Path, release_id: str, owner: str) -> None:
    """Publish the release in the custodian's own copy in the store, under the claim of its ledger."""
    store = store_of(home, root)
    if store is not None:
        objects.claim_object(store, release_id, owner)
        objects.publish_objects(store, root / release_id, release_id)


def recover_copy(home: Path, root: Path, release_id: str, owner: str, digest: str) -> None:
    """Copy a published release with the manifest digest `digest` from the store to the custodian's own copy, which
    lacks it after a run on another machine. Does nothing if the store has no such release.
    """
    store, staged = store_of(home, root), publisher.staged_folder(root, owner, release_id)
    if store is None:
        return
    with suppress(VerificationFailed), fetched_release(f"{store.address}/{release_id}") as folder:
        if publisher.is_complete(folder, digest):
            staging = publisher.copy_to_staging(folder, staged, release_id.rpartition("/")[2])
            publisher.publish(StagedRelease(staging, digest), root / release_id)


def withdraw_copy(home: Path, root: Path, release_id: str) -> None:
    """Replace a withdrawn release in the store by its tombstone."""
    store = store_of(home, root)
    if store is not None:
        objects.withdraw_objects(store, root / release_id, release_id)


def put_catalogue_copy(home: Path, root: Path) -> None:
    """Put the signed catalogue into the store, if there is one. A later one, of a run on another machine, stays."""
    store = store_of(home, root)
    if store is not None and (root / NAME).exists():
        trusted = trusted_keys(home)
        objects.put_catalogue(store, root / NAME, lambda there, own: is_later(there, own, trusted))
