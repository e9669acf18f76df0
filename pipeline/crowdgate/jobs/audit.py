"""One audit of a policy, of whatever question: plan, set, play and keep."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from crowdgate.audit.population import Population
from crowdgate.audit.readings import Reading, Said
from crowdgate.audit.record import CommonSetting, Record
from crowdgate.audit.run import Scheduled
from crowdgate.candidate import Question
from crowdgate.contracts.contract import Contract
from crowdgate.errors import ConfigurationError
from crowdgate.extras import RELEASE, need
from crowdgate.jobs.audit_keeping import USUAL, How, Table, kept, record_file
from crowdgate.jobs.audit_setting import stated
from crowdgate.jobs.ledgers import ledger_at
from crowdgate.jobs.plan import plan_policy, population_problems
from crowdgate.jobs.population import population
from crowdgate.kind.plan import Plan
from crowdgate.ledger.audits import key, subject
from crowdgate.ledger.ledger import Ledger
from crowdgate.policy.policy import AuditSpec

FOLDER = "audits"
"""Of a working copy: records by policy name and version."""

R = TypeVar("R", bound=Record)
F = TypeVar("F", bound=Said)


@dataclass(frozen=True)
class Asked:
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
class Asking(Generic[R, F]):
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
    setting: Callable[[Plan, AuditSpec, Population, bool], CommonSetting]
    refuse: Callable[[Plan, AuditSpec, Population, Any], None]
    schedule: Callable[[Plan, AuditSpec, Population, int], list[Scheduled]]

    @property
    def question(self) -> Question:
        """What is asked."""
        return self.reading.question

    def people(self, plan: Plan, contract: Contract) -> Population:
        """The units of a contract's table, as the question sees them. Raises as `jobs.population.population` does."""
        return population(plan, contract, self.beside(plan))

    def table(
        self, plan: Plan, spec: AuditSpec, units: Population, ledger: Ledger, *, confidential: bool = False
    ) -> Table[R]:
        """An audit that may be played."""
        return Table(
            self.reading.kept,
            self.setting(plan, spec, units, confidential),
            ledger,
            subject_of(plan, self.question),
            key(plan.bundle.digest, self.question),
            partial(self.refuse, plan, spec, units),
            partial(self.schedule, plan, spec, units),
        )


@dataclass(frozen=True, eq=False)
class Audited(Generic[R, F]):
    """A finished audit: its record, what that comes to, where it lies, and whether gates read it (they do not where the
    command line stated something else than the policy)."""

    record: R
    findings: F
    path: Path
    own: bool


def audit(asking: Asking[R, F], asked: Asked, how: How = USUAL) -> Audited[R, F]:
    """Audit a policy on its public population, or report the audit that was made of it with this setting.

    Raises ConfigurationError for wrong files, and for a setting in which nothing can be found; VerificationFailed for a
    record or a partial file that is not what the ledger knows; LedgerRefused and EnvironmentFault as the ledger does.
    """
    need(RELEASE, "audit")
    plan = plan_policy(asked.policy)
    asking.ready()
    if problems := list(population_problems(plan.bundle)):
        raise ConfigurationError(problems)
    spec, ledger = stated(plan, asked.overrides), ledger_of(plan, asked.ledger)
    table = asking.table(plan, spec, asking.people(plan, plan.bundle.population), ledger)
    path = record_file(folder_of(plan), table)
    record = kept(table, path, how)
    return Audited(record, asking.reading.found(record), path, spec == stated(plan))


def subject_of(plan: Plan, question: Question) -> str:
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
