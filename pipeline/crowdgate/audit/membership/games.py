"""How membership is asked of a policy: what is fitted on shadow releases, and the games that are played."""

import numpy as np

from crowdgate.audit.common.audit import AuditProcedure, FinishedAudit
from crowdgate.audit.common.policy_mechanism import PolicyMechanism
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.trials import ScheduledGame
from crowdgate.audit.inference.setting import libraries_of_models
from crowdgate.audit.membership.controls import MembershipControl, control_units, tagged_units
from crowdgate.audit.membership.findings import MembershipFindings
from crowdgate.audit.membership.play import MembershipGame
from crowdgate.audit.membership.reading import READING
from crowdgate.audit.membership.record import MembershipRecord
from crowdgate.audit.membership.setting import (
    claimed_shares,
    controls_of,
    policy_fields,
    refuse,
    sampled_rate,
    setting_of,
)
from crowdgate.audit.membership.shadow_releases import fit_shadow_model
from crowdgate.audit.membership.target_population import TargetPopulation
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec

Claimed = FinishedAudit[MembershipRecord, MembershipFindings]
_FITTING, _DRAWING = 0, 1
"""Streams beside those of the games."""


def _schedule(plan: Plan, spec: AuditSpec, population: Population, seed: int) -> list[ScheduledGame]:
    """The policy's own mechanism, and the controls."""
    mechanism, crowd = (
        PolicyMechanism(plan.protection),
        TargetPopulation(population, spec.units or population.size // 2),
    )
    claimed = claimed_shares(spec, crowd.n, population.size)
    own = MembershipGame(mechanism, crowd, claimed, seed, 0, fit_shadow_model(mechanism, crowd, _rng(seed, _FITTING)))
    games = [ScheduledGame(own, spec.membership.releases, "judged", "publishes what the policy says")]
    units = control_units(crowd.n, sampled_rate(plan))
    small = TargetPopulation(tagged_units(population, 2 * units, _rng(seed, _DRAWING)), units)
    for number, control in enumerate(controls_of(plan), start=1):
        games.append(_control_game(control, small, spec, seed, number))
    return games


def _control_game(
    control: MembershipControl, crowd: TargetPopulation, spec: AuditSpec, seed: int, number: int
) -> ScheduledGame:
    claimed = claimed_shares(spec, crowd.n, crowd.population.size)
    game = MembershipGame(control, crowd, claimed, seed, number, attacks=control.attacks)
    return ScheduledGame(game, control.releases, control.must, control.note)


def _rng(seed: int, stream: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1 << 20, stream)))


MEMBERSHIP: AuditProcedure[MembershipRecord, MembershipFindings] = AuditProcedure(
    READING, libraries_of_models, lambda _: None, policy_fields, setting_of, refuse, _schedule
)
