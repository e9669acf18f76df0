"""How an audit of whatever question is kept: looked for, played, recorded.

Every attempt is a line of the ledger before anything is played, with a commitment to its setting and its seed; a record
counts when its digest is a line as well. So no attempt can be forgotten, and none is repeated under another seed: a
finished record is reported, a killed run goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from crowdgate.audit.common.levels import level
from crowdgate.audit.common.record import RecordedAudit
from crowdgate.audit.common.record_io import digest_of, parsed, record_bytes
from crowdgate.audit.common.saved_progress import begin, seed_of
from crowdgate.audit.common.trials import Executor, Progress, ScheduledGame, play_games, serial
from crowdgate.errors import EnvironmentFault, VerificationFailed
from crowdgate.ledger.audits import BEGUN, RECORDED, attempt, attempt_commitment, attempts, is_recorded
from crowdgate.limits import LARGEST_PRIVATE_RECORD
from crowdgate.publish import publisher
from crowdgate.system import permissions
from crowdgate.system.regular_files import is_absent, read_plain

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import Ledger


def new_seed() -> str:
    """128 bits from the operating system."""
    return secrets.token_hex(16)


def now() -> date:
    """Today (UTC)."""
    return datetime.now(UTC).date()


@dataclass(frozen=True)
class AuditRuntime:
    """Where batches are played, who is told how far it is, where seeds are from, and what day it is."""

    executor: Executor = serial
    progress: Progress | None = None
    draw: Callable[[], str] = new_seed
    today: Callable[[], date] = now


USUAL = AuditRuntime()

R = TypeVar("R", bound=RecordedAudit)


@dataclass(frozen=True, eq=False)
class PlannedAudit(Generic[R]):
    """An audit that may be played, and which ledger keeps it.

    `subject` and `key` name it there: the policy, and the end of that name, by which attempts are counted. `refuse`
    raises for a setting in which nothing can be found at the level of an attempt; `schedule` gives what is played from
    a seed.
    """

    kept: type[R]
    setting: Any
    ledger: Ledger
    subject: str
    key: str
    refuse: Callable[[Any], None]
    schedule: Callable[[int], Sequence[ScheduledGame]]


def partial_file(path: Path) -> Path:
    """What was played of an audit that has not ended."""
    return path.with_suffix(".partial")


def record_file(folder: Path, table: PlannedAudit[R]) -> Path:
    """Where the record of an audit lies: one place for one setting."""
    return folder / f"{digest_of(table.setting)[:16]}.json"


def stored_record(table: PlannedAudit[R], path: Path, how: AuditRuntime) -> R:
    """The record of an audit: the one that is there, or one that is made."""
    return _finished(table, path) or _make_record(table, path, how)


def _finished(table: PlannedAudit[R], path: Path) -> R | None:
    """The record that is there. One that the ledger does not know is what a run left that was killed before it told the
    ledger, while what it played is there; otherwise it is refused."""
    try:
        if is_absent(path):
            return None
        data, left = read_plain(path, LARGEST_PRIVATE_RECORD), partial_file(path)
    except OSError as error:
        raise VerificationFailed(f"{path}: no record of an audit: {error.strerror}") from None
    try:
        record: R | None = parsed(data, table.kept)
    except VerificationFailed:
        record = None
    own = record is not None and record.digest == digest_of(table.setting)
    if own and is_recorded(table.ledger.journal(), table.key, hashlib.sha256(data).hexdigest()):
        left.unlink(missing_ok=True)
        return record
    if left.exists():
        return None
    raise VerificationFailed(
        f"{path}: it was edited, or another ledger knows it, or it is of another setting; remove it to audit anew,"
        " which counts as a further attempt"
    )


def _make_record(table: PlannedAudit[R], path: Path, how: AuditRuntime) -> R:
    with _faults(path):
        permissions.make_folders(path.parent, permissions.AUDIT_RECORD)
        record = play_audit(table, partial_file(path), how)
        data = record_bytes(record)
        publisher.replace(path, data, datetime.now(UTC).timestamp(), path.parent)
        table.ledger.record(RECORDED, table.subject, hashlib.sha256(data).hexdigest())
        partial_file(path).unlink(missing_ok=True)
    return record


def play_audit(
    table: PlannedAudit[R], partial: Path, how: AuditRuntime, access: permissions.Access = permissions.AUDIT_RECORD
) -> R:
    """Play an audit to its end, or from where it was stopped; what is played is kept in `partial`."""
    digest = digest_of(table.setting)
    seed = _seed(table, digest, partial, how, access)
    number = attempt(table.ledger.journal(), table.key, attempt_commitment(digest, seed))
    if number is None:
        raise VerificationFailed(
            f"{partial}: no audit was begun with its seed, as far as the ledger knows; remove it to begin anew, which"
            " counts as a further attempt"
        )
    every = play_games(table.schedule(int(seed, 16)), partial, digest, seed, how.executor, how.progress, access)
    return table.kept(
        setting=table.setting, digest=digest, seed=seed, made=how.today(), attempt=number, played=every
    )  # fmt: skip


def _seed(table: PlannedAudit[R], digest: str, partial: Path, how: AuditRuntime, access: permissions.Access) -> str:
    """The seed of the run that was stopped, or a fresh one, to which the ledger commits first."""
    known = seed_of(partial)
    if known is not None:
        return known
    table.refuse(level(attempts(table.ledger.journal(), table.key) + 1))
    seed = how.draw()
    table.ledger.record(BEGUN, table.subject, attempt_commitment(digest, seed))
    begin(partial, digest, seed, access)
    return seed


@contextmanager
def _faults(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(f"{path}: the audit cannot be kept there: {error.strerror}") from None
