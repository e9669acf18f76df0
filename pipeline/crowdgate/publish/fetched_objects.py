"""Reading a release of an object store, which may be anybody's: bounded, into a temporary folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from crowdgate import manifest
from crowdgate.errors import VerificationFailed
from crowdgate.limits import LARGEST_ENVELOPE, LARGEST_MANIFEST, LARGEST_OBJECTS
from crowdgate.manifest import FileFields
from crowdgate.publish.file_names import SIGNED, SIGNED_WITHDRAWAL, WITHDRAWN
from crowdgate.publish.object_names import SealedFiles, file_name, signature_name
from crowdgate.publish.object_store import ObjectStore, TooLarge, parse_object_url


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
            if not _fetch(store, folder) and not fetch_tombstone(store, folder):
                raise VerificationFailed(f"{url}: no release is there; expected s3://BUCKET/PREFIX/POLICY/VERSION/SLOT")
        except TooLarge as error:
            raise VerificationFailed(str(error)) from None
        yield folder


def _fetch(store: ObjectStore, folder: Path) -> bool:
    """Write the release into a folder; return False if there is none, or only a tombstone."""
    sealed = store.read(manifest.NAME, LARGEST_MANIFEST)
    if sealed is None or store.read(WITHDRAWN, LARGEST_ENVELOPE) is not None:
        return False
    (folder / manifest.NAME).write_bytes(sealed.data)
    for name, stated in _files(store, sealed.data).items():
        found = store.read(file_name("", name, stated)[1:], stated.bytes)
        if found is None:
            raise VerificationFailed(f"{store.address}: {name}, which its manifest lists, is missing")
        (folder / name).write_bytes(found.data)
    signature = store.read(signature_name("", sealed.data)[1:], LARGEST_ENVELOPE)
    if signature is not None:
        (folder / SIGNED).write_bytes(signature.data)
    return True


def _files(store: ObjectStore, sealed: bytes) -> dict[str, FileFields]:
    """Return the files that a manifest of unknown origin lists. Raises VerificationFailed for names that are no plain
    file names, and for more files or bytes than a reader takes.
    """
    try:
        files = SealedFiles.model_validate_json(sealed).files
    except ValueError:
        raise VerificationFailed(f"{store.address}: its manifest is not valid") from None
    if {manifest.NAME, SIGNED} & files.keys():
        raise VerificationFailed(f"{store.address}: its manifest lists itself or its signature")
    if sum(each.bytes for each in files.values()) > LARGEST_OBJECTS:
        raise VerificationFailed(f"{store.address}: its files have more than {LARGEST_OBJECTS:,} bytes")
    return files


def fetch_tombstone(store: ObjectStore, folder: Path, below: str = "") -> bool:
    """Write the tombstone below a name of the store into a folder; return False if there is none. Raises TooLarge."""
    for name in (WITHDRAWN, SIGNED_WITHDRAWAL):
        found = store.read(f"{below}{name}", LARGEST_ENVELOPE)
        if found is not None:
            (folder / name).write_bytes(found.data)
    return (folder / WITHDRAWN).exists()
