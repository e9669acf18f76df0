"""Public knowledge of a population: a bound on its people, public margins, and counts reported elsewhere.

Counts of two or more attributes give a joint table: of all tables with these margins the nearest to independence
(`risk.joint`). The range of each expectation covers what the joint table can't determine, relations of more attributes
and the noise in the counts. It is a share of the distance from independence, and the change when noise of the same
distribution is added to the counts once more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.hierarchy import Level, coarser_codes
from crowdgate.kind.forecast import Axes, Basis
from crowdgate.limits import MOST_CELLS_FITTED, MOST_CLASSES
from crowdgate.risk.joint import KnownMargin, fitted

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Attribute

UNTOLD = {Basis.RELATED: 0.25, Basis.COARSER: 1.0}
"""Share of the distance to independence in a range: larger if counts are at coarser levels than needed."""
WIDER = {Basis.RELATED: 1.0, Basis.COARSER: 2.5}
"""Factor of the least half width."""
AGAIN = 2.0
"""Factor of the largest change under additional noise of the same distribution."""
DRAWS = 3
LEAST_SHARE = 1e-9
"""Share of people added, evenly over all cells: a value without people in the public margins may have some in the
counts."""


@dataclass(frozen=True, eq=False)
class ReportedCounts:
    """A table of counts from a release or a public table: labels of its axes, counts in their order, and the noise
    variance of each (0: exact)."""

    axes: Mapping[str, tuple[str, ...]]
    counts: Floats
    variance: Floats


@dataclass(frozen=True, eq=False)
class CountsAtLevels:
    """A table of counts over attributes at levels of the contract, with the variance of the noise in each count."""

    axes: Axes
    counts: Floats
    variance: Floats


@dataclass(frozen=True)
class ExpectedRange:
    """An expectation with its prediction limits."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """The expected people in each cell of a table, in the shape of its axes, with the basis.

    `fits` returns, for ranges, the table as if attributes were independent, then tables fitted to counts with
    additional noise of their own distribution; nothing if counts do not relate all attributes.
    """

    axes: Axes
    people: Floats
    basis: Basis
    fits: Callable[[], tuple[Floats, ...]]

    @cached_property
    def others(self) -> tuple[Floats, ...]:
        """The tables that `fits` returns: attributes taken as independent, then fits to counts with additional noise;
        none if counts do not relate all attributes."""
        return self.fits()

    def range_of(self, value: Callable[[Floats], float], slack: Callable[[float], float], most: float) -> ExpectedRange:
        """Return `value` of the expected cells, a number from 0 to `most`, with prediction limits by the tables that
        `fits` returns. `slack` of the number is the least half width of its range."""
        found = value(self.people)
        if self.basis is Basis.COUNTED:
            return ExpectedRange(found, max(0.0, found - slack(found)), min(max(most, found), found + slack(found)))
        if not self.others:
            return ExpectedRange(found, 0.0, max(most, found))
        independent, *noisy = (abs(value(other) - found) for other in self.others)
        half = WIDER[self.basis] * slack(found) + UNTOLD[self.basis] * independent + AGAIN * max(noisy, default=0.0)
        return ExpectedRange(found, max(0.0, found - half), min(max(most, found), found + half))

    def summed(self, axes: Axes) -> ExpectedCounts:
        """Return the expected counts summed to the axes `axes` (level by attribute): some of the present ones, at the
        same or coarser levels."""
        people = coarsened(self.people, self.axes, axes)
        return ExpectedCounts(
            axes, people, self.basis, lambda: tuple(coarsened(o, self.axes, axes) for o in self.others)
        )


@dataclass(frozen=True, eq=False)
class Prior:
    """Public knowledge of a population: a bound on its people, the contract's public margins, and reported tables."""

    people: int
    attributes: Mapping[str, Attribute]
    tables: tuple[CountsAtLevels, ...] = ()
    _joints: dict[tuple[tuple[str, str], ...], ExpectedCounts | None] = field(default_factory=dict, init=False)

    def levels(self, name: str) -> tuple[Level, ...]:
        """Return the levels of an attribute, finest first."""
        found = self.attributes[name].hierarchy
        return () if found is None else found.levels

    def shares(self, name: str, level: Level) -> Floats | None:
        """Return the share of each code of a level by the contract's margins. Without margins shares are equal if
        tables hold the attribute, else None. A level of one value needs neither."""
        if len(level) == 1:
            return np.ones(1)
        margins = self.attributes[name].margins
        if margins is None:
            told = any(name in table.axes and len(table.axes[name]) >= len(level) for table in self.tables)
            return np.full(len(level), 1 / len(level)) if told else None
        weights = np.asarray(margins, dtype=np.float64)
        counts = np.bincount(level.of_values[: len(margins)], weights=weights, minlength=len(level))
        return np.asarray(counts / counts.sum(), dtype=np.float64)

    def known_level(self, name: str, level: Level) -> Level | None:
        """Return the finest level of several values, not finer than `level`, with known shares; None if there is
        none."""
        ladder = (each for each in self.levels(name) if 1 < len(each) <= len(level))
        return next((each for each in ladder if self.shares(name, each) is not None), None)

    def is_counted(self, name: str) -> bool:
        """Return whether some table counts the attribute, at several values unless it has one."""
        sizes = (len(table.axes[name]) for table in self.tables if name in table.axes)
        return any(size >= min(2, len(self.levels(name)[0])) for size in sizes)

    def counts(self, axes: Axes) -> Floats | None:
        """Return the expected people in each cell of the table over `axes` (level by attribute), flat; None if too
        little is known, or for too many cells."""
        found = self.joint(axes)
        return None if found is None else found.people.reshape(-1)

    def joint(self, axes: Axes) -> ExpectedCounts | None:
        """Return the expected people in each cell of the table over `axes` (level by attribute), with their basis; None
        if too little is known, or for too many cells."""
        if not self.tables:
            return self._joint(axes)
        key = tuple((name, level.name) for name, level in axes.items())
        if key not in self._joints:
            self._joints[key] = self._joint(axes)
        return self._joints[key]

    def counted(self, axes: Axes) -> Floats | None:
        """Return the people in each cell of the table over `axes` (level by attribute), summed from one table without
        noise; None if no such table has these levels or finer ones, or for too many cells."""
        if prod(map(len, axes.values())) > MOST_CELLS_FITTED:
            return None
        whole = (table for table in self.tables if not table.variance.any() and _is_finer(table.axes, axes))
        return next((coarsened(table.counts, table.axes, axes) for table in whole), None)

    def _joint(self, axes: Axes) -> ExpectedCounts | None:
        most = MOST_CELLS_FITTED if self.tables else MOST_CLASSES
        shares = [self.shares(name, level) for name, level in axes.items()]
        if prod(map(len, axes.values())) > most or any(share is None for share in shares):
            return None
        people = np.full((), float(self.people))
        for share in shares:
            assert share is not None, "asked before"
            people = np.multiply.outer(people, share)
        return self._related(axes, people) if self.tables else ExpectedCounts(axes, people, Basis.MARGINS, tuple)

    def _related(self, axes: Axes, people: Floats) -> ExpectedCounts:
        counted = self.counted(axes)
        if counted is not None:
            return ExpectedCounts(axes, counted, Basis.COUNTED, tuple)
        tables = _restricted(self.tables, axes)
        base = people + self.people * LEAST_SHARE / people.size
        basis = _basis(tables, axes)
        fits = tuple if basis is Basis.PARTLY else lambda: _alternative_fits(base, tables, axes)
        return ExpectedCounts(axes, fitted(base, [_joint_table(table, axes) for table in tables]), basis, fits)


def _basis(tables: Sequence[CountsAtLevels], axes: Axes) -> Basis:
    """Return the basis of expected counts over `axes` (level by attribute): whether tables relate all pairs of
    attributes of several values, and at these levels."""
    names = [name for name, level in axes.items() if len(level) > 1]
    wanted = [*combinations(names, min(2, len(names)))]
    at_all = [{name for name, level in table.axes.items() if len(level) > 1} for table in tables]
    here = [{name for name in table.axes if len(table.axes[name]) == len(axes[name])} for table in tables]
    for basis, told in ((Basis.RELATED, here), (Basis.COARSER, at_all)):
        if all(any(own.issuperset(each) for own in told) for each in wanted):
            return basis
    return Basis.PARTLY


def coarsened(counts: Floats, axes: Axes, wanted: Axes) -> Floats:
    """Return `counts`, a table over `axes` (level by attribute), summed to `wanted`: some of these attributes, each at
    the same or a coarser level. The array's axes are in the order of `wanted`."""
    out = np.asarray(counts.sum(axis=tuple(at for at, name in enumerate(axes) if name not in wanted)))
    for at, name in enumerate(name for name in axes if name in wanted):
        codes = coarser_codes(axes[name], wanted[name])
        order = np.argsort(codes, kind="stable")
        groups, starts = np.unique(codes[order], return_index=True)
        sums = np.zeros((len(wanted[name]), *np.delete(out.shape, at)))
        sums[groups] = np.add.reduceat(np.moveaxis(out, at, 0)[order], starts, axis=0)
        out = np.moveaxis(sums, 0, at)
    left = [name for name in axes if name in wanted]
    return np.transpose(out, [left.index(name) for name in wanted])


def _alternative_fits(base: Floats, tables: tuple[CountsAtLevels, ...], axes: Axes) -> tuple[Floats, ...]:
    """Return the expected people as if attributes were independent, then fitted to counts with noise added once more.
    The draws are public and always the same."""
    draws = np.random.default_rng(0)
    single = [_joint_table(table, axes) for table in tables if len(table.axes) < 2]
    moved = DRAWS if any(table.variance.any() for table in tables) else 0
    noisy = ([_joint_table(_with_noise(table, draws), axes) for table in tables] for _ in range(moved))
    return (fitted(base, single), *(fitted(base, own) for own in noisy))


def _with_noise(table: CountsAtLevels, draws: np.random.Generator) -> CountsAtLevels:
    noise = draws.standard_normal(table.counts.shape) * np.sqrt(table.variance)
    return replace(table, counts=np.maximum(table.counts + noise, 0.0))


def _is_finer(finer: Axes, axes: Axes) -> bool:
    return all(name in finer and len(finer[name]) >= len(level) for name, level in axes.items())


def _restricted(tables: tuple[CountsAtLevels, ...], axes: Axes) -> tuple[CountsAtLevels, ...]:
    """Return the tables restricted to these axes at no finer levels; of tables with equal axes the one with the least
    noise."""
    best: dict[tuple[tuple[str, int], ...], CountsAtLevels] = {}
    for table in tables:
        kept = {name: min(table.axes[name], level, key=len) for name, level in axes.items() if name in table.axes}
        sums = (coarsened(part, table.axes, kept) for part in (table.counts, table.variance))
        found = CountsAtLevels(kept, *sums)
        key = tuple((name, len(level)) for name, level in kept.items())
        if key not in best or found.variance.sum() < best[key].variance.sum():
            best[key] = found
    return tuple(best.values())


def _joint_table(table: CountsAtLevels, axes: Axes) -> KnownMargin:
    places = {name: at for at, name in enumerate(axes)}
    codes = {places[name]: coarser_codes(axes[name], level) for name, level in table.axes.items()}
    return KnownMargin(codes, table.counts, table.variance)
