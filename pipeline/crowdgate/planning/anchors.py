"""Releases at destinations, and stored lines, as anchors: facts about a ledger that are kept outside of it.

Each manifest names its line of the ledger's journal, and so does the tombstone of a withdrawn release. The ledger must
have that line, and must hold the release as committed, published or withdrawn with this very manifest. A ledger that
does not is an older copy, was cut off, or was computed anew. The same holds for charged entries of a KL repository.
Only releases that name this very ledger count. With
trusted keys, only those that one of them signed count, and the signed catalogue: otherwise write access to that folder
would be enough to stop all runs. An unreadable manifest is ignored.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from crowdgate import manifest
from crowdgate.errors import ConfigurationError, CrowdgateError, Problem
from crowdgate.ledger.contents import charges
from crowdgate.ledger.ledger import Ledger
from crowdgate.ledger.transitions import ChargeRow
from crowdgate.ledger.values import Spend, State
from crowdgate.limits import LARGEST_ENTRY, LARGEST_ENVELOPE, LARGEST_MANIFEST
from crowdgate.planning.catalogue import NAME as CATALOGUE
from crowdgate.planning.published_places import release_folders
from crowdgate.publish.file_names import SIGNED, SIGNED_WITHDRAWAL, WITHDRAWN
from crowdgate.publish.tombstone import read_tombstone
from crowdgate.signing.dsse import envelope_contents, open_envelope
from crowdgate.signing.keys import PublicKey
from crowdgate.signing.statement import CatalogueStatement, LedgerPlace, ReleaseStatement, verify_statement
from crowdgate.system.regular_files import read_plain

OLDER = "this ledger is an older copy, was cut short, or was rewritten"
_ANCHOR = re.compile(r"([1-9][0-9]{0,8}):([0-9a-f]{64})")
_KL_ENTRY = "application/vnd.crowdgate.kl-entry.v1+json"
UNREADABLE = (
    OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, ArithmeticError, RecursionError,
    CrowdgateError,
)  # fmt: skip
"""The errors of reading a file that anybody may have written."""
_ENDED = (State.COMMITTED, State.PUBLISHED, State.WITHDRAWN)


@dataclass(frozen=True)
class KnownRelease:
    """A release as known outside of the ledger: its path, its id, the SHA-256 of its manifest, and a line of the
    ledger.

    The line is the one that charged the release, or at which its catalogue was written. `spend` is the privacy cost
    that an entry of a KL repository states; a manifest states it elsewhere.
    """

    path: Path
    release_id: str
    digest: str
    place: LedgerPlace
    spend: Spend | None = None

    @property
    def line(self) -> tuple[int, str]:
        """The number and the digest of the line."""
        return self.place.line, self.place.digest


def unknown_releases(
    ledger: Ledger, roots: Sequence[Path], unread: list[Path], attested: bool = False
) -> Iterator[str]:
    """Yield a sentence for each release at the destinations `roots` that the ledger does not hold with the same
    manifest and journal line.

    Folders and files that permissions forbid to read are added to `unread`: a release may be hidden there. `attested`
    states that a head names the ledger's last line. Then all lines are those of this ledger, and a release
    with the digest that the ledger committed to is not read further.
    """
    known = charges(ledger.state()) if attested else {}
    releases = [each for root in dict.fromkeys(roots) for each in releases_at(root, ledger, known, unread)]
    held = charges(ledger.state())  # after the releases are listed: a run may have published one in the meantime
    missing = set(ledger.missing_lines(each.line for each in releases))
    for each in releases:
        entry = held.get(each.release_id)
        state = "does not know it" if entry is None else f"has it as {entry.state} only"
        if entry is None or entry.state not in _ENDED:
            yield f"{each.release_id} is published ({each.path}), but the ledger {ledger.id} {state}: {OLDER}"
        elif entry.manifest_digest != each.digest:
            found = f"{each.path} differs from the manifest that the ledger {ledger.id} recorded for {each.release_id}"
            yield f"{found}: the release was changed, or this is another copy of the ledger"
        elif each.line in missing:
            said = f"{each.path} names line {each.place.line} of the ledger {ledger.id} for {each.release_id}"
            yield f"{said}; this line differs or is missing: {OLDER}"


def parse_anchor(text: str) -> tuple[int, str]:
    """Return the line number and the digest of an anchor `LINE:DIGEST`. Raises ConfigurationError for other text."""
    found = _ANCHOR.fullmatch(text)
    if found is None:
        expected = "LINE:DIGEST, as `crowdgate ledger verify` prints it"
        raise ConfigurationError(Problem("command line", None, "--anchor", "this is not an anchor", expected))
    return int(found[1]), found[2]


def releases_at(
    root: Path, ledger: Ledger, known: Mapping[str, ChargeRow] | None = None, unread: list[Path] | None = None
) -> Iterator[KnownRelease]:
    """Yield the releases of this ledger at a destination, as far as their statements can be trusted, except those
    whose manifest has the digest of their charge in `known`. Add folders and files that permissions forbid to read to
    `unread`.
    """
    left: list[Path] = [] if unread is None else unread
    for path in _statements(root, bool(ledger.trusted), known or {}, left):
        try:
            found = list(_releases_in(path, ledger.trusted, known or {}))
        except PermissionError:
            left.append(path)
            continue
        except UNREADABLE:
            continue
        yield from (each for each in found if each.place.id == ledger.id)


def _statements(root: Path, signed: bool, known: Mapping[str, ChargeRow], unread: list[Path]) -> Iterator[Path]:
    """Yield the files at a destination that may name a release, except manifests that the ledger committed to."""
    sealed = manifest.NAME
    own = (SIGNED, SIGNED_WITHDRAWAL) if signed else (sealed, WITHDRAWN)
    for folder in release_folders(root, unread):
        charge = known.get("/".join(folder.split("/")[-3:]))
        if charge is None or not _is_committed(charge, f"{folder}/{sealed}", unread):
            yield from (Path(folder, name) for name in own)
    if signed:
        yield root / CATALOGUE
    yield from (path for path in sorted(root.glob("*.json")) if path.name != CATALOGUE)


def _is_committed(charge: ChargeRow, file: str, unread: list[Path]) -> bool:
    """Return whether a file is the manifest that the ledger committed to."""
    try:
        found = charge.state in _ENDED and hashlib.sha256(read_plain(file, LARGEST_MANIFEST)).hexdigest()
    except PermissionError:
        unread.append(Path(file))
        return False
    except OSError:
        return False
    return found == charge.manifest_digest


def _releases_in(path: Path, trusted: Sequence[PublicKey], known: Mapping[str, ChargeRow]) -> Iterator[KnownRelease]:
    if path.name in (SIGNED, CATALOGUE):
        yield from _releases_of_envelope(path, trusted)
    elif path.name in (WITHDRAWN, SIGNED_WITHDRAWAL):
        yield _release_of_tombstone(path, trusted)
    elif path.name == manifest.NAME:
        yield from _release_of_manifest(path)
    else:
        yield from _kl_entry(path, trusted, known)


def _kl_entry(path: Path, trusted: Sequence[PublicKey], known: Mapping[str, ChargeRow]) -> Iterator[KnownRelease]:
    """Yield the charged run of a KL repository's entry."""
    envelope = read_plain(path, LARGEST_ENTRY)
    if trusted:
        opened = open_envelope(envelope, trusted)
        kind, payload = opened.payload_type, opened.payload
    else:
        kind, payload = envelope_contents(envelope)
    basis: dict[str, Any] = json.loads(payload)["basis"] if kind == _KL_ENTRY else {}
    if basis.get("kind") == "charged":
        place, digest = LedgerPlace.model_validate(basis["charge"]), hashlib.sha256(envelope).hexdigest()
        charge = known.get(str(basis["release"]))
        if charge is None or charge.state not in _ENDED or charge.manifest_digest != digest:
            spend = Spend(Fraction(basis["epsilon"]), Fraction(0))
            yield KnownRelease(path, str(basis["release"]), digest, place, spend)


def _release_of_manifest(path: Path) -> Iterator[KnownRelease]:
    data = read_plain(path, LARGEST_MANIFEST)
    stated = json.loads(data)
    place = LedgerPlace.model_validate(stated["ledger"])
    yield KnownRelease(path, str(stated["release"]["id"]), hashlib.sha256(data).hexdigest(), place)


def _release_of_tombstone(path: Path, trusted: Sequence[PublicKey]) -> KnownRelease:
    said = read_tombstone(path.parent, trusted)
    return KnownRelease(path, said.release_id, said.manifest_digest, said.predicate.ledger)


def _releases_of_envelope(path: Path, trusted: Sequence[PublicKey]) -> Iterator[KnownRelease]:
    envelope = read_plain(path, LARGEST_ENVELOPE)
    if path.name == CATALOGUE:
        listed = verify_statement(envelope, trusted, CatalogueStatement)[0]
        for release_id, digest in listed.releases().items():
            yield KnownRelease(path, release_id, digest, listed.predicate.ledger)
    else:
        signed = verify_statement(envelope, trusted, ReleaseStatement)[0]
        digest = signed.files()[manifest.NAME]
        yield KnownRelease(path, signed.predicate.release, digest, signed.predicate.ledger)
