"""What an attacker wants to know: an attribute at the finest level at which a release may tell it."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.hierarchy import Level

ERROR = Fraction(1, 20)
"""Relative: how far a guess of a number may be from the truth to be right (Francis, Wagner, section 4.4)."""


@dataclass(frozen=True, eq=False)
class Secret:
    """An attribute at a level. `numbers` are the values of its labels in increasing order where they are numbers; a
    guess of a number is right within the relative `error` of the truth, any other if it is the truth."""

    name: str
    level: Level
    numbers: Floats | None = None
    error: Fraction = ERROR

    def __len__(self) -> int:
        return len(self.level)

    @cached_property
    def right_guess_range(self) -> tuple[Integers, Integers]:
        """For every label the first label, and the one behind the last, of which it is a right guess."""
        place = np.arange(len(self), dtype=np.int64)
        if self.numbers is None:
            return place, place + 1
        error, sign = float(self.error), np.sign(self.numbers)
        size = np.abs(self.numbers)
        near, far = size / (1 + error), size / (1 - error)
        low, high = np.where(sign < 0, -far, near), np.where(sign < 0, -near, far)
        slack = 1e-12 * size  # a quotient is off by less than two bits
        first = np.searchsorted(self.numbers, low - slack, side="left")
        return first.astype(np.int64), np.searchsorted(self.numbers, high + slack, side="right").astype(np.int64)

    def hits(self, weights: Floats) -> Floats:
        """Of weights of the true labels (the last axis) the weight for which each label is a right guess."""
        first, behind = self.right_guess_range
        total = np.concatenate([np.zeros((*weights.shape[:-1], 1)), np.cumsum(weights, axis=-1)], axis=-1)
        found: Floats = total[..., behind] - total[..., first]
        return found

    def right(self, guess: Integers, truth: Integers) -> Bools:
        """Whether guesses are right."""
        first, behind = self.right_guess_range
        found: Bools = (truth >= first[guess]) & (truth < behind[guess])
        return found


@dataclass(frozen=True, eq=False)
class Guesses:
    """For each of some tuples the label that is guessed, and how sure the guess is: 0 where none is made."""

    label: Integers
    confidence: Floats


def best_guesses(secret: Secret, shares: Floats) -> Guesses:
    """For each row of shares of the labels the guess that is right most often, and how often it is; of those that are
    right equally often the likeliest label (of one number, that number: not the least that is near it). Of zeros there
    is no guess."""
    hits = secret.hits(shares)
    label = np.where(hits < hits.max(axis=1, keepdims=True), -1.0, shares).argmax(axis=1)
    return Guesses(label, hits[np.arange(len(hits)), label])
