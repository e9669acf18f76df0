"""A run as its page names it first: owner, population, and budget, whatever its outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.kind.band import BudgetShares
from crowdgate.number_text import Rounding, decimal

if TYPE_CHECKING:
    from crowdgate.manifest import AboutFields, Manifest, SeriesFields

Amounts = tuple[Fraction, Fraction]
"""Epsilon and delta."""
NAMES = ("epsilon", "delta")


def uncharged_text(cost: str) -> str:
    """Return that a run which read nothing is not charged, with the `cost` of reading."""
    return f"nothing is charged ({cost} if the table is read)."


def series_cost_text(series: SeriesFields) -> str:
    """Return the privacy cost of a series, rounded up, with the release that paid for it."""
    cost = f"epsilon {decimal(series.epsilon)}, delta {decimal(series.delta)}"
    return f"{cost} for a series of {series.releases} releases, which {series.paid_by} paid for"


@dataclass(frozen=True)
class RunBudget:
    """A lifetime budget around a run: registered amounts, and those spent before the run and with it, exactly.

    `used` are the shares of a budget in Renyi divergences that were used before and with the run; None for an additive
    budget.
    """

    cap: Amounts
    before: Amounts
    after: Amounts
    used: Amounts | None = None

    @property
    def charged(self) -> bool:
        """True if the run was charged to this budget."""
        return self.before != self.after or (self.used is not None and self.used[0] != self.used[1])

    @property
    def shares(self) -> BudgetShares:
        """The shares of the amount of which least is left."""
        if self.used is not None:
            before, after = self.used
            return BudgetShares("the lifetime budget, in Renyi divergences", before, after - before)
        shares = [
            BudgetShares(name, before / cap, (after - before) / cap)
            for name, cap, before, after in zip(NAMES, self.cap, self.before, self.after, strict=True)
            if cap
        ]
        return min(shares, key=lambda each: each.left, default=BudgetShares("epsilon", Fraction(1), Fraction(0)))

    @property
    def left_text(self) -> str:
        """The budget left after the run, rounded down."""
        if self.used is not None:
            return f"{decimal(100 * self.shares.left, 3, Rounding.DOWN)} % of the lifetime budget."
        amounts = zip(NAMES, self._left, self.cap, strict=True)
        return f"{', '.join(f'{name} {decimal(of, 6, Rounding.DOWN)} of {decimal(cap)}' for name, of, cap in amounts)}."

    @property
    def left_amounts(self) -> str:
        """Epsilon and delta left after the run, rounded down, without the registered amounts."""
        pairs = zip(NAMES, self._left, strict=True)
        return ", ".join(f"{name} {decimal(of, 6, Rounding.DOWN)}" for name, of in pairs)

    @property
    def _left(self) -> Iterator[Fraction]:
        return (max(Fraction(0), cap - after) for cap, after in zip(self.cap, self.after, strict=True))


@dataclass(frozen=True)
class RunDescription:
    """Public facts about a run. `about` is None if they are unknown; `kind` is the kind of release, `people` the bound
    on the population, `series` that of the run, if its policy declares one."""

    population: str
    about: AboutFields | None = None
    kind: str | None = None
    people: int | None = None
    budget: RunBudget | None = None
    series: SeriesFields | None = None

    def charged(self, once: Amounts) -> Amounts:
        """Return what is charged for the run, or for all releases of its series; `once` is the cost of one release."""
        return once if self.series is None else (self.series.epsilon, self.series.delta)


def facts_of_manifest(said: Manifest) -> RunDescription:
    """Return the facts about the run of a published release. Its budget is unknown if it is counted in Renyi
    divergences, as the whole budget then counts as spent."""
    stated, once = said.facts, said.guarantee
    cap, after = ((each.epsilon, each.delta) for each in (stated.budget, stated.spent))
    paid = stated.series is None or stated.series.paid_by == said.release.id
    known = RunDescription(
        said.contract.population, said.about, said.mechanism.kind, stated.people, None, stated.series
    )
    cost = known.charged((once.epsilon, once.delta))
    before = (after[0] - cost[0], after[1] - cost[1]) if paid else after
    budget = None if stated.lifetime is not None or min(before) < 0 else RunBudget(cap, before, after)
    return replace(known, budget=budget)
