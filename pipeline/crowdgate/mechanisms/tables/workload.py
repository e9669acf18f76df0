"""Workloads: the tables, sums, means and quantiles of a release of tables, and the findings against them.

The items of a policy (ContingencyTable, Sum, Mean, Quantiles) become linear queries on integers: vectors of counts, or
of sums over a public integer grid. Domains are public, so each cell is known before any data are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Literal

from crowdgate.accounting.tables_plan import Query, share_faults
from crowdgate.contracts.contract import Contract, Role
from crowdgate.errors import Finding, expected_names, nearest, nearest_level
from crowdgate.limits import MOST_NUMBERS, MOST_TABLES
from crowdgate.mechanisms.tables.bin_groups import bin_groups, in_order
from crowdgate.mechanisms.tables.sums import (
    MOST_ADDED,
    IntegerGrid,
    centred,
    count_at_bound,
    count_of_valid,
    integer_grid,
    most_units,
)

if TYPE_CHECKING:
    from crowdgate.domain import Grid
    from crowdgate.hierarchy import Level

Names = Mapping[str, str]
"""Level names by attribute; the table is summed over attributes that are not listed."""


@dataclass(frozen=True)
class ContingencyTable:
    """A contingency table of attributes at levels; without attributes the total. `share` is its part of the budget."""

    levels: Names = field(default_factory=dict)
    share: Fraction | None = None

    @property
    def name(self) -> str:
        """The name of the item, from its attributes and levels."""
        return _item_name("count", self.levels)


@dataclass(frozen=True)
class ClampedColumn:
    """A number from a numeric column, clamped to [low, high] (by default its domain), in each cell of `by`."""

    column: str
    by: Names = field(default_factory=dict)
    low: Fraction | None = None
    high: Fraction | None = None
    share: Fraction | None = None


@dataclass(frozen=True)
class Sum(ClampedColumn):
    """The sum of a numeric column, clamped to [low, high], in each cell of `by`."""

    @property
    def name(self) -> str:
        """The name of the item, from column and cells."""
        return _item_name(f"sum of {self.column}", self.by)


@dataclass(frozen=True)
class Mean(ClampedColumn):
    """The mean of a numeric column, clamped to [low, high], in each cell of `by`: a noisy sum around the middle of the
    bounds over a noisy count.

    Two queries: half of a stated share each; without a share each is divided like a query of its own.
    """

    @property
    def name(self) -> str:
        """The name of the item, from column and cells."""
        return _item_name(f"mean of {self.column}", self.by)


@dataclass(frozen=True)
class Quantiles:
    """Quantiles of a numeric column, from its noisy histogram at a level, in each cell of `by`.

    One query or, if `hierarchical`, one more for each level of groups of bins: equal parts of a share each.
    """

    column: str
    level: str
    probabilities: tuple[Fraction, ...] = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
    by: Names = field(default_factory=dict)
    share: Fraction | None = None
    hierarchical: bool = False

    @property
    def name(self) -> str:
        """The name of the item, from column, level and cells."""
        return _item_name(f"quantiles of {self.column} at {self.level}", self.by)


@dataclass(frozen=True)
class RowsAtBound:
    """The rows at or beyond one bound of a numeric column, in each cell of `by`: the number that a sum or a mean counts
    at this bound."""

    column: str
    end: Literal["low", "high"]
    by: Names = field(default_factory=dict)
    low: Fraction | None = None
    high: Fraction | None = None
    share: Fraction | None = None

    @property
    def name(self) -> str:
        """The name of the item, from bound, column and cells."""
        beyond = "below" if self.end == "low" else "above"
        return _item_name(f"rows at or {beyond} the {self.end} end of {self.column}", self.by)


Numeric = Sum | Mean | RowsAtBound
Item = ContingencyTable | Numeric | Quantiles


@dataclass(frozen=True, eq=False)
class LinearQuery:
    """A vector that receives noise: rows counted in each cell of `levels`; with a grid, its integers summed."""

    query: Query
    levels: Mapping[str, Level]
    grid: IntegerGrid | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of level codes on each axis."""
        return tuple(len(level) for level in self.levels.values())


@dataclass(frozen=True, eq=False)
class ResolvedWorkload:
    """A workload with all names resolved: the items, their linear queries, and the places of each item's queries."""

    items: tuple[Item, ...]
    queries: tuple[LinearQuery, ...]
    answers: tuple[tuple[int, ...], ...]

    @property
    def cells(self) -> int:
        """Total number of noisy numbers."""
        return sum(linear.query.cells for linear in self.queries)


def all_ways(k: int, levels: Names) -> tuple[ContingencyTable, ...]:
    """Return the contingency tables of all combinations of k of these attributes. Raises ValueError unless there are at
    least k."""
    if not 0 <= k <= len(levels):
        raise ValueError(f"k must be a whole number in [0, {len(levels)}], not {k}")
    return tuple(ContingencyTable({name: levels[name] for name in chosen}) for chosen in combinations(levels, k))


def resolve(
    items: Sequence[Item], contract: Contract, most_cells: int = MOST_NUMBERS
) -> tuple[ResolvedWorkload | None, list[Finding]]:
    """Return a workload with its items as linear queries, or None and all findings against it."""
    findings = [finding for at, item in enumerate(items) for finding in _item_findings(at, item, contract)]
    findings += _list_findings(items)
    if findings:
        return None, findings
    resolved = _resolved(items, contract)
    if resolved.cells > most_cells:
        return None, [((), f"{resolved.cells} cells", f"at most {most_cells} in all tables together", None)]
    return resolved, []


def _resolved(items: Sequence[Item], contract: Contract) -> ResolvedWorkload:
    queries: list[LinearQuery] = []
    answers: list[tuple[int, ...]] = []
    for item in items:
        own = _hierarchical(item, items, contract) if isinstance(item, Quantiles) else _queries(item, contract)
        answers.append(tuple(range(len(queries), len(queries) + len(own))))
        queries += own
    return ResolvedWorkload(tuple(items), tuple(queries), tuple(answers))


def _hierarchical(item: Quantiles, items: Sequence[Item], contract: Contract) -> list[LinearQuery]:
    """Return the queries of quantiles: the histogram, and those of the groups of its bins."""
    (finest,) = _queries(item, contract)
    if not item.hierarchical:
        return [finest]
    used = {level for each in items for name, level in _level_names(each) if name == item.column}
    levels = [_levels({item.column: name}, contract)[item.column] for name in sorted(used)]
    groups = [{**finest.levels, item.column: level} for level in bin_groups(finest.levels[item.column], levels)]
    share = None if item.share is None else item.share / (1 + len(groups))
    names = [item.name, *(f"{item.name}: {each[item.column].name}" for each in groups)]
    pairs = zip(names, (finest.levels, *groups), strict=True)
    return [LinearQuery(Query(name, prod(map(len, own.values())), 1, share), own) for name, own in pairs]


def _level_names(item: Item) -> Iterator[tuple[str, str]]:
    """Yield the attributes of an item's counts, with their levels."""
    yield from (item.levels if isinstance(item, ContingencyTable) else item.by).items()
    if isinstance(item, Quantiles):
        yield item.column, item.level


def _queries(item: Item, contract: Contract) -> list[LinearQuery]:
    if isinstance(item, ContingencyTable):
        return [_count(item.name, item.levels, item.share, contract)]
    if isinstance(item, Quantiles):
        return [_count(item.name, {**item.by, item.column: item.level}, item.share, contract)]
    grid = _grid(item, contract)
    assert grid is not None
    if isinstance(item, Sum):
        return [_sum(item.name, item.by, item.share, grid, contract)]
    if isinstance(item, RowsAtBound):
        return [_sum(item.name, item.by, item.share, count_at_bound(grid, high=item.end == "high"), contract)]
    half = None if item.share is None else item.share / 2
    parts = ((": sum around the middle", centred(grid)), (": count", count_of_valid(grid)))
    return [_sum(item.name + what, item.by, half, part, contract) for what, part in parts]


def _count(name: str, names: Names, share: Fraction | None, contract: Contract) -> LinearQuery:
    levels = _levels(names, contract)
    return LinearQuery(Query(name, prod(map(len, levels.values())), 1, share), levels)


def _sum(name: str, by: Names, share: Fraction | None, grid: IntegerGrid, contract: Contract) -> LinearQuery:
    counted = _count(name, by, share, contract)
    return replace(counted, query=replace(counted.query, contribution=grid.greatest), grid=grid)


def _levels(names: Names, contract: Contract) -> dict[str, Level]:
    hierarchies = {name: contract.by_name[name].hierarchy for name in names}
    return {name: found.level(names[name]) for name, found in hierarchies.items() if found is not None}


def _grid(item: Numeric, contract: Contract) -> IntegerGrid | None:
    attribute = contract.by_name[item.column]
    grid = None if attribute.domain is None else attribute.domain.grid
    if grid is None or attribute.hierarchy is None:
        return None
    return integer_grid(item.column, grid, attribute.hierarchy.finest, item.low, item.high)


def _item_findings(at: int, item: Item, contract: Contract) -> Iterator[Finding]:
    if isinstance(item, ContingencyTable):
        yield from _level_findings((at, "attributes"), item.levels, contract)
        return
    yield from _level_findings((at, "by"), item.by, contract)
    column = list(_attribute_findings((at, "column"), item.column, contract))
    yield from column
    if item.column in item.by:
        yield (
            (at, "by"),
            f"{item.column!r} is the column of this table itself",
            "other attributes than this column",
            None,
        )
    if column:
        return
    domain = contract.by_name[item.column].domain
    if domain is None or domain.grid is None:
        yield (at, "column"), f"{item.column!r} is not numeric", "a column whose domain has bounds and a step", None
    elif isinstance(item, Quantiles):
        yield from _quantile_findings(at, item, contract)
    else:
        yield from _bound_findings(at, item, domain.grid, contract)


def _bound_findings(at: int, item: Numeric, grid: Grid, contract: Contract) -> Iterator[Finding]:
    low, high = (grid.first if item.low is None else item.low), (grid.greatest if item.high is None else item.high)
    if not low < high:
        yield (at, "low"), f"bounds {low} to {high}", "a low bound below the high one", None
    elif any((bound - grid.first) % grid.unit or not grid.first <= bound <= grid.greatest for bound in (low, high)):
        expected = f"bounds on the grid: from {grid.first} to {grid.greatest} in steps of {grid.unit}"
        yield (at, "low"), f"bounds {low} to {high}", expected, None
    else:
        if most_units(grid) * contract.unit.rows > MOST_ADDED:
            expected = "a coarser step or precision: one person would add more than 62 bits hold"
            yield (at, "column"), "numbers of too many steps", expected, None


def _quantile_findings(at: int, item: Quantiles, contract: Contract) -> Iterator[Finding]:
    unknown = list(_level_findings((at, "level"), {item.column: item.level}, contract))
    yield from unknown
    if not unknown and not in_order(_levels({item.column: item.level}, contract)[item.column]):
        yield (at, "level"), f"level {item.level!r} is not made of intervals", "a level of intervals, in order", None
    if not item.probabilities or not all(0 < p < 1 for p in item.probabilities):
        yield (at, "probabilities"), f"{[str(p) for p in item.probabilities]}", "numbers above 0 and below 1", None


def _level_findings(place: tuple[str | int, ...], names: Names, contract: Contract) -> Iterator[Finding]:
    for name, level in names.items():
        found = list(_attribute_findings((*place, name), name, contract))
        yield from found
        hierarchy = None if found else contract.by_name[name].hierarchy
        if hierarchy is not None and level not in hierarchy.names:
            expected = expected_names(hierarchy.names, level, "a level", f"contract {contract.id}")
            yield (*place, name), f"unknown level {level!r}", expected, nearest_level(level, hierarchy.names)


def _attribute_findings(place: tuple[str | int, ...], name: str, contract: Contract) -> Iterator[Finding]:
    attribute = contract.by_name.get(name)
    releasable = [known.name for known in contract.attributes if known.releasable]
    if attribute is None:
        expected = f"an attribute of contract {contract.id}"
        yield place, f"unknown attribute {name!r}", expected, nearest(name, releasable)
    elif attribute.role is Role.DIRECT_IDENTIFIER:
        yield place, "a direct identifier, which is never published", "another attribute", None
    elif attribute.domain is None or attribute.hierarchy is None:
        yield (
            place,
            "an attribute without a public domain",
            expected_names(releasable, name, "an attribute", f"contract {contract.id}"),
            None,
        )


def _list_findings(items: Sequence[Item]) -> Iterator[Finding]:
    if len(items) > MOST_TABLES:
        yield (), f"{len(items)} tables", f"at most {MOST_TABLES}", None
    if not items:
        yield (), "no tables", "at least one table, sum, mean or quantile", None
    names = [item.name for item in items]
    for at, name in enumerate(names):
        if name in names[:at]:
            yield (at,), f"{name!r} a second time", "every table once", None
    stated = [Query(item.name, 1, 1, item.share) for item in items]
    for name, fault in share_faults(stated):
        place: tuple[str | int, ...] = (names.index(name), "share") if name in names else ()
        yield place, fault, "shares above 0 that add up to at most 1", None


def _item_name(what: str, names: Names) -> str:
    return what if not names else f"{what} by " + ", ".join(f"{name} ({level})" for name, level in names.items())
