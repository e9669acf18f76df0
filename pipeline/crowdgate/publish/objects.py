"""Releases in an object store: files by their content hash first, the manifest last, then the pointer to the latest.

    POLICY/VERSION/SLOT/files/SHA256/NAME          each file that the manifest lists
    POLICY/VERSION/SLOT/signatures/SHA256          the signature of the manifest with this digest
    POLICY/VERSION/SLOT/manifest.json              put last, on condition that none is there
    POLICY/latest.json                             the id and manifest digest of the release with the latest slot

A release is visible when its manifest is: a reader never sees half of one, and of two writers of one id exactly one
publishes. A withdrawal puts the tombstone, and removes the manifest before the files.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory

from pydantic import ConfigDict

from crowdgate import manifest
from crowdgate.errors import EnvironmentFault, VerificationFailed
from crowdgate.limits import LARGEST_ENVELOPE, LARGEST_MANIFEST, LARGEST_OBJECTS
from crowdgate.manifest import FileFields
from crowdgate.manifest.values import ManifestFields
from crowdgate.publish.file_names import SIGNED, SIGNED_WITHDRAWAL, STAGING, WITHDRAWN
from crowdgate.publish.object_store import ObjectStore, TooLarge, parse_object_url
from crowdgate.system.regular_files import read_plain

LATEST = "latest.json"
_SMALL = 4096
_ATTEMPTS = 20


class _Sealed(ManifestFields):
    """The part of a manifest that names its files."""

    model_config = ConfigDict(extra="ignore")
    files: dict[str, FileFields]


def probe_store(store: ObjectStore) -> None:
    """Put an object twice on condition that none is there, and remove it. Raises EnvironmentFault for a store that
    can't be written, or that ignores the condition: there two runs could publish under one id.
    """
    name = f"{STAGING}/probe-{token_hex(8)}"
    first = store.put_new(name, b"probe")
    second = store.put_new(name, b"other")
    store.remove(name)
    if not first or second:
        said = f"{store.address}: this store ignores If-None-Match, so two runs could publish under one id"
        raise EnvironmentFault(f"{said}; nothing was charged. Use a store with conditional writes")


def check_free_object(store: ObjectStore, release_id: str) -> None:
    """Raise EnvironmentFault if a release or a tombstone of this id is in the store."""
    for name in (manifest.NAME, WITHDRAWN):
        if store.read(f"{release_id}/{name}", LARGEST_MANIFEST) is not None:
            raise EnvironmentFault(
                f"{store.address}/{release_id} exists already and is not replaced. Use another slot or destination"
            )


def claim_object(store: ObjectStore, release_id: str, owner: str) -> None:
    """Claim a release for the ledger `owner`; an existing claim of this ledger is reused. Raises EnvironmentFault if
    another ledger has it.
    """
    name, line = _claim_name(release_id), f"{owner}\n".encode()
    if store.put_new(name, line):
        return
    there = store.read(name, _SMALL)
    if there is None or there.data != line:
        raise EnvironmentFault(
            f"the destination {store.address}/{release_id} is reserved by another ledger. No budget was charged. Use "
            f"another slot or destination. If that ledger's run is dead, remove the object {name}"
        )


def give_back_object(store: ObjectStore, release_id: str, owner: str) -> None:
    """Remove the claim of the ledger `owner` on a release, if it has one."""
    there = store.read(_claim_name(release_id), _SMALL)
    if there is not None and there.data == f"{owner}\n".encode():
        store.remove(_claim_name(release_id))


def publish_objects(store: ObjectStore, folder: Path, release_id: str) -> None:
    """Publish the complete release in a folder; objects of it that are there already are compared with it.

    Raises EnvironmentFault for a store that fails, or that has another release of this id.
    """
    sealed = read_plain(folder / manifest.NAME, LARGEST_MANIFEST)
    for name, stated in _Sealed.model_validate_json(sealed).files.items():
        data = read_plain(folder / name, stated.bytes)
        if hashlib.sha256(data).hexdigest() != stated.sha256:
            raise EnvironmentFault(f"{folder / name} differs from its manifest, so nothing is published")
        _put_same(store, _file_name(release_id, name, stated), data)
    if (folder / SIGNED).exists():
        signature = read_plain(folder / SIGNED, LARGEST_ENVELOPE)
        _replace(store, _signature_name(release_id, sealed), signature)
    _put_same(store, f"{release_id}/{manifest.NAME}", sealed)
    point_to_latest(store, release_id.partition("/")[0])


def withdraw_objects(store: ObjectStore, folder: Path, release_id: str) -> None:
    """Put the tombstone that is in a folder, and remove the manifest, then all other objects of the release."""
    for name in (WITHDRAWN, SIGNED_WITHDRAWAL):
        if (folder / name).exists():
            data = read_plain(folder / name, LARGEST_ENVELOPE)
            _replace(store, f"{release_id}/{name}", data)
    store.remove(f"{release_id}/{manifest.NAME}")
    point_to_latest(store, release_id.partition("/")[0])
    kept = {f"{release_id}/{name}" for name in (WITHDRAWN, SIGNED_WITHDRAWAL)}
    for name in store.names(release_id):
        if name not in kept:
            store.remove(name)


def put_catalogue(store: ObjectStore, path: Path) -> None:
    """Put the catalogue file of the folder in place of the one in the store."""
    _replace(store, path.name, read_plain(path, LARGEST_ENVELOPE))


def point_to_latest(store: ObjectStore, policy: str) -> None:
    """Let `latest.json` of a policy name its release with the latest slot, and of one slot the largest version. With
    no release left it is removed.
    """
    for _ in range(_ATTEMPTS):
        before = store.read(f"{policy}/{LATEST}", _SMALL)
        ids = [name.removesuffix(f"/{manifest.NAME}") for name in store.names(policy) if _is_manifest(name)]
        if not ids:
            return store.remove(f"{policy}/{LATEST}")
        newest = max(ids, key=_order)
        sealed = store.read(f"{newest}/{manifest.NAME}", LARGEST_MANIFEST)
        if sealed is None:
            continue  # withdrawn meanwhile
        stated = {"release": newest, "manifest": hashlib.sha256(sealed.data).hexdigest()}
        data = (json.dumps(stated, sort_keys=True) + "\n").encode()
        if before is not None and before.data == data:
            return None
        if store.replace(f"{policy}/{LATEST}", data, None if before is None else before.tag):
            continue  # read again: another release may have been published meanwhile
    return None


@contextmanager
def fetched_release(url: str) -> Iterator[Path]:
    """Yield a temporary folder with the release at a URL, or its tombstone. No object is read beyond the size that the
    manifest states, and a release not beyond LARGEST_OBJECTS in all.

    Raises VerificationFailed for objects that are missing or larger, ValueError with the form of a URL.
    """
    store = ObjectStore(parse_object_url(url))
    with TemporaryDirectory(prefix="crowdgate-") as scratch:
        folder = Path(scratch) / "release"
        folder.mkdir()
        try:
            if not _fetch(store, folder) and not _fetch_tombstone(store, folder):
                raise VerificationFailed(f"{url}: no release is there; expected s3://BUCKET/PREFIX/POLICY/VERSION/SLOT")
        except TooLarge as error:
            raise VerificationFailed(f"{url}: {error}") from None
        yield folder


def _fetch(store: ObjectStore, folder: Path) -> bool:
    """Write the release into a folder; return False if there is none, or only a tombstone."""
    sealed = store.read(manifest.NAME, LARGEST_MANIFEST)
    if sealed is None or store.read(WITHDRAWN, LARGEST_ENVELOPE) is not None:
        return False
    (folder / manifest.NAME).write_bytes(sealed.data)
    for name, stated in _files(store, sealed.data).items():
        found = store.read(_file_name("", name, stated)[1:], stated.bytes)
        if found is None:
            raise VerificationFailed(f"{store.address}: {name}, which its manifest lists, is missing")
        (folder / name).write_bytes(found.data)
    signature = store.read(_signature_name("", sealed.data)[1:], LARGEST_ENVELOPE)
    if signature is not None:
        (folder / SIGNED).write_bytes(signature.data)
    return True


def _files(store: ObjectStore, sealed: bytes) -> dict[str, FileFields]:
    """Return the files that a manifest of unknown origin lists. Raises VerificationFailed for names that are no plain
    file names, and for more bytes than a reader takes.
    """
    try:
        files = _Sealed.model_validate_json(sealed).files
    except ValueError:
        raise VerificationFailed(f"{store.address}: its manifest is not valid") from None
    if any(Path(name).name != name or name in ("", ".", "..", manifest.NAME) for name in files):
        raise VerificationFailed(f"{store.address}: its manifest lists a name that is not that of a file")
    if sum(each.bytes for each in files.values()) > LARGEST_OBJECTS:
        raise VerificationFailed(f"{store.address}: its files have more than {LARGEST_OBJECTS:,} bytes")
    return files


def _fetch_tombstone(store: ObjectStore, folder: Path) -> bool:
    for name in (WITHDRAWN, SIGNED_WITHDRAWAL):
        found = store.read(name, LARGEST_ENVELOPE)
        if found is not None:
            (folder / name).write_bytes(found.data)
    return (folder / WITHDRAWN).exists()


def _put_same(store: ObjectStore, name: str, data: bytes) -> None:
    """Put an object, or check that the one that is there has the same bytes."""
    if store.put_new(name, data):
        return
    try:
        there = store.read(name, len(data))
    except TooLarge:
        there = None
    if there is None or there.data != data:
        raise EnvironmentFault(
            f"{store.address}/{name} exists already and is not replaced: it is of another release. Use a new slot"
        )


def _replace(store: ObjectStore, name: str, data: bytes) -> None:
    for _ in range(_ATTEMPTS):
        there = store.read(name, LARGEST_ENVELOPE)
        if there is not None and there.data == data:
            return
        if store.replace(name, data, None if there is None else there.tag):
            return
    raise EnvironmentFault(f"{store.address}/{name}: other runs keep writing it; try again")


def _claim_name(release_id: str) -> str:
    return f"{STAGING}/{release_id.replace('/', '~')}.claim"


def _file_name(release_id: str, name: str, stated: FileFields) -> str:
    return f"{release_id}/files/{stated.sha256}/{name}"


def _signature_name(release_id: str, sealed: bytes) -> str:
    return f"{release_id}/signatures/{hashlib.sha256(sealed).hexdigest()}"


def _is_manifest(name: str) -> bool:
    return name.count("/") == 3 and name.endswith(f"/{manifest.NAME}")


def _order(release_id: str) -> tuple[str, int, str]:
    _, version, slot = release_id.split("/")
    return slot, int(version) if version.isdecimal() else 0, version
