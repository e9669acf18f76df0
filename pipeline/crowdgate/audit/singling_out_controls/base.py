"""What a control is."""

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar, Literal

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Rng

Must = Literal["be caught", "hold"]


class SinglingOutControl(ABC):
    """A mechanism of which it is known what an audit that works finds. No policy can name it.

    `n` is the size of its tables (None: as many units as the policy has), `attackers` are those that speak of it, and
    `note` says what it publishes. Of one that must be caught, the best attacker isolates with probability `rate` at
    least at some of `weights(n)`, and `trials` refute the baseline there with probability .9.
    """

    must: ClassVar[Must]
    note: ClassVar[str]
    attackers: ClassVar[tuple[str, ...]]
    n: ClassVar[int | None] = None
    trials: ClassVar[int] = 60
    rate: ClassVar[float] = 1.0

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        """What it tells of this table, with fresh randomness."""

    def weights(self, n: int) -> tuple[Fraction, ...]:
        """At which weights it is judged."""
        return tuple(Fraction(1, n * by) for by in (1_000_000, 1_000, 10, 1))

    def public_knowledge(self, policy: PublicKnowledge) -> PublicKnowledge:
        """What those who attack it know. Tables are drawn with replacement, however those of the policy are."""
        return PublicKnowledge(policy.population, self.n or policy.n)

    def claimed(self, policy: PublicKnowledge) -> float:
        """The success that is claimed of its best attacker on this population."""
        return self.rate

    def fits(self, policy: PublicKnowledge) -> bool:
        """Whether what it must do can be said of this population."""
        return True
