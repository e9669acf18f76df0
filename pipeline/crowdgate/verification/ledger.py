"""Comparison of a release with the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crowdgate.candidate import AuditQuestion
from crowdgate.ledger.access_log import APPROVED, recorded_approvals
from crowdgate.ledger.audits import is_recorded, key
from crowdgate.ledger.journal import JournalLine
from crowdgate.ledger.ledger import Entry, Ledger, State
from crowdgate.ledger.transitions import READING, RESTORED
from crowdgate.manifest import GateFields, Manifest

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan


def ledger_problems(said: Manifest, digest: str, ledger: Ledger) -> Iterator[str]:
    """Yield the differences between a manifest and an intact ledger: digest, privacy cost, policy, journal line."""
    ledger.verify()
    entry = ledger.entry(said.release.id)
    withdrawn = ledger.withdrawal(said.release.id) if entry is not None and entry.state is State.WITHDRAWN else None
    if withdrawn is not None:
        reason = withdrawn.detail_values["reason"]
        yield f"the ledger says that it was withdrawn on {withdrawn.day}, for this reason: {reason}"
        return
    if entry is None or entry.state not in (State.COMMITTED, State.PUBLISHED):
        yield "the ledger knows no published release of this id"
        return
    if entry.manifest_digest != digest:
        yield "manifest.json: its digest differs from the one that the ledger recorded for this release"
    restored = ledger.place(said.release.id).event == RESTORED
    series = None if restored and ledger.slot(entry) is None else said.facts.series
    charged, stated = ledger.paying(entry).spend, series or said.guarantee
    if (stated.epsilon, stated.delta) != (charged.epsilon, charged.delta) or said.policy_digest != entry.policy_digest:
        yield "manifest.json: its guarantee or policy differs from what the ledger charged for this release"
    place = ledger.place(said.release.id)
    if not restored:
        yield from _series_problems(said, ledger, entry)
    else:
        missing = ledger.missing_lines([(said.ledger.line, said.ledger.digest)])
        if said.ledger.id != ledger.id or missing:
            yield "manifest.json: its place in the ledger is another one"
        return
    if bool(said.facts.informed) != ledger.informed(entry.population, entry.policy_digest, place.number):
        yield (
            "manifest.json: the ledger says otherwise about whether confidential results were viewed before "
            "the policy changed"
        )
    expired = [gate.measure for gate in said.verdicts if gate.verdict.waived and _expired(gate, place)]
    if expired:
        yield (
            f"{', '.join(expired)}: the manifest says waived, but the waiver had expired when the ledger "
            "charged the release"
        )
    yield from _approval_problems(said, ledger)
    if (said.ledger.id, said.ledger.line, said.ledger.digest) != (ledger.id, place.number, place.digest):
        yield "manifest.json: it names another ledger or journal line than the one that charged this release"


def _approval_problems(said: Manifest, ledger: Ledger) -> Iterator[str]:
    """Yield each approval of a manifest that the journal does not hold before the data were read."""
    own = [line for line in ledger.journal() if line.subject == said.release.id]
    read = next((at for at, line in enumerate(own) if line.event == READING), len(own))
    known = {line.commitment for line in own[:read] if line.event == APPROVED}
    for each in said.facts.approvals or ():
        if each.sha256 not in known:
            yield f"manifest.json: the ledger knows no approval by {each.name!a} before the data were read"


def missing_approvals(said: Manifest, plan: Plan, ledger: Ledger) -> Iterator[str]:
    """Yield a problem if a policy asks for approvals of every release, and the ledger holds fewer of this one.

    Of a restored release the ledger lost these lines. Then the manifest must state the approvals before the charge.
    """
    rule = plan.bundle.policy.spec.approval
    if rule is None or rule.of != "each" or (rule.over is not None and said.charged_epsilon <= rule.over):
        return
    held = recorded_approvals(ledger.journal(), said.release.id, rule.before)
    if ledger.place(said.release.id).event == RESTORED:
        held = max(held, len(said.facts.approvals or ()) if rule.before == "charge" else rule.at_least)
    if held < rule.at_least:
        yield f"the policy asks for {rule.at_least} approvals before the {rule.before}, and the ledger holds {held}"


def _series_problems(said: Manifest, ledger: Ledger, entry: Entry) -> Iterator[str]:
    """Yield a problem unless the manifest and the ledger state the same series, or both none."""
    slot, stated = ledger.slot(entry), said.facts.series
    known = None if slot is None else (ledger.paying(entry).release_id, slot.releases)
    if known != (None if stated is None else (stated.paid_by, stated.releases)):
        yield "manifest.json: the ledger says otherwise about the series that paid for this release"


def _expired(gate: GateFields, charged: JournalLine) -> bool:
    """Return True if a gate's waiver had expired on the day of the release's charge in the ledger. A charge without a
    day counts as too late."""
    return gate.waiver is None or charged.day is None or charged.day > gate.waiver.expires


def audit_problems(said: Manifest, name: str, question: AuditQuestion, ledger: Ledger) -> Iterator[str]:
    """Yield a problem if the ledger does not know the record of an audit: the file `name` of the release, which answers
    `question`."""
    if not is_recorded(ledger.journal(), key(said.policy_digest, question), said.files[name].sha256):
        yield f"{name}: the ledger knows no audit of this policy that ended with this record"
