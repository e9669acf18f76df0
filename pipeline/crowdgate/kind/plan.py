"""A policy that can run: its protection, its guarantee, its gates with their measures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from crowdgate.accounting.renyi import Divergences
from crowdgate.candidate import ColumnFacts, Cost, OutputType, Static
from crowdgate.kind.series import PlannedSeries, planned_series
from crowdgate.manifest import guarantee_summary, plain_guarantee
from crowdgate.measures.guarantees import kept_costs

if TYPE_CHECKING:
    from crowdgate.accounting.lifetime import Lifetime
    from crowdgate.accounting.renyi_filter import Filter
    from crowdgate.contracts.contract import Contract
    from crowdgate.guarantee import Guarantee
    from crowdgate.kind.kind import Protection
    from crowdgate.measures import Measure
    from crowdgate.policy.files import Bundle
    from crowdgate.policy.policy import GateRule
    from crowdgate.risk.class_sizes import ClassSizes


@dataclass(frozen=True, eq=False)
class Plan:
    """The plan of a policy, made from the files alone."""

    bundle: Bundle
    protection: Protection
    guarantee: Guarantee
    gates: tuple[tuple[GateRule, Measure], ...]
    count_classes: Callable[[Plan], Mapping[frozenset[str], ClassSizes]] = lambda _: {}
    """Returns the class sizes of a public table by the attributes in `wanted_classes`."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a release reads: counted columns, and those of the contract's rules."""
        return columns_read(self.bundle.contract, self.protection)

    @property
    def watched(self) -> tuple[str, ...]:
        """The columns whose invalid cells a charged gate counts."""
        asked = (rule.of for rule, measure in self.gates if measure.shape is OutputType.INPUT)
        return tuple(sorted({name for name in asked if name is not None}))

    def divergences(self, budget: Filter) -> Divergences:
        """Return the Renyi divergences of one release, for a lifetime with this filter. No data are read.

        They are those of the mechanism and of each charged gate, or those of any release with this guarantee, whichever
        allows more such releases.
        """
        from crowdgate.accounting.renyi_parts import opaque_cost

        nothing, own = Divergences.zero(len(budget.orders)), self.protection.kind.divergences
        gates = [rule.charge.epsilon for rule, _ in self.gates if rule.charge]
        found = [opaque_cost(self.guarantee.epsilon, self.guarantee.delta, budget.orders)]
        known = own(self.protection.mechanism, budget)
        if known is not None:
            found.append(sum((opaque_cost(each, Fraction(0), budget.orders) for each in gates), known))
        return max(found, key=lambda one: budget.left(nothing, one))

    @cached_property
    def series(self) -> PlannedSeries | None:
        """The series that the policy declares; None without one."""
        return planned_series(self.bundle.policy.spec, self.protection, self.guarantee)

    def expected_of(self, released: Collection[str]) -> set[str]:
        """Return the attributes for which gates need an expectation from public figures."""
        return {name for rule, measure in self.gates if measure.over for name in rule.over or released}

    @property
    def wanted_classes(self) -> frozenset[frozenset[str]]:
        """The attributes of each gate that needs an expectation from public figures."""
        released = self.protection.figures.levels
        found = (frozenset(rule.over or released) for rule, measure in self.gates if measure.over)
        return frozenset(names for names in found if names and names <= {*released})

    @cached_property
    def classes(self) -> Mapping[frozenset[str], ClassSizes]:
        """Class sizes of the public table by the attributes of gates; empty for other tables."""
        return self.count_classes(self)

    def static(self, people: int, budget: Cost, spent: Cost, lifetime: Lifetime | None = None) -> Static:
        """Return the public facts that static measures read. With a `lifetime` that is counted in Renyi divergences the
        whole `budget` counts as spent, as all that it allows keeps its caps together."""
        figures = self.protection.figures
        return Static(
            guarantee=self.guarantee,
            spent=spent if lifetime is None else budget,
            budget=budget,
            people=people,
            lifetime=lifetime,
            series=None if self.series is None else (self.series.epsilon, self.series.delta),
            least_class=figures.least_class,
            levels=figures.levels,
            facts={name: ColumnFacts.of(attribute) for name, attribute in self.bundle.contract.by_name.items()},
            rows_per_unit=self.bundle.contract.unit.rows,
            beta=figures.beta,
            joint=tuple(each.at(figures.levels) for each in self.bundle.contract.joint),
            classes=self.classes,
        )

    def first_release_facts(self) -> Static:
        """Return the public facts without reading the ledger: this release is taken as the population's first."""
        budget = self.bundle.budget.spec
        paid = self.guarantee if self.series is None else self.series
        this = (paid.epsilon, paid.delta)
        return self.static(budget.people, (budget.epsilon, budget.delta), this, budget.lifetime)

    def guarantee_text(self) -> list[str]:
        """Return the guarantee in words: total, parts, and the form for users who take the number of people as
        known."""
        return self.protection.kind.guarantee_text(self.protection.mechanism, self.guarantee)

    def plain(self, static: Static, *, first: bool = False) -> tuple[str, ...]:
        """Return the guarantee for people in sentences: cost, bounds on singling out, assumptions."""
        kept = kept_costs(static, static.spent)
        lifetime = static.lifetime is not None
        return plain_guarantee(static.people, static.rows_per_unit, static.spent, kept, first=first, lifetime=lifetime)

    def summary(self, static: Static, *, first: bool = False) -> str:
        """Return the guarantee for people in three sentences: cost, bounds on singling out, weights."""
        kept = kept_costs(static, static.spent)
        lifetime = static.lifetime is not None
        return guarantee_summary(
            static.people, static.rows_per_unit, static.spent, kept, first=first, lifetime=lifetime
        )


def columns_read(contract: Contract, protection: Protection) -> tuple[str, ...]:
    """Return the columns that a release counts or that the contract's rules name."""
    ruled = {rule.attribute for rule in contract.table_rules if rule.attribute} - {contract.unit.person}
    ruled |= {name for each in contract.expectations for name in each.columns}
    counted = contract.columns_of(name for view in protection.views.values() for name in view.levels)
    return tuple(name for name in contract.columns if name in counted or name in ruled)
