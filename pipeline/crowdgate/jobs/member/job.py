"""One audit of membership: plan, set, fit on shadow releases, and keep what is played."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from crowdgate.audit.membership.controls import Control, tagged, units_of
from crowdgate.audit.membership.crowd import Crowd
from crowdgate.audit.membership.findings import Findings, found
from crowdgate.audit.membership.play import Game
from crowdgate.audit.membership.record import MembershipRecord
from crowdgate.audit.membership.shadow import fitted
from crowdgate.audit.population import Population
from crowdgate.audit.released import Released
from crowdgate.audit.run import Scheduled
from crowdgate.errors import ConfigurationError
from crowdgate.jobs.audit import Asked, folder_of, ledger_of, subject_of
from crowdgate.jobs.audit_keeping import USUAL, How, Table, kept, record_file
from crowdgate.jobs.audit_setting import stated
from crowdgate.jobs.member.setting import claimed_of, controls_of, refuse, sampled_rate, setting_of
from crowdgate.jobs.plan import plan_policy, population_problems
from crowdgate.jobs.population import population as population_of
from crowdgate.kind.plan import Plan
from crowdgate.ledger.audits import key
from crowdgate.policy.policy import AuditSpec

QUESTION = "membership"
_FITTING, _DRAWING = 0, 1
"""Streams beside those of the games."""


@dataclass(frozen=True, eq=False)
class Claimed:
    """A finished audit: its record, and where that lies."""

    record: MembershipRecord
    findings: Findings
    path: Path
    own: bool


def audit_membership(asked: Asked, how: How = USUAL) -> Claimed:
    """Audit what a policy's release tells of who is in its table, or report the audit that was made with this setting.

    Raises as `jobs.audit.audit` does, and ConfigurationError where scikit-learn is not installed.
    """
    plan = plan_policy(asked.policy)
    if problems := list(population_problems(plan.bundle)):
        raise ConfigurationError(problems)
    spec, population = stated(plan, asked.overrides), population_of(plan, plan.bundle.population)
    table = Table(
        MembershipRecord,
        setting_of(plan, spec, population),
        ledger_of(plan, asked.ledger),
        subject_of(plan, QUESTION),
        key(plan.bundle.digest, QUESTION),
        partial(refuse, plan, spec, population),
        partial(_schedule, plan, spec, population),
    )
    path = record_file(folder_of(plan), table)
    record = kept(table, path, how)
    return Claimed(record, found(record), path, spec == stated(plan))


def _schedule(plan: Plan, spec: AuditSpec, population: Population, seed: int) -> list[Scheduled]:
    """The policy's own mechanism, and the controls."""
    mechanism, crowd = Released(plan.protection), Crowd(population, spec.units or population.size // 2)
    claimed = claimed_of(spec, population.size)
    own = Game(mechanism, crowd, claimed, seed, 0, fitted(mechanism, crowd, _rng(seed, _FITTING)))
    games = [Scheduled(own, spec.membership.releases, "judged", "publishes what the policy says")]
    units = units_of(crowd.n, sampled_rate(plan))
    small = Crowd(tagged(population, 2 * units, _rng(seed, _DRAWING)), units)
    for number, control in enumerate(controls_of(plan), start=1):
        games.append(_controlled(control, small, spec, seed, number))
    return games


def _controlled(control: Control, crowd: Crowd, spec: AuditSpec, seed: int, number: int) -> Scheduled:
    claimed = claimed_of(spec, crowd.population.size)
    game = Game(control, crowd, claimed, seed, number, attacks=control.attacks)
    return Scheduled(game, control.releases, control.must, control.note)


def _rng(seed: int, stream: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1 << 20, stream)))
