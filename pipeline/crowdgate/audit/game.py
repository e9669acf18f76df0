"""The game of predicate singling out (Cohen, Nissim, arXiv version, Figure 1): a table is drawn, a mechanism tells of
it, attackers answer with predicates, and what is counted is how often exactly one unit of the table matches.

Isolation is counted on the raw table, with its duplicates; weights are exact under D. An attacker that abstains, or
whose predicate is too heavy, has failed: rates are over all trials, whose number is fixed beforehand. Trials come in
batches, each with a stream of its own, so that the counts depend neither on how many processes play them nor on where
a run was resumed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from crowdgate.audit.attackers.base import Answers, Attacker
from crowdgate.audit.observation import Known, Mechanism
from crowdgate.audit.population import Drawn, Rng

Counts = npt.NDArray[np.int64]
BATCH = 50
"""Trials of a batch."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Of each attacker (rows) at each weight (columns), in `trials` trials: isolations within the weight, and
    isolations whatever the weight; in how many trials it had nothing to attack; and rows that were released in all."""

    trials: int
    light: Counts
    any: Counts
    idle: Counts
    kept: int = 0

    @classmethod
    def none(cls, attackers: int, weights: int) -> "Tally":
        """Of no trials."""
        shape = (attackers, weights)
        return cls(0, np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(attackers, np.int64))

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.trials + other.trials, self.light + other.light, self.any + other.any, self.idle + other.idle)


@dataclass(frozen=True, eq=False)
class Game:
    """Who plays against what: the weights are the greatest that predicates may have."""

    mechanism: Mechanism
    attackers: Sequence[Attacker]
    known: Known
    weights: tuple[Fraction, ...]
    seed: int
    number: int
    """Of the mechanism in its audit: each has streams of its own."""

    def batches(self, trials: int) -> Iterator[tuple[int, int]]:
        """(number of the batch, its trials)."""
        for start in range(0, trials, BATCH):
            yield start // BATCH, min(BATCH, trials - start)

    def batch(self, at: int, trials: int) -> Tally:
        """The trials of one batch."""
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(self.number, at)))
        tally = Tally.none(len(self.attackers), len(self.weights))
        for _ in range(trials):
            tally += self.trial(rng)
        return tally

    def trial(self, rng: Rng) -> Tally:
        """One table, one release, an answer of everybody."""
        known = self.known
        drawn = known.population.draw(known.n, rng, replacement=known.replacement)
        told = replace(self.mechanism.tell(drawn, known, rng), others=drawn.others)
        tally = Tally.none(len(self.attackers), len(self.weights))
        for row, attacker in enumerate(self.attackers):
            answers = attacker.answer(told, known, self.weights, rng)
            if answers is None:
                tally.idle[row] += 1
            else:
                tally.light[row], tally.any[row] = self._judged(answers, drawn, rng)
        rows = None if told.seen is None else told.seen.rows
        return Tally(1, tally.light, tally.any, tally.idle, 0 if rows is None else rows.rows)

    def _judged(self, answers: Answers, drawn: Drawn, rng: Rng) -> tuple[Counts, Counts]:
        """Which predicates isolate within their weight, and which isolate at all."""
        found = np.zeros((2, len(self.weights)), dtype=np.int64)
        for at, (predicate, most) in enumerate(zip(answers, self.weights, strict=True)):
            if predicate is not None and predicate.isolates(drawn, rng):
                found[:, at] = predicate.weight(drawn.population) <= most, 1
        return found[0], found[1]


def play(game: Game, trials: int) -> Tally:
    """All trials in this process."""
    tally = Tally.none(len(game.attackers), len(game.weights))
    for at, size in game.batches(trials):
        tally += game.batch(at, size)
    return tally


def trivial_isolations(n: int, share: float, trials: int, rng: Rng) -> int:
    """How many of so many trials of a hash predicate of weight `share` isolate one of `n` rows: each matches a
    Binomial(n, share) number of rows, whatever the table and whatever is published about it."""
    return int(np.count_nonzero(rng.binomial(n, share, trials) == 1))
