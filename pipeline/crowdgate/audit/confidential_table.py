"""An audit on the policy's own table: advice for the custodian. Only the fact that it ended is public.

It accesses the table: the ledger says so before anything is read, and marks the policies that come after. What is found
lies in the private folder; the ledger holds salted commitments only.
"""

import secrets
from dataclasses import replace
from typing import Any

from crowdgate.audit.common.audit import Audit
from crowdgate.audit.common.run import AuditRequest, ledger_of, units_of
from crowdgate.audit.common.setting import audit_spec
from crowdgate.audit.common.stored_records import (
    USUAL,
    AuditRuntime,
    PlannedAudit,
    partial_file,
    play_audit,
    subject_of,
)
from crowdgate.errors import ConfigurationError, Crashed, Problem, VerificationFailed
from crowdgate.kind.plan import Plan
from crowdgate.ledger.access_log import TABLE_AUDITED
from crowdgate.ledger.audits import BEGUN, KEPT_PRIVATE
from crowdgate.ledger.ledger import Ledger
from crowdgate.ledger.private import private_file, private_folder, read_private, write_private
from crowdgate.planning.plan import plan_policy
from crowdgate.sources import open_source
from crowdgate.system import permissions

ENDED = "The audit on the confidential table has ended. Its result is in the private folder of the ledger."


def audit_table(audit: Audit[Any, Any], request: AuditRequest, how: AuditRuntime = USUAL) -> str:
    """Audit a policy on its own table, and return the line that may be shown.

    The line is the same whatever the table holds, also if nothing could be played on it. So are the lines of the
    ledger: an access, an attempt, and a private record.

    Raises ConfigurationError, LedgerRefused, FileFault and EnvironmentFault before anything is read, Crashed when a
    signal ends it.
    """
    if audit.public_only:
        found, expected = f"--of {audit.question} writes whole releases to temporary files", "a public table"
        raise ConfigurationError(Problem("command line", None, "--on-confidential", found, expected))
    plan = plan_policy(request.policy)
    audit.require_libraries()
    audit_spec(plan, request.overrides)
    ledger = ledger_of(plan, request.ledger)
    ledger.admit()
    open_source(plan.bundle.contract, tuple(dict.fromkeys((*plan.columns, *(audit.other_attributes(plan) or ())))))
    ledger.record(TABLE_AUDITED, plan.bundle.contract.population)
    subject, name = subject_of(plan, audit), _name(plan, audit)
    before = _lines(ledger, subject)
    held: dict[str, Any] | None
    try:
        held = _read(audit, plan, request, ledger, replace(how, progress=None, tell=None))
    except Exception as error:
        held = {"digest": None, "stopped": f"{type(error).__name__}: {error}"}
    except BaseException:  # a signal: the progress is stored, and the next call resumes
        held = None
    if held is None:
        raise Crashed()
    _store_record(ledger, subject, name, held, begun=_lines(ledger, subject) > before)
    return ENDED


def _read(
    audit: Audit[Any, Any], plan: Plan, request: AuditRequest, ledger: Ledger, how: AuditRuntime
) -> dict[str, Any]:
    """Return the JSON object to store: the record of an audit played now on the policy's own table, or the record that
    is stored already."""
    units, name = units_of(audit, plan, plan.bundle.contract), _name(plan, audit)
    planned = PlannedAudit(audit, plan, audit_spec(plan, request.overrides), units, ledger, confidential=True)
    known, digest = _stored_record(ledger, name), planned.digest
    if known is not None and known["digest"] == digest:
        return known
    private_folder(ledger.path)
    # the digest in the name separates this from the progress of a killed run on another table
    partial = partial_file(private_file(ledger.path, ledger.id, f"{name}/{digest[:16]}"))
    record = play_audit(planned, partial, how, permissions.PRIVATE_RECORD)
    partial.unlink(missing_ok=True)
    return {"digest": record.digest, "record": record.model_dump(mode="json")}


def _store_record(ledger: Ledger, subject: str, name: str, held: dict[str, Any], *, begun: bool) -> None:
    """Store the record `held` in the private folder, with the ledger lines that every audit of a confidential table
    leaves. `begun` says that the ledger has the attempt already."""
    if not begun:
        ledger.record(BEGUN, subject, secrets.token_hex(32))
    ledger.record(KEPT_PRIVATE, subject, write_private(ledger.path, ledger.id, name, held))


def _lines(ledger: Ledger, subject: str) -> int:
    return sum(line.event == BEGUN and line.subject == subject for line in ledger.journal())


def _stored_record(ledger: Ledger, name: str) -> dict[str, Any] | None:
    """Return the stored private record of this name, if the ledger committed to it; otherwise None."""
    known = {line.commitment for line in ledger.journal() if line.event == KEPT_PRIVATE and line.commitment}
    try:
        found, committed = read_private(private_file(ledger.path, ledger.id, name), known)
        return dict(found) if committed else None
    except VerificationFailed:
        return None


def _name(plan: Plan, audit: Audit[Any, Any]) -> str:
    metadata = plan.bundle.policy.metadata
    return f"{audit.name}/{metadata.name}/{metadata.version}/{plan.bundle.digest[:16]}"
