"""Read a repository: all of it or nothing, from a folder or from a URL.

Every entry must be listed by the signed index, be signed by a trusted key and be possible. An unknown file in a folder,
a missing entry, and an entry that no trusted key signed are refused, never ignored.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from crowdgate.anonymity.kl import index, web
from crowdgate.anonymity.kl.entry import KlEntry, digest_of, publish_call_text, read_entry
from crowdgate.anonymity.kl.index import Index, read_index
from crowdgate.errors import FileFault, VerificationFailed
from crowdgate.limits import LARGEST_ENTRY, LARGEST_ENVELOPE
from crowdgate.signing.keys import PublicKey
from crowdgate.system.regular_files import plain_file, read_bounded

STAGING = ".crowdgate-staging"
"""Folder of entries before they are published, for their writer only."""

MOST_REPORTED = 10
"""Number of faulty entries after which no further one is read, so that an unavailable server is not asked a thousand
times."""
EXPECTED = "expected the index of a KL repository"

Fetch = Callable[[str, int], bytes]
"""Function of (name of a file, greatest number of bytes) that returns the file's bytes. Raises OSError."""


@dataclass(frozen=True)
class SignedEntry:
    """An entry with its digest and the ids of the trusted keys that signed it."""

    digest: str
    entry: KlEntry
    signers: tuple[str, ...]


@dataclass(frozen=True)
class Repository:
    """All entries of a repository, in the order of their digests, with the date of the index."""

    place: str
    date: str
    entries: tuple[SignedEntry, ...]


def read_repository(place: str, trusted: Sequence[PublicKey], today: date, pending: str | None = None) -> Repository:
    """Return the repository in a folder, or at an http or https URL. `pending` is the digest of an entry that its
    writer may have put there without listing it yet.

    Raises VerificationFailed that lists all faults, FileFault where nothing can be read.
    """
    folder = None if web.is_url(place) else Path(place)
    fetch = web.fetcher(place) if folder is None else _folder_reader(folder)
    listed = _fetch_index(place, fetch, trusted, today)
    entries = tuple(_fetch_entries(place, fetch, listed, trusted, today))
    unknown = [] if folder is None else sorted(_names(folder) - _expected_files(listed, pending))
    if unknown and folder is not None:
        left = (
            f"{name!a} is there, and the index does not list it{_leftover_advice(folder, name, trusted)}"
            for name in unknown
        )
        raise VerificationFailed("\n".join(f"{folder}: {each}" for each in left))
    return Repository(place, listed.date, entries)


def _fetch_entries(
    place: str, fetch: Fetch, listed: Index, trusted: Sequence[PublicKey], today: date
) -> list[SignedEntry]:
    found: list[SignedEntry] = []
    problems: list[str] = []
    for digest in listed.entries:
        try:
            found.append(_fetch_entry(fetch, digest, trusted, today))
        except OSError as error:
            why = error.strerror or "unreadable"
            problems.append(f"{place}: entry {digest}: {why}, and the index lists it")
        except VerificationFailed as error:
            problems.append(f"{place}: entry {digest}: {error}")
        if len(problems) == MOST_REPORTED:
            problems.append(f"{place}: no further entry was read")
            break
    if problems:
        raise VerificationFailed("\n".join(problems))
    return found


def _fetch_index(place: str, fetch: Fetch, trusted: Sequence[PublicKey], today: date) -> Index:
    try:
        return read_index(fetch(index.NAME, LARGEST_ENVELOPE), trusted, today)
    except OSError as error:
        said = error.strerror or "unreadable"
        raise FileFault(f"{place}: {index.NAME}: {said}{_unfinished_start(place, trusted)}; {EXPECTED}") from None
    except VerificationFailed as error:
        raise VerificationFailed(f"{place}: {index.NAME}: {error}") from None


def _unfinished_start(place: str, trusted: Sequence[PublicKey]) -> str:
    """Return advice on a leftover entry in a folder without an index; empty if there is none."""
    folder = Path(place)
    names = sorted(_names(folder)) if not web.is_url(place) and folder.is_dir() else []
    return next(filter(None, (_leftover_advice(folder, name, trusted) for name in names)), "")


def _leftover_advice(folder: Path, name: str, trusted: Sequence[PublicKey]) -> str:
    """Return advice on ending the run that left an unlisted entry; empty for any other file."""
    digest = name.removesuffix(index.SUFFIX)
    try:
        found = (
            _fetch_entry(_folder_reader(folder), digest, trusted, date.max) if name == index.file_name(digest) else None
        )
    except (OSError, VerificationFailed):
        return ""
    if found is None:
        return ""
    again = publish_call_text(found.entry)
    return f". Where `crowdgate kl publish` was stopped, run it again, {again}; or remove this entry"


def _fetch_entry(fetch: Fetch, digest: str, trusted: Sequence[PublicKey], today: date) -> SignedEntry:
    envelope = fetch(index.file_name(digest), LARGEST_ENTRY)
    if digest_of(envelope) != digest:
        raise VerificationFailed(
            "this entry was changed: its bytes do not have the digest in its name, which the index lists"
        )
    return SignedEntry(digest, *read_entry(envelope, trusted, today))


def _folder_reader(folder: Path) -> Fetch:
    def fetch(name: str, most: int) -> bytes:
        with plain_file(folder / name) as file:
            return read_bounded(file, most)

    return fetch


def _names(folder: Path) -> set[str]:
    return set(_listing(folder))


def _listing(folder: Path) -> Iterator[str]:
    for path in folder.iterdir():
        if path.name != STAGING or path.is_symlink() or not path.is_dir():
            yield path.name


def _expected_files(listed: Index, pending: str | None) -> set[str]:
    written = [] if pending is None else [pending]
    return {index.NAME, *map(index.file_name, [*listed.entries, *written])}
