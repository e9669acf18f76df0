"""Findings about canaries: at each stated point (epsilon, delta) of the guarantee, the lower limit of epsilon from the
attack that shows most.

Each attack is tested at each point. All these tests share one level equally, so that the limits hold together. That is
the first step of Holm's method: it refutes the guarantee exactly if one of them does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from crowdgate.accounting.canaries import canary_p, epsilon_limit
from crowdgate.accounting.numbers import down, up
from crowdgate.audit.membership.record import CanaryResults, MembershipSetting
from crowdgate.candidate import Cost


@dataclass(frozen=True)
class CanaryPoint:
    """Findings at one stated point (epsilon, delta): the attack that shows most, the p-value of its guesses at this
    point, the lower confidence limit of epsilon at this delta (`limit`), and the greatest limit that any attack would
    have reached if all its guesses had been right (`ceiling`)."""

    epsilon: Fraction
    delta: Fraction
    attack: str
    p: float
    limit: float
    ceiling: float


@dataclass(frozen=True)
class CanaryFindings:
    """Findings at all stated points of the guarantee, and the level of each test."""

    points: tuple[CanaryPoint, ...]
    level: Fraction

    @property
    def refuted(self) -> CanaryPoint | None:
        """The first point that the guesses refute; None if they refute none."""
        return next((each for each in self.points if each.p <= self.level), None)

    @property
    def powerless(self) -> bool:
        """True if even right guesses alone could have refuted no point."""
        return all(each.ceiling <= each.epsilon for each in self.points)


def canary_findings(
    every: Sequence[CanaryResults], setting: MembershipSetting, alpha: Fraction
) -> CanaryFindings | None:
    """Return what the guesses of all attacks show about the stated guarantee at level alpha, for adding or removing one
    unit; None without canaries."""
    costs = ((setting.epsilon, setting.delta), *setting.points)
    level = alpha / max(1, len(costs) * len(every))
    return CanaryFindings(tuple(_point(every, cost, level) for cost in costs), level) if every else None


def _point(every: Sequence[CanaryResults], cost: Cost, level: Fraction) -> CanaryPoint:
    epsilon, delta = map(Fraction, cost)
    best = min(every, key=lambda each: _p(each, each.right, cost))
    sure = min(every, key=lambda each: _p(each, each.guesses, cost))
    p, limit = _p(best, best.right, cost), epsilon_limit(best.right, best.guesses, best.canaries, delta, level)
    proven = max(limit, down(epsilon)) if p <= level else limit  # the limit is a little below what is proven
    ceiling = epsilon_limit(sure.guesses, sure.guesses, sure.canaries, delta, level)
    return CanaryPoint(epsilon, delta, best.attack, p, proven, ceiling)


def _p(guessed: CanaryResults, right: int, cost: Cost) -> float:
    return canary_p(right, guessed.guesses, guessed.canaries, up(Fraction(cost[0])), cost[1])
