"""The game of attribute inference: a release of the whole table, attacks on everybody in it, and the baselines.

The unit of analysis is the release: its sampling and its noise are the same for all targets, so that shares are added
up by release (intervals pooled over targets would be far too narrow). Every tenth release chooses attacks, on blocks of
targets that no figure is estimated on; the others estimate.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.audit.common.game import ReleaseGame, ShareTally, finite, joined, read_shares
from crowdgate.audit.common.observation import Mechanism
from crowdgate.audit.common.policy_mechanism import PolicyMechanism
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.common.trials import ScheduledGame
from crowdgate.audit.inference.attacks import ATTACKS, InferenceAttackerView
from crowdgate.audit.inference.controls import GROUP, TAG
from crowdgate.audit.inference.record import AttackShares, InferenceResults, Must, SecretResults
from crowdgate.audit.inference.secret import best_guesses
from crowdgate.audit.inference.secret_case import COVERAGES, DIGITS, GROUPS, STATS, SecretCase, TargetView
from crowdgate.audit.inference.setting import controls_of, releases_of, secrets_of
from crowdgate.audit.inference.source_table import PARTS, SourceTable
from crowdgate.audit.inference.tables import InferenceTables
from crowdgate.hierarchy import Level
from crowdgate.kind.mechanism_output import MechanismOutput
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec


@dataclass(frozen=True, eq=False)
class InferenceTally(ShareTally):
    """Shares of targets by releases, secrets, attacks, groups of targets, coverages and STATS. `outside` has the shares
    of targets guessed for and guessed right (by releases, secrets, attacks and coverages) among a fifth of the table
    that was left out of the release."""

    outside: Floats


@dataclass(frozen=True, eq=False)
class InferenceGame(ReleaseGame[InferenceTally, InferenceResults]):
    """Attacks on a mechanism that releases a table; `cases` are the table's secrets with targets and baselines."""

    mechanism: Mechanism
    cases: Sequence[SecretCase]
    seed: int
    number: int
    also_known: tuple[str, ...] = ()
    """Additional attributes of the population that the attacker knows, and that say nothing about other rows."""
    attacks: frozenset[str] = frozenset(name for name, _, _ in ATTACKS)
    """Names of the attacks."""
    more: ClassVar[int] = 0
    """Few batches have a release beside those that are counted."""

    @property
    def original(self) -> SourceTable:
        """Table that is released, with its division into blocks."""
        return self.cases[0].original

    def batch(self, at: int, trials: int) -> InferenceTally:
        rng = self.stream(at)
        choosing = np.array([self._release(rng, self.original.choose)])
        estimating = [self._release(rng, self.original.estimate) for _ in range(trials - 1)]
        outside = [self._outside(rng, self.original.part(at // PARTS % PARTS))] if _leaves_out(at) else []
        return InferenceTally(
            choosing,
            np.array(estimating).reshape(trials - 1, *choosing.shape[1:]),
            np.array(outside).reshape(len(outside), *choosing.shape[1:3], len(COVERAGES), 2),
        )

    def read(self, said: dict[str, Any], trials: int) -> InferenceTally:
        shape = (len(self.cases), len(ATTACKS), len(GROUPS), len(COVERAGES), len(STATS))
        shapes = {
            "choosing": (1, *shape), "estimating": (trials - 1, *shape),
            "outside": (min(1, len(said["outside"])), *shape[:2], len(COVERAGES), 2),
        }  # fmt: skip
        tally = InferenceTally(**{name: read_shares(said[name], wanted) for name, wanted in shapes.items()})
        if any((each[..., 1:] > each[..., :1]).any() for each in (tally.choosing, tally.estimating, tally.outside)):
            raise ValueError("shares that can't be: more right guesses than guesses")
        return tally

    def played(
        self, tallies: Mapping[int, InferenceTally], must: Must, note: str, rate: float | None
    ) -> InferenceResults:
        """Return the results to record: for each secret, group and coverage the attack with the greatest gain on the
        choosing releases."""
        parts = "choosing", "estimating", "outside"
        choosing, estimating, outside = (joined(tallies.values(), name) for name in parts)
        return InferenceResults(
            mechanism=self.mechanism.name, must=must, note=note, rate=rate, releases=len(estimating),
            secrets=tuple(
                _secret_results(case, choosing[:, at], estimating[:, at], outside[:, at])
                for at, case in enumerate(self.cases)
            ),
        )  # fmt: skip

    def _release(self, rng: Rng, part: slice) -> Floats:
        """Return the shares of targets by secrets, attacks, groups, coverages and STATS, for one release of the whole
        table and the targets in some blocks (`part`)."""
        attacked = self._attacked(self.original.table(rng), rng)
        return np.round(
            np.array([[self._shares(case, *each, part) for each in sights] for case, sights in attacked]), DIGITS
        )

    def _attacked(
        self, drawn: DrawnTable, rng: Rng
    ) -> Iterator[tuple[SecretCase, Iterator[tuple[TargetView, Floats | None]]]]:
        """Release a table, and yield each secret's case with every attack's labels' shares for the targets (None:
        nothing to read)."""
        seen = self.output(drawn, rng)
        return ((case, self._sights(case, seen, rng)) for case in self.cases)

    def _sights(self, case: SecretCase, seen: MechanismOutput, rng: Rng) -> Iterator[tuple[TargetView, Floats | None]]:
        view = case.view(self._levels(case, seen))
        sight = InferenceAttackerView(seen, case.secret, view.target, case.prior, rng)
        return ((view, attack(sight) if name in self.attacks else None) for name, _, attack in ATTACKS)

    def _shares(self, case: SecretCase, view: TargetView, shares: Floats | None, part: slice) -> Floats:
        if shares is None:
            return np.full((len(GROUPS), len(COVERAGES), len(STATS)), np.nan)
        return view.shares(best_guesses(case.secret, shares), part)

    def _outside(self, rng: Rng, part: slice) -> Floats:
        """Return the shares guessed for and guessed right among the people of some blocks (`part`), by attacks on a
        release without these blocks: the prior framework. Axes: secrets, attacks, coverages, the two shares."""
        found = np.full((len(self.cases), len(ATTACKS), len(COVERAGES), 2), np.nan)
        for at, (case, sights) in enumerate(self._attacked(self.original.without(part, rng), rng)):
            for attack, (view, shares) in enumerate(sights):
                if shares is not None:
                    found[at, attack] = view.shares(best_guesses(case.secret, shares), part)[0, :, :2]
        return np.round(found, DIGITS)

    def _levels(self, case: SecretCase, seen: MechanismOutput) -> Mapping[str, Level]:
        """Return the known attributes that are released, each with its finest released level."""
        known = (*case.original.known_attributes(case.secret), *self.also_known)
        told: dict[str, Level] = {}
        for levels in (seen.levels if seen.released_rows is not None else {}, *(table.levels for table in seen.tables)):
            for name, level in levels.items():
                if name in known and (name not in told or len(level) > len(told[name])):
                    told[name] = level
        return {name: told[name] for name in known if name in told}


def _leaves_out(batch: int) -> bool:
    """Return whether a batch has a release that leaves a fifth of the table out: every fifth batch does."""
    return batch % PARTS == 0


def _secret_results(case: SecretCase, choosing: Floats, estimating: Floats, outside: Floats) -> SecretResults:
    """Return the results of all attacks on one secret, from shares on the choosing and the estimating releases and for
    people outside of the release."""
    best = best_attacks(choosing)
    found = []
    for group in range(len(GROUPS)):
        for coverage in range(len(COVERAGES)):
            at = int(best[group, coverage])
            own = estimating[:, at, group, coverage]
            if np.isnan(own).any() or not case.targets(group):
                continue
            found.append(_attack_shares(case, group, coverage, ATTACKS[at][0], own, outside[:, at, coverage]))
    every, guessed = _precision(estimating), estimating.mean(axis=0)[..., 0]
    lines = {
        name: tuple((finite(x), finite(p)) for x, p in zip(every[at, 0], guessed[at, 0], strict=True))
        for at, (name, _, _) in enumerate(ATTACKS)
    }
    return SecretResults(secret=case.secret.name, level=case.secret.level.name, labels=len(case.secret),
                    known=case.original.known_attributes(case.secret), precision=lines, found=tuple(found))  # fmt: skip


def best_attacks(choosing: Floats) -> Integers:
    """Return the index of the attack with the greatest gain over a baseline, for every group and coverage; among equal
    gains the most precise. Attacks that guess for less than half of the coverage come last: they are judged at a
    smaller one."""
    total = np.nan_to_num(choosing.sum(axis=0))
    predicted, attack, bases = total[..., 0], total[..., 1], total[..., 2:4]
    left = predicted[..., None] - bases
    none = np.where(attack >= predicted, 0.0, -np.inf)  # the gain over a baseline that is always right
    gains = np.divide(attack[..., None] - bases, left, out=np.stack([none, none], axis=-1), where=left > 0).max(axis=-1)
    precision = np.divide(attack, predicted, out=np.zeros_like(predicted), where=predicted > 0)
    enough = predicted >= np.array(COVERAGES) * len(choosing) / 2
    # keys in order: enough guesses, then the gain, then the precision
    order = np.lexsort((precision, gains, enough), axis=0)
    return np.asarray(order[-1], dtype=np.int64)


def _attack_shares(
    case: SecretCase, group: int, coverage: int, attack: str, own: Floats, outside: Floats
) -> AttackShares:
    at_all, used = case.chosen(group), [case.chosen(group, share) for share in own[:, 0].tolist()]
    return AttackShares(
        group=GROUPS[group], coverage=COVERAGES[coverage], attack=attack,
        baseline=case.held[max(used, key=used.count)].name, baseline_of_these=case.held[at_all].name,
        targets=case.targets(group), wrong=_wrong_share(case, group, at_all),
        wrong_at=max(_wrong_share(case, group, each) for each in set(used)),
        outside=_mean(outside) if group == 0 else None,
        shares=tuple((each[0], each[1], each[2], each[3]) for each in own.tolist()),
        both=float(np.round(own[:, 4].mean(), DIGITS)),
    )  # fmt: skip


def _precision(shares: Floats) -> Floats:
    """Return the share of right guesses among all guesses, by attacks, groups and coverages, over all releases; NaN
    where nothing is guessed."""
    total = shares.sum(axis=0)
    nothing: Floats = np.full(total.shape[:-1], np.nan)
    return np.asarray(np.divide(total[..., 1], total[..., 0], out=nothing, where=total[..., 0] > 0), dtype=np.float64)


def _wrong_share(case: SecretCase, group: int, baseline: int) -> float:
    """Return the share of a group's target rows for which a baseline (by index) is wrong if it guesses for all, on the
    estimating blocks."""
    part = case.original.estimate
    rows, right = case.rows(group)[:, part].sum(), case.right(case.held[baseline], group)[:, part].sum()
    return float(np.round(1 - right / rows, DIGITS))


def _mean(shares: Floats) -> float | None:
    predicted, right = np.nansum(shares, axis=0)
    return None if predicted == 0 else float(right / predicted)


def schedule(plan: Plan, spec: AuditSpec, population: Population, seed: int) -> list[ScheduledGame]:
    """Return the games to play: attacks on the policy's own mechanism, on the policy's columns published unchanged, and
    on the controls."""
    tables = InferenceTables(plan, spec, population, tuple(secrets_of(plan)), seed)
    own = InferenceGame(PolicyMechanism(plan.protection), tables.cases, seed, 0)
    games = [ScheduledGame(own, releases_of(plan, spec), "judged", "publishes what the policy says")]
    for number, control in enumerate(controls_of(plan), start=1):
        also = tuple(name for name in (TAG, GROUP) if name in control.added)
        game = InferenceGame(control, tables.of(control), seed, number, also, control.attacks)
        games.append(ScheduledGame(game, control.releases, control.must, control.note, control.least))
    return games
