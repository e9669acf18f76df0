"""Approvals of releases: signed statements in the working copy, compared with the policy and with the ledger.

An approval counts only if a key that the policy lists signed it, for this release, these policy files, this privacy
cost (or this manifest) and this ledger. It doesn't count after it expired, if its key was revoked or charges the
release itself, or if its signer has seen confidential figures of the population: then the decision could depend on
them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.errors import CrowdgateError, EnvironmentFault, LedgerRefused
from crowdgate.kind.run import Approval
from crowdgate.ledger.access_log import APPROVED
from crowdgate.ledger.values import Spend, State
from crowdgate.limits import LARGEST_ENVELOPE
from crowdgate.number_text import exact_text
from crowdgate.planning.budget_left import today
from crowdgate.policy.approval import STEPS
from crowdgate.settings import revoked_keys
from crowdgate.signing.keys import public_keys_of
from crowdgate.signing.statement import ApprovalStatement, verify_statement
from crowdgate.system.regular_files import is_absent, read_plain

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.policy.approval import ApprovalRule, Approver

APPROVALS = Path("policies") / "approvals"
"""The folder of approvals, relative to the working copy; each release has a folder in it."""
SUFFIX = ".dsse.json"


@dataclass(frozen=True)
class Approvable:
    """The facts that an approval must name: the release, the SHA-256 that is approved (of the policy's files, or of a
    manifest), the policy's digest, and the population with the privacy cost that it is charged.
    """

    release_id: str
    digest: str
    policy_digest: str
    population: str
    spend: Spend


def needs_approval(plan: Plan, ledger: Ledger, release_id: str) -> bool:
    """Return whether a policy asks for approvals of this release."""
    rule = plan.bundle.policy.spec.approval
    if rule is None or (rule.over is not None and approved_cost(plan).epsilon <= rule.over):
        return False
    return rule.of == "each" or not _has_passed(rule, plan.bundle.digest, ledger, release_id)


def _has_passed(rule: ApprovalRule, policy_digest: str, ledger: Ledger, release_id: str) -> bool:
    """Return whether another release of the same policy files has passed the step that waits for approvals: it has read
    data, or it was published.
    """
    others = (each for each in ledger.entries() if each.policy_digest == policy_digest)
    passed = (
        each.reading and each.state is not State.VOID
        if rule.before == "charge"
        else each.state in (State.PUBLISHED, State.WITHDRAWN)
        for each in others
        if each.release_id != release_id
    )
    return any(passed)


def approvals_before(step: str, plan: Plan, ledger: Ledger, release_id: str) -> tuple[Approval, ...]:
    """Return the approvals of a release that count before this step (`charge` or `publication`); none where the policy
    asks for none then.

    Raises LedgerRefused with code "unapproved" if there are too few, and with "unsigned" for an unsigned ledger.
    """
    rule = plan.bundle.policy.spec.approval
    if rule is None or (step != "charge" and rule.before != step) or not needs_approval(plan, ledger, release_id):
        return ()
    refuse_unsigned(ledger, release_id)  # before any charge: what nobody can approve is not read
    if rule.before != step:
        return ()
    wanted = approvable(plan, ledger, release_id)
    found, refused = counted_approvals(plan.bundle.root, rule, wanted, ledger)
    if len(found) < rule.at_least:
        raise LedgerRefused(_missing_text(rule, wanted, found, refused), "unapproved")
    return found


def refuse_unsigned(ledger: Ledger, release_id: str) -> None:
    """Refuse a ledger without a signing key: nothing would then say who charged a release, or who opened a record."""
    if ledger.signer is None:
        said = f"{release_id} needs an approval, and approvals need a signed ledger"
        raise LedgerRefused(f"{said}: name the key in crowdgate.toml (signing_key)", "unsigned")


def approvable(plan: Plan, ledger: Ledger, release_id: str) -> Approvable:
    """Return what an approval of this release must name. Raises LedgerRefused if it can't be approved now: one that is
    approved before publication must be committed.
    """
    rule, bundle = plan.bundle.policy.spec.approval, plan.bundle
    assert rule is not None, "asked before"
    digest = bundle.digest
    if rule.before == "publication":
        entry = ledger.entry(release_id)
        if entry is None or entry.state is not State.COMMITTED or entry.manifest_digest is None:
            if entry is not None and entry.state is not State.RESERVED:
                raise LedgerRefused(f"{release_id} is {entry.state}: there is nothing to approve")
            raise LedgerRefused(f"{release_id} is not staged: it is approved after `crowdgate release` has staged it")
        if entry.policy_digest != bundle.digest:
            raise LedgerRefused(f"{release_id} was charged with other policy files, so it can't be approved with these")
        digest = entry.manifest_digest
    return Approvable(release_id, digest, bundle.digest, bundle.contract.population, approved_cost(plan))


def approved_cost(plan: Plan) -> Spend:
    """Return the privacy cost that an approval names: that of the release, or of the whole series it belongs to."""
    paid = plan.guarantee if plan.series is None else plan.series
    return Spend(paid.epsilon, paid.delta)


def counted_approvals(
    root: Path, rule: ApprovalRule, wanted: Approvable, ledger: Ledger
) -> tuple[tuple[Approval, ...], list[str]]:
    """Return the approvals of a release in the working copy that count, one for each approver, and for each other file
    the reason why it does not.
    """
    found: dict[str, Approval] = {}
    refused: list[str] = []
    judge = approval_judge(root, rule, wanted, ledger)
    for path in _files(root / APPROVALS / wanted.release_id):
        try:
            data = read_plain(path, LARGEST_ENVELOPE)
            for approver, day in judge.signers(data):
                given = Approval(approver.name, approver.key_id, day, hashlib.sha256(data).hexdigest())
                found.setdefault(given.key, given)
        except OSError as error:
            refused.append(f"{path.name}: {error.strerror or 'unreadable'}")
        except (CrowdgateError, ValueError) as error:
            refused.append(f"{path.name}: {error}")
    return tuple(found.values()), refused


def _files(folder: Path) -> Sequence[Path]:
    try:
        return [] if is_absent(folder) else sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIX))
    except OSError as error:
        raise EnvironmentFault(f"{folder}: approvals can't be read: {error.strerror}") from None


def approval_judge(root: Path, rule: ApprovalRule, wanted: Approvable, ledger: Ledger) -> ApprovalJudge:
    """Return the judge of approvals in a working copy. Raises ConfigurationError for invalid settings."""
    return ApprovalJudge(rule, wanted, ledger, frozenset(each.id for each in revoked_keys(root)))


@dataclass(frozen=True)
class ApprovalJudge:
    """Compares signed statements with what must be approved. `revoked` are the ids of keys that no longer count."""

    rule: ApprovalRule
    wanted: Approvable
    ledger: Ledger
    revoked: frozenset[str]

    def signers(self, envelope: bytes) -> Iterator[tuple[Approver, str]]:
        """Yield each approver whose signature in this envelope counts, with its day. Raises ValueError or
        VerificationFailed that says why none does.
        """
        by_id = {each.key_id: each for each in self.rule.by}
        trusted = [key for each in self.rule.by for key in public_keys_of(each.pem, each.name)]
        said, ids = verify_statement(envelope, trusted, ApprovalStatement)
        for problem in self._differences(said):
            raise ValueError(problem)
        for id in ids:
            for problem in self._objections(id, said.predicate.author):
                raise ValueError(f"{by_id[id].name}: {problem}")
            yield by_id[id], said.predicate.day

    def _differences(self, said: ApprovalStatement) -> Iterator[str]:
        stated, wanted = said.predicate, self.wanted
        if said.release_id != wanted.release_id:
            yield f"it approves {said.release_id}, which is another release"
        if stated.before != self.rule.before:
            yield f"it was given before {stated.before}; the policy asks for one before {self.rule.before}"
        if said.digest != wanted.digest or stated.policy_digest != wanted.policy_digest:
            yield (
                "it approves other files: the policy, its contract or its budget changed after it was signed"
                if (self.rule.before == "charge")
                else "it approves another manifest than that of the staged release"
            )
        cost = exact_text(wanted.spend.epsilon), exact_text(wanted.spend.delta)
        if (stated.population, stated.epsilon, stated.delta) != (wanted.population, *cost):
            yield "it approves another privacy cost"
        if stated.ledger.id != self.ledger.id or not self.ledger.holds(stated.ledger.line, stated.ledger.digest):
            yield f"it was signed beside another ledger than {self.ledger.id}, or beside a line that this one lacks"
        yield from self._out_of_time(stated.day)

    def _out_of_time(self, day: str) -> Iterator[str]:
        today = ledger_day(self.ledger)
        try:
            last = date.fromisoformat(day) + timedelta(days=self.rule.expires)
        except (ValueError, OverflowError):
            yield "its day is no day"
            return
        if day > today:
            yield f"it states the day {day}, which is later than today"
        elif last.isoformat() < today:
            yield f"it was signed on {day} and expired on {last.isoformat()}"

    def _objections(self, key_id: str, author: str) -> Iterator[str]:
        keys = [key for each in self.rule.by for key in public_keys_of(each.pem, each.name)]
        if key_id in self.revoked:
            yield "this key is revoked (revoked_keys in crowdgate.toml)"
        if self.rule.not_requester and key_id in self.ledger.chargers(self.wanted.release_id, keys):
            yield "the key that charges the release can't approve it (not_requester)"
        accesses = self.ledger.accesses(self.wanted.population, keys)
        if any(key_id in signed or author == line.detail_values.get("by") for line, signed in accesses):
            yield "the approver has seen confidential figures of this population, so another one must approve"
        elif not all(signed for _, signed in accesses):
            yield "no trusted key signed an access to confidential figures of this population: who saw them is unknown"


def ledger_day(ledger: Ledger) -> str:
    """Return today's day (UTC), or that of the ledger's last line if a clock was set back."""
    return max(today(), ledger.head().day or "")


def _missing_text(rule: ApprovalRule, wanted: Approvable, found: Sequence[Approval], refused: Sequence[str]) -> str:
    many = "an approval" if rule.at_least == 1 else f"{rule.at_least} approvals"
    there = f" It has that of {' and '.join(each.name for each in found)}." if found else ""
    why = f" Not counted: {'; '.join(refused)}." if refused else ""
    done = "Nothing was read, and nothing is charged." if rule.before == "charge" else "Nothing was published."
    step = f"crowdgate approve {wanted.release_id} --key KEY"
    return (
        f"{wanted.release_id} needs {many} before it is {STEPS[rule.before]}, by {rule.signers_text()}.{there}{why}"
        f" {done} Run {step}"
    )


def record_approvals(ledger: Ledger, release_id: str, found: Sequence[Approval]) -> None:
    """Append a line to the journal for each approval of a release that it does not hold yet."""
    known = {(subject, digest) for subject, digest in ledger.recorded(APPROVED)}
    for each in found:
        if (release_id, each.digest) not in known:
            ledger.record(APPROVED, release_id, each.digest)


def without_approval(plan: Plan) -> Plan:
    """Return the plan of a policy that asks for no approval, for a simulated run."""
    policy = plan.bundle.policy
    spec = policy.spec.model_copy(update={"approval": None})
    return replace(plan, bundle=replace(plan.bundle, policy=policy.model_copy(update={"spec": spec})))
