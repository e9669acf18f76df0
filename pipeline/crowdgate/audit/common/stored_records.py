"""Storage of audits, for any question: find a record, play, and record.

Every attempt is a line of the ledger before anything is played, with a commitment to its setting and its seed; a record
counts when its digest is a line as well. So no attempt can be forgotten, and none is repeated under another seed: a
finished record is reported, a killed run goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from crowdgate.audit.common.audit import Audit, R
from crowdgate.audit.common.ceiling import Ceiling
from crowdgate.audit.common.least_units import released_rows
from crowdgate.audit.common.levels import level
from crowdgate.audit.common.outlook import outlook
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.record import AuditSetting
from crowdgate.audit.common.record_io import digest_of, parsed, record_bytes
from crowdgate.audit.common.saved_progress import begin, seed_of
from crowdgate.audit.common.trials import Executor, Progress, play_games, serial
from crowdgate.errors import EnvironmentFault, VerificationFailed
from crowdgate.kind.plan import Plan
from crowdgate.ledger.audits import BEGUN, RECORDED, attempt, attempt_commitment, attempts, is_recorded, key, subject
from crowdgate.limits import LARGEST_PRIVATE_RECORD
from crowdgate.policy.policy import AuditSpec
from crowdgate.publish import publisher
from crowdgate.system import permissions
from crowdgate.system.regular_files import is_absent, read_plain

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import Ledger


def new_seed() -> str:
    """Return a new seed: 128 random bits from the operating system, in hexadecimal."""
    return secrets.token_hex(16)


def now() -> date:
    """Return today's date (UTC)."""
    return datetime.now(UTC).date()


@dataclass(frozen=True)
class AuditRuntime:
    """Surroundings of an audit's run: the executor of batches, the progress callback, the source of seeds, today's
    date, and the function that is told the outlook before anything is played (None: it is not computed)."""

    executor: Executor = serial
    progress: Progress | None = None
    draw: Callable[[], str] = new_seed
    today: Callable[[], date] = now
    tell: Callable[[str], None] | None = None
    insist: bool = False
    """Play also an audit that could not fail."""


USUAL = AuditRuntime()


@dataclass(frozen=True, eq=False)
class PlannedAudit(Generic[R]):
    """An audit to play on a population, and the ledger that counts it as an attempt."""

    audit: Audit[R, Any]
    plan: Plan
    spec: AuditSpec
    population: Population
    ledger: Ledger
    confidential: bool = False

    @cached_property
    def setting(self) -> AuditSetting:
        """Setting of the audit: everything that decides the findings except the seed and the noise of OpenDP's
        samplers."""
        return self.audit.planned_setting(self.plan, self.spec, self.population, self.confidential)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the audit's setting."""
        return digest_of(self.setting)

    @cached_property
    def ceiling(self) -> Ceiling | None:
        """The most that attackers could find; None if nothing bounds it below every limit."""
        of = self.audit.ceiling
        return None if of is None else of(self.plan, self.spec, self.population)

    @property
    def key(self) -> str:
        """Key by which the ledger counts attempts: the digest of the policy's bundle and the audit's question."""
        return key(self.plan.bundle.digest, self.audit.question)


def subject_of(plan: Plan, audit: Audit[Any, Any]) -> str:
    """Return the name under which the ledger records audits of this policy and this question."""
    metadata = plan.bundle.policy.metadata
    return subject(metadata.name, metadata.version, plan.bundle.digest, audit.question)


def partial_file(path: Path) -> Path:
    """Return the path of the progress file that an unfinished audit leaves beside its record."""
    return path.with_suffix(".partial")


def record_file(folder: Path, planned: PlannedAudit[R]) -> Path:
    """Return the path of an audit's record in `folder`, named by the first digits of the setting's digest."""
    return folder / f"{planned.digest[:16]}.json"


def stored_record(planned: PlannedAudit[R], path: Path, how: AuditRuntime) -> R:
    """Return the stored record of an audit, or play the audit and store its record."""
    return _finished(planned, path) or _make_record(planned, path, how)


def _finished(planned: PlannedAudit[R], path: Path) -> R | None:
    """Return the stored record if the ledger knows it; None if there is no record, or if a killed run left it before
    informing the ledger (its progress file exists). Raises VerificationFailed for any other file."""
    try:
        if is_absent(path):
            return None
        data, left = read_plain(path, LARGEST_PRIVATE_RECORD), partial_file(path)
    except OSError as error:
        raise VerificationFailed(f"{path}: no record of an audit: {error.strerror}") from None
    try:
        record: R | None = parsed(data, planned.audit.record)
    except VerificationFailed:
        record = None
    own = record is not None and record.digest == planned.digest
    if own and is_recorded(planned.ledger.journal(), planned.key, hashlib.sha256(data).hexdigest()):
        left.unlink(missing_ok=True)
        return record
    if left.exists():
        return None
    raise VerificationFailed(
        f"{path}: this audit record was edited, or belongs to another ledger or setting. Remove it to audit anew,"
        " which counts as a further attempt"
    )


def _make_record(planned: PlannedAudit[R], path: Path, how: AuditRuntime) -> R:
    with _faults(path):
        permissions.make_folders(path.parent, permissions.AUDIT_RECORD)
        record = play_audit(planned, partial_file(path), how)
        data = record_bytes(record)
        publisher.replace(path, data, datetime.now(UTC).timestamp(), path.parent)
        planned.ledger.record(RECORDED, subject_of(planned.plan, planned.audit), hashlib.sha256(data).hexdigest())
        partial_file(path).unlink(missing_ok=True)
    return record


def play_audit(
    planned: PlannedAudit[R], partial: Path, how: AuditRuntime, access: permissions.Access = permissions.AUDIT_RECORD
) -> R:
    """Play an audit to its end, or resume it, and return its record. Progress is stored in the file `partial`. Raises
    VerificationFailed if the ledger does not know the seed in that file."""
    resumed = seed_of(partial) is not None
    digest, seed = planned.digest, _seed(planned, partial, how, access)
    number = attempt(planned.ledger.journal(), planned.key, attempt_commitment(digest, seed))
    if number is None:
        raise VerificationFailed(
            f"{partial}: no audit was begun with its seed, as far as the ledger knows; remove it to begin anew, which"
            " counts as a further attempt"
        )
    games = planned.audit.schedule(planned.plan, planned.spec, planned.population, int(seed, 16))
    if how.tell is not None and not resumed:
        rows = released_rows(planned.plan.protection, planned.population)
        how.tell(outlook(planned.audit, planned.setting, level(number), games, planned.ceiling, rows))
    every = play_games(games, partial, digest, seed, how.executor, how.progress, access)
    return planned.audit.record(
        setting=planned.setting, digest=digest, seed=seed, made=how.today(), attempt=number, played=every
    )


def _seed(planned: PlannedAudit[R], partial: Path, how: AuditRuntime, access: permissions.Access) -> str:
    """Return the seed of the run to resume; otherwise a fresh seed, to which the ledger has committed before anything
    is played."""
    known = seed_of(partial)
    if known is not None:
        return known
    alpha = level(attempts(planned.ledger.journal(), planned.key) + 1)
    planned.audit.refuse(planned.plan, planned.spec, planned.population, alpha)
    if not how.insist and planned.ceiling is not None and planned.ceiling.hopeless:
        raise planned.ceiling.problem(planned.plan, planned.spec)
    seed = how.draw()
    planned.ledger.record(BEGUN, subject_of(planned.plan, planned.audit), attempt_commitment(planned.digest, seed))
    begin(partial, planned.digest, seed, access)
    return seed


@contextmanager
def _faults(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(f"{path}: the audit cannot be kept there: {error.strerror}") from None
