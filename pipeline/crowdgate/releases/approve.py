"""Approval of a release by the holder of a key that its policy lists: a signed statement in the working copy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.errors import ConfigurationError, EnvironmentFault, LedgerRefused, Problem, nearest
from crowdgate.ledger.author import author
from crowdgate.number_text import exact_text
from crowdgate.planning.approvals import (
    APPROVALS,
    SUFFIX,
    Approvable,
    approvable,
    approval_judge,
    counted_approvals,
    ledger_day,
    needs_approval,
    refuse_unsigned,
)
from crowdgate.planning.catalogue import place_of
from crowdgate.planning.open_ledger import OpenedLedger
from crowdgate.planning.plan import bundle_of, plan_release
from crowdgate.policy.files import policy_files
from crowdgate.policy.policy import version_of
from crowdgate.publish.publisher import staged_folder
from crowdgate.signing.statement import ApprovalPredicate, approval_statement, sign_statement
from crowdgate.system import permissions
from crowdgate.system.atomic_file import locked_folder, replace_file

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.policy.approval import ApprovalRule
    from crowdgate.policy.files import Bundle
    from crowdgate.signing.keys import SigningKey

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}/[1-9][0-9]{0,8}/[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{4}Z)?")
_KEY_DIGITS = 16
"""Letters of a key's id that name the file of its approval."""


@dataclass(frozen=True, eq=False)
class PendingApproval:
    """A release that can be approved now: its plan, its policy's rule, and what an approval names. `staged` is the
    folder of its staged files, None before the charge.
    """

    plan: Plan
    rule: ApprovalRule
    wanted: Approvable
    ledger: Ledger
    staged: Path | None

    def sign(self, key: SigningKey) -> Path:
        """Sign the approval with a key that the policy lists, and return its file. Raises LedgerRefused if it would
        not count, EnvironmentFault if it can't be written; then nothing is written.
        """
        root, name = self.plan.bundle.root, self.wanted.release_id
        envelope = sign_statement(approval_statement(name, self.wanted.digest, self._predicate()), [key])
        if key.public.id not in {each.key_id for each in self.rule.by}:
            listed = ", ".join(each.name for each in self.rule.by)
            raise LedgerRefused(f"{name}: this key is none of those that may approve it: {listed}", "unapproved")
        try:
            list(approval_judge(root, self.rule, self.wanted, self.ledger).signers(envelope))
        except ValueError as error:
            raise LedgerRefused(f"{name}: {error}; nothing was written", "unapproved") from None
        return _write(root / APPROVALS / name, f"{key.public.id[:_KEY_DIGITS]}{SUFFIX}", envelope)

    def missing(self) -> int:
        """Return how many further approvals the release needs."""
        found, _ = counted_approvals(self.plan.bundle.root, self.rule, self.wanted, self.ledger)
        return max(self.rule.at_least - len(found), 0)

    def _predicate(self) -> ApprovalPredicate:
        wanted = self.wanted
        return ApprovalPredicate.model_validate(
            {
                "before": self.rule.before, "day": ledger_day(self.ledger), "policyDigest": wanted.policy_digest,
                "population": wanted.population, "epsilon": exact_text(wanted.spend.epsilon),
                "delta": exact_text(wanted.spend.delta), "author": author(), "ledger": place_of(self.ledger),
            }
        )  # fmt: skip


def pending_approval(release_id: str, home: Path, ledger: str | None) -> PendingApproval:
    """Return a release of the working copy `home` that needs an approval. `ledger` is the URL of its ledger (None: that
    of the working copy).

    Raises ConfigurationError for an id that names no policy here, or a policy that asks for no approval of it;
    LedgerRefused for a release that can't be approved now.
    """
    bundle = _bundle(release_id, home)
    rule = bundle.policy.spec.approval
    if rule is None:
        raise _wrong(release_id, "its policy asks for no approval", "a policy with `approval`")
    opened = OpenedLedger(bundle.root, bundle.budget.spec.ledger, ledger)
    plan, kept = plan_release(bundle), opened.ledger()
    kept.compare()
    _refuse_ended(kept, rule, release_id)
    if not needs_approval(plan, kept, release_id):
        raise _wrong(release_id, "this release needs no approval", "a release that does, by `of` and `over`")
    refuse_unsigned(kept, release_id)
    return PendingApproval(plan, rule, approvable(plan, kept, release_id), kept, _staged(kept, bundle, release_id))


def _refuse_ended(ledger: Ledger, rule: ApprovalRule, release_id: str) -> None:
    """Refuse an approval before the charge of a release whose reading has begun."""
    entry = ledger.entry(release_id)
    if rule.before == "charge" and entry is not None and entry.reading:
        raise LedgerRefused(f"{release_id} is {entry.state}: it was charged before, and can't be approved any more")


def _staged(ledger: Ledger, bundle: Bundle, release_id: str) -> Path | None:
    entry = ledger.entry(release_id)
    if entry is None or entry.destination is None:
        return None
    destination = bundle.root / entry.destination
    return staged_folder(destination.parents[release_id.count("/")], ledger.id, release_id)


def _bundle(release_id: str, home: Path) -> Bundle:
    """Return the policy in `home` that a release id names, with all files that it names."""
    if not _ID.fullmatch(release_id):
        raise _wrong(release_id, "no id of a release", "POLICY/VERSION/SLOT, such as census-income/2/2030-01-01")
    version = release_id.rpartition("/")[0]
    known = list(policy_files(home))
    for path, name in known:
        if name == version.partition("/")[0]:
            found = bundle_of(path)
            if version_of(found.policy) == version:
                return found
    names = [name for _, name in known]
    hint = nearest(version.partition("/")[0], [name for name in names if name != version.partition("/")[0]])
    raise _wrong(release_id, f"no policy of this working copy is {version}", "the name and version of a policy", hint)


def _wrong(release_id: str, found: str, expected: str, instead: str | None = None) -> ConfigurationError:
    return ConfigurationError(Problem("command line", None, release_id, found, expected, instead))


def _write(folder: Path, name: str, envelope: bytes) -> Path:
    """Write the file of an approval, which replaces an earlier one of the same key. Raises EnvironmentFault."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked_folder(folder):
            replace_file(folder / name, f".{name}.part", envelope, permissions.DECISION)
    except OSError as error:
        raise EnvironmentFault(f"{folder / name}: the approval can't be written: {error.strerror}") from None
    return folder / name
