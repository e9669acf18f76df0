"""The recorded audits that gates of a policy are judged by: found, and either relied on or refused with a reason."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.audit.common.audit import AuditProcedure, folder_of, ledger_of
from crowdgate.audit.common.setting import audit_spec, code_digest, digest_of_population, libraries
from crowdgate.audit.common.stored_records import now
from crowdgate.audit.questions import QUESTIONS
from crowdgate.audit.readings import READINGS
from crowdgate.candidate import AuditFigures, AuditQuestion, Audits, NoAudit
from crowdgate.contracts.csv_file import MOST_BYTES
from crowdgate.errors import CrowdgateError, VerificationFailed
from crowdgate.gate import Outcome
from crowdgate.ledger.audits import is_recorded, key
from crowdgate.measures.recorded_audits import MAX_AGE, command
from crowdgate.planning.gate_verdicts import audit_question, audit_questions
from crowdgate.system.regular_files import read_plain

if TYPE_CHECKING:
    from crowdgate.audit.common.record import RecordedAudit
    from crowdgate.kind.plan import Plan
    from crowdgate.ledger.journal import JournalLine
    from crowdgate.ledger.ledger import Ledger


@dataclass(frozen=True)
class AuditEvidence:
    """What audit gates are judged by: figures with the records that they are from, or why there are none."""

    audits: Audits = field(default_factory=dict)
    records: Mapping[AuditQuestion, bytes] = field(default_factory=dict)


def evidence(plan: Plan, ledger: Ledger, slot: str) -> AuditEvidence:
    """For each question that gates of the policy ask, the record of the audit of this very policy, with this code, that
    the ledger knows; of several the youngest.

    An audit that is older today than some gate allows is none, whatever the slot says. Nothing is read unless a gate
    asks for it.
    """
    journal, day = ledger.journal(), date.fromisoformat(slot[:10])
    audits: dict[AuditQuestion, AuditFigures | NoAudit] = {}
    records: dict[AuditQuestion, bytes] = {}
    for question in audit_questions(plan):
        found = _best_record(plan, QUESTIONS[question].asking, journal)
        if isinstance(found, NoAudit):
            audits[question] = found
        else:
            audits[question], records[question] = READINGS[question].figures(found.record, found.said, day), found.data
    return AuditEvidence(audits, records)


def evidence_here(plan: Plan, slot: str) -> AuditEvidence:
    """The same, where the ledger may be out of reach."""
    questions = audit_questions(plan)
    if not questions:
        return AuditEvidence()
    try:
        return evidence(plan, ledger_of(plan, None), slot)
    except CrowdgateError:
        why = NoAudit("its ledger can't be read here, and no record counts that the ledger does not know")
        return AuditEvidence(dict.fromkeys(questions, why))


@dataclass(frozen=True)
class _ExaminedRecord:
    """A record with its findings, what stands against it first (None: nothing), and how many conditions it met before
    that."""

    data: bytes
    record: RecordedAudit | None
    said: Any
    passed: int
    why: str | None
    line: int


def _best_record(plan: Plan, asking: AuditProcedure[Any, Any], journal: list[JournalLine]) -> _ExaminedRecord | NoAudit:
    tried = [_examined_record(path, plan, asking, journal) for path in sorted(folder_of(plan).glob("*.json"))]
    best = max((each for each in tried if each is not None), key=lambda each: (each.passed, each.line), default=None)
    if best is None:
        where = _relative_path(folder_of(plan), plan)
        return NoAudit(f"no audit of this policy is recorded in {where}; run `{command(asking.question)}`")
    return best if best.record is not None and best.why is None else NoAudit(best.why or "")


def _relative_path(path: Path, plan: Plan) -> str:
    """Where it lies, in the working copy."""
    return path.relative_to(plan.bundle.root).as_posix()


def _examined_record(
    path: Path, plan: Plan, asking: AuditProcedure[Any, Any], journal: list[JournalLine]
) -> _ExaminedRecord | None:
    """One file of the folder; None for the record of another question."""
    try:
        data = read_plain(path, MOST_BYTES)
    except OSError:
        return _ExaminedRecord(b"", None, None, 0, f"{_relative_path(path, plan)} can't be read", 0)
    digest = hashlib.sha256(data).hexdigest()
    line = max((line.number for line in journal if line.commitment == digest), default=0)
    try:
        record, said = asking.reading.read(data)
    except VerificationFailed:
        if _is_of_another(data, asking.question):
            return None
        return _ExaminedRecord(
            data, None, None, 0, f"{_relative_path(path, plan)} is no record of an audit, or it was edited", line
        )
    passed = 0
    faults = _faults(_relative_path(path, plan), record, said, digest, plan, asking, journal)
    for passed, why in enumerate(faults, start=1):
        if why is not None:
            return _ExaminedRecord(data, record, said, passed, why, line)
    return _ExaminedRecord(data, record, said, passed + 1, None, line)


def _is_of_another(data: bytes, question: AuditQuestion) -> bool:
    for other in READINGS.values():
        if other.question is not question:
            try:
                other.read(data)
            except VerificationFailed:
                continue
            return True
    return False


def _faults(
    name: str,
    record: Any,
    said: Any,
    digest: str,
    plan: Plan,
    asking: AuditProcedure[Any, Any],
    journal: list[JournalLine],
) -> Iterator[str | None]:
    """What stands against relying on a record, one condition after the other."""
    setting, anew = record.setting, f"run `{command(asking.question)}` anew"
    yield (
        None
        if setting.policy_digest == plan.bundle.digest
        else (f"the recorded audit is of other policy, contract or budget files (another digest); {anew}")
    )
    yield (
        None
        if is_recorded(journal, key(setting.policy_digest, asking.question), digest)
        else (f"{name} was edited, or is of another ledger: it is not the record that the ledger knows")
    )
    yield (
        None
        if _is_policy_setting(record, plan, asking)
        else (f"the recorded audit was set otherwise than the policy says; {anew}")
    )
    other = f"the population's table is another one than was audited, or can't be read; {anew}"
    yield None if _same_population(record, plan, asking) else other
    yield (
        None
        if (setting.code, _present(setting.libraries)) == (code_digest(), libraries())
        else (f"the recorded audit is of another version of Crowdgate or of its libraries; {anew}")
    )
    yield (
        None
        if said.outcome is not Outcome.INCONCLUSIVE
        else (f"the recorded audit is inconclusive: {'; '.join(said.reasons)}")
    )
    yield "the recorded audit failed: its attackers can exceed its limit" if said.outcome is Outcome.FAIL else None
    yield "the recorded audit is dated in the future" if record.made > now() else None
    yield _stale(record, plan, asking.question, anew)


def _present(recorded: Mapping[str, str]) -> dict[str, str | None]:
    """The versions of what draws releases; the library of the attackers' models need not be here."""
    return {name: recorded.get(name) for name in libraries()}


def _is_policy_setting(record: Any, plan: Plan, asking: AuditProcedure[Any, Any]) -> bool:
    """Whether an audit was set as the policy says."""
    setting = record.setting
    said = asking.said(plan, audit_spec(plan), setting.population_size)
    own = {name: getattr(setting, name) for name in said} == dict(said)
    return own and not setting.confidential and setting.population == plan.bundle.population.id


def _same_population(record: Any, plan: Plan, asking: AuditProcedure[Any, Any]) -> bool:
    """Whether the public table still holds what was audited."""
    try:
        return bool(
            record.setting.population_digest == digest_of_population(asking.people(plan, plan.bundle.population))
        )
    except CrowdgateError:
        return False


def _stale(record: Any, plan: Plan, question: AuditQuestion, anew: str) -> str | None:
    """Against the clock: a slot in the past makes no audit younger."""
    days = (now() - record.made).days
    oldest = min(rule.options[MAX_AGE] for rule, _ in plan.gates if audit_question(rule) is question)
    return f"the recorded audit is {days} days old today, and {MAX_AGE} is {oldest}; {anew}" if days > oldest else None
