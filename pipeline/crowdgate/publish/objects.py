"""Releases in an object store: files by their content hash first, the manifest last, then the pointer to the latest.

    POLICY/VERSION/SLOT/files/SHA256/NAME          each file that the manifest lists
    POLICY/VERSION/SLOT/signatures/SHA256          the signature of the manifest with this digest
    POLICY/VERSION/SLOT/manifest.json              put last, on condition that none is there
    POLICY/latest.json                             id and manifest digest of the release with the latest slot, or null

A release is visible when its manifest is: a reader never sees half of one, and of two writers of one id exactly one
publishes. A withdrawal puts the tombstone, and removes the manifest before the files.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path

from crowdgate import manifest
from crowdgate.errors import EnvironmentFault
from crowdgate.limits import LARGEST_ENVELOPE, LARGEST_MANIFEST
from crowdgate.publish.file_names import SIGNED, SIGNED_WITHDRAWAL, STAGING, WITHDRAWN
from crowdgate.publish.latest_pointer import SMALL, point_to_latest
from crowdgate.publish.object_names import SealedFiles, file_name, signature_name
from crowdgate.publish.object_store import ObjectStore
from crowdgate.publish.object_writes import ATTEMPTS, busy_fault, put_or_read, put_same, replace_object
from crowdgate.system.regular_files import read_plain


def check_free_object(store: ObjectStore, release_id: str) -> None:
    """Raise EnvironmentFault if a release or a tombstone of this id is in the store."""
    for name in (manifest.NAME, WITHDRAWN):
        if store.read(f"{release_id}/{name}", LARGEST_MANIFEST) is not None:
            raise EnvironmentFault(
                f"{store.address}/{release_id} exists already and is not replaced. Use another slot or destination"
            )


def claim_object(store: ObjectStore, release_id: str, owner: str) -> None:
    """Claim a release for the ledger `owner`; an existing claim of this ledger is reused. Raises EnvironmentFault if
    another ledger has it, and for a store that ignores the condition: there two runs could publish under one id.
    """
    name, line = _claim_name(release_id), f"{owner}\n".encode()
    there = put_or_read(store, name, line, SMALL)
    if there is None and all(store.put_new(name, line) for _ in range(2)):  # once: another run gave the claim back
        store.remove(name)
        said = f"{store.address}: this store ignores If-None-Match, so two runs could publish under one id"
        raise EnvironmentFault(f"{said}. Use a store with conditional writes")
    if there is not None and there.data != line:
        raise EnvironmentFault(
            f"the destination {store.address}/{release_id} is reserved by another ledger. No budget was charged. Use "
            f"another slot or destination. If that ledger's run is dead, remove the object {name}"
        )


def give_back_object(store: ObjectStore, release_id: str, owner: str) -> None:
    """Remove the claim of the ledger `owner` on a release, if it has one."""
    there = store.read(_claim_name(release_id), SMALL)
    if there is not None and there.data == f"{owner}\n".encode():
        store.remove(_claim_name(release_id))


def publish_objects(store: ObjectStore, folder: Path, release_id: str) -> None:
    """Publish the complete release in a folder; objects of it that are there already are compared with it.

    Raises EnvironmentFault for a store that fails, that has another release of this id, or its tombstone.
    """
    sealed = read_plain(folder / manifest.NAME, LARGEST_MANIFEST)
    for name, stated in SealedFiles.model_validate_json(sealed).files.items():
        data = read_plain(folder / name, stated.bytes)
        if hashlib.sha256(data).hexdigest() != stated.sha256:
            raise EnvironmentFault(f"{folder / name} differs from its manifest, so nothing is published")
        put_same(store, file_name(release_id, name, stated), data)
    if (folder / SIGNED).exists():
        signature = read_plain(folder / SIGNED, LARGEST_ENVELOPE)
        replace_object(store, signature_name(release_id, sealed), signature)
    put_same(store, f"{release_id}/{manifest.NAME}", sealed)
    _refuse_withdrawn(store, release_id)
    point_to_latest(store, release_id.partition("/")[0])


def _refuse_withdrawn(store: ObjectStore, release_id: str) -> None:
    """Remove a release that is published now, and was withdrawn while its run was late. Raises EnvironmentFault."""
    if store.read(f"{release_id}/{WITHDRAWN}", LARGEST_ENVELOPE) is not None:
        _remove_release(store, release_id)
        raise EnvironmentFault(f"{store.address}/{release_id} was withdrawn while this run published it")


def withdraw_objects(store: ObjectStore, folder: Path, release_id: str) -> None:
    """Put the tombstone that is in a folder, and remove the manifest, then all other objects of the release."""
    for name in (WITHDRAWN, SIGNED_WITHDRAWAL):
        if (folder / name).exists():
            data = read_plain(folder / name, LARGEST_ENVELOPE)
            replace_object(store, f"{release_id}/{name}", data)
    _remove_release(store, release_id)


def _remove_release(store: ObjectStore, release_id: str) -> None:
    store.remove(f"{release_id}/{manifest.NAME}")
    point_to_latest(store, release_id.partition("/")[0])
    kept = {f"{release_id}/{name}" for name in (WITHDRAWN, SIGNED_WITHDRAWAL)}
    for name in store.names(release_id):
        if name not in kept:
            store.remove(name)


def put_catalogue(store: ObjectStore, path: Path, is_later: Callable[[bytes, bytes], bool]) -> None:
    """Put the catalogue file of the folder in place of the one in the store, unless that `is_later`: other runs may
    write both meanwhile.
    """
    for _ in range(ATTEMPTS):
        there, data = store.read(path.name, LARGEST_ENVELOPE), read_plain(path, LARGEST_ENVELOPE)
        if there is not None and (there.data == data or is_later(there.data, data)):
            return
        store.replace(path.name, data, None if there is None else there.tag)
    raise busy_fault(store, path.name)


def _claim_name(release_id: str) -> str:
    return f"{STAGING}/{release_id.replace('/', '~')}.claim"
