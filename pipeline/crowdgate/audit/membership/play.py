"""The game of membership: a table of n units is drawn from the population and released. An attacker who knows the
population claims that some units are in the table.

The table's units are the members, all others the non-members. All units are counted, so that both rates of a release
are exact shares. An attacker claims a share of the population that is fixed beforehand: the units with the greatest
scores, and an equal share of units with equal scores, as if drawn by lot. Claims that are not members are non-members,
so that one rate determines the other. The unit of analysis is the release. Every tenth release chooses attacks, the
others estimate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.audit.common.game import ReleaseGame, ShareTally, finite, joined, read_shares
from crowdgate.audit.common.observation import Mechanism
from crowdgate.audit.common.policy_mechanism import PolicyMechanism
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.common.trials import ScheduledGame
from crowdgate.audit.membership.attacker_view import MembershipAttackerView, ShadowModel
from crowdgate.audit.membership.attacks import ATTACKS, NAMES
from crowdgate.audit.membership.canaries import ATTACKS as CANARY_ATTACKS
from crowdgate.audit.membership.canaries import SHARES, CanaryTable, canary_table, guessed, guesses_of
from crowdgate.audit.membership.controls import control_units, tagged_units
from crowdgate.audit.membership.record import CanaryResults, MembershipPoint, MembershipResults, Must
from crowdgate.audit.membership.setting import (
    claimed_shares,
    controls_of,
    recall_of,
    releases_of,
    sampled_rate,
    units_of,
)
from crowdgate.audit.membership.shadow_releases import fit_shadow_model
from crowdgate.audit.membership.target_population import TargetPopulation
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec

_FITTING, _DRAWING, _PLANTING = 0, 1, 2
"""Random streams in addition to those of the games."""


@dataclass(frozen=True, eq=False)
class MembershipTally(ShareTally):
    """Shares of members found, and right guesses about canaries (attacks by (in, out) by shares; empty without
    canaries)."""

    canaries: Floats


@dataclass(frozen=True, eq=False)
class MembershipGame(ReleaseGame[MembershipTally, MembershipResults]):
    """Attacks on a mechanism that releases tables drawn from the population `crowd`. `claimed` are the shares of the
    population that attackers claim to be in the table."""

    mechanism: Mechanism
    crowd: TargetPopulation
    claimed: tuple[float, ...]
    seed: int
    number: int
    shadow: ShadowModel | None = None
    attacks: frozenset[str] = frozenset(NAMES)
    """Names of the attacks."""
    canaries: CanaryTable | None = None
    """A copy of the population with canaries, of which each batch releases one table."""

    def batch(self, at: int, trials: int) -> MembershipTally:
        rng = self.stream(at)
        rates = np.array([self.release(rng) for _ in range(trials)])
        known = np.zeros(0) if self.canaries is None else self.canaries.play(self.mechanism, rng)
        return MembershipTally(rates[:1], rates[1:], known)

    def read(self, said: dict[str, Any], trials: int) -> MembershipTally:
        shape = len(NAMES), len(self.claimed)
        choosing = read_shares(said["choosing"], (1, *shape), self._most)
        estimating = read_shares(said["estimating"], (trials - 1, *shape), self._most)
        if self.canaries is None:
            return MembershipTally(choosing, estimating, np.zeros(0))
        guesses = (len(CANARY_ATTACKS), 2, len(SHARES))
        known = read_shares(said["canaries"], guesses, guessed(len(self.canaries.cells)).astype(np.float64))
        return MembershipTally(choosing, estimating, known)

    def played(
        self, tallies: Mapping[int, MembershipTally], must: Must, note: str, rate: float | None
    ) -> MembershipResults:
        """Return the results for the audit's record: for every claimed share, the attack that found most members on the
        choosing releases, with its rates on the estimating releases."""
        choosing = joined(tallies.values(), "choosing").mean(axis=0)
        estimating = joined(tallies.values(), "estimating")
        best = np.where(np.isnan(choosing), -np.inf, choosing).argmax(axis=0)
        points = tuple(
            MembershipPoint(claimed=share, attack=NAMES[best[at]], tpr=tuple(estimating[:, best[at], at].tolist()))
            for at, share in enumerate(self.claimed)
            if not np.isnan(estimating[:, best[at], at]).any()
        )
        every = {name: tuple(map(finite, estimating.mean(axis=0)[at])) for at, name in enumerate(NAMES)}
        population = self.crowd.population
        return MembershipResults(
            mechanism=self.mechanism.name, must=must, note=note, rate=rate, releases=len(estimating), n=self.crowd.n,
            others=population.size - self.crowd.n, points=points, recall=every,
            canaries=self._canary_results([each.canaries for each in tallies.values()]),
        )  # fmt: skip

    def _canary_results(self, right: Sequence[Floats]) -> tuple[CanaryResults, ...]:
        """Return the guesses of each attack about canaries: every fourth batch chooses its shares, the others are
        counted. None with fewer than two batches."""
        every = np.array(right)
        if self.canaries is None or len(every) < 2:
            return ()
        choosing, canaries = np.arange(len(every)) % 4 == 0, len(self.canaries.cells)
        releases = int((~choosing).sum())
        return tuple(
            CanaryResults(
                attack=CANARY_ATTACKS[each.attack], releases=releases, canaries=releases * canaries,
                guesses=each.guesses, right=each.right,
            )
            for each in guesses_of(every[choosing], every[~choosing], canaries)
        )  # fmt: skip

    def release(self, rng: Rng) -> Floats:
        """Draw a table, release it, and return the attacks' true positive rates (attacks by claimed shares; NaN:
        nothing to read)."""
        drawn = self.crowd.population.draw(self.crowd.n, rng, replacement=False)
        sight = MembershipAttackerView(self.output(drawn, rng), self.crowd, self.shadow)
        scores = (attack(sight) if name in self.attacks else None for name, _, attack in ATTACKS)
        return np.array([self._rates(drawn, each) for each in scores])

    def _rates(self, drawn: DrawnTable, scores: Floats | None) -> Floats:
        if scores is None:
            return np.full(len(self.claimed), np.nan)
        return np.minimum(true_positive_rates(scores, drawn, np.array(self.claimed)), self._most)

    @property
    def _most(self) -> Floats:
        """Greatest possible true positive rate at each claimed share of the population."""
        population = self.crowd.population
        return np.minimum(1.0, np.array(self.claimed) * population.size / self.crowd.n)


def true_positive_rates(scores: Floats, drawn: DrawnTable, claimed: Floats) -> Floats:
    """Return, for each claimed share of the population, the share of the members found by claiming the units with the
    greatest scores, and an equal share of units with equal scores."""
    members = drawn.population.members
    levels, tie = np.unique(-scores, return_inverse=True)
    behind = np.concatenate([[0.0], np.cumsum(np.bincount(tie, members, len(levels)))])
    right = np.concatenate([[0.0], np.cumsum(np.bincount(tie, drawn.units, len(levels)))])
    return np.asarray(np.interp(claimed * drawn.population.size, behind, right) / drawn.n, dtype=np.float64)


def schedule(plan: Plan, spec: AuditSpec, population: Population, seed: int) -> list[ScheduledGame]:
    """Return the games to play: attacks on the policy's own mechanism, with the model fitted on shadow releases, on the
    controls, and on the policy's attributes of every row."""
    mechanism, crowd = PolicyMechanism(plan.protection), TargetPopulation(population, units_of(spec, population.size))
    recall = recall_of(plan, crowd.n)
    claimed = claimed_shares(spec, recall, crowd.n, population.size)
    figures = plan.protection.figures
    own = MembershipGame(
        mechanism, crowd, claimed, seed, 0, fit_shadow_model(mechanism, crowd, _rng(seed, _FITTING)),
        canaries=canary_table(population, figures.least_class or 1, figures.beta, _rng(seed, _PLANTING)),
    )  # fmt: skip
    games = [ScheduledGame(own, releases_of(plan, spec), "judged", "publishes what the policy says")]
    units = control_units(crowd.n, sampled_rate(plan))
    small = TargetPopulation(tagged_units(population, 2 * units, _rng(seed, _DRAWING)), units)
    few = claimed_shares(spec, recall, small.n, small.population.size)
    for number, control in enumerate(controls_of(plan), start=1):
        played = (crowd, claimed) if control.must == "show" else (small, few)
        game = MembershipGame(control, *played, seed, number, attacks=control.attacks)
        games.append(ScheduledGame(game, control.releases, control.must, control.note))
    return games


def _rng(seed: int, stream: int) -> Rng:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1 << 20, stream)))
