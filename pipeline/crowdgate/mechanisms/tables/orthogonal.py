"""Consistency in closed form, for tables in which every attribute occurs at one level (or not at all).

Along every axis of n values a table is written in an orthonormal basis whose first vector is constant. The coefficients
of a table that vary along the axes S alone say the same as those of any other table that has the axes S: in a table
with N further cells to each of them, coefficient times sqrt(N) is that of their common margin, with noise variance
N sigma^2. As the basis is orthonormal the noise of all coefficients is independent, so the weighted mean of each is the
least-squares estimate of the whole (Barak and others 2007 use it for binary tables; Xiao, He, Zhang, Kifer 2023).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod, sqrt

import numpy as np
import numpy.typing as npt

from crowdgate.hierarchy import Level

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Orthogonal:
    """The consistent tables as common coefficients: `ids` names the one behind every cell of the transformed tables,
    `stretch` is its sqrt(N), `spread` the noise variance of the cell's table."""

    shapes: tuple[tuple[int, ...], ...]
    bases: Mapping[int, Floats]
    ids: Indices
    stretch: Floats
    spread: Floats
    rounds: int = 3000

    def project(self, z: Floats) -> Floats:
        """The nearest consistent tables in the distance weighted by 1/variance."""
        weights = self._weights()
        # the weighted mean of every coefficient over the tables that have it, put back into each of them
        common = np.bincount(self.ids, weights * self.stretch * self._transformed(z, forth=True))
        means = common / np.bincount(self.ids, weights)
        return self._transformed(means[self.ids] / self.stretch, forth=False)

    def variances(self) -> tuple[Floats, bool]:
        """Variances after projection (one for all cells of a table), and that they are exact."""
        # the variance of each mean, as a coefficient of its table, averaged over the table's cells
        of_common = 1 / np.bincount(self.ids, self._weights())
        of_coefficients = of_common[self.ids] / self.stretch**2
        sizes = [prod(shape) for shape in self.shapes]
        starts = np.cumsum([0, *sizes[:-1]])
        return np.repeat(np.add.reduceat(of_coefficients, starts) / sizes, sizes), True

    def _weights(self) -> Floats:
        return 1 / (self.spread * self.stretch**2)

    def _transformed(self, flat: Floats, *, forth: bool) -> Floats:
        out, start = np.empty_like(flat), 0
        for shape in self.shapes:
            end = start + prod(shape)
            table = flat[start:end].reshape(shape)
            # the first axis is transformed and becomes the last: after all of them the order is back
            for size in shape:
                table = table.reshape(size, -1).T @ (self.bases[size].T if forth else self.bases[size])
            out[start:end] = table.reshape(-1)
            start = end
        return out


def orthogonal(axes: Sequence[Mapping[str, Level]], spread: Floats) -> Orthogonal | None:
    """The closed form for these tables, or None where an attribute occurs at two levels of more than one value."""
    levels: dict[str, Level] = {}
    for table in axes:
        for name, level in table.items():
            if len(level) > 1 and not _same(levels.setdefault(name, level), level):
                return None
    kept = [tuple(name for name, level in table.items() if len(level) > 1) for table in axes]
    ids, stretch = zip(*(_coefficients(names, levels, tuple(sorted(levels))) for names in kept), strict=True)
    shapes = tuple(tuple(len(levels[name]) for name in names) for names in kept)
    bases = {size: _basis(size) for shape in shapes for size in shape}
    dense = np.unique(np.concatenate(ids), return_inverse=True)[1].reshape(-1).astype(np.int64)
    return Orthogonal(shapes, bases, dense, np.concatenate(stretch), spread)


def _same(left: Level, right: Level) -> bool:
    return left is right or np.array_equal(left.codes, right.codes)


def _coefficients(
    names: tuple[str, ...], levels: Mapping[str, Level], order: tuple[str, ...]
) -> tuple[npt.NDArray[np.object_] | Indices, Floats]:
    """For every coefficient of a table its name, a mixed-radix number over all attributes, and its sqrt(N)."""
    sizes = [len(levels[name]) for name in order]
    strides = {name: prod(sizes[at + 1 :]) for at, name in enumerate(order)}
    wide = prod(sizes) >= 1 << 62
    shape = tuple(len(levels[name]) for name in names)
    ids, stretch = np.zeros(shape, dtype=object if wide else np.int64), np.ones(shape)
    for at, name in enumerate(names):
        along = [1] * len(shape)
        along[at] = -1
        codes = np.arange(shape[at], dtype=object if wide else np.int64)
        ids = ids + (codes * strides[name]).reshape(along)
        stretch = stretch * np.where(np.arange(shape[at]) == 0, sqrt(shape[at]), 1.0).reshape(along)
    return ids.reshape(-1), stretch.reshape(-1)


def _basis(size: int) -> Floats:
    """An orthogonal matrix whose first row is constant and positive: a Householder reflection."""
    first = np.full(size, 1 / sqrt(size))
    axis = first - np.eye(size)[0]
    if size == 1:
        return np.ones((1, 1))
    return np.asarray(np.eye(size) - 2 * np.outer(axis, axis) / (axis @ axis))
