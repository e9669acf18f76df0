"""Verification of a published release from its files alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.attachments import ATTACHMENTS
from crowdgate.kinds import KINDS
from crowdgate.manifest import Manifest
from crowdgate.planning.open_ledger import ledger_for_reading
from crowdgate.signing.keys import PublicKey, public_keys
from crowdgate.system.short_repr import short_repr
from crowdgate.verification.steps import Verification

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan


@dataclass(frozen=True)
class VerifiedRelease:
    """A release that verified, with the evidence of its origin: `signed` (a signature exists), `keys` (a trusted key
    signed it), and the id of the `ledger` that committed to it (None: no ledger was asked)."""

    __repr__ = short_repr

    manifest: Manifest
    signed: bool
    keys: bool
    ledger: str | None

    @property
    def unproved(self) -> str | None:
        """Sentence about changes of the data that this verification can't tell; None if a trusted key or the ledger
        proves the data."""
        if self.keys or self.ledger:
            return None
        return KINDS[self.manifest.mechanism.kind].unproved(self.manifest)

    @property
    def origin(self) -> str:
        """The evidence of the release's origin, in words."""
        if self.keys and self.ledger:
            return f"a trusted key signed it, and the ledger {self.ledger} committed to it"
        if self.keys:
            return "a trusted key signed it"
        if self.ledger:
            return f"the ledger {self.ledger} committed to it"
        unread = "its signature was not checked, since no --key was given" if self.signed else "it is not signed"
        return f"nobody vouches for its origin: {unread}"


def verify(
    folder: Path,
    ledger: str | None = None,
    keys: Sequence[Path] = (),
    refit: bool = False,
    policy: Path | None = None,
) -> VerifiedRelease:
    """Verify a release and return it; with `keys` (files of public keys) one of them must have signed it.

    With `refit`, data that follow from other files are made again. With a `policy`, gates, limits and waivers must be
    those of that file. Raises VerificationFailed that lists all problems, ConfigurationError for a wrong ledger URL,
    key or policy, or if there is nothing to make again.
    """
    opened = None if ledger is None else ledger_for_reading(Path.cwd(), ledger)
    stated = None if policy is None else _plan(policy)
    run = Verification(folder, KINDS, ATTACHMENTS, _trusted(keys), opened, refit, stated)
    return _verified(run)


def verified_contents(folder: Path, keys: Sequence[Path] = ()) -> tuple[VerifiedRelease, Any]:
    """Verify a release as `verify`, and return it with the contents of its data files, in the type of its kind."""
    run = Verification(folder, KINDS, ATTACHMENTS, _trusted(keys))
    return _verified(run), run.contents


def _verified(run: Verification) -> VerifiedRelease:
    said, opened = run.run(), run.ledger
    return VerifiedRelease(said, run.signed, bool(run.trusted), None if opened is None else opened.id)


def _trusted(keys: Sequence[Path]) -> tuple[PublicKey, ...]:
    return tuple(key for path in keys for key in public_keys(path))


def _plan(policy: Path) -> Plan:
    """Return the plan of a policy's file; imported here, as most verifications do not need it."""
    from crowdgate.planning.plan import plan_policy

    return plan_policy(policy)
