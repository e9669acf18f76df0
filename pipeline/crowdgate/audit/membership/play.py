"""The game of membership: a table of n units is drawn from the population, a release is made of it, and an attacker,
who knows the population, claims of some units that they are in the table.

The table's units are the members, all others the non-members. Nobody is sampled, so that both rates of a release are
exact shares. An attacker claims a share of the population that is fixed beforehand: those with the greatest scores, of
equal ones an equal share, as if drawn by lot. Whom he does not find among members he claims of non-members, so that one
rate gives the other. The release is the unit. Every tenth release chooses attacks, the others estimate.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from crowdgate.audit.common.observation import Mechanism, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Rng
from crowdgate.audit.inference.secret import Floats
from crowdgate.audit.membership import shadow_releases
from crowdgate.audit.membership.attacks import ATTACKS, MembershipAttackerView
from crowdgate.audit.membership.record import MembershipPoint, MembershipResults, Must
from crowdgate.audit.membership.shadow_releases import ShadowModel
from crowdgate.audit.membership.target_population import TargetPopulation
from crowdgate.kind.mechanism_output import MechanismOutput

BATCH = 10
"""Releases of a batch: the first of them chooses."""
NAMES = (*(name for name, _, _ in ATTACKS), shadow_releases.NAME)


@dataclass(frozen=True, eq=False)
class MembershipTally:
    """True positive rates by releases, attacks and shares that are claimed, of releases that choose and of those that
    estimate. Not a number where an attack had nothing to read."""

    choosing: Floats
    estimating: Floats

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {each.name: _as_lists(getattr(self, each.name)) for each in fields(self)}


@dataclass(frozen=True, eq=False)
class MembershipGame:
    """Attacks on a mechanism that is told tables of a crowd; `claimed` are the shares of the population."""

    mechanism: Mechanism
    crowd: TargetPopulation
    claimed: tuple[float, ...]
    seed: int
    number: int
    shadow: ShadowModel | None = None
    attacks: frozenset[str] = frozenset(NAMES)
    """Who attacks."""

    def batches(self, trials: int) -> Iterator[tuple[int, int]]:
        """(number of the batch, its releases)."""
        for start in range(0, trials, BATCH):
            yield start // BATCH, min(BATCH, trials - start)

    def batch(self, at: int, trials: int) -> MembershipTally:
        """The releases of one batch."""
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(self.number, at)))
        rates = np.array([self.release(rng) for _ in range(trials)])
        return MembershipTally(rates[:1], rates[1:])

    def read(self, said: dict[str, Any], trials: int) -> MembershipTally:
        """A tally of so many releases that was written. Raises ValueError or KeyError for one that can't be."""
        found = []
        for each, releases in zip(fields(MembershipTally), (1, trials - 1), strict=True):
            rates = np.array(said[each.name], dtype=np.float64).reshape(-1, len(NAMES), len(self.claimed))
            if len(rates) != releases or not ((rates >= 0) & (rates <= self._most) | (rates == -1)).all():
                raise ValueError("rates that can't be")
            found.append(np.where(rates == -1, np.nan, rates))
        return MembershipTally(*found)

    def played(
        self, tallies: Mapping[int, MembershipTally], must: Must, note: str, rate: float | None
    ) -> MembershipResults:
        """What is recorded: of every share the attack that found most members where attacks are chosen."""
        choosing = np.concatenate([each.choosing for each in tallies.values()]).mean(axis=0)
        estimating = np.concatenate([each.estimating for each in tallies.values()])
        best = np.where(np.isnan(choosing), -np.inf, choosing).argmax(axis=0)
        points = tuple(
            MembershipPoint(claimed=share, attack=NAMES[best[at]], tpr=tuple(estimating[:, best[at], at].tolist()))
            for at, share in enumerate(self.claimed)
            if not np.isnan(estimating[:, best[at], at]).any()
        )
        every = {name: tuple(map(_number, estimating.mean(axis=0)[at])) for at, name in enumerate(NAMES)}
        population = self.crowd.population
        return MembershipResults(
            mechanism=self.mechanism.name, must=must, note=note, rate=rate, releases=len(estimating), n=self.crowd.n,
            others=population.size - self.crowd.n, points=points, recall=every,
        )  # fmt: skip

    def release(self, rng: Rng) -> Floats:
        """One table, one release, all attacks: true positive rates by attacks and shares."""
        drawn = self.crowd.population.draw(self.crowd.n, rng, replacement=False)
        seen = (
            self.mechanism.apply(drawn, PublicKnowledge(self.crowd.population, drawn.n, False), rng).seen
            or MechanismOutput()
        )
        sight = MembershipAttackerView(seen, self.crowd)
        return np.array([self._rates(drawn, self._scores(name, sight)) for name in NAMES])

    def _scores(self, name: str, sight: MembershipAttackerView) -> Floats | None:
        if name not in self.attacks:
            return None
        if name == shadow_releases.NAME:
            return None if self.shadow is None else self.shadow.attack(sight)
        return next(attack for own, _, attack in ATTACKS if own == name)(sight)

    def _rates(self, drawn: DrawnTable, scores: Floats | None) -> Floats:
        if scores is None:
            return np.full(len(self.claimed), np.nan)
        return np.minimum(true_positive_rates(scores, drawn, np.array(self.claimed)), self._most)

    @property
    def _most(self) -> Floats:
        """What each share could find at most."""
        population = self.crowd.population
        return np.minimum(1.0, np.array(self.claimed) * population.size / self.crowd.n)


def true_positive_rates(scores: Floats, drawn: DrawnTable, claimed: Floats) -> Floats:
    """Of what share of its members a table's attacker is right, who claims these shares of the population: those with
    the greatest scores, of equal ones an equal share."""
    members = drawn.population.members
    levels, tie = np.unique(-scores, return_inverse=True)
    behind = np.concatenate([[0.0], np.cumsum(np.bincount(tie, members, len(levels)))])
    right = np.concatenate([[0.0], np.cumsum(np.bincount(tie, drawn.units, len(levels)))])
    return np.asarray(np.interp(claimed * drawn.population.size, behind, right) / drawn.n, dtype=np.float64)


def _as_lists(values: Floats) -> Any:
    found: list[Any] = np.where(np.isnan(values), -1, values).tolist()
    return found


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
