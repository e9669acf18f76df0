"""The catalogue of an object store: what is there must be exactly what it lists.

Manifests and tombstones are read, bounded; of all other objects the name decides. `verify` reads a release's files.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from crowdgate import manifest
from crowdgate.errors import VerificationFailed
from crowdgate.limits import LARGEST_ENVELOPE, LARGEST_MANIFEST
from crowdgate.planning.catalogue import NAME
from crowdgate.publish.fetched_objects import fetch_tombstone
from crowdgate.publish.file_names import STAGING
from crowdgate.publish.latest_pointer import LATEST, SMALL, newest_release, pointer_bytes
from crowdgate.publish.object_store import ObjectStore, TooLarge, parse_object_url
from crowdgate.publish.tombstone import NAMES, read_tombstone
from crowdgate.signing.keys import PublicKey
from crowdgate.signing.statement import CatalogueStatement, verify_statement


def verify_stored_catalogue(url: str, trusted: Sequence[PublicKey]) -> CatalogueStatement:
    """Return the catalogue at the URL of a destination that holds exactly what it lists, and whose pointers name the
    latest of it.

    Raises VerificationFailed that lists every difference, ValueError with the form of a URL.
    """
    store = ObjectStore(parse_object_url(url))
    statement = _catalogue(store, trusted)
    problems = [
        *_changed_manifests(store, statement),
        *_changed_tombstones(store, statement, trusted),
        *_wrong_pointers(store, statement),
        *_unlisted(store, statement),
    ]
    if problems:
        raise VerificationFailed("\n".join(f"{store.address}/{each}" for each in problems))
    return statement


def _catalogue(store: ObjectStore, trusted: Sequence[PublicKey]) -> CatalogueStatement:
    there = _read(store, NAME, LARGEST_ENVELOPE)
    if there is None:
        raise VerificationFailed(f"{store.address}: no {NAME} is there")
    try:
        return verify_statement(there, trusted, CatalogueStatement)[0]
    except VerificationFailed as error:
        raise VerificationFailed(f"{store.address}/{NAME}: {error}") from None


def _read(store: ObjectStore, name: str, most: int) -> bytes | None:
    """Return the bytes of an object; None if there is none, or a larger one than Crowdgate writes."""
    try:
        there = store.read(name, most)
    except TooLarge:
        return None
    return None if there is None else there.data


def _published(statement: CatalogueStatement) -> dict[str, str]:
    """Return the SHA-256 of the manifest of each release that is not withdrawn."""
    gone = statement.withdrawn()
    return {name: digest for name, digest in statement.releases().items() if name not in gone}


def _changed_manifests(store: ObjectStore, statement: CatalogueStatement) -> Iterator[str]:
    for name, digest in _published(statement).items():
        sealed = _read(store, f"{name}/{manifest.NAME}", LARGEST_MANIFEST)
        if sealed is None:
            yield f"{name}/{manifest.NAME}: missing; the catalogue lists {name}"
        elif hashlib.sha256(sealed).hexdigest() != digest:
            yield f"{name}/{manifest.NAME}: this manifest was changed; the catalogue lists another digest, {digest}"


def _changed_tombstones(
    store: ObjectStore, statement: CatalogueStatement, trusted: Sequence[PublicKey]
) -> Iterator[str]:
    for name in sorted(statement.withdrawn()):
        with TemporaryDirectory(prefix="crowdgate-") as scratch:
            try:
                fetch_tombstone(store, Path(scratch), f"{name}/")
                said = read_tombstone(Path(scratch), trusted)
            except (TooLarge, VerificationFailed):
                yield f"{name}: no valid tombstone is there; {name} is listed as withdrawn"
                continue
        if (said.release_id, said.manifest_digest) != (name, statement.releases()[name]):
            yield f"{name}: its tombstone is of another release"


def _wrong_pointers(store: ObjectStore, statement: CatalogueStatement) -> Iterator[str]:
    published = _published(statement)
    for policy in _policies(statement.releases()):
        newest = newest_release(name for name in published if name.startswith(f"{policy}/"))
        expected = pointer_bytes(newest, None if newest is None else published[newest])
        if _read(store, f"{policy}/{LATEST}", SMALL) != expected:
            yield f"{policy}/{LATEST}: missing or changed; expected the name of {newest or 'no release'}"


def _policies(release_ids: Iterable[str]) -> list[str]:
    return sorted({name.partition("/")[0] for name in release_ids})


def _unlisted(store: ObjectStore, statement: CatalogueStatement) -> Iterator[str]:
    """Yield the name of each object that belongs to no listed release; of a withdrawn one only the tombstone does."""
    published, withdrawn = _published(statement), statement.withdrawn()
    own = {NAME, *(f"{policy}/{LATEST}" for policy in _policies(statement.releases()))}
    own |= {f"{name}/{each}" for name in withdrawn for each in NAMES}
    for name in store.names(""):
        release_id = "/".join(name.split("/")[:3])
        if name not in own and release_id not in published and not name.startswith(f"{STAGING}/"):
            yield f"{name if name.isprintable() else ascii(name)}: not listed; expected the releases that are listed"
