"""The records of audits in a policy's folder, examined: relied on, or refused with a reason."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.audit.audits import AUDITS
from crowdgate.audit.common.run import folder_of, units_of
from crowdgate.audit.common.setting import audit_spec, digest_of_population
from crowdgate.audit.common.stored_records import now
from crowdgate.candidate import AuditQuestion, NoAudit
from crowdgate.contracts.csv_file import MOST_BYTES
from crowdgate.errors import CrowdgateError, VerificationFailed
from crowdgate.gate import Outcome
from crowdgate.ledger.audits import is_recorded, key
from crowdgate.measures.recorded_audits import MAX_AGE, command
from crowdgate.planning.gate_verdicts import audit_question
from crowdgate.system.installed_code import code_digest, libraries
from crowdgate.system.regular_files import read_plain

if TYPE_CHECKING:
    from crowdgate.audit.common.audit import Audit
    from crowdgate.audit.common.findings import Findings
    from crowdgate.audit.common.record import AnyRecord
    from crowdgate.kind.plan import Plan
    from crowdgate.ledger.journal import JournalLine


@dataclass(frozen=True)
class ExaminedRecord:
    """An examined file of an audit record, with its findings: the first reason against relying on it (`why`; None:
    nothing), the number of conditions it met before (`passed`), and its line in the ledger (`line`)."""

    data: bytes
    record: AnyRecord | None
    findings: Findings | None
    passed: int
    why: str | None
    line: int


def best_record(plan: Plan, audit: Audit[Any, Any], journal: list[JournalLine]) -> ExaminedRecord | NoAudit:
    """Return the youngest record of this audit's question, by ledger line, that gates can rely on; otherwise the reason
    why there is none."""
    tried = [_examined_record(path, plan, audit, journal) for path in sorted(folder_of(plan).glob("*.json"))]
    best = max((each for each in tried if each is not None), key=lambda each: (each.passed, each.line), default=None)
    if best is None:
        where = _relative_path(folder_of(plan), plan)
        return NoAudit(f"no audit of this policy is recorded in {where}; run `{command(audit.question)}`")
    return best if best.record is not None and best.why is None else NoAudit(best.why or "")


def _relative_path(path: Path, plan: Plan) -> str:
    """Return a path relative to the root of the policy's working copy."""
    return path.relative_to(plan.bundle.root).as_posix()


def _examined_record(
    path: Path, plan: Plan, audit: Audit[Any, Any], journal: list[JournalLine]
) -> ExaminedRecord | None:
    """Return the examination of one file of the audit folder; None for the record of another question."""
    name = _relative_path(path, plan)
    try:
        data = read_plain(path, MOST_BYTES)
    except OSError:
        return ExaminedRecord(b"", None, None, 0, f"{name} can't be read", 0)
    digest = hashlib.sha256(data).hexdigest()
    line = max((line.number for line in journal if line.commitment == digest), default=0)
    try:
        record, findings = audit.read(data)
    except VerificationFailed:
        if any(_is_record_of(data, other) for other in AUDITS.values() if other is not audit):
            return None
        return ExaminedRecord(data, None, None, 0, f"{name} is no record of an audit, or it was edited", line)
    passed = 0
    for holds, why in _conditions(name, record, findings, digest, plan, audit, journal):
        if not holds:
            return ExaminedRecord(data, record, findings, passed + 1, why, line)
        passed += 1
    return ExaminedRecord(data, record, findings, passed + 1, None, line)


def _is_record_of(data: bytes, audit: Audit[Any, Any]) -> bool:
    try:
        audit.read(data)
    except VerificationFailed:
        return False
    return True


def _conditions(
    name: str,
    record: AnyRecord,
    findings: Findings,
    digest: str,
    plan: Plan,
    audit: Audit[Any, Any],
    journal: list[JournalLine],
) -> Iterator[tuple[bool, str]]:
    """Yield the conditions of relying on an audit record, in order: whether each is met, and the reason to report if it
    is not."""
    setting, outcome, again = record.setting, findings.outcome, f"run `{command(audit.question)}` anew"
    other_policy = f"the recorded audit is of other policy, contract or budget files (another digest); {again}"
    yield setting.policy_digest == plan.bundle.digest, other_policy
    not_recorded = f"{name} was edited, or is of another ledger: it is not the record that the ledger knows"
    yield is_recorded(journal, key(setting.policy_digest, audit.question), digest), not_recorded
    yield _is_policy_setting(record, plan, audit), f"the recorded audit was set otherwise than the policy says; {again}"
    other_population = f"the population's table is another one than was audited, or can't be read; {again}"
    yield _same_population(record, plan, audit), other_population
    other_code = f"the recorded audit is of another version of Crowdgate or of its libraries; {again}"
    yield (setting.code, _present(setting.libraries)) == (code_digest(), libraries()), other_code
    open_reasons = f"the recorded audit is inconclusive: {'; '.join(findings.reasons)}"
    yield outcome is not Outcome.INCONCLUSIVE, open_reasons
    yield outcome is not Outcome.FAIL, "the recorded audit failed: its attackers can exceed its limit"
    yield record.made <= now(), "the recorded audit is dated in the future"
    days, oldest = (now() - record.made).days, _max_age(plan, audit.question)
    yield days <= oldest, f"the recorded audit is {days} days old today, and {MAX_AGE} is {oldest}; {again}"


def _present(recorded: Mapping[str, str]) -> dict[str, str | None]:
    """Return, by name, the recorded versions of the libraries that draw releases. The library of the attackers' models
    is left out, since it need not be installed here."""
    return {name: recorded.get(name) for name in libraries()}


def _is_policy_setting(record: AnyRecord, plan: Plan, audit: Audit[Any, Any]) -> bool:
    """Return True if a recorded audit has the policy's settings, on the policy's public population."""
    setting = record.setting
    said = audit.policy_fields(plan, audit_spec(plan), setting.population_size)
    own = {name: getattr(setting, name) for name in said} == dict(said)
    return own and not setting.confidential and setting.population == plan.bundle.population.id


def _same_population(record: AnyRecord, plan: Plan, audit: Audit[Any, Any]) -> bool:
    """Return True if the public table still has the digest of the audited one; False if it changed or can't be read."""
    try:
        population = units_of(audit, plan, plan.bundle.population)
    except CrowdgateError:
        return False
    return bool(record.setting.population_digest == digest_of_population(population))


def _max_age(plan: Plan, question: AuditQuestion) -> Fraction:
    """Return the greatest age in days that the gates for this question allow an audit to have today (the least of their
    limits)."""
    return min(rule.options[MAX_AGE] for rule, _ in plan.gates if audit_question(rule) is question)
