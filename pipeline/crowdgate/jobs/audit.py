"""One audit: plan, set, look for a finished record, play, record.

Every attempt is a line of the ledger before anything is played, with a commitment to its setting and its seed; a record
counts when its digest is a line as well. So no attempt can be forgotten, and none is repeated under another seed: a
finished record is reported, a killed run goes on where it stopped.
"""

import hashlib
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from crowdgate.audit.attackers import ATTACKERS
from crowdgate.audit.findings import Findings, found, level
from crowdgate.audit.game import Game
from crowdgate.audit.partial import seed_of
from crowdgate.audit.population import Population
from crowdgate.audit.record import AuditRecord, Setting
from crowdgate.audit.released import Released
from crowdgate.audit.run import Executor, Progress, Scheduled, run, serial
from crowdgate.audit.written import digest_of, parsed, sealed
from crowdgate.errors import ConfigurationError, EnvironmentFault, VerificationFailed
from crowdgate.jobs.audit_setting import controls_of, known_of, refuse, setting_of, stated
from crowdgate.jobs.plan import plan_policy, population_problems
from crowdgate.jobs.population import population as population_of
from crowdgate.kind.plan import Plan
from crowdgate.ledger.audits import BEGUN, RECORDED, attempt, attempt_commitment, attempts, is_recorded, subject
from crowdgate.ledger.ledger import Ledger, open_ledger
from crowdgate.ledger.stores import placed
from crowdgate.policy.policy import AuditSpec
from crowdgate.publish import publisher
from crowdgate.settings import ledger_url

FOLDER = "audits"
"""Of a working copy: records by policy name and version."""


@dataclass(frozen=True)
class Asked:
    """What a person or a schedule asks for; units, trials and weight (texts) in place of the policy's own."""

    policy: Path
    units: str | None = None
    trials: str | None = None
    weight: str | None = None
    ledger: str | None = None

    @property
    def overrides(self) -> dict[str, str | None]:
        """What is not as the policy says."""
        return {"units": self.units, "trials": self.trials, "weight": self.weight}


@dataclass(frozen=True, eq=False)
class Audited:
    """A finished audit: its record, where that lies, and whether gates read it (they do not where the command line
    stated something else than the policy)."""

    record: AuditRecord
    findings: Findings
    path: Path
    own: bool


def new_seed() -> str:
    """128 bits from the operating system."""
    return secrets.token_hex(16)


def now() -> date:
    """Today (UTC)."""
    return datetime.now(UTC).date()


@dataclass(frozen=True)
class How:
    """Where batches are played, who is told how far it is, where seeds are from, and what day it is."""

    executor: Executor = serial
    progress: Progress | None = None
    draw: Callable[[], str] = new_seed
    today: Callable[[], date] = now


USUAL = How()


@dataclass(frozen=True, eq=False)
class Table:
    """An audit that may be played: by whose policy, on which population, and which ledger keeps it."""

    plan: Plan
    spec: AuditSpec
    population: Population
    setting: Setting
    ledger: Ledger

    @property
    def subject(self) -> str:
        """The policy, as the ledger names its audits."""
        return subject_of(self.plan)


def subject_of(plan: Plan) -> str:
    """A policy, as the ledger names its audits."""
    metadata = plan.bundle.policy.metadata
    return subject(metadata.name, metadata.version, plan.bundle.digest)


def audit(asked: Asked, how: How = USUAL) -> Audited:
    """Audit a policy on its public population, or report the audit that was made of it with this setting.

    Raises ConfigurationError for wrong files, and for a setting in which nothing can be found; VerificationFailed for a
    record or a partial file that is not what the ledger knows; LedgerRefused and EnvironmentFault as the ledger does.
    """
    plan = plan_policy(asked.policy)
    if problems := list(population_problems(plan.bundle)):
        raise ConfigurationError(problems)
    spec, ledger = stated(plan, asked.overrides), ledger_of(plan, asked.ledger)
    population = population_of(plan, plan.bundle.population)
    table = Table(plan, spec, population, setting_of(plan, spec, population), ledger)
    path = folder_of(plan) / f"{digest_of(table.setting)[:16]}.json"
    record = _finished(path, ledger) or _made(table, path, how)
    return Audited(record, found(record), path, spec == stated(plan))


def ledger_of(plan: Plan, url: str | None) -> Ledger:
    """The ledger of the policy's budget."""
    bundle = plan.bundle
    return open_ledger(ledger_url(bundle.root, url, placed), bundle.budget.spec.ledger)


def folder_of(plan: Plan) -> Path:
    """Where the records of a policy lie."""
    metadata = plan.bundle.policy.metadata
    return plan.bundle.root / FOLDER / metadata.name / metadata.version


def partial_file(path: Path) -> Path:
    """What was played of an audit that has not ended."""
    return path.with_suffix(".partial")


def _finished(path: Path, ledger: Ledger) -> AuditRecord | None:
    """The record that is there. One that the ledger does not know is what a run left that was killed before it told the
    ledger, while what it played is there; otherwise it is refused."""
    if not path.is_file():
        return None
    data, left = path.read_bytes(), partial_file(path)
    try:
        record: AuditRecord | None = parsed(data)
    except VerificationFailed:
        record = None
    digest = hashlib.sha256(data).hexdigest()
    if record is not None and is_recorded(ledger.journal(), record.setting.policy_digest, digest):
        left.unlink(missing_ok=True)
        return record
    if left.exists():
        return None
    raise VerificationFailed(
        f"{path}: it was edited, or another ledger knows it; remove it to audit anew, which counts as a further attempt"
    )


def _made(table: Table, path: Path, how: How) -> AuditRecord:
    with _faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        record = made(table, partial_file(path), how)
        data = sealed(record)
        publisher.replace(path, data, datetime.now(UTC).timestamp(), path.parent)
        table.ledger.record(RECORDED, table.subject, hashlib.sha256(data).hexdigest())
        partial_file(path).unlink(missing_ok=True)
    return record


def made(table: Table, partial: Path, how: How, mode: int = 0o666) -> AuditRecord:
    """Play an audit to its end, or from where it was stopped; what is played is kept in `partial`."""
    digest = digest_of(table.setting)
    seed = _seed(table, digest, partial, how)
    commitment = attempt_commitment(digest, seed)
    number = attempt(table.ledger.journal(), table.setting.policy_digest, commitment)
    if number is None:
        raise VerificationFailed(
            f"{partial}: no audit was begun with its seed, as far as the ledger knows; remove it to begin anew, which"
            " counts as a further attempt"
        )
    every = run(_schedule(table, int(seed, 16)), partial, digest, seed, how.executor, how.progress, mode)
    return AuditRecord(
        setting=table.setting, digest=digest, seed=seed, made=how.today(), attempt=number, played=every
    )  # fmt: skip


def _seed(table: Table, digest: str, partial: Path, how: How) -> str:
    """The seed of the run that was stopped, or a fresh one, to which the ledger commits first."""
    known = seed_of(partial)
    if known is not None:
        return known
    before = attempts(table.ledger.journal(), table.setting.policy_digest)
    refuse(table.plan, table.spec, table.population, level(before + 1))
    seed = how.draw()
    table.ledger.record(BEGUN, table.subject, attempt_commitment(digest, seed))
    return seed


def _schedule(table: Table, seed: int) -> list[Scheduled]:
    """The policy's own mechanism, and the mechanisms of which it is known what must be found."""
    setting, known = table.setting, known_of(table.spec, table.population)
    own = Game(Released(table.plan.protection), ATTACKERS, known, setting.weights, seed, 0)
    games = [Scheduled(own, setting.trials, "judged", "publishes what the policy says")]
    for number, control in enumerate(controls_of(table.plan, known), start=1):
        shown, attackers = control.known(known), [each for each in ATTACKERS if each.name in control.attackers]
        game = Game(control, attackers, shown, control.weights(shown.n), seed, number)
        rate = control.claimed(known) if control.must == "be caught" else None
        games.append(Scheduled(game, control.trials, control.must, control.note, rate))
    return games


@contextmanager
def _faults(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(f"{path}: the audit cannot be kept there: {error.strerror}") from None
