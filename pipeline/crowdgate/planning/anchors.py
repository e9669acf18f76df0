"""Anchors: facts about a ledger that are stored outside of it, in releases at their destinations or as a line number.

Each manifest names its line of the ledger's journal. The ledger must have that line, and must hold the release as
committed or published with this very manifest. A ledger that does not is an older copy, was cut off, or was computed
anew. Only manifests that name this very ledger count. With trusted keys, only those that one of them signed count, and
the signed catalogue: otherwise write access to that folder would be enough to stop all runs. An unreadable manifest is
ignored.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from crowdgate import manifest
from crowdgate.errors import ConfigurationError, CrowdgateError, LedgerRefused, Problem
from crowdgate.ledger.ledger import Ledger
from crowdgate.ledger.values import State
from crowdgate.limits import LARGEST_ENVELOPE, LARGEST_MANIFEST
from crowdgate.planning.catalogue import NAME as CATALOGUE
from crowdgate.publish.file_names import SIGNED
from crowdgate.signing.keys import PublicKey
from crowdgate.signing.statement import CatalogueStatement, LedgerPlace, ReleaseStatement, verify_statement
from crowdgate.system.regular_files import plain_file, read_bounded

_OLDER = "this ledger is an older copy, was cut short, or was rewritten"
_PLANTED = ". Or another person made that folder: if you trust keys, only signed releases count"
_ANCHOR = re.compile(r"([1-9][0-9]{0,8}):([0-9a-f]{64})")


@dataclass(frozen=True)
class KnownRelease:
    """A release as known outside of the ledger: its path, its id, the SHA-256 of its manifest, and a line of the
    ledger.

    The line is the one that charged the release, or at which its catalogue was written.
    """

    path: Path
    release_id: str
    digest: str
    place: LedgerPlace


def refuse_unanchored(ledger: Ledger, roots: Sequence[Path], anchors: Sequence[str] = ()) -> None:
    """Refuse a ledger that lacks an anchor `LINE:DIGEST`, or a release at one of these destinations.

    Raises LedgerRefused, and ConfigurationError for text that is no anchor.
    """
    for text in anchors:
        line, digest = parse_anchor(text)
        if not ledger.holds(line, digest):
            raise _refused(
                f"line {line} of the ledger {ledger.id} differs from the stored anchor, or is missing: {_OLDER}"
            )
    for problem in unknown_releases(ledger, roots):
        raise _refused(problem + ("" if ledger.trusted else _PLANTED))


def unknown_releases(ledger: Ledger, roots: Sequence[Path]) -> Iterator[str]:
    """Yield a sentence for each release at the destinations `roots` that the ledger does not hold with the same
    manifest and journal line.
    """
    releases = [
        each for root in dict.fromkeys(roots) for each in _releases_at(root, ledger)
    ]  # before the entries are read
    entries = {entry.release_id: entry for entry in ledger.entries() if entry.state is not State.VOID}
    for each in releases:
        entry = entries.get(each.release_id)
        state = "does not know it" if entry is None else f"has it as {entry.state} only"
        if not ledger.holds(each.place.line, each.place.digest):
            yield (
                f"{each.path} names line {each.place.line} of the ledger {ledger.id}, which differs or is "
                f"missing: {_OLDER}"
            )
        elif entry is None or entry.state not in (State.COMMITTED, State.PUBLISHED):
            yield f"{each.release_id} is published ({each.path}), but the ledger {ledger.id} {state}: {_OLDER}"
        elif entry.manifest_digest != each.digest:
            found = f"{each.path} differs from the manifest that the ledger {ledger.id} recorded for {each.release_id}"
            yield f"{found}: the release was changed, or this is another copy of the ledger"


def parse_anchor(text: str) -> tuple[int, str]:
    """Return the line number and the digest of an anchor `LINE:DIGEST`. Raises ConfigurationError for other text."""
    found = _ANCHOR.fullmatch(text)
    if found is None:
        expected = "LINE:DIGEST, as `crowdgate ledger verify` prints it"
        raise ConfigurationError(Problem("command line", None, "--anchor", "this is not an anchor", expected))
    return int(found[1]), found[2]


def _refused(problem: str) -> LedgerRefused:
    return LedgerRefused(f"{problem}. No data was read. Use the newest copy of the ledger", "edited")


def _releases_at(root: Path, ledger: Ledger) -> Iterator[KnownRelease]:
    """Yield the releases of this ledger at a destination, as far as their statements can be trusted."""
    names = (f"*/*/*/{SIGNED}", CATALOGUE) if ledger.trusted else (f"*/*/*/{manifest.NAME}",)
    for path in (each for name in names for each in sorted(root.glob(name))):
        try:
            found = list(_releases_of_envelope(path, ledger.trusted) if ledger.trusted else _release_of_manifest(path))
        except (OSError, ValueError, KeyError, TypeError, RecursionError, CrowdgateError):
            continue
        yield from (each for each in found if each.place.id == ledger.id)


def _release_of_manifest(path: Path) -> Iterator[KnownRelease]:
    data = _bytes(path, LARGEST_MANIFEST)
    stated = json.loads(data)
    place = LedgerPlace.model_validate(stated["ledger"])
    yield KnownRelease(path, str(stated["release"]["id"]), hashlib.sha256(data).hexdigest(), place)


def _releases_of_envelope(path: Path, trusted: Sequence[PublicKey]) -> Iterator[KnownRelease]:
    envelope = _bytes(path, LARGEST_ENVELOPE)
    if path.name == CATALOGUE:
        listed = verify_statement(envelope, trusted, CatalogueStatement)[0]
        for release_id, digest in listed.releases().items():
            yield KnownRelease(path, release_id, digest, listed.predicate.ledger)
    else:
        signed = verify_statement(envelope, trusted, ReleaseStatement)[0]
        digest = signed.files()[manifest.NAME]
        yield KnownRelease(path, signed.predicate.release, digest, signed.predicate.ledger)


def _bytes(path: Path, most: int) -> bytes:
    with plain_file(path) as file:
        return read_bounded(file, most)
