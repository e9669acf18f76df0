"""The probability that a gate passes, with its limits."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class PassProbability:
    """The probability that a gate passes, with its limits, which equal the probability if nothing is uncertain.

    `outcomes` are those of simulated releases, the same ones for all gates that have so many; empty if none were
    simulated.
    """

    value: float
    low: float
    high: float
    outcomes: tuple[bool, ...] = field(default=(), compare=False, repr=False)

    @property
    def against(self) -> PassProbability:
        """The probability that the gate does not pass."""
        return PassProbability(1 - self.value, 1 - self.high, 1 - self.low)
