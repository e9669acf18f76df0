"""The pointer `latest.json` of each policy in an object store, which readers follow without listing."""

import hashlib
import json
from collections.abc import Iterable

from crowdgate import manifest
from crowdgate.limits import LARGEST_MANIFEST
from crowdgate.publish.file_names import WITHDRAWN
from crowdgate.publish.object_store import ObjectStore
from crowdgate.publish.object_writes import ATTEMPTS, busy_fault

LATEST = "latest.json"
SMALL = 4096
"""The most bytes of a pointer or a claim."""


def point_to_latest(store: ObjectStore, policy: str) -> None:
    """Let `latest.json` of a policy name its release with the latest slot, and of one slot the largest version; with no
    release left it names none. It is replaced on condition that no other run has, and checked afterwards.

    Raises EnvironmentFault if other runs keep writing it.
    """
    for _ in range(ATTEMPTS):
        before = store.read(f"{policy}/{LATEST}", SMALL)
        data = _current_pointer(store, policy)
        if before is not None and before.data == data:
            return
        if data is not None:
            store.replace(f"{policy}/{LATEST}", data, None if before is None else before.tag)
    raise busy_fault(store, f"{policy}/{LATEST}")


def _current_pointer(store: ObjectStore, policy: str) -> bytes | None:
    """Return the bytes that `latest.json` should have, or None if the release is withdrawn meanwhile."""
    names = set(store.names(policy))
    ids = [name.removesuffix(f"/{manifest.NAME}") for name in names if _is_manifest(name)]
    newest = newest_release(each for each in ids if f"{each}/{WITHDRAWN}" not in names)
    sealed = None if newest is None else store.read(f"{newest}/{manifest.NAME}", LARGEST_MANIFEST)
    if newest is not None and sealed is None:
        return None
    return pointer_bytes(newest, None if sealed is None else hashlib.sha256(sealed.data).hexdigest())


def newest_release(release_ids: Iterable[str]) -> str | None:
    """Return the release id with the latest slot, and of one slot that with the largest version; None of no ids."""
    return max(release_ids, key=_order, default=None)


def pointer_bytes(release_id: str | None, digest: str | None) -> bytes:
    """Return the content of a pointer to the release whose manifest has this SHA-256."""
    return (json.dumps({"release": release_id, "manifest": digest}, sort_keys=True) + "\n").encode()


def _is_manifest(name: str) -> bool:
    return name.count("/") == 3 and name.endswith(f"/{manifest.NAME}")


def _order(release_id: str) -> tuple[str, int, str]:
    _, version, slot = release_id.split("/")
    return slot, int(version) if version.isdecimal() else 0, version
