"""One audit of a policy, of whatever question: plan, set, play and keep."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from crowdgate.audit.common.population import Population
from crowdgate.audit.common.population_table import population
from crowdgate.audit.common.reading import Conclusion, Reading
from crowdgate.audit.common.record import AuditSetting, RecordedAudit
from crowdgate.audit.common.setting import audit_spec
from crowdgate.audit.common.stored_records import USUAL, AuditRuntime, PlannedAudit, record_file, stored_record
from crowdgate.audit.common.trials import ScheduledGame
from crowdgate.candidate import AuditQuestion
from crowdgate.contracts.contract import Contract
from crowdgate.errors import ConfigurationError
from crowdgate.kind.plan import Plan
from crowdgate.ledger.audits import key, subject
from crowdgate.ledger.ledger import Ledger
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.planning.plan import plan_policy, population_problems
from crowdgate.policy.policy import AuditSpec
from crowdgate.system.extras import RELEASE, need

FOLDER = "audits"
"""Of a working copy: records by policy name and version."""

R = TypeVar("R", bound=RecordedAudit)
F = TypeVar("F", bound=Conclusion)


@dataclass(frozen=True)
class AuditRequest:
    """What a person or a schedule asks for; units, trials and weight (texts) in place of the policy's own."""

    policy: Path
    units: str | None = None
    trials: str | None = None
    weight: str | None = None
    ledger: str | None = None

    @property
    def overrides(self) -> Mapping[str, str | None]:
        """What is not as the policy says."""
        return {"units": self.units, "trials": self.trials, "weight": self.weight}


@dataclass(frozen=True, eq=False)
class AuditProcedure(Generic[R, F]):
    """How a question is asked of a policy.

    `ready` raises ConfigurationError where a library is missing. `beside` names the attributes that are read beside the
    mechanism's (None: it reads these alone), and raises ConfigurationError for what no table could mend. `said` is what
    the policy says of an audit on a population of so many units, `setting` all that decides what is found (the flag: on
    the policy's own table); `refuse` raises ConfigurationError for a setting in which nothing can be found at a level,
    and `schedule` gives the games by a seed.
    """

    reading: Reading[R, F]
    ready: Callable[[], object]
    beside: Callable[[Plan], tuple[str, ...] | None]
    said: Callable[[Plan, AuditSpec, int], Mapping[str, Any]]
    setting: Callable[[Plan, AuditSpec, Population, bool], AuditSetting]
    refuse: Callable[[Plan, AuditSpec, Population, Any], None]
    schedule: Callable[[Plan, AuditSpec, Population, int], list[ScheduledGame]]

    @property
    def question(self) -> AuditQuestion:
        """What is asked."""
        return self.reading.question

    def people(self, plan: Plan, contract: Contract) -> Population:
        """The units of a contract's table, as the question sees them. Raises as
        `audit.common.population_table` does."""
        return population(plan, contract, self.beside(plan))

    def table(
        self, plan: Plan, spec: AuditSpec, units: Population, ledger: Ledger, *, confidential: bool = False
    ) -> PlannedAudit[R]:
        """An audit that may be played."""
        return PlannedAudit(
            self.reading.kept,
            self.setting(plan, spec, units, confidential),
            ledger,
            subject_of(plan, self.question),
            key(plan.bundle.digest, self.question),
            partial(self.refuse, plan, spec, units),
            partial(self.schedule, plan, spec, units),
        )


@dataclass(frozen=True, eq=False)
class FinishedAudit(Generic[R, F]):
    """A finished audit: its record, what that comes to, where it lies, and whether gates read it (they do not where the
    command line stated something else than the policy)."""

    record: R
    findings: F
    path: Path
    own: bool


def audit(asking: AuditProcedure[R, F], asked: AuditRequest, how: AuditRuntime = USUAL) -> FinishedAudit[R, F]:
    """Audit a policy on its public population, or report the audit that was made of it with this setting.

    Raises ConfigurationError for wrong files, and for a setting in which nothing can be found; VerificationFailed for a
    record or a partial file that is not what the ledger knows; LedgerRefused and EnvironmentFault as the ledger does.
    """
    need(RELEASE, "audit")
    plan = plan_policy(asked.policy)
    asking.ready()
    if problems := list(population_problems(plan.bundle)):
        raise ConfigurationError(problems)
    spec, ledger = audit_spec(plan, asked.overrides), ledger_of(plan, asked.ledger)
    table = asking.table(plan, spec, asking.people(plan, plan.bundle.population), ledger)
    path = record_file(folder_of(plan), table)
    record = stored_record(table, path, how)
    return FinishedAudit(record, asking.reading.found(record), path, spec == audit_spec(plan))


def subject_of(plan: Plan, question: AuditQuestion) -> str:
    """A policy, as the ledger names its audits."""
    metadata = plan.bundle.policy.metadata
    return subject(metadata.name, metadata.version, plan.bundle.digest, question)


def ledger_of(plan: Plan, url: str | None) -> Ledger:
    """The ledger of the policy's budget."""
    bundle = plan.bundle
    return ledger_at(bundle.root, url, bundle.budget.spec.ledger)


def folder_of(plan: Plan) -> Path:
    """Where the records of a policy lie."""
    metadata = plan.bundle.policy.metadata
    return plan.bundle.root / FOLDER / metadata.name / metadata.version
