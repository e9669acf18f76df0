"""The game of predicate singling out (Cohen, Nissim, arXiv version, Figure 1): a table is drawn, a mechanism publishes
an output, and attackers answer with predicates. The game counts how often exactly one unit of the table matches.

Isolation is counted on the raw table, with its duplicates; weights are exact under D. An attacker that abstains, or
whose predicate is too heavy, has failed: rates are over all trials, whose number is fixed beforehand. Trials come in
batches, each with its own random stream, so that the counts depend neither on the number of processes nor on where a
run was resumed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.audit.common.game import Game
from crowdgate.audit.common.observation import Mechanism, PublicKnowledge
from crowdgate.audit.common.policy_mechanism import PolicyMechanism
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.common.trials import ScheduledGame
from crowdgate.audit.singling_out.ceiling import ceiling_of
from crowdgate.audit.singling_out.record import AttackerCounts, Must, SinglingOutResults, weights_of
from crowdgate.audit.singling_out.setting import controls_of, public_knowledge
from crowdgate.audit.singling_out_attackers import ATTACKERS
from crowdgate.audit.singling_out_attackers.base import Answers, Attacker, SinglingOutAttackerView
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec


@dataclass(frozen=True, eq=False)
class IsolationTally:
    """Counts in `trials` trials by attacker (rows) and weight (columns).

    `light` counts isolations within the weight, `any` all isolations, `idle` the trials in which the attacker had
    nothing to attack, and `kept` the released rows in all trials. `tenth_light` and `tenth_any` count every tenth
    trial, beginning with the first: these choose an attack that is estimated on the others.
    """

    trials: int
    light: Integers
    any: Integers
    idle: Integers
    kept: int
    tenth_light: Integers
    tenth_any: Integers

    @classmethod
    def none(cls, attackers: int, weights: int) -> "IsolationTally":
        """Return the tally of no trials, for this many attackers and weights."""
        light, found, tenth_light, tenth_any = np.zeros((4, attackers, weights), np.int64)
        return cls(0, light, found, np.zeros(attackers, np.int64), 0, tenth_light, tenth_any)

    def __add__(self, other: "IsolationTally") -> "IsolationTally":
        return IsolationTally(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    def to_json(self) -> dict[str, Any]:
        """Return the counts as a JSON object, as they are stored."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in said.items()}

    @classmethod
    def of_json(cls, said: dict[str, Any]) -> "IsolationTally":
        """Return the counts in a stored JSON object. Raises ValueError or KeyError for anything else."""
        read: dict[str, Any] = {each.name: said[each.name] for each in fields(cls)}
        counts = {name: np.array(value) for name, value in read.items() if isinstance(value, list)}
        numbers = [read["trials"], read["kept"]]
        if any(type(each) is not int for each in numbers) or any(each.dtype != np.int64 for each in counts.values()):
            raise ValueError("counts are whole numbers")
        return cls(**{**read, **counts})

    def possible(self, trials: int) -> bool:
        """Return True if these counts can result from `trials` trials, e.g. no more isolations within a weight than
        isolations in all."""
        counts = (self.light, self.any, self.idle, self.tenth_light, self.tenth_any)
        return (
            self.trials == trials
            and self.kept >= 0
            and self.light.ndim == 2
            and len({each.shape for each in counts if each.ndim == 2}) == 1
            and self.idle.shape == self.light.shape[:1]
            and all(((each >= 0) & (each <= trials)).all() for each in counts)
            and bool((self.light <= self.any).all() and (self.tenth_light <= self.light).all())
            and bool((self.tenth_any <= self.any).all())
        )


@dataclass(frozen=True, eq=False)
class SinglingOutGame(Game[IsolationTally, SinglingOutResults]):
    """Attackers against one mechanism. `weights` are the greatest weights that their predicates may have; an attacker
    answers with one predicate for each."""

    mechanism: Mechanism
    attackers: Sequence[Attacker]
    known: PublicKnowledge
    weights: tuple[Fraction, ...]
    seed: int
    number: int
    batch_size: ClassVar[int] = 50

    def read(self, said: dict[str, Any], trials: int) -> IsolationTally:
        tally = IsolationTally.of_json(said)
        if not tally.possible(trials):
            raise ValueError("counts that can't be")
        return tally

    def batch(self, at: int, trials: int) -> IsolationTally:
        rng = self.stream(at)
        shares = [attacker.shares(self.known, self.weights) for attacker in self.attackers]
        tally = self._by_law(shares, at, trials, rng)
        if all(each is not None for each in shares):
            return tally
        looking = [row for row, each in enumerate(shares) if each is None]
        for number in range(trials):
            tally += self.trial(rng, looking, tenth=_is_tenth(at, number))
        return tally

    def played(
        self, tallies: Mapping[int, IsolationTally], must: Must, note: str, rate: float | None
    ) -> SinglingOutResults:
        """Return the results for the audit's record, from the tallies of all batches of the game."""
        tally, attacked = sum(tallies.values(), IsolationTally.none(len(self.attackers), len(self.weights))), []
        for row, attacker in enumerate(self.attackers):
            counts = (tally.light, tally.any, tally.tenth_light, tally.tenth_any)
            light, found, tenth_light, tenth_any = (tuple(each[row].tolist()) for each in counts)
            attacked.append(
                AttackerCounts(
                    attacker=attacker.name, light=light, any=found, idle=int(tally.idle[row]),
                    tenth_light=tenth_light, tenth_any=tenth_any,
                )
            )  # fmt: skip
        return SinglingOutResults(
            mechanism=self.mechanism.name, must=must, note=note, rate=rate, n=self.known.n, trials=tally.trials,
            weights=self.weights, attacked=tuple(attacked), kept=tally.kept,
            ceiling=ceiling_of(self.known, self.weights) if must == "judged" else None,
        )  # fmt: skip

    def _by_law(self, shares: Sequence[Sequence[Fraction] | None], at: int, trials: int, rng: Rng) -> IsolationTally:
        """Return the isolations of the attackers that always answer with only a hash, drawn from the binomial
        distribution (their `shares` by weight; None: another attacker). The tally has 0 trials unless these are all
        attackers."""
        tally = IsolationTally.none(len(self.attackers), len(self.weights))
        tenth = [_is_tenth(at, number) for number in range(trials)]
        for row, own in enumerate(shares):
            for column, share in enumerate(own or ()):
                isolated = rng.binomial(self.known.n, float(share), trials) == 1
                tally.light[row, column] = tally.any[row, column] = np.count_nonzero(isolated)
                tally.tenth_light[row, column] = tally.tenth_any[row, column] = np.count_nonzero(isolated[tenth])
        return replace(tally, trials=trials if all(each is not None for each in shares) else 0)

    def trial(self, rng: Rng, looking: Sequence[int], *, tenth: bool = False) -> IsolationTally:
        """Draw a table, release it, and return the isolations by the attackers with the indices `looking`. `tenth` says
        that the trial is one of every tenth."""
        known = self.known
        drawn = known.population.draw(known.n, rng, replacement=known.replacement)
        told = replace(self.mechanism.apply(drawn, known, rng), others=drawn.others)
        sight = SinglingOutAttackerView(told, known, self.weights)
        tally = IsolationTally.none(len(self.attackers), len(self.weights))
        for row in looking:
            answers = self.attackers[row].answer(sight)
            if answers is None:
                tally.idle[row] += 1
            else:
                tally.light[row], tally.any[row] = self._isolations(answers, drawn, rng)
        rows = None if told.seen is None else told.seen.rows
        chosen = (tally.light, tally.any) if tenth else (tally.tenth_light, tally.tenth_any)
        return IsolationTally(1, tally.light, tally.any, tally.idle, 0 if rows is None else rows.rows, *chosen)

    def _isolations(self, answers: Answers, drawn: DrawnTable, rng: Rng) -> tuple[Integers, Integers]:
        """Return, for each weight, 1 if the answered predicate isolates a unit and is within the weight, otherwise 0;
        then the same for isolation at any weight."""
        found = np.zeros((2, len(self.weights)), dtype=np.int64)
        for at, (predicate, most) in enumerate(zip(answers, self.weights, strict=True)):
            if predicate is not None and predicate.isolates(drawn, rng):
                found[:, at] = predicate.weight(drawn.population) <= most, 1
        return found[0], found[1]


def _is_tenth(batch: int, number: int) -> bool:
    """Return True if a trial, by its batch and its number there, is one of every tenth, beginning with the first."""
    return (SinglingOutGame.batch_size * batch + number) % 10 == 0


def schedule(plan: Plan, spec: AuditSpec, population: Population, seed: int) -> list[ScheduledGame]:
    """Return the games to play: attackers on the policy's own mechanism, and on the controls."""
    known = public_knowledge(spec, population)
    weights = weights_of(spec.largest(known.n), known.n)
    own = SinglingOutGame(PolicyMechanism(plan.protection), ATTACKERS, known, weights, seed, 0)
    games = [ScheduledGame(own, spec.trials, "judged", "publishes what the policy says")]
    for number, control in enumerate(controls_of(plan, known), start=1):
        shown = control.public_knowledge(known)
        attackers = [each for each in ATTACKERS if each.name in control.attackers]
        game = SinglingOutGame(control, attackers, shown, control.weights(shown.n), seed, number)
        rate = control.claimed(known) if control.must == "be caught" else None
        games.append(ScheduledGame(game, control.trials, control.must, control.note, rate))
    return games
