"""Check for a policy version that was used with other files before.

The ledger refuses such a version. If the ledger is unreadable, the published releases show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.errors import CrowdgateError, VerificationFailed
from crowdgate.ledger.values import State
from crowdgate.limits import LARGEST_MANIFEST
from crowdgate.planning.open_ledger import OpenedLedger
from crowdgate.policy.policy import version_of
from crowdgate.publish.object_store import local_folder
from crowdgate.system.regular_files import read_plain

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan

Used = tuple[str, str]
"""The id of a release, and the digest of its policy."""


def release_with_other_files(plan: Plan, opened: OpenedLedger) -> str | None:
    """Return the id of a release of this policy version that was charged, or is published, with other files than the
    current ones; None without one.
    """
    own = version_of(plan.bundle.policy)
    used = _charged_releases(opened, own)
    found = _published_releases(plan) if used is None else iter(used)
    return next((name for name, digest in found if _version(name) == own and digest != plan.bundle.digest), None)


def _version(release_id: str) -> str:
    return release_id.rpartition("/")[0]


def _charged_releases(opened: OpenedLedger, version: str) -> list[Used] | None:
    """Return the releases of a policy version that the ledger holds, each with its policy digest; None if the ledger is
    unreadable.
    """
    try:
        entries = opened.ledger().entries(version)
    except CrowdgateError:
        return None
    return [(each.release_id, each.policy_digest) for each in entries if each.state is not State.VOID]


def _published_releases(plan: Plan) -> Iterator[Used]:
    """Yield the releases of the policy version at its destination, each with its policy digest. Files that are no
    manifest are ignored.
    """
    version = version_of(plan.bundle.policy)
    root = local_folder(plan.bundle.root, plan.bundle.policy.spec.publish.to)
    for path in sorted((root / version).glob("*/manifest.json")):
        digest = _digest(path)
        if digest is not None:
            yield f"{version}/{path.parent.name}", digest


def _digest(path: Path) -> str | None:
    from crowdgate.manifest.model import policy_digest_in

    try:
        if path.stat().st_size > LARGEST_MANIFEST:
            return None
        return policy_digest_in(read_plain(path, LARGEST_MANIFEST))
    except (OSError, VerificationFailed):
        return None
