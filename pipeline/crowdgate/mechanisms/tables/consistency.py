"""Consistency: tables that share margins, or that are levels of each other, made to agree by weighted least squares.

Each table is the truth plus noise of known variance, the same in all its cells. The tables that are margins of one
common (real-valued) table are those that agree, pair by pair, on the margin both have: a linear condition, C z = 0. The
estimate that minimises sum (z - y)^2 / variance subject to it is z = y - D C' (C D C')^-1 C y with D the variances: no
linear unbiased estimate has a smaller variance, in any cell (Gauss-Markov; Hay, Rastogi, Miklau, Suciu 2010), so
consistency never increases the mean squared error of a cell. Variances are then the diagonal of
D - D C' (C D C')^-1 C D.

Non-negative estimates are the nearest point, in the same weighted distance, of the consistent tables without negative
cells (Dykstra's alternating projections). The true tables are such a point, so the weighted squared error never grows;
single cells gain a bias, upwards where most cells of a table are empty.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from crowdgate.hierarchy import Level, above
from crowdgate.mechanisms.tables.orthogonal import Orthogonal, orthogonal

Floats = npt.NDArray[np.float64]
Axes = Mapping[str, Level]

MOST_CONSTRAINTS = 6000
"""Above this the equations are solved by conjugate gradients, and variances stay those before consistency."""
MOST_WORK = 4e10
"""Multiplications that the exact variances may cost (a few seconds); above, the same."""
_RANK = 1e-9
_ROUNDS = 3000
_ROUNDS_WORK = 6e9
"""Multiplications of all rounds together (some seconds); where they end early, `gap` says how far it came."""
_ITERATIONS = 300
"""Of conjugate gradients, about."""


@dataclass(frozen=True, eq=False)
class Consistent:
    """Consistent tables, the variance of every cell, whether those variances are exact (else upper bounds), and the
    greatest amount by which a cell still differs from a consistent, non-negative one."""

    tables: tuple[Floats, ...]
    variances: tuple[Floats, ...]
    exact: bool
    gap: float


def agree(
    axes: Sequence[Axes], noisy: Sequence[npt.NDArray[np.int64] | Floats], variances: Sequence[float],
    *, non_negative: bool = True, tolerance: float = 0.01,
) -> Consistent:  # fmt: skip
    """The tables made consistent, real-valued. `variances` hold the positive noise variance of each table's cells.

    With `non_negative` no cell is below 0 and tables agree up to `tolerance` times the smallest standard error (`gap`
    says how well that was reached). The stated variances are those before non-negativity.
    """
    if not all(variance > 0 for variance in variances):
        raise ValueError("variances must be positive")
    y = np.concatenate([np.asarray(table, dtype=np.float64).reshape(-1) for table in noisy])
    spread = np.repeat(np.asarray(variances, dtype=np.float64), [table.size for table in noisy])
    plane = _plane(axes, spread)
    z, gap = plane.project(y), 0.0
    if non_negative:
        z, gap = _without_negatives(plane, z, tolerance * float(np.sqrt(spread.min())))
    spread_after, exact = plane.variances()
    return Consistent(_cut(z, noisy), _cut(spread_after, noisy), exact, gap)


def variances_after(axes: Sequence[Axes], variances: Sequence[float]) -> tuple[tuple[Floats, ...], bool]:
    """The variance of every cell after consistency, and whether it is exact: a function of the plan alone."""
    shapes = [np.empty(tuple(map(len, levels.values()))) for levels in axes]
    plane = _plane(axes, np.repeat(np.asarray(variances, dtype=np.float64), [table.size for table in shapes]))
    after, exact = plane.variances()
    return _cut(after, shapes), exact


def common_margin(left: Axes, right: Axes) -> dict[str, Level]:
    """The finest table that is a margin of both: shared attributes at the coarser of the two levels."""
    return {name: min(left[name], right[name], key=len) for name in sorted(left) if name in right}


def refines(axes: Axes, margin_axes: Axes) -> bool:
    """Whether a table holds that margin."""
    return all(name in axes and len(axes[name]) >= len(level) for name, level in margin_axes.items())


def cells_of(axes: Axes, margin_axes: Axes) -> npt.NDArray[np.int64]:
    """For every cell of a table (flat) the cell of its margin that it belongs to."""
    shape = tuple(map(len, axes.values()))
    out = np.zeros(shape, dtype=np.int64)
    stride = prod(len(level) for level in margin_axes.values())
    for name, level in margin_axes.items():
        stride //= len(level)
        along = [1] * len(shape)
        along[list(axes).index(name)] = -1
        out += (above(axes[name], level) * stride).reshape(along)
    return out.reshape(-1)


def margin(axes: Axes, table: Floats, margin_axes: Axes) -> Floats:
    """A table's margin, flat."""
    size = prod(len(level) for level in margin_axes.values())
    out: Floats = np.bincount(cells_of(axes, margin_axes), table.reshape(-1), size).astype(np.float64)
    return out


def _cut(flat: Floats, shapes: Sequence[npt.NDArray[Any]]) -> tuple[Floats, ...]:
    ends = np.cumsum([table.size for table in shapes])[:-1]
    parts = np.split(flat, ends)
    return tuple(part.reshape(table.shape) for part, table in zip(parts, shapes, strict=True))


@dataclass(frozen=True, eq=False)
class _Plane:
    """The consistent tables C z = 0, C of full rank (`factor` = Cholesky of C D C'), or any C without a factor."""

    equations: Any
    spread: Floats
    factor: Floats | None

    def project(self, z: Floats) -> Floats:
        """The nearest consistent tables in the distance weighted by 1/variance."""
        if not self.equations.shape[0]:
            return z
        pull = self.equations.T @ self._solve(self.equations @ z)
        return np.asarray(z - self.spread * pull)

    def _solve(self, right: Floats) -> Floats:
        from scipy.linalg import cho_solve
        from scipy.sparse import diags_array
        from scipy.sparse.linalg import cg

        if self.factor is not None:
            return np.asarray(cho_solve((self.factor, True), right, check_finite=False))
        smoothed = diags_array(1 / self.normal.diagonal())
        return np.asarray(cg(self.normal, right, rtol=1e-10, maxiter=5_000, M=smoothed)[0])

    @cached_property
    def normal(self) -> Any:
        """C D C', sparse."""
        return self.equations.multiply(self.spread) @ self.equations.T

    @property
    def rounds(self) -> int:
        """How often to project, by what a projection costs."""
        rows = self.equations.shape[0]
        cost = 2 * rows * rows if self.factor is not None else _ITERATIONS * self.normal.nnz
        return max(20, min(_ROUNDS, int(_ROUNDS_WORK / max(cost, 1))))

    def variances(self) -> tuple[Floats, bool]:
        """Variances after projection, and whether they are exact."""
        from scipy.linalg import solve_triangular

        rows, cells = self.equations.shape
        if not rows:
            return self.spread, True
        if self.factor is None or rows * rows * cells > MOST_WORK:
            return self.spread, False
        gain = np.empty(cells)
        for start in range(0, cells, 2048):
            part = slice(start, start + 2048)
            right = (self.equations[:, part].multiply(self.spread[part])).toarray()
            half = solve_triangular(self.factor, right, lower=True, check_finite=False, overwrite_b=True)
            gain[part] = np.einsum("ij,ij->j", half, half)
        return np.maximum(self.spread - gain, 0.0), True


def _plane(axes: Sequence[Axes], spread: Floats) -> "_Plane | Orthogonal":
    return orthogonal(axes, spread) or _general_plane(axes, spread)


def _general_plane(axes: Sequence[Axes], spread: Floats) -> _Plane:
    equations = _equations(axes, len(spread))
    if not 0 < equations.shape[0] <= MOST_CONSTRAINTS:
        return _Plane(equations, spread, None)
    independent, factor = _factor((equations.multiply(spread) @ equations.T).toarray())
    return _Plane(equations[independent], spread, factor)


def _factor(matrix: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """Rows that are independent (the others follow from them), and the Cholesky factor on them. Pivoted, scaled."""
    from scipy.linalg.lapack import dpstrf

    scale = np.sqrt(np.diag(matrix))
    factor, pivots, rank, _ = dpstrf(matrix / np.outer(scale, scale), lower=1, tol=_RANK)
    rows = np.asarray(pivots[:rank], dtype=np.int64) - 1
    return rows, np.tril(factor[:rank, :rank]) * scale[rows, None]


def _equations(axes: Sequence[Axes], cells: int) -> Any:
    """C: for pairs of tables that connect all tables with a common margin, the difference of the two margins."""
    from scipy.sparse import csr_array

    starts = np.cumsum([0, *(prod(map(len, levels.values())) for levels in axes)])
    rows, columns, values, height = [], [], [], 0
    for i, j, join in _links(axes):
        for at, sign in ((i, 1.0), (j, -1.0)):
            cell = cells_of(axes[at], join)
            rows.append(cell + height)
            columns.append(np.arange(starts[at], starts[at] + len(cell)))
            values.append(np.full(len(cell), sign))
        height += prod(map(len, join.values()))
    if not height:
        return csr_array((0, cells))
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return csr_array(entries, shape=(height, cells))


def _links(axes: Sequence[Axes]) -> Iterator[tuple[int, int, Axes]]:
    """Pairs of tables and the margin on which they must agree, finest margins first, without pairs that already agree
    because other pairs do."""
    joins: dict[tuple[tuple[str, int], ...], Axes] = {}
    for left, right in combinations(axes, 2):
        shared = common_margin(left, right)
        joins.setdefault(tuple((name, len(level)) for name, level in shared.items()), shared)
    made: list[tuple[int, int, Axes]] = []
    ordered = sorted(joins.values(), key=lambda levels: prod(map(len, levels.values())), reverse=True)
    for join in ordered:
        root = list(range(len(axes)))
        for i, j, finer in made:
            if refines(finer, join):
                _unite(root, i, j)
        holders = [at for at, levels in enumerate(axes) if refines(levels, join)]
        for other in holders[1:]:
            if _find(root, holders[0]) != _find(root, other):
                _unite(root, holders[0], other)
                made.append((holders[0], other, join))
    yield from made


def _find(root: list[int], at: int) -> int:
    while root[at] != at:
        at = root[at]
    return at


def _unite(root: list[int], left: int, right: int) -> None:
    root[_find(root, left)] = _find(root, right)


def _without_negatives(plane: "_Plane | Orthogonal", z: Floats, tolerance: float) -> tuple[Floats, float]:
    """Dykstra: projections in turn on the consistent tables and on those without negative cells."""
    correction = np.zeros_like(z)
    clipped, gap = np.maximum(z, 0.0), float(-min(0.0, z.min(initial=0.0)))
    for _ in range(plane.rounds):
        if gap <= tolerance:
            break
        clipped = np.maximum(z + correction, 0.0)
        correction += z - clipped
        z = plane.project(clipped)
        gap = float(np.abs(z - clipped).max())
    return clipped, gap
