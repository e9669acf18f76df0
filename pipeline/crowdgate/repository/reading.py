"""Reading a repository: all of it or nothing, from a folder or from a URL.

Every entry must be listed by the signed index, be signed by a trusted key and say what can be; an unknown file in a
folder, an entry that is missing, and one that nobody trusted signed are refused, never passed over.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from crowdgate.errors import FileFault, VerificationFailed
from crowdgate.files import bounded, plain_file
from crowdgate.limits import LARGEST_ENTRY, LARGEST_ENVELOPE
from crowdgate.repository import index, web
from crowdgate.repository.entry import Entry, asked_by, digest_of, read_entry
from crowdgate.repository.index import Index, read_index
from crowdgate.signing.keys import PublicKey

STAGING = ".crowdgate-staging"
"""Where entries lie before they are published; for their writer only."""

MOST_TOLD = 10
"""Entries that do not hold, before no further one is read: a server that is gone is asked no thousand times."""
EXPECTED = "expected the index of a KL repository"

Fetch = Callable[[str, int], bytes]
"""(name of a file, most bytes) -> its bytes. Raises OSError."""


@dataclass(frozen=True)
class Signed:
    """An entry with its digest and the ids of the trusted keys that signed it."""

    digest: str
    entry: Entry
    signers: tuple[str, ...]


@dataclass(frozen=True)
class Repository:
    """All entries of a repository, in the order of their digests, as of the index's day."""

    place: str
    date: str
    entries: tuple[Signed, ...]


def read_repository(place: str, trusted: Sequence[PublicKey], today: date, pending: str | None = None) -> Repository:
    """The repository in a folder, or at an http or https URL. `pending` is the digest of an entry that its writer may
    have put there without listing it yet.

    Raises VerificationFailed that lists what does not hold, FileFault where nothing can be read.
    """
    folder = None if web.is_url(place) else Path(place)
    fetch = web.fetcher(place) if folder is None else _reader(folder)
    listed = _index(place, fetch, trusted, today)
    entries = tuple(_all(place, fetch, listed, trusted, today))
    unknown = [] if folder is None else sorted(_names(folder) - _expected(listed, pending))
    if unknown and folder is not None:
        left = (f"{name!a} is there, and the index does not list it{_left(folder, name, trusted)}" for name in unknown)
        raise VerificationFailed("\n".join(f"{folder}: {each}" for each in left))
    return Repository(place, listed.date, entries)


def _all(place: str, fetch: Fetch, listed: Index, trusted: Sequence[PublicKey], today: date) -> list[Signed]:
    found: list[Signed] = []
    problems: list[str] = []
    for digest in listed.entries:
        try:
            found.append(_entry(fetch, digest, trusted, today))
        except OSError as error:
            why = error.strerror or "unreadable"
            problems.append(f"{place}: entry {digest}: {why}, and the index lists it")
        except VerificationFailed as error:
            problems.append(f"{place}: entry {digest}: {error}")
        if len(problems) == MOST_TOLD:
            problems.append(f"{place}: no further entry was read")
            break
    if problems:
        raise VerificationFailed("\n".join(problems))
    return found


def _index(place: str, fetch: Fetch, trusted: Sequence[PublicKey], today: date) -> Index:
    try:
        return read_index(fetch(index.NAME, LARGEST_ENVELOPE), trusted, today)
    except OSError as error:
        said = error.strerror or "unreadable"
        raise FileFault(f"{place}: {index.NAME}: {said}{_begun(place, trusted)}; {EXPECTED}") from None
    except VerificationFailed as error:
        raise VerificationFailed(f"{place}: {index.NAME}: {error}") from None


def _begun(place: str, trusted: Sequence[PublicKey]) -> str:
    """What is left in a folder whose first index was never written."""
    folder = Path(place)
    names = sorted(_names(folder)) if not web.is_url(place) and folder.is_dir() else []
    return next(filter(None, (_left(folder, name, trusted) for name in names)), "")


def _left(folder: Path, name: str, trusted: Sequence[PublicKey]) -> str:
    """How to end the run that left an entry here before it was listed; nothing of any other file."""
    digest = name.removesuffix(index.SUFFIX)
    try:
        found = _entry(_reader(folder), digest, trusted, date.max) if name == index.file_name(digest) else None
    except (OSError, VerificationFailed):
        return ""
    if found is None:
        return ""
    return f". Where `crowdgate kl publish` was stopped, run it again, {asked_by(found.entry)}; or remove this entry"


def _entry(fetch: Fetch, digest: str, trusted: Sequence[PublicKey], today: date) -> Signed:
    envelope = fetch(index.file_name(digest), LARGEST_ENTRY)
    if digest_of(envelope) != digest:
        raise VerificationFailed("its bytes are others than its name says, which the index lists")
    return Signed(digest, *read_entry(envelope, trusted, today))


def _reader(folder: Path) -> Fetch:
    def fetch(name: str, most: int) -> bytes:
        with plain_file(folder / name) as file:
            return bounded(file, most)

    return fetch


def _names(folder: Path) -> set[str]:
    return set(_listing(folder))


def _listing(folder: Path) -> Iterator[str]:
    for path in folder.iterdir():
        if path.name != STAGING or path.is_symlink() or not path.is_dir():
            yield path.name


def _expected(listed: Index, pending: str | None) -> set[str]:
    written = [] if pending is None else [pending]
    return {index.NAME, *map(index.file_name, [*listed.entries, *written])}
