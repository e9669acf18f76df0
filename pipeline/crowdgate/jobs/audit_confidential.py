"""An audit on the policy's own table: advice for the curator, of which nothing is public but that it ended.

It is a look at the table: the ledger says so before anything is read, and marks the policies that come after. What is
found lies in the private folder; the ledger holds salted commitments only.
"""

from contextlib import suppress
from typing import Any

from crowdgate.audit.written import digest_of
from crowdgate.errors import Crashed, VerificationFailed
from crowdgate.jobs.audit import USUAL, Asked, How, Table, ledger_of, made, partial_file
from crowdgate.jobs.audit_setting import setting_of, stated
from crowdgate.jobs.plan import plan_policy
from crowdgate.jobs.population import population
from crowdgate.kind.plan import Plan
from crowdgate.ledger.audits import KEPT_PRIVATE
from crowdgate.ledger.ledger import Ledger
from crowdgate.ledger.looks import TABLE_AUDITED
from crowdgate.ledger.private import private_file, read_private, write_private

ENDED = "The audit on the confidential table has ended; what it found is in the private folder beside the ledger."
_STOPPED = (
    "the audit on the confidential table has stopped; the reason is in the private folder, if it could be written"
)


def audit_table(asked: Asked, how: How = USUAL) -> str:
    """Audit a policy on its own table, and return the line that may be shown, always the same.

    Raises ConfigurationError, LedgerRefused and EnvironmentFault before anything is read, Crashed afterwards.
    """
    plan = plan_policy(asked.policy)
    stated(plan, asked.overrides)
    ledger = ledger_of(plan, asked.ledger)
    ledger.record(TABLE_AUDITED, plan.bundle.contract.population)
    try:
        _read_and_kept(plan, asked, ledger, how)
        return ENDED
    except BaseException as error:
        reason = f"{type(error).__name__}: {error}"
    # raised outside the except block: a chained exception would carry the confidential reason along
    with suppress(Exception):  # the disk may be full
        write_private(ledger.path, ledger.id, f"{_name(plan)}/stopped", {"reason": reason})
    raise Crashed(_STOPPED)


def _read_and_kept(plan: Plan, asked: Asked, ledger: Ledger, how: How) -> None:
    spec, units = stated(plan, asked.overrides), population(plan, plan.bundle.contract)
    table = Table(plan, spec, units, setting_of(plan, spec, units, confidential=True), ledger)
    path = private_file(ledger.path, ledger.id, _name(plan))
    if _kept(ledger, plan) == digest_of(table.setting):
        return
    path.parent.mkdir(mode=0o700, exist_ok=True)
    record = made(table, partial_file(path), how, mode=0o600)
    held: dict[str, Any] = {"digest": record.digest, "record": record.model_dump(mode="json")}
    ledger.record(KEPT_PRIVATE, table.subject, write_private(ledger.path, ledger.id, _name(plan), held))
    partial_file(path).unlink(missing_ok=True)


def _kept(ledger: Ledger, plan: Plan) -> str | None:
    """The digest of the audit that is kept, if the ledger committed to it."""
    known = {line.commitment for line in ledger.journal() if line.event == KEPT_PRIVATE and line.commitment}
    try:
        found, committed = read_private(private_file(ledger.path, ledger.id, _name(plan)), known)
        return str(found["digest"]) if committed else None
    except VerificationFailed:
        return None


def _name(plan: Plan) -> str:
    metadata = plan.bundle.policy.metadata
    return f"audit/{metadata.name}/{metadata.version}/{plan.bundle.digest[:16]}"
