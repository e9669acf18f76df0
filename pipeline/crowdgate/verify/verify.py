"""Verify a published release from its files alone: data are recounted by other code than made them."""

import hashlib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from crowdgate import manifest
from crowdgate.errors import CrowdgateError, VerificationFailed
from crowdgate.formats import FORMATS
from crowdgate.kind.kind import AnyKind, Kinds
from crowdgate.ledger.ledger import State, open_ledger
from crowdgate.measures import MEASURES, MeasureClass
from crowdgate.publish.publisher import file_digest


def verify(folder: Path, kinds: Kinds, ledger: str | None = None) -> dict[str, Any]:
    """The manifest of a release that holds all it claims. Raises VerificationFailed that lists what does not hold.

    Without a ledger the manifest vouches for itself; with one, its digest must be what the ledger committed to.
    """
    problems: list[str] = []
    claims: dict[str, Any] = {}
    try:
        sealed = _sealed(folder)
        claims = manifest.parse(sealed)
        # one by one: what was found before the recount breaks off is told
        for problem in _problems(folder, claims, kinds):
            problems.append(problem)
        if ledger is not None:
            problems += _ledger_problems(claims, hashlib.sha256(sealed).hexdigest(), ledger)
    except VerificationFailed as error:
        problems.append(str(error))
    except CrowdgateError:
        raise
    except OSError as error:
        problems.append(f"{folder}: {error.strerror or 'unreadable'}")
    except Exception as error:  # whatever a recount dies of is a problem of the release: what can't be read is refused
        found = f"the recount broke off with {type(error).__name__}"
        problems.append(
            f"manifest.json lacks a part of a release, or a file is of another form than it states: {found}"
        )
    if problems:
        raise VerificationFailed("\n".join(problems))
    return claims


def _sealed(folder: Path) -> bytes:
    path = folder / manifest.NAME
    if not path.is_file():
        raise VerificationFailed(f"{path}: there is no such file")
    return path.read_bytes()


def _problems(folder: Path, claims: dict[str, Any], kinds: Kinds) -> Iterator[str]:
    files = claims["files"]
    present = {path.name for path in folder.iterdir()}
    for name in sorted(present ^ {*files, manifest.NAME}):
        yield f"{name}: " + ("not in the manifest" if name in present else "missing")
    odd = sorted(name for name in present if not (folder / name).is_file())
    if odd:
        yield from (f"{name}: no plain file" for name in odd)
        return
    for name, digest in sorted(files.items()):
        if name in present and file_digest(folder / name) != digest:
            yield f"{name}: its digest is not the manifest's"
    if claims["key"] != "operating system":
        yield "the key was injected: this is no release"
    yield from _identity_problems(claims)
    kind = kinds.get(claims["mechanism"]["kind"])
    if kind is None:
        yield f"manifest.json: the mechanism {claims['mechanism']['kind']!r} is none of {', '.join(kinds)}"
    else:
        yield from _verdict_problems(claims, kind)
        yield from kind.problems(folder, claims, FORMATS)


def _identity_problems(claims: dict[str, Any]) -> Iterator[str]:
    release = claims["release"]
    if set(claims) != manifest.SECTIONS or set(release) != {"id", "policy", "version", "slot"}:
        yield "manifest.json: it holds more or less than a manifest does"
    if release["id"] != f"{release['policy']}/{release['version']}/{release['slot']}":
        yield "manifest.json: its release id is not its policy, version and slot"


def _verdict_problems(claims: dict[str, Any], kind: AnyKind) -> Iterator[str]:
    """Every blocking gate passed, and each charged one is a part of the guarantee; nothing else is."""
    verdicts = claims["verdicts"]
    blocking = [verdict for verdict in verdicts if verdict["severity"] == "blocks"]
    if not blocking or any(verdict["outcome"] != "pass" for verdict in blocking):
        yield "verdicts: a gate that blocks did not pass, or there is none"
    if any(verdict["measure"] not in MEASURES for verdict in verdicts):
        yield "verdicts: a measure that there is not"
        return
    charged = [f"gate {v['measure']}" for v in verdicts if MEASURES[v["measure"]].reads is MeasureClass.CHARGED]
    names = [part["name"] for part in claims["guarantee"]["parts"]]
    if len(set(names)) != len(names) or sorted(n for n in names if n not in kind.spends) != sorted(charged):
        yield "guarantee: its parts are not the mechanism's and the charged gates'"


def _ledger_problems(claims: dict[str, Any], digest: str, url: str) -> Iterator[str]:
    ledger = open_ledger(url, None)
    ledger.verify()
    entry = ledger.entry(str(claims["release"]["id"]))
    if entry is None or entry.state not in (State.COMMITTED, State.PUBLISHED):
        yield "the ledger knows no published release of this id"
        return
    if entry.manifest_digest != digest:
        yield "manifest.json: its digest is not the one in the ledger"
    stated = Fraction(claims["guarantee"]["epsilon"]), Fraction(claims["guarantee"]["delta"])
    if stated != (entry.spend.epsilon, entry.spend.delta) or claims["policyDigest"] != entry.policy_digest:
        yield "manifest.json: its guarantee or policy is not what the ledger charged"
