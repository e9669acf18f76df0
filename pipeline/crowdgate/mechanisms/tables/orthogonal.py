"""Least squares over tables that share margins or are levels of each other, in coordinates that respect both.

A table is a linear function of common coordinates c: along each axis those of `nesting`, of which an absent axis keeps
the total alone. With noise of variance s in each cell of a table T, the least-squares c solves (sum T'T / s) c = sum
T'y / s. In nested coordinates T'T is a Kronecker product over the axes, and diagonal if all groups of a level have
equally many values. Then the weighted mean of each coordinate over the tables that have it is the least-squares
estimate (Barak and others 2007 for binary tables; Xiao, He, Zhang, Kifer 2023). In general T'T is, as a quadratic form,
at least the diagonal one for groups that are all as large as the largest. That form is the preconditioner of conjugate
gradients, and bounds their error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.mechanisms.tables.nesting import Nesting, nestings_of

if TYPE_CHECKING:
    from crowdgate.hierarchy import Level

Axis = tuple[str, int]
"""An attribute, and the rank of its level."""
_NEAR = 1e-4
"""Largest distance of a cell from the least-squares estimate, in parts of its standard error."""
_EXACT = 1e-12
"""Largest relative distance that floats can resolve."""


@dataclass(frozen=True, eq=False)
class Orthogonal:
    """Tables as functions of common coordinates: axes of more than one value, the places of their values in the
    nesting's order (None: equal order), and the weight of a squared error in a cell, 1/variance."""

    nestings: Mapping[str, Nesting]
    axes: tuple[tuple[Axis, ...], ...]
    places: tuple[tuple[Integers | None, ...], ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, tables: Sequence[Mapping[str, Level]], variances: Sequence[float]) -> Orthogonal:
        """Return tables of these levels, which nest, with noise of `variances` in each of their cells."""
        nestings = nestings_of(tables)
        kept = [{name: level for name, level in levels.items() if len(level) > 1} for levels in tables]
        axes = tuple(tuple((n, nestings[n].rank(level)) for n, level in levels.items()) for levels in kept)
        places = tuple(tuple(nestings[n].places(level) for n, level in levels.items()) for levels in kept)
        return cls(nestings, axes, places, tuple(1 / variance for variance in variances))

    def estimate(self, noisy: Floats) -> Floats:
        """Return the least-squares estimates of all tables, flat: unbiased, consistent, and linear up to a
        ten-thousandth of their standard errors."""
        return self._tables(self._solved(self._pulled(noisy)))

    def nearest(self, tables: Floats) -> Floats:
        """Return the nearest consistent tables, flat, in a distance with a closed solution: squares are weighted by
        1/variance and, in uneven groups, in proportion to the sizes of the groups."""
        return self._tables(self._pulled(tables * self._evened) / self._evened_squares)

    # operators on flat vectors of all tables, and of common coordinates

    def _tables(self, coordinates: Floats) -> Floats:
        """Return the cells of all tables, flat, from their common coordinates c: T c for each table."""
        out, start = coordinates[self.ids], 0
        for axes, places, size in zip(self.axes, self.places, self._sizes, strict=True):
            table = out[start : start + size]
            # the first axis is transformed and becomes the last: after all axes the order is restored
            for (name, rank), place in zip(axes, places, strict=True):
                values = self.nestings[name].values(table.reshape(self.nestings[name].size(rank), -1), rank)
                table = (values if place is None else _reordered(values, place)).T.reshape(-1)
            out[start : start + size] = table
            start += size
        return out

    def _pulled(self, flat: Floats) -> Floats:
        """Return the common coordinates sum T'y / variance over all tables, whose cells y are `flat`."""
        out, start = np.empty_like(flat), 0
        for axes, places, size, weight in zip(self.axes, self.places, self._sizes, self.weights, strict=True):
            table = flat[start : start + size] * weight
            for (name, rank), place in zip(axes, places, strict=True):
                values = table.reshape(self.nestings[name].size(rank), -1)
                table = self.nestings[name].transposed(values if place is None else values[place], rank).T.reshape(-1)
            out[start : start + size] = table
            start += size
        return np.bincount(self.ids, out).astype(np.float64)

    def _squared(self, coordinates: Floats) -> Floats:
        """Return the common coordinates sum T'T c / variance over all tables, from common coordinates c."""
        out, start = coordinates[self.ids], 0
        for axes, size, weight in zip(self.axes, self._sizes, self.weights, strict=True):
            table = out[start : start + size] * weight
            for name, rank in axes:
                nesting = self.nestings[name]
                table = nesting.squared(table.reshape(nesting.size(rank), -1), rank).T.reshape(-1)
            out[start : start + size] = table
            start += size
        return np.bincount(self.ids, out).astype(np.float64)

    def _solved(self, right: Floats) -> Floats:
        """Return the common coordinates c with sum T'T c / variance = `right`, by conjugate gradients from the solution
        for even groups. With r the residual and P the preconditioner, a cell's error is at most sqrt(r'r / P) of its
        standard errors, as P is at most the matrix."""
        least = self.least
        found = right / least
        left = right - self._squared(found)
        along, size = np.zeros_like(left), 1.0
        enough = max(_NEAR**2, _EXACT**2 * float(right @ (right / least)))
        while (now := float(left @ (left / least))) > enough:
            along = left / least + now / size * along
            size = now
            pulled = self._squared(along)
            step = now / float(along @ pulled)
            found = found + step * along
            left = left - step * pulled
        return found

    def shape(self, at: int) -> list[int]:
        """Return the number of values on each axis of the table at place `at`."""
        return [self.nestings[name].size(rank) for name, rank in self.axes[at]]

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(prod(self.shape(at)) for at in range(len(self.axes)))

    @cached_property
    def ids(self) -> Integers:
        """The common coordinate of each coordinate of each table, one table after another."""
        sizes = {name: self.nestings[name].size(len(self.nestings[name].levels)) for name in self.nestings}
        ids = [
            coordinate_ids([(name, self.nestings[name].size(rank)) for name, rank in axes], sizes) for axes in self.axes
        ]
        return np.unique(np.concatenate(ids), return_inverse=True)[1].reshape(-1).astype(np.int64)

    @cached_property
    def squares(self) -> list[Floats]:
        """For each table the square of each of its coordinates, flat: the diagonal of T'T, if groups are even."""
        return [self._outer(at, self._shrinkages) for at in range(len(self.axes))]

    @cached_property
    def least(self) -> Floats:
        """The diagonal of the matrix of the common coordinates for groups that are all as large as the largest. That
        matrix is at most the true one, with equality for even groups."""
        parts = [weight * squares for weight, squares in zip(self.weights, self.squares, strict=True)]
        return np.bincount(self.ids, np.concatenate(parts)).astype(np.float64)

    @cached_property
    def _evened(self) -> Floats:
        tables = [self._outer(at, Nesting.evened).reshape(self.shape(at)) for at in range(len(self.axes))]
        return np.concatenate([self.placed(at, table).reshape(-1) for at, table in enumerate(tables)])

    @cached_property
    def _evened_squares(self) -> Floats:
        parts = [weight * self._outer(at, Nesting.evened_squares) for at, weight in enumerate(self.weights)]
        return np.bincount(self.ids, np.concatenate(parts)).astype(np.float64)

    def _outer(self, at: int, along: Callable[[Nesting, int], Floats]) -> Floats:
        """Return the outer product, flat, of the vectors `along(nesting, rank)` of each axis of the table at place
        `at`."""
        rates = [along(self.nestings[name], rank) for name, rank in self.axes[at]]
        return np.asarray(reduce(np.multiply.outer, rates, np.ones(()))).reshape(-1)

    @staticmethod
    def _shrinkages(nesting: Nesting, rank: int) -> Floats:
        blocks = np.diff([0, *(nesting.size(block) for block in range(rank + 1))])
        return np.repeat([nesting.shrinkage(block, rank) for block in range(rank + 1)], blocks)

    def placed(self, at: int, table: Floats) -> Floats:
        """Return the table at place `at` in its own order of values, from its array in the order of the nestings."""
        for axis, place in enumerate(self.places[at]):
            if place is not None:
                table = np.moveaxis(_reordered(np.moveaxis(table, axis, 0), place), 0, axis)
        return table


def _reordered(values: Floats, places: Integers) -> Floats:
    out = np.empty_like(values)
    out[places] = values
    return out


def coordinate_ids(axes: Sequence[tuple[str, int]], sizes: Mapping[str, int]) -> Integers:
    """Return mixed-radix numbers over all attributes of `sizes` for the coordinates of a table of some of them, 0 along
    the others. `axes` hold the number of coordinates along each axis."""
    wide = prod(sizes.values()) >= 1 << 62
    out = np.zeros([size for _, size in axes], dtype=object if wide else np.int64)
    strides = dict(zip(sizes, np.cumprod([1, *sizes.values()], dtype=object)[:-1], strict=True))
    for place, (name, size) in enumerate(axes):
        codes = np.arange(size, dtype=out.dtype) * int(strides[name])
        out = out + codes.reshape(-1, *[1] * (len(axes) - 1 - place))
    return out.reshape(-1)
