"""Variances of least-squares estimates, cell by cell: exact, or bounds from above.

If groups of a level are even, nested coordinates of the estimate have no covariance: a cell's variance is that of its
coordinates, weighted by the squares of the basis. If they are uneven, taking all groups as large as the largest uses
less information than there is (`orthogonal`). So it bounds variances, as the noise variances do.

The exact variances then come from patterns. The contrasts of a level have no covariance with other coordinates if
groups are even from this level on; the coordinates of all levels before are coupled. A pattern assigns to each axis
either one such level, whose contrasts all behave alike, or the coupled coordinates (without any, the total), and needs
the inversion of one matrix.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from math import prod

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.mechanisms.tables.orthogonal import Axis, Orthogonal, coordinate_ids

MOST_WORK = 2e9
"""Bound on the multiplications for exact variances if groups are uneven (half a second)."""
_EACH = 1e5
"""Multiplications for the smallest pattern."""


def variances(tables: Orthogonal) -> tuple[list[Floats], bool]:
    """Return the variance of each cell of each table's least-squares estimate, and True if variances are exact (else
    upper bounds)."""
    patterns = _affordable(tables)
    found = _evened(tables) if patterns is None else [np.zeros(tables.shape(at)) for at in range(len(tables.axes))]
    for pattern in patterns or ():
        for at, spread in pattern.spreads():
            found[at] += spread
    least = [np.minimum(table, 1 / weight) for table, weight in zip(found, tables.weights, strict=True)]
    exact = patterns is not None or not any(nesting.coupled for nesting in tables.nestings.values())
    return [tables.placed(at, table) for at, table in enumerate(least)], exact


def _evened(tables: Orthogonal) -> list[Floats]:
    """Return an upper bound on the variance of each cell of each table: the variance if all groups were as large as the
    largest."""
    of_coordinates = 1 / tables.least[tables.ids]
    sizes = [prod(tables.shape(at)) for at in range(len(tables.axes))]
    parts = np.split(of_coordinates, np.cumsum(sizes)[:-1])
    return [_of_cells(tables, at, part.reshape(tables.shape(at))) for at, part in enumerate(parts)]


def _of_cells(tables: Orthogonal, at: int, of_coordinates: Floats) -> Floats:
    """Return the variance of each cell of the table at place `at` from those of its coordinates, which are equal for
    all contrasts of a level."""
    out = of_coordinates
    for axis, (name, rank) in enumerate(tables.axes[at]):
        nesting = tables.nestings[name]
        starts = [0, *(nesting.size(block) for block in range(rank))]
        squares = np.column_stack([nesting.squares(block, rank) for block in range(rank + 1)])
        out = np.moveaxis(np.tensordot(squares, out.take(starts, axis), (1, axis)), 0, axis)
    return out


def _affordable(tables: Orthogonal) -> "list[_Pattern] | None":
    """Return the patterns that exact variances need; None if all groups are even or the work exceeds MOST_WORK."""
    coupled = {name: nesting.coupled for name, nesting in tables.nestings.items()}
    combinations = (prod(1 + max(0, rank - coupled[name]) for name, rank in axes) for axes in tables.axes)
    if not any(coupled.values()) or max(combinations) * _EACH > MOST_WORK:
        return None
    patterns = _patterns(tables, coupled)
    return patterns if sum(pattern.size**3 + _EACH for pattern in patterns) <= MOST_WORK else None


@dataclass(frozen=True, eq=False)
class _Pattern:
    """A pattern of coordinates: `levels` holds the rank of the contrasts on each axis that has contrasts, by attribute;
    `members` are the places of tables with such contrasts; `coupled` is the rank up to which an attribute's coordinates
    are coupled."""

    tables: Orthogonal
    coupled: Mapping[str, int]
    levels: Mapping[str, int]
    members: Sequence[int]

    @cached_property
    def _places(self) -> list[Integers]:
        """For each table of the pattern, the places of its coordinates among the coupled coordinates."""
        sizes = {name: self.tables.nestings[name].size(rank) for name, rank in self.coupled.items() if rank}
        own = [[(name, self.tables.nestings[name].size(low)) for name, low, _ in self._wide(at)] for at in self.members]
        ids = [coordinate_ids(axes, sizes) for axes in own]
        dense = np.unique(np.concatenate(ids), return_inverse=True)[1].reshape(-1).astype(np.int64)
        return np.split(dense, np.cumsum([len(each) for each in ids])[:-1])

    @property
    def size(self) -> int:
        """Number of coupled coordinates of the pattern."""
        return 1 + max(int(own.max()) for own in self._places)

    def spreads(self) -> Iterator[tuple[int, Floats]]:
        """Yield the place of each table of the pattern and the variances that the pattern contributes to its cells."""
        matrix = np.zeros((self.size, self.size))
        for at, own in zip(self.members, self._places, strict=True):
            matrix[np.ix_(own, own)] += self._weight(at) * _kron([self._gram(*axis) for axis in self._wide(at)])
        covariance = np.linalg.inv(matrix).astype(np.float64)
        for at, own in zip(self.members, self._places, strict=True):
            yield at, self._spread(at, covariance[np.ix_(own, own)])

    def _wide(self, at: int) -> list[tuple[str, int, int]]:
        """Return (attribute, rank up to which coordinates are coupled, rank) of each axis of the table at place `at`
        that has coupled coordinates other than the total and no contrasts of the pattern."""
        axes = [(name, min(rank, self.coupled[name]), rank) for name, rank in self.tables.axes[at]]
        return [(name, low, rank) for name, low, rank in axes if low and name not in self.levels]

    def _weight(self, at: int) -> float:
        """Return the weight of one coordinate of the pattern in the table at place `at`: 1/variance times what remains
        of its square along the axes without coupling."""
        wide = {name for name, _, _ in self._wide(at)}
        free = [(name, rank) for name, rank in self.tables.axes[at] if name not in wide]
        shrunk = [self.tables.nestings[name].shrinkage(self.levels.get(name, 0), rank) for name, rank in free]
        return self.tables.weights[at] * prod(shrunk)

    def _gram(self, name: str, low: int, rank: int) -> Floats:
        """Return the matrix T'T along a coupled axis, for its coordinates up to rank `low`, in a table whose axis has
        the rank `rank`."""
        nesting = self.tables.nestings[name]
        basis, below = nesting.basis(low), np.bincount(nesting.ancestors(low, rank))
        return np.asarray(basis.T @ (basis / below[:, None]))

    def _spread(self, at: int, covariance: Floats) -> Floats:
        wide = {name: low for name, low, _ in self._wide(at)}
        basis = _kron([self.tables.nestings[name].basis(low) for name, low in wide.items()])
        out = np.einsum("ij,ij->i", basis @ covariance, basis)
        out = out.reshape([self.tables.nestings[name].size(low) for name, low in wide.items()])
        # axis by axis: a coupled axis is carried to its level, any other one is inserted at its place
        for place, (name, rank) in enumerate(self.tables.axes[at]):
            nesting = self.tables.nestings[name]
            if name in wide:
                out = np.moveaxis(nesting.carried(np.moveaxis(out, place, -1), wide[name], rank), -1, place)
            else:
                squares = nesting.squares(self.levels.get(name, 0), rank)
                out = np.expand_dims(out, place) * squares.reshape(-1, *[1] * (out.ndim - place))
        return np.asarray(out)


def _patterns(tables: Orthogonal, coupled: Mapping[str, int]) -> list[_Pattern]:
    """Return the pattern of each combination of contrasts that occurs in a table."""
    found: dict[tuple[Axis, ...], list[int]] = {}
    for at, axes in enumerate(tables.axes):
        choices = [((), *(((name, b),) for b in range(coupled[name] + 1, rank + 1))) for name, rank in sorted(axes)]
        for chosen in product(*choices):
            found.setdefault(tuple(chain.from_iterable(chosen)), []).append(at)
    return [_Pattern(tables, coupled, dict(levels), members) for levels, members in found.items()]


def _kron(matrices: Sequence[Floats]) -> Floats:
    out: Floats = np.ones((1, 1))
    for matrix in matrices:
        out = np.kron(out, matrix).astype(np.float64)
    return out
