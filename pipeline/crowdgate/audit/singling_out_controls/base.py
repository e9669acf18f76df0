"""Base class of controls."""

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar, Literal

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Rng

Must = Literal["be caught", "hold"]


class SinglingOutControl(ABC):
    """A mechanism for which the result of a working audit is known. No policy can name it.

    `n` is the size of its tables (None: as many units as the policy has), `attackers` are the attackers that are played
    against it, and `note` says what it publishes. If it must be caught, the best attacker isolates with probability at
    least `rate` at some of `weights(n)`, and `trials` trials refute the baseline there with probability .9.
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
        """Return the control's output on this table, with fresh randomness."""

    def weights(self, n: int) -> tuple[Fraction, ...]:
        """Return the greatest weights of predicates at which attackers on the control answer, for tables of n units."""
        return tuple(Fraction(1, n * by) for by in (1_000_000, 1_000, 10, 1))

    def public_knowledge(self, policy: PublicKnowledge) -> PublicKnowledge:
        """Return the public knowledge of the control's attackers, given that of the policy's. The control's tables are
        always drawn with replacement."""
        return PublicKnowledge(policy.population, self.n or policy.n)

    def claimed(self, policy: PublicKnowledge) -> float:
        """Return the success (probability of isolation) that the control's best attacker reaches at least on this
        population."""
        return self.rate

    def fits(self, policy: PublicKnowledge) -> bool:
        """Return True if the control's correct result is known on this population."""
        return True
