"""The recorded audits by which the gates of a policy are judged: each is found, and then relied on or refused with a
reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from crowdgate.audit.audits import AUDITS
from crowdgate.candidate import AuditFigures, AuditQuestion, Audits, NoAudit
from crowdgate.errors import CrowdgateError
from crowdgate.planning.gate_verdicts import audit_questions

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.ledger.ledger import Ledger


@dataclass(frozen=True)
class AuditEvidence:
    """Evidence for audit gates, by question: the figures with the records that they come from, or the reason why there
    are none."""

    audits: Audits = field(default_factory=dict)
    records: Mapping[AuditQuestion, bytes] = field(default_factory=dict)


def evidence(plan: Plan, ledger: Ledger, slot: str) -> AuditEvidence:
    """Return, for each question of the policy's gates, the figures of the youngest recorded audit (by ledger line) that
    gates can rely on, or the reason why there is none. An audit that is older today than some gate allows is refused,
    whatever the slot (scheduled date). Nothing is read unless a gate asks for it."""
    questions = audit_questions(plan)
    if not questions:
        return AuditEvidence()  # most policies ask nothing, and the whole journal is followed for its lines
    journal, day = ledger.journal(), date.fromisoformat(slot[:10])
    audits: dict[AuditQuestion, AuditFigures | NoAudit] = {}
    records: dict[AuditQuestion, bytes] = {}
    for question in questions:
        from crowdgate.audit.record_search import best_record  # with all that attackers need

        audit = AUDITS[question]
        found = best_record(plan, audit, journal)
        if isinstance(found, NoAudit):
            audits[question] = found
        else:
            audits[question], records[question] = audit.figures(found.record, found.findings, day), found.data
    return AuditEvidence(audits, records)


def evidence_here(plan: Plan, slot: str) -> AuditEvidence:
    """Return the evidence for the audit gates of a policy as `evidence` does. If the ledger can't be read, return that
    reason for each question."""
    questions = audit_questions(plan)
    if not questions:
        return AuditEvidence()
    from crowdgate.audit.common.run import ledger_of

    try:
        return evidence(plan, ledger_of(plan, None), slot)
    except CrowdgateError:
        why = NoAudit("its ledger can't be read here, and no record counts that the ledger does not know")
        return AuditEvidence(dict.fromkeys(questions, why))
