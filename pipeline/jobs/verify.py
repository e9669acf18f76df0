"""Verify a published release from its files alone: an independent recount that shares no code with what made it."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline import manifest
from pipeline.errors import VerificationFailed
from pipeline.io.ledger import open_ledger
from pipeline.io.publisher import file_digest
from pipeline.jobs.kinds import KINDS


def verify(folder: Path, ledger: str | None = None) -> dict[str, Any]:
    """The manifest of a release that holds all it claims. Raises VerificationFailed that lists what does not hold.

    Without a ledger the manifest vouches for itself; with one, its digest must be what the ledger committed to.
    """
    try:
        sealed = (folder / manifest.NAME).read_bytes()
        claims = manifest.parse(sealed)
        problems = list(_problems(folder, claims))
        if ledger is not None:
            problems += _ledger_problems(claims, hashlib.sha256(sealed).hexdigest(), ledger)
    except OSError as error:
        raise VerificationFailed(f"{folder}: {error.strerror or 'unreadable'}") from None
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        raise VerificationFailed("manifest.json lacks a part of a release, or states it in another form") from None
    if problems:
        raise VerificationFailed("\n".join(problems))
    return claims


def _problems(folder: Path, claims: dict[str, Any]) -> Iterator[str]:
    files = claims["files"]
    present = {path.name for path in folder.iterdir()}
    for name in sorted(present ^ {*files, manifest.NAME}):
        yield f"{name}: " + ("not in the manifest" if name in present else "missing")
    for name, digest in sorted(files.items()):
        if name in present and file_digest(folder / name) != digest:
            yield f"{name}: its digest is not the manifest's"
    if claims["key"] != "operating system":
        yield "the key was injected: this is no release"
    kind = KINDS.get(claims["mechanism"]["kind"])
    if kind is None:
        yield f"manifest.json: the mechanism {claims['mechanism']['kind']!r} is none of {', '.join(KINDS)}"
    else:
        yield from kind.verify(folder, claims)


def _ledger_problems(claims: dict[str, Any], digest: str, ledger: str) -> list[str]:
    entry = open_ledger(ledger, None).entry(str(claims["release"]["id"]))
    if entry is None:
        return ["the ledger knows no release of this id"]
    return [] if entry.manifest_digest == digest else ["manifest.json: its digest is not the one in the ledger"]
