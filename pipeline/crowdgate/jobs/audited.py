"""The recorded audit that gates of a policy are judged by: found, and either relied on or refused with a reason."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from crowdgate.audit.findings import found
from crowdgate.audit.record import AuditRecord, weights_of
from crowdgate.audit.written import figures, parsed
from crowdgate.candidate import UNAUDITED, AuditFigures, NoAudit
from crowdgate.errors import CrowdgateError, VerificationFailed
from crowdgate.gate import Outcome
from crowdgate.jobs.audit import folder_of, ledger_of
from crowdgate.jobs.audit_keeping import now
from crowdgate.jobs.audit_setting import code, digest_of_population, libraries, stated
from crowdgate.jobs.plan import reads_audit
from crowdgate.jobs.population import population
from crowdgate.kind.plan import Plan
from crowdgate.ledger.audits import is_recorded
from crowdgate.ledger.journal import Line
from crowdgate.ledger.ledger import Ledger
from crowdgate.measures.audited import MAX_AGE

ANEW = "run `crowdgate audit` anew"


@dataclass(frozen=True)
class Evidence:
    """What audit gates are judged by: figures with the record that they are from, or why there are none."""

    audit: AuditFigures | NoAudit = UNAUDITED
    record: bytes | None = None


def evidence(plan: Plan, ledger: Ledger, slot: str) -> Evidence:
    """The record of the audit of this very policy, with this code, that the ledger knows; of several the youngest.

    An audit that is older today than some gate allows is none, whatever the slot says. Nothing is read unless a gate
    of the policy asks for it.
    """
    if not any(reads_audit(rule) for rule, _ in plan.gates):
        return Evidence()
    journal, tried = ledger.journal(), list[_Tried]()
    for path in sorted(folder_of(plan).glob("*.json")):
        tried.append(_tried(path, plan, journal))
    best = max(tried, key=lambda each: (each.passed, each.line), default=None)
    if best is None:
        where = _named(folder_of(plan), plan)
        return Evidence(NoAudit(f"no audit of this policy is recorded in {where}; run `crowdgate audit`"))
    if best.record is None or best.why is not None:
        return Evidence(NoAudit(best.why or ""))
    return Evidence(figures(best.record, date.fromisoformat(slot[:10])), best.data)


def evidence_here(plan: Plan, slot: str) -> Evidence:
    """The same, where the ledger may be out of reach."""
    if not any(reads_audit(rule) for rule, _ in plan.gates):
        return Evidence()
    try:
        return evidence(plan, ledger_of(plan, None), slot)
    except CrowdgateError:
        return Evidence(NoAudit("its ledger can't be read here, and no record counts that the ledger does not know"))


@dataclass(frozen=True)
class _Tried:
    """A record, what stands against it first (None: nothing), and how many conditions it met before that."""

    data: bytes
    record: AuditRecord | None
    passed: int
    why: str | None
    line: int


def _named(path: Path, plan: Plan) -> str:
    """Where it lies, in the working copy."""
    return path.relative_to(plan.bundle.root).as_posix()


def _tried(path: Path, plan: Plan, journal: list[Line]) -> _Tried:
    try:
        data = path.read_bytes()
    except OSError:
        return _Tried(b"", None, 0, f"{_named(path, plan)} can't be read", 0)
    digest = hashlib.sha256(data).hexdigest()
    line = max((line.number for line in journal if line.commitment == digest), default=0)
    try:
        record = parsed(data, AuditRecord)
    except VerificationFailed:
        return _Tried(data, None, 0, f"{_named(path, plan)} is no record of an audit, or it was edited", line)
    passed = 0
    for passed, why in enumerate(_faults(_named(path, plan), record, digest, plan, journal), start=1):
        if why is not None:
            return _Tried(data, record, passed, why, line)
    return _Tried(data, record, passed + 1, None, line)


def _faults(name: str, record: AuditRecord, digest: str, plan: Plan, journal: list[Line]) -> Iterator[str | None]:
    """What stands against relying on a record, one condition after the other."""
    setting = record.setting
    yield (
        None
        if setting.policy_digest == plan.bundle.digest
        else (f"the recorded audit is of other policy, contract or budget files (another digest); {ANEW}")
    )
    yield (
        None
        if is_recorded(journal, setting.policy_digest, digest)
        else (f"{name} was edited, or is of another ledger: it is not the record that the ledger knows")
    )
    yield None if _is_own(record, plan) else f"the recorded audit was set otherwise than the policy says; {ANEW}"
    other = f"the population's table is another one than was audited, or can't be read; {ANEW}"
    yield None if _same_people(record, plan) else other
    yield (
        None
        if (setting.code, setting.libraries) == (code(), libraries())
        else (f"the recorded audit is of another version of Crowdgate or of its libraries; {ANEW}")
    )
    said = found(record)
    yield (
        None
        if said.outcome is not Outcome.INCONCLUSIVE
        else (f"the recorded audit is inconclusive: {'; '.join(said.reasons)}")
    )
    yield "the recorded audit failed: its attackers can exceed its limit" if said.outcome is Outcome.FAIL else None
    yield "the recorded audit is dated in the future" if record.made > now() else None
    yield _stale(record, plan)


def _is_own(record: AuditRecord, plan: Plan) -> bool:
    """Whether an audit was set as the policy says."""
    setting, spec = record.setting, stated(plan)
    n = setting.population_size if spec.units is None else spec.units
    asked = (n, spec.trials, weights_of(spec.largest(n), n), spec.limit, spec.replacement, plan.bundle.population.id)
    own = (setting.n, setting.trials, setting.weights, setting.limit, setting.replacement, setting.population)
    return not setting.confidential and own == asked


def _same_people(record: AuditRecord, plan: Plan) -> bool:
    """Whether the public table still holds what was audited."""
    try:
        return record.setting.population_digest == digest_of_population(population(plan, plan.bundle.population))
    except CrowdgateError:
        return False


def _stale(record: AuditRecord, plan: Plan) -> str | None:
    """Against the clock: a slot in the past makes no audit younger."""
    days = (now() - record.made).days
    oldest = min(rule.options[MAX_AGE] for rule, _ in plan.gates if reads_audit(rule))
    return f"the recorded audit is {days} days old today, and {MAX_AGE} is {oldest}; {ANEW}" if days > oldest else None
