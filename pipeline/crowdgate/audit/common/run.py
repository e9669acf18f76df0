"""An audit of a policy on its public population, from the request to the findings."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from crowdgate.audit.common.audit import Audit, F, FinishedAudit, R
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.population_table import population
from crowdgate.audit.common.setting import audit_spec
from crowdgate.audit.common.stored_records import USUAL, AuditRuntime, PlannedAudit, record_file, stored_record
from crowdgate.contracts.contract import Contract
from crowdgate.errors import ConfigurationError
from crowdgate.kind.plan import Plan
from crowdgate.ledger.ledger import Ledger
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.planning.plan import plan_policy, population_problems
from crowdgate.system.extras import RELEASE, need

FOLDER = "audits"
"""Folder of the records in a working copy, by policy name and version."""


@dataclass(frozen=True)
class AuditRequest:
    """Request for an audit; units, trials and weight (texts) replace the policy's own."""

    policy: Path
    units: str | None = None
    trials: str | None = None
    weight: str | None = None
    ledger: str | None = None

    @property
    def overrides(self) -> Mapping[str, str | None]:
        """Audit settings from the request that replace the policy's, by name; None where the policy's value applies."""
        return {"units": self.units, "trials": self.trials, "weight": self.weight}


def audit(of: Audit[R, F], request: AuditRequest, runtime: AuditRuntime = USUAL) -> FinishedAudit[R, F]:
    """Audit a policy on its public population, or report the earlier audit with this setting.

    Raises ConfigurationError for wrong files, and for a setting in which nothing can be found; VerificationFailed for a
    record or a partial file that is not what the ledger knows; LedgerRefused and EnvironmentFault as the ledger does.
    """
    need(RELEASE, "audit")
    plan = plan_policy(request.policy)
    of.require_libraries()
    if problems := list(population_problems(plan.bundle)):
        raise ConfigurationError(problems)
    spec, ledger = audit_spec(plan, request.overrides), ledger_of(plan, request.ledger)
    planned = PlannedAudit(of, plan, spec, units_of(of, plan, plan.bundle.population), ledger)
    path = record_file(folder_of(plan), planned)
    record = stored_record(planned, path, runtime)
    return FinishedAudit(record, of.findings(record), path, spec == audit_spec(plan))


def units_of(of: Audit[R, F], plan: Plan, contract: Contract) -> Population:
    """Return the population of privacy units of a contract's table, with the attributes that the audit `of` reads.
    Raises as `population_table.population` does."""
    return population(plan, contract, of.other_attributes(plan))


def ledger_of(plan: Plan, url: str | None) -> Ledger:
    """Return the ledger of the policy's budget."""
    bundle = plan.bundle
    return ledger_at(bundle.root, url, bundle.budget.spec.ledger)


def folder_of(plan: Plan) -> Path:
    """Return the folder of a policy version's audit records in the working copy."""
    metadata = plan.bundle.policy.metadata
    return plan.bundle.root / FOLDER / metadata.name / metadata.version
