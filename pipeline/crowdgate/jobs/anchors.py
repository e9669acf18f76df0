"""Anchors: places in the ledger that are known outside of it, in the manifests of its releases or by whoever kept one.

A ledger that lacks one is an older copy, or was computed anew. Of a destination the manifests count that name this very
ledger; where keys are trusted, only those that one of them signed: otherwise anybody who may write a folder there could
stop everybody. A manifest that can't be read says nothing.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from crowdgate import manifest
from crowdgate.errors import ConfigurationError, CrowdgateError, LedgerRefused, Problem
from crowdgate.jobs.catalogue import NAME as CATALOGUE
from crowdgate.ledger.ledger import Ledger
from crowdgate.limits import LARGEST_ENVELOPE, LARGEST_MANIFEST
from crowdgate.publish.names import SIGNED
from crowdgate.signing.files import bounded, plain_file
from crowdgate.signing.keys import PublicKey
from crowdgate.signing.statement import CatalogueStatement, LedgerPlace, ReleaseStatement, verified

_ANCHOR = re.compile(r"([1-9][0-9]{0,8}):([0-9a-f]{64})")


def refuse_unanchored(ledger: Ledger, root: Path, kept: Sequence[str] = ()) -> None:
    """Refuses a ledger that lacks the place of one of its releases at a destination, or an anchor `LINE:DIGEST` that
    was kept. Raises LedgerRefused, and ConfigurationError for what is no anchor."""
    for text in kept:
        line, digest = parsed(text)
        if not ledger.holds(line, digest):
            raise _lacking(ledger, line, "an anchor that was kept")
    for path, place in _known(root, ledger):
        if not ledger.holds(place.line, place.digest):
            raise _lacking(ledger, place.line, str(path))


def parsed(text: str) -> tuple[int, str]:
    """The line and the digest of an anchor. Raises ConfigurationError."""
    found = _ANCHOR.fullmatch(text)
    if found is None:
        expected = "LINE:DIGEST, as `crowdgate ledger verify` prints it"
        raise ConfigurationError(Problem("command line", None, "--anchor", "no anchor", expected))
    return int(found[1]), found[2]


def _lacking(ledger: Ledger, line: int, who: str) -> LedgerRefused:
    said = f"the ledger {ledger.id} has no such line {line} as {who} says: it is an older copy, or was computed anew"
    return LedgerRefused(f"{said}; expected the ledger itself; nothing was read", "edited")


def _known(root: Path, ledger: Ledger) -> Iterator[tuple[Path, LedgerPlace]]:
    """The places that releases of this ledger have in it, as far as they can be trusted."""
    names = (f"*/*/*/{SIGNED}", CATALOGUE) if ledger.trusted else (f"*/*/*/{manifest.NAME}",)
    for path in (each for name in names for each in sorted(root.glob(name))):
        try:
            place = _signed(path, ledger.trusted) if ledger.trusted else _stated(path)
        except (OSError, ValueError, KeyError, TypeError, RecursionError, CrowdgateError):
            continue
        if place.id == ledger.id:
            yield path, place


def _stated(path: Path) -> LedgerPlace:
    return LedgerPlace.model_validate(json.loads(_bytes(path, LARGEST_MANIFEST))["ledger"])


def _signed(path: Path, trusted: Sequence[PublicKey]) -> LedgerPlace:
    envelope = _bytes(path, LARGEST_ENVELOPE)
    if path.name == CATALOGUE:
        return verified(envelope, trusted, CatalogueStatement)[0].predicate.ledger
    return verified(envelope, trusted, ReleaseStatement)[0].predicate.ledger


def _bytes(path: Path, most: int) -> bytes:
    with plain_file(path) as file:
        return bounded(file, most)
