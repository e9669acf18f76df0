"""How membership is asked of a policy: what is fitted on shadow releases, and the games that are played."""

import numpy as np

from crowdgate.audit.membership.controls import Control, tagged, units_of
from crowdgate.audit.membership.crowd import Crowd
from crowdgate.audit.membership.findings import Findings
from crowdgate.audit.membership.play import Game
from crowdgate.audit.membership.record import MembershipRecord
from crowdgate.audit.membership.shadow import fitted
from crowdgate.audit.population import Population
from crowdgate.audit.readings import READINGS
from crowdgate.audit.released import Released
from crowdgate.audit.run import Scheduled
from crowdgate.candidate import Question
from crowdgate.jobs.audit import Asking, Audited
from crowdgate.jobs.inference.setting import libraries_of_models
from crowdgate.jobs.member.setting import claimed_of, controls_of, refuse, said_of, sampled_rate, setting_of
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec

Claimed = Audited[MembershipRecord, Findings]
_FITTING, _DRAWING = 0, 1
"""Streams beside those of the games."""


def _schedule(plan: Plan, spec: AuditSpec, population: Population, seed: int) -> list[Scheduled]:
    """The policy's own mechanism, and the controls."""
    mechanism, crowd = Released(plan.protection), Crowd(population, spec.units or population.size // 2)
    claimed = claimed_of(spec, crowd.n, population.size)
    own = Game(mechanism, crowd, claimed, seed, 0, fitted(mechanism, crowd, _rng(seed, _FITTING)))
    games = [Scheduled(own, spec.membership.releases, "judged", "publishes what the policy says")]
    units = units_of(crowd.n, sampled_rate(plan))
    small = Crowd(tagged(population, 2 * units, _rng(seed, _DRAWING)), units)
    for number, control in enumerate(controls_of(plan), start=1):
        games.append(_controlled(control, small, spec, seed, number))
    return games


def _controlled(control: Control, crowd: Crowd, spec: AuditSpec, seed: int, number: int) -> Scheduled:
    claimed = claimed_of(spec, crowd.n, crowd.population.size)
    game = Game(control, crowd, claimed, seed, number, attacks=control.attacks)
    return Scheduled(game, control.releases, control.must, control.note)


def _rng(seed: int, stream: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1 << 20, stream)))


MEMBERSHIP: Asking[MembershipRecord, Findings] = Asking(
    READINGS[Question.MEMBERSHIP], libraries_of_models, lambda _: None, said_of, setting_of, refuse, _schedule
)
