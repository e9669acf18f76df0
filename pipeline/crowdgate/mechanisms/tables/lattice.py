"""Margins of tables, and common margins of two tables: nesting levels as a lattice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.mechanisms.tables.consistency import Axes, cells_of
from crowdgate.mechanisms.tables.nesting import Nesting, nestings_of

if TYPE_CHECKING:
    from crowdgate.hierarchy import Level

Ranks = tuple[int, ...]
"""The rank of each attribute's level; 0 if a table does not have the attribute."""

MOST_SHARED = 500
"""Largest number of tables and common margins in a lattice; above it, common margins that are no table are left out."""


@dataclass(frozen=True, eq=False)
class MarginLattice:
    """Tables, their common margins and the total, each given by the ranks of its levels. `members` are all of these,
    coarsest first; `tables` are the distinct original tables, in their order.

    `whole` is true if all common margins are included, which is not the case if they are too many.
    """

    nestings: Mapping[str, Nesting]
    tables: tuple[Ranks, ...]
    members: tuple[Ranks, ...]
    whole: bool

    @classmethod
    def of(cls, axes: Sequence[Axes]) -> MarginLattice:
        """Return the lattice of tables with these axes, whose levels nest."""
        nestings = nestings_of(axes)
        tables = tuple(dict.fromkeys(_ranks(nestings, levels) for levels in axes))
        least = dict.fromkeys([(0,) * len(nestings), *tables])
        shared = _with_shared(least)
        made = cls(nestings, tables, (), shared is not None)
        ordered = sorted(least if shared is None else shared, key=lambda ranks: (made.size(ranks), ranks))
        return replace(made, members=tuple(ordered))

    def ranks(self, levels: Axes) -> Ranks:
        """Return for each attribute the rank of its level in the table with these levels; 0 if the table does not have
        it."""
        return _ranks(self.nestings, levels)

    def size(self, ranks: Ranks) -> int:
        """Return the number of cells of the table with these ranks."""
        return prod(nesting.size(rank) for nesting, rank in zip(self.nestings.values(), ranks, strict=True))

    def axes(self, ranks: Ranks) -> dict[str, Level]:
        """Return the attributes and levels of the member with these ranks: a table, or a margin common to tables. Their
        order is the order of axes in its cells."""
        pairs = zip(self.nestings.items(), ranks, strict=True)
        return {name: nesting.levels[rank - 1] for (name, nesting), rank in pairs if rank}

    def cells(self, levels: Axes, ranks: Ranks) -> Integers:
        """Return for each cell of the table with these levels (flat) the cell of its margin with these ranks."""
        return cells_of(levels, self.axes(ranks))

    def margins(self, axes: Sequence[Axes], tables: Sequence[Floats]) -> Callable[[Ranks], Floats]:
        """Return a function from the ranks of a table or common margin to the numbers in its cells (flat). They are
        sums over the smallest of the given tables that has it as a margin; the tables must agree."""
        ranks = np.array([self.ranks(levels) for levels in axes])
        sizes = np.array([table.size for table in tables])

        def margin(wanted: Ranks) -> Floats:
            holders = np.flatnonzero((ranks >= np.array(wanted)).all(axis=1))
            at = int(holders[sizes[holders].argmin()])
            cells = self.cells(axes[at], wanted)
            return np.bincount(cells, tables[at].reshape(-1), self.size(wanted)).astype(np.float64)

        return margin

    def sums(self, finer: Ranks, values: Integers, coarser: Ranks) -> Integers:
        """Return the numbers of the margin `coarser` of the table `finer`, whose cells hold `values`."""
        return np.bincount(self.cells(self.axes(finer), coarser), values, self.size(coarser)).astype(np.int64)

    @cached_property
    def agreeing(self) -> bool:
        """True if tables with fixed margins (`exact_margins`) agree exactly on all common margins: no table or common
        margin has more than two finest margins."""
        return self.whole and all(len(self.finest(ranks)) <= 2 for ranks in self.members)

    def finest(self, ranks: Ranks) -> list[Ranks]:
        """Return the finest margins of the table or common margin with these ranks, finest first: the other members of
        the lattice that are margins of it, but of no other such member."""
        below = np.flatnonzero((self._member_ranks <= np.array(ranks)).all(axis=1))[::-1]
        found: list[Ranks] = []
        for at in below.tolist():
            other = self.members[at]
            if other != ranks and not any(refines(kept, other) for kept in found):
                found.append(other)
        return found

    def parent(self, ranks: Ranks) -> Ranks | None:
        """Return the other original table with most cells that is a margin of the table with these ranks (the first of
        equals); None if there is none."""
        below = np.flatnonzero((self._table_ranks <= np.array(ranks)).all(axis=1)).tolist()
        sizes = [(-self.size(self.tables[at]), at) for at in below if self.tables[at] != ranks]
        return self.tables[min(sizes)[1]] if sizes else None

    def exact_margins(self, ranks: Ranks, found: Mapping[Ranks, Integers]) -> list[Ranks]:
        """Return the one or two margins whose numbers a table or common margin keeps exactly; none for the total.
        `found` are the numbers of earlier ones.

        First the finest that adds up to the finest table that is a margin, or else that table; then the finest other
        one that agrees with the first on their common margin. Two margins without a contradiction can always be met.
        """
        finest, parent = self.finest(ranks), self.parent(ranks)
        fitting = (o for o in finest if parent is None or (refines(o, parent) and self._agree(found, o, parent)))
        first = next(fitting, parent)
        if first is None:
            return []
        second = (other for other in finest if other != first and self._agree(found, other, first))
        return [first, *islice(second, 1)]

    @cached_property
    def _member_ranks(self) -> Integers:
        return np.array(self.members, dtype=np.int64).reshape(len(self.members), len(self.nestings))

    @cached_property
    def _table_ranks(self) -> Integers:
        return np.array(self.tables, dtype=np.int64).reshape(len(self.tables), len(self.nestings))

    def _agree(self, found: Mapping[Ranks, Integers], left: Ranks, right: Ranks) -> bool:
        shared = tuple(map(min, left, right))
        own, other = (self.sums(ranks, found[ranks], shared) for ranks in (left, right))
        return np.array_equal(own, other)


def _ranks(nestings: Mapping[str, Nesting], levels: Axes) -> Ranks:
    return tuple(nesting.rank(levels[name]) if name in levels else 0 for name, nesting in nestings.items())


def refines(finer: Ranks, coarser: Ranks) -> bool:
    """Return True if the table with the ranks `coarser` is a margin of the table with the ranks `finer`."""
    return all(own >= other for own, other in zip(finer, coarser, strict=True))


def _with_shared(tables: Mapping[Ranks, None]) -> list[Ranks] | None:
    """Return the ranks of the tables and of the common margins of any number of them; None if there are more than
    MOST_SHARED."""
    known = dict(tables)
    waiting = list(known)
    while waiting and len(known) <= MOST_SHARED:
        left = waiting.pop()
        for right in list(known):
            shared = tuple(map(min, left, right))
            if shared not in known:
                known[shared] = None
                waiting.append(shared)
    return list(known) if len(known) <= MOST_SHARED else None
