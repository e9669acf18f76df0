"""The joint cost of a release of rows: class law, margins, choice of levels and charged gates together.

A gate's noise and a choice on the full table enter as the pair of any step of their epsilon. Margins with Gaussian
noise enter by their own queries; if the levels are chosen, the queries may differ by the choice, and margins enter by
their (epsilon, delta). With a choice on the released sample the joint cost is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

from crowdgate.accounting import part_laws
from crowdgate.accounting.class_laws import SampledClass
from crowdgate.accounting.dominating_pairs import DominatingPair
from crowdgate.accounting.joint import MOST_ROWS, JointLaw, replaced
from crowdgate.accounting.joint_points import Point, stated_points, stated_replacements, target_delta
from crowdgate.accounting.numbers import down, up
from crowdgate.accounting.safe_k import least_k
from crowdgate.guarantee import JointCost, Part, group
from crowdgate.mechanisms.rows.charge_names import CHOICE_PART, MARGINS_PART

if TYPE_CHECKING:
    from crowdgate.accounting.noise_laws import NoiseLaw

LARGEST_K = 10_000
"""The greatest class size for which a joint cost is computed."""


@dataclass(frozen=True)
class MarginsLaw:
    """The law of margins: that of their `noise`, or only the (epsilon, delta) of `part` where that is not known."""

    part: Part
    noise: NoiseLaw | None = None

    @property
    def name(self) -> str:
        """The name of the law, as manifests state it."""
        return "epsilon and delta" if self._known is None else self._known.name

    def pair(self, times: int) -> DominatingPair:
        """Return the pair for one unit (`times` 1), or for one removed and one added (2)."""
        if self._known is None:
            return part_laws.opaque(*group(self.part.epsilon, self.part.delta, times))
        return self._known.pair(times)

    @property
    def _known(self) -> NoiseLaw | None:
        return self.noise if self.noise is not None and self.noise.is_known else None


@dataclass(frozen=True)
class RowsLaw:
    """All steps of a release of rows but its class size: the sampling rate, the largest number of `rows` of a unit, the
    epsilons of charged `gates`, the epsilon of a choice on the full table, and the margins."""

    beta: Fraction
    rows: int
    gates: tuple[Fraction, ...]
    choice: Fraction | None = None
    margins: MarginsLaw | None = None

    def law(self, k: int) -> JointLaw:
        """Return the joint law at class size k, for one unit that is added or removed."""
        return self._law(k, self._steps[0], 1)

    def cost(self, k: int, epsilon: Fraction, delta: Fraction, parts: Sequence[str]) -> JointCost:
        """Return the joint cost that a release states at class size k: points of its curve for its total, and the laws
        of its parts, by name."""
        curve = _stated(self, k, epsilon, delta)
        names = tuple(part_names(self, parts).items())
        return JointCost(curve, names, of_replaced=partial(self._replacements, k, epsilon, delta))

    def _replacements(self, k: int, epsilon: Fraction, delta: Fraction) -> tuple[Point, ...]:
        return stated_replacements(self.replaced(k), delta, group(epsilon, delta, 2))

    def replaced(self, k: int) -> Callable[[float], float]:
        """Return the curve of delta at class size k, for a unit that is replaced by another."""
        return replaced(self._law(k, self._steps[1], 2))

    def least_k(self, epsilon: Fraction, delta: Fraction, known: int = 1) -> int:
        """Return the least k whose joint delta at `epsilon` is at most `delta`, none below `known` being so: from that
        of the classes alone upwards, in steps that double. Raises ValueError if none up to LARGEST_K is.
        """
        return _least_k(self, epsilon, delta, known)

    def _law(self, k: int, steps: tuple[DominatingPair, ...], times: int) -> JointLaw:
        choice = None if self.choice is None else part_laws.pure(times * up(self.choice))
        return JointLaw(SampledClass(k, up(self.beta), self.rows), steps, choice)

    @cached_property
    def _steps(self) -> tuple[tuple[DominatingPair, ...], tuple[DominatingPair, ...]]:
        """The pairs of the steps other than classes and choice, for one change, and for a removal and an addition."""
        one, two = (
            tuple(part_laws.pure(times * up(each)) for each in self.gates)
            + (() if self.margins is None else (self.margins.pair(times),))
            for times in (1, 2)
        )
        return one, two


@lru_cache(maxsize=256)
def _stated(law: RowsLaw, k: int, epsilon: Fraction, delta: Fraction) -> tuple[Point, ...]:
    return stated_points(law.law(k).delta, epsilon, delta)


@lru_cache(maxsize=256)
def _least_k(law: RowsLaw, epsilon: Fraction, delta: Fraction, known: int) -> int:
    target, at = target_delta(delta), down(epsilon)

    def holds(k: int) -> bool:
        return law.law(k).delta(at, target) <= target

    low = max(known, least_k(epsilon, delta, law.beta)) - 1
    high = min(low + 1, LARGEST_K)
    while not holds(high):
        if high >= LARGEST_K:
            raise ValueError(f"delta must be reachable at a k of at most {LARGEST_K}")
        low, high = high, min(high + 2 * (high - low), LARGEST_K)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def part_names(law: RowsLaw, parts: Sequence[str]) -> dict[str, str]:
    """Return the name of the law of each part of the guarantee."""
    own = {"mechanism": "sampled class", CHOICE_PART: "pure"}
    if law.margins is not None:
        own[MARGINS_PART] = law.margins.name
    return {name: own.get(name, "pure") for name in parts}


def joint_rows(rows: int) -> bool:
    """Return whether the joint cost of units with this many rows is known."""
    return rows <= MOST_ROWS
