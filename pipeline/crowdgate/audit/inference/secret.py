"""The secret: an attribute at the finest level of a release, whose value the attacker infers."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.hierarchy import Level

ERROR = Fraction(1, 20)
"""Relative error within which a guess of a number is right (Francis, Wagner, section 4.4)."""


@dataclass(frozen=True, eq=False)
class Secret:
    """An attribute at a level. `numbers` are the values of its labels in increasing order, if they are numbers. A guess
    of a number is right within the relative `error` of the truth; any other guess must equal the truth."""

    name: str
    level: Level
    numbers: Floats | None = None
    error: Fraction = ERROR

    def __len__(self) -> int:
        return len(self.level)

    @cached_property
    def right_guess_range(self) -> tuple[Integers, Integers]:
        """Range of the true labels for which each label is a right guess: two arrays by guessed label, the index of the
        first true label and the index after the last."""
        place = np.arange(len(self), dtype=np.int64)
        if self.numbers is None:
            return place, place + 1
        error, sign = float(self.error), np.sign(self.numbers)
        size = np.abs(self.numbers)
        near, far = size / (1 + error), size / (1 - error)
        low, high = np.where(sign < 0, -far, near), np.where(sign < 0, -near, far)
        slack = 1e-12 * size  # bounds the rounding error of a quotient
        first = np.searchsorted(self.numbers, low - slack, side="left")
        return first.astype(np.int64), np.searchsorted(self.numbers, high + slack, side="right").astype(np.int64)

    def hits(self, weights: Floats) -> Floats:
        """Return, for each label as a guess, the total weight of the true labels for which this guess is right. The
        last axis of `weights` is the true label."""
        first, behind = self.right_guess_range
        total = np.concatenate([np.zeros((*weights.shape[:-1], 1)), np.cumsum(weights, axis=-1)], axis=-1)
        found: Floats = total[..., behind] - total[..., first]
        return found

    def right(self, guess: Integers, truth: Integers) -> Bools:
        """Return a mask of the guesses that are right, given the true labels: equal, or within the relative error for
        numbers."""
        first, behind = self.right_guess_range
        found: Bools = (truth >= first[guess]) & (truth < behind[guess])
        return found


@dataclass(frozen=True, eq=False)
class Guesses:
    """Guessed label of the secret for each tuple of known attributes, and the probability that the guess is right
    (`confidence`; 0: no guess)."""

    label: Integers
    confidence: Floats


def best_guesses(secret: Secret, shares: Floats) -> Guesses:
    """Return, for each row of labels' shares, the guess with the greatest probability of being right, and this
    probability. Ties go to the most probable label. A row of zeros gives no guess."""
    hits = secret.hits(shares)
    label = np.where(hits < hits.max(axis=1, keepdims=True), -1.0, shares).argmax(axis=1)
    return Guesses(label, hits[np.arange(len(hits)), label])
