"""A public population, from which the attacked tables are drawn.

Its distribution D is that of one privacy unit drawn from a public table, and a tag: a uniform number of 64 bits that
stands for the unit's direct identifiers. The table is held as distinct units with whole numbers, so that every weight
under D is an exact fraction. A unit is a row, or the rows of one person.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.audit.common.tuples import DistinctTuples, distinct_tuples
from crowdgate.hierarchy import Level, coarser_codes
from crowdgate.histogram import Histogram, View

Tags = npt.NDArray[np.uint64]
Rng = np.random.Generator
Boxes = tuple[Integers, Floats]
_HELD = 256
"""Number of cached results of `boxes`: at this number the cache is cleared."""


@dataclass(frozen=True, eq=False)
class Population:
    """A population of privacy units (a row each, or a person with several rows): the distinct tuples of attribute
    values (`cells`), and the distinct units with their multiplicities (`members`).

    `rows` says how many rows of each cell a distinct unit has (units by cells, sparse). It is None where every unit is
    one row; units are then cells.
    """

    name: str
    view: View
    cells: Histogram
    members: Integers
    rows: Any = None
    _boxes: dict[tuple[tuple[str, str], ...], Boxes] = field(default_factory=dict, init=False, repr=False)
    _tuples: dict[tuple[tuple[str, str], ...], DistinctTuples] = field(default_factory=dict, init=False, repr=False)

    @property
    def levels(self) -> Mapping[str, Level]:
        """The attributes of the cells, at the finest level in use."""
        return self.view.levels

    def codes(self, name: str, level: Level) -> Integers:
        """Return an attribute's code for every cell of the population, at one of the attribute's levels."""
        own, codes = self.levels[name], self.cells.codes[self.cells.names.index(name)]
        return np.asarray(codes if own is level else coarser_codes(own, level)[codes], dtype=np.int64)

    @cached_property
    def size(self) -> int:
        """Number of units of the population (rows, or persons), counted with multiplicity."""
        return int(self.members.sum())

    @cached_property
    def shares(self) -> Floats:
        """Probability with which each distinct unit is drawn: its multiplicity divided by the number of units."""
        found: Floats = self.members / self.size
        return found

    def having(self, cells: Bools | None) -> Bools | None:
        """Return a mask of the distinct units that have a row in at least one of the given cells. `cells` is a mask of
        the population's cells; None stands for all cells, and returns None: all units."""
        if cells is None or self.rows is None:
            return cells
        return np.asarray(self.rows @ cells.astype(np.int64)) > 0

    def among(self, cells: Bools | None) -> int:
        """Return the number of units, with multiplicity, that have a row in at least one of the given cells (a mask;
        None: all). Divided by `size` it is the probability that a random unit of the population has such a row."""
        units = self.having(cells)
        return self.size if units is None else int(self.members[units].sum())

    @cached_property
    def weights(self) -> Floats:
        """Weight of each cell: the share of the population's units that have a row in this cell."""
        units = self.members if self.rows is None else (self.rows > 0).T @ self.members
        found: Floats = np.asarray(units) / self.size
        return found

    def boxes(self, levels: Mapping[str, Level]) -> Boxes:
        """Return for attributes at given levels: the index of every cell among all possible tuples of their values, and
        the weight of each tuple (the share of units with a row there; an upper bound if persons have rows in several
        cells)."""
        at = tuple((name, level.name) for name, level in levels.items())
        if at not in self._boxes:
            if len(self._boxes) >= _HELD:
                self._boxes.clear()
            self._boxes[at] = self._placed(levels)
        return self._boxes[at]

    def _placed(self, levels: Mapping[str, Level]) -> Boxes:
        box = np.zeros(len(self.cells), dtype=np.int64)
        for name, level in levels.items():
            box = (
                box * len(level)
                + coarser_codes(self.levels[name], level)[self.cells.codes[self.cells.names.index(name)]]
            )
        weight = np.bincount(box, self.weights, prod(map(len, levels.values())))
        return box, np.asarray(weight, dtype=np.float64)

    def tuples(self, levels: Mapping[str, Level]) -> DistinctTuples:
        """Return the distinct tuples of values that given attributes have at given levels, with the tuple of every cell
        of the population."""
        key = tuple((name, level.name) for name, level in levels.items())
        if key not in self._tuples:
            columns = [self.codes(*each) for each in levels.items()]
            self._tuples[key] = distinct_tuples(columns, len(self.cells), levels)
        return self._tuples[key]

    def only(self, units: Bools) -> "Population":
        """Return the population restricted to some distinct units (a mask), and to the cells in which they have
        rows."""
        if units.all():
            return self
        rows = None if self.rows is None else self.rows[units]
        members = self.members[units]
        counts = members if rows is None else np.asarray(rows.T @ members)
        cells = units if rows is None else counts > 0
        codes = tuple(column[cells] for column in self.cells.codes)
        held = Histogram(self.cells.names, self.cells.sizes, codes, counts[counts > 0])
        return Population(self.name, self.view, held, members, None if rows is None else rows[:, cells])

    def draw(self, n: int, rng: Rng, *, replacement: bool = True) -> "DrawnTable":
        """Draw a table of `n` units from the population, independently or without replacement. Raises ValueError if
        more units are to be drawn without replacement than the population has."""
        if replacement:
            return DrawnTable(self, rng.multinomial(n, self.shares), rng)
        if n > self.size:
            raise ValueError(f"n must be at most the {self.size} units of the population, not {n}")
        # the memory of numpy's method "marginals" does not grow with the number of units
        return DrawnTable(self, rng.multivariate_hypergeometric(self.members, n, method="marginals"), rng)


@dataclass(frozen=True, eq=False)
class DrawnTable:
    """A table that was drawn from a population and is attacked. `units` is the number of copies of each distinct unit
    of the population. Tags (64 random bits per unit, for direct identifiers) are drawn on first use."""

    population: Population
    units: Integers
    _rng: Rng = field(repr=False)

    @cached_property
    def n(self) -> int:
        """Number of units of the table (rows, or persons)."""
        return int(self.units.sum())

    @cached_property
    def rows(self) -> Integers:
        """Number of the table's rows in each cell of the population."""
        of = self.population.rows
        return self.units if of is None else np.asarray(of.T @ self.units, dtype=np.int64)

    @cached_property
    def table(self) -> Histogram:
        """The table as a histogram of its rows."""
        cells, has = self.population.cells, self.rows > 0
        codes = tuple(column[has] for column in cells.codes)
        return Histogram(cells.names, cells.sizes, codes, self.rows[has])

    @cached_property
    def who(self) -> Integers:
        """Index of the distinct unit for each unit of the table, in random order. This is the order of the table."""
        found: Integers = np.repeat(np.arange(len(self.units)), self.units)
        self._rng.shuffle(found)
        return found

    @cached_property
    def tags(self) -> Tags:
        """Tag of each unit of the table: 64 random bits that stand for direct identifiers, in the order of `who`."""
        return self._rng.integers(0, 1 << 64, self.n, dtype=np.uint64)

    @cached_property
    def target(self) -> int:
        """Index in `units` of the distinct unit of the attacked unit, which is drawn uniformly from all units of the
        table."""
        return int(np.searchsorted(np.cumsum(self.units), self._rng.integers(self.n), side="right"))

    @cached_property
    def others(self) -> Integers:
        """Number of rows in each cell of the population, over all units of the table except the target."""
        of, rest = self.population.rows, self.units.copy()
        rest[self.target] -= 1
        return rest if of is None else np.asarray(of.T @ rest, dtype=np.int64)

    def having(self, cells: Bools | None) -> int:
        """Return the number of the table's units that have a row in at least one of the given cells (a mask; None:
        all)."""
        units = self.population.having(cells)
        return self.n if units is None else int(self.units[units].sum())
