"""The joint cost of noisy tables and charged gates, by the laws of their noise.

A gate's noise enters as the pair of any step of its epsilon. Noise planned by the sum of the parts is raised in cost,
and so made smaller, as far as the joint curve keeps the total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from crowdgate.accounting import part_laws
from crowdgate.accounting.joint import GREATEST_EPSILON
from crowdgate.accounting.joint_points import Point, stated_points, stated_replacements, target_delta
from crowdgate.accounting.noise_laws import NoiseLaw, NoisyVector, greatest_factor
from crowdgate.accounting.numbers import down, up
from crowdgate.guarantee import JointCost, group

if TYPE_CHECKING:
    from collections.abc import Callable

    from crowdgate.accounting.dominating_pairs import DominatingPair
    from crowdgate.accounting.joint import JointLaw
    from crowdgate.guarantee import Part
    from crowdgate.mechanisms.tables.dp_tables import DpTables
    from crowdgate.mechanisms.tables.workload import LinearQuery


@dataclass(frozen=True)
class TablesLaw:
    """The laws of a release of tables: its noise, and the epsilons of charged `gates`."""

    noise: NoiseLaw
    gates: tuple[Fraction, ...] = ()

    @property
    def law(self) -> JointLaw:
        """The joint law for one unit that is added or removed."""
        return self.noise.joint(self._gate_pairs(1))

    def replaced(self) -> Callable[[float], float]:
        """Return the curve of delta for a unit that is replaced by another."""
        return self.noise.replaced(self._gate_pairs(2))

    def cost(self, epsilon: Fraction, delta: Fraction) -> JointCost:
        """Return the joint cost that a release states, with the law of the mechanism's part."""
        curve = stated_points(self.law.delta, epsilon, delta)
        names = (("mechanism", self.noise.name),)
        return JointCost(curve, names, of_replaced=partial(self._replacements, epsilon, delta))

    def _replacements(self, epsilon: Fraction, delta: Fraction) -> tuple[Point, ...]:
        return stated_replacements(self.replaced(), delta, group(epsilon, delta, 2))

    def _gate_pairs(self, times: int) -> list[DominatingPair]:
        return [part_laws.pure(times * up(each)) for each in self.gates]


def noise_law(mechanism: DpTables) -> NoiseLaw:
    """Return the law of the noise of planned tables."""
    pairs, on_cells = zip(mechanism.vectors, mechanism.spends, strict=True), not mechanism.residuals
    vectors = tuple(
        NoisyVector(
            linear.query.sensitivity(mechanism.rows),
            spend,
            on_cells and is_one_sided(linear),
            1 if on_cells else linear.query.cells,
        )
        for linear, spend in pairs
    )
    return NoiseLaw(mechanism.budget.noise, vectors, mechanism.rows, mechanism.beta)


def is_one_sided(linear: LinearQuery) -> bool:
    """Return whether all rows change a query's numbers in the same direction, as they do counts."""
    return linear.grid is None or linear.grid.low >= 0 or linear.grid.high <= 0


def with_raised_spend(mechanism: DpTables, part: Part, gates: Sequence[Fraction] = ()) -> DpTables:
    """Return tables with the greatest noise budget at which they and the charged gates together keep the epsilon of
    `part` and of the gates, and the delta of `part`.

    `mechanism` is planned by the sum. Raises ValueError if delta is 0, if epsilon is too large for joint costs, or if
    the law of its noise is not known.
    """
    law, total = noise_law(mechanism), part.epsilon + sum(gates, Fraction(0))
    if not (part.delta and law.is_known and total <= GREATEST_EPSILON):
        raise ValueError(f"delta must be above 0, epsilon at most {GREATEST_EPSILON:g}, and the law of the noise known")
    factor = _factor(law, tuple(gates), total, part.delta)
    spend = Fraction(down(factor * mechanism.budget.spend))
    spends = tuple(each * spend / mechanism.budget.spend for each in mechanism.spends)
    budget = replace(mechanism.budget, spend=spend, epsilon=part.epsilon, delta=part.delta)
    return replace(mechanism, budget=budget, spends=spends, part=part)


@lru_cache(maxsize=256)
def _factor(law: NoiseLaw, gates: tuple[Fraction, ...], total: Fraction, delta: Fraction) -> Fraction:
    """Return the greatest factor of a law's spends beside charged gates; a search meets the same law many times."""
    return greatest_factor(law, [part_laws.pure(up(each)) for each in gates], total, target_delta(delta))
