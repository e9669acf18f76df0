"""Numbers that one release drew, beside the distributions that its mechanism states for them.

A kind compares a candidate with the counts of the table from which it was drawn. What is random has a stated
distribution (noise, sampled classes, private choices); anything else follows from drawn numbers, and differs only if
the release contradicts its statement. All of it is confidential: errors are differences from exact counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.histogram import subsample
from crowdgate.kind.randomness import KeyedRandomness

if TYPE_CHECKING:
    from crowdgate.accounting.discrete_laws import Law
    from crowdgate.arrays import Floats, Integers
    from crowdgate.histogram import Histogram, Subsampler
    from crowdgate.sampling import SecretKey


@dataclass(frozen=True, eq=False)
class NoiseDraws:
    """Noise of independent released numbers (`errors`: released minus exact), all of the stated distribution `law`.
    `family` names the numbers."""

    family: str
    law: Law
    errors: Integers


@dataclass(frozen=True, eq=False)
class ClassDraws:
    """Rows of classes: `full` in the table, `released` of them (0: the class is suppressed). Each row is sampled with
    probability `beta`, and classes with fewer than `least` sampled rows are suppressed."""

    family: str
    full: Integers
    released: Integers
    beta: Fraction
    least: int


@dataclass(frozen=True, eq=False)
class ChoiceDraw:
    """One private choice: the probabilities of all options, best score first, and the position of the chosen one."""

    family: str
    probabilities: Floats
    chosen: int


@dataclass(frozen=True)
class Contradiction:
    """A difference that no randomness can explain: a sentence without any value or count of the table."""

    sentence: str


OTHER_SAMPLE = Contradiction("Rows were sampled otherwise than the policy states.")

StatedDraw = NoiseDraws | ClassDraws | ChoiceDraw | Contradiction


@dataclass(frozen=True, eq=False)
class RecordedChoice:
    """One call of a private selection: its scores, sensitivity, budget (epsilon or rho), and the position returned."""

    scores: Sequence[int]
    sensitivity: int
    budget: Fraction
    chosen: int


@dataclass(frozen=True, eq=False)
class RecordedSample:
    """One use of a Bernoulli sampler: its rate, the rows of each class, and the sampled ones."""

    beta: Fraction
    full: Integers
    sampled: Integers

    @property
    def drawn(self) -> ClassDraws:
        """The sampled rows beside their distribution."""
        return ClassDraws("sampled rows", self.full, self.sampled, self.beta, 0)

    def of(self, table: Histogram) -> Histogram:
        """Return the sampled rows of the table that was sampled."""
        return subsample(table, lambda _: self.sampled)


@dataclass(frozen=True, eq=False)
class RecordedRandomness(KeyedRandomness):
    """The randomness of one release, with a record of its samples and private choices."""

    samples: list[RecordedSample] = field(default_factory=list)
    selections: list[RecordedChoice] = field(default_factory=list)
    """Choices of epsilon (`select`)."""
    choices: list[RecordedChoice] = field(default_factory=list)
    """Choices of rho (`choose`)."""

    @classmethod
    def of(cls, key: SecretKey) -> RecordedRandomness:
        """Return the randomness of a release with this key, as `KeyedRandomness` gives it, and record its use."""
        plain, selections, choices = KeyedRandomness(key), list[RecordedChoice](), list[RecordedChoice]()

        def select(scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
            chosen = plain.select(scores, sensitivity, epsilon)
            selections.append(RecordedChoice(scores, sensitivity, epsilon, chosen))
            return chosen

        def choose(scores: Integers, sensitivity: int, rho: Fraction) -> int:
            chosen = plain.choose(scores, sensitivity, rho)
            choices.append(RecordedChoice(scores.tolist(), sensitivity, rho, chosen))
            return chosen

        return cls(key, plain.noise, select, choose, plain.vectors, selections=selections, choices=choices)

    def sample(self, beta: Fraction) -> RecordedSample | None:
        """Return the only sample, if it is of this rate; None otherwise."""
        return self.samples[0] if [each.beta for each in self.samples] == [beta] else None

    def subsampler(self, beta: Fraction) -> Subsampler:
        """Return a sampler with randomness that no earlier call has returned; its use is recorded."""
        drawn = super().subsampler(beta)

        def sample(counts: Integers) -> Integers:
            found = drawn(counts)
            self.samples.append(RecordedSample(beta, counts, found))
            return found

        return sample
