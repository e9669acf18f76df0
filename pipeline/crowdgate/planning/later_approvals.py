"""Approvals before publication: whether a staged release waits for them, and who gave those that the ledger holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.errors import CrowdgateError
from crowdgate.ledger.access_log import approval_lines
from crowdgate.limits import LARGEST_ENVELOPE
from crowdgate.planning.approvals import APPROVALS, SUFFIX
from crowdgate.planning.plan import bundle_of
from crowdgate.policy.files import policy_files
from crowdgate.policy.policy import version_of
from crowdgate.signing.keys import public_keys_of
from crowdgate.signing.statement import ApprovalStatement, verify_statement
from crowdgate.system.regular_files import read_plain

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.policy.approval import ApprovalRule

UNNAMED = "an approver whose signed statement is not in this working copy"


def waits_for_approval(root: Path, release_id: str) -> bool:
    """Return whether the policy of a staged release, in the working copy `root`, asks for approval before publication.
    False if it has no such policy any more."""
    return any(rule.before == "publication" for rule in _rules(root, release_id))


def later_approvers(ledger: Ledger, root: Path, release_id: str) -> tuple[str, ...]:
    """Return who approved a release before its publication, and on which day, by the journal of the ledger and the
    signed statements in the working copy `root`."""
    digests = dict.fromkeys(line.commitment for line in approval_lines(ledger.journal(), release_id, "publication"))
    if not digests:
        return ()
    stated = dict(_statements(root, release_id))
    return tuple(stated.get(each or "", UNNAMED) for each in digests)


def _statements(root: Path, release_id: str) -> Iterator[tuple[str, str]]:
    """Yield the SHA-256 of each signed statement about a release, with its signers and its day."""
    names = {each.key_id: each for rule in _rules(root, release_id) for each in rule.by}
    keys = [key for each in names.values() for key in public_keys_of(each.pem, each.name)]
    for path in sorted((root / APPROVALS / release_id).glob(f"*{SUFFIX}")):
        with suppress(CrowdgateError, OSError, ValueError):
            data = read_plain(path, LARGEST_ENVELOPE)
            said, signers = verify_statement(data, keys, ApprovalStatement)
            by = " and ".join(names[each].name for each in signers)
            yield hashlib.sha256(data).hexdigest(), f"{by} on {said.predicate.day}"


def _rules(root: Path, release_id: str) -> Iterator[ApprovalRule]:
    """Yield the rule on approvals of the policy version that a release id names; none without such a policy."""
    version = release_id.rpartition("/")[0]
    for path, name in policy_files(root):
        if name == version.partition("/")[0]:
            with suppress(CrowdgateError):
                policy = bundle_of(path).policy
                if version_of(policy) == version and policy.spec.approval is not None:
                    yield policy.spec.approval
