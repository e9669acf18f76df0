"""One audit of predicate singling out: plan, set, and keep."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from crowdgate.audit.attackers import ATTACKERS
from crowdgate.audit.findings import Findings, found
from crowdgate.audit.game import Game
from crowdgate.audit.population import Population
from crowdgate.audit.record import AuditRecord
from crowdgate.audit.released import Released
from crowdgate.audit.run import Scheduled
from crowdgate.errors import ConfigurationError
from crowdgate.jobs.audit_keeping import USUAL, How, Table, kept, record_file
from crowdgate.jobs.audit_setting import controls_of, known_of, refuse, setting_of, stated
from crowdgate.jobs.plan import plan_policy, population_problems
from crowdgate.jobs.population import population as population_of
from crowdgate.kind.plan import Plan
from crowdgate.ledger.audits import subject
from crowdgate.ledger.ledger import Ledger, open_ledger
from crowdgate.ledger.stores import placed
from crowdgate.policy.policy import AuditSpec
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
    def overrides(self) -> Mapping[str, str | None]:
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


def audit(asked: Asked, how: How = USUAL) -> Audited:
    """Audit a policy on its public population, or report the audit that was made of it with this setting.

    Raises ConfigurationError for wrong files, and for a setting in which nothing can be found; VerificationFailed for a
    record or a partial file that is not what the ledger knows; LedgerRefused and EnvironmentFault as the ledger does.
    """
    plan = plan_policy(asked.policy)
    if problems := list(population_problems(plan.bundle)):
        raise ConfigurationError(problems)
    spec, ledger = stated(plan, asked.overrides), ledger_of(plan, asked.ledger)
    table = table_of(plan, spec, population_of(plan, plan.bundle.population), ledger)
    path = record_file(folder_of(plan), table)
    record = kept(table, path, how)
    return Audited(record, found(record), path, spec == stated(plan))


def table_of(
    plan: Plan, spec: AuditSpec, population: Population, ledger: Ledger, *, confidential: bool = False
) -> Table[AuditRecord]:
    """An audit of singling out that may be played."""
    return Table(
        AuditRecord,
        setting_of(plan, spec, population, confidential=confidential),
        ledger,
        subject_of(plan),
        plan.bundle.digest,
        partial(refuse, plan, spec, population),
        partial(_schedule, plan, spec, population),
    )


def subject_of(plan: Plan, question: str = "") -> str:
    """A policy, as the ledger names its audits."""
    metadata = plan.bundle.policy.metadata
    return subject(metadata.name, metadata.version, plan.bundle.digest, question)


def ledger_of(plan: Plan, url: str | None) -> Ledger:
    """The ledger of the policy's budget."""
    bundle = plan.bundle
    return open_ledger(ledger_url(bundle.root, url, placed), bundle.budget.spec.ledger)


def folder_of(plan: Plan) -> Path:
    """Where the records of a policy lie."""
    metadata = plan.bundle.policy.metadata
    return plan.bundle.root / FOLDER / metadata.name / metadata.version


def _schedule(plan: Plan, spec: AuditSpec, population: Population, seed: int) -> list[Scheduled]:
    """The policy's own mechanism, and the mechanisms of which it is known what must be found."""
    setting, known = setting_of(plan, spec, population), known_of(spec, population)
    own = Game(Released(plan.protection), ATTACKERS, known, setting.weights, seed, 0)
    games = [Scheduled(own, setting.trials, "judged", "publishes what the policy says")]
    for number, control in enumerate(controls_of(plan, known), start=1):
        shown, attackers = control.known(known), [each for each in ATTACKERS if each.name in control.attackers]
        game = Game(control, attackers, shown, control.weights(shown.n), seed, number)
        rate = control.claimed(known) if control.must == "be caught" else None
        games.append(Scheduled(game, control.trials, control.must, control.note, rate))
    return games
