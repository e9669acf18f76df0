"""Consistency: tables that share margins, or that are levels of each other, made to agree by weighted least squares.

Each table is the truth plus noise of known variance, equal in all its cells. Tables are margins of one common
(real-valued) table exactly if they agree, pair by pair, on their common margin. The estimate that minimises sum (z -
y)^2 / variance over such tables is linear and unbiased, and no other linear unbiased estimate has a smaller variance,
in any cell (Gauss-Markov; Hay, Rastogi, Miklau, Suciu 2010). So consistency never increases the mean squared error of a
cell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.hierarchy import Level, coarser_codes
from crowdgate.mechanisms.tables.orthogonal import Orthogonal
from crowdgate.mechanisms.tables.variances import variances as cell_variances

Axes = Mapping[str, Level]


@dataclass(frozen=True, eq=False)
class ConsistentTables:
    """Least-squares estimates of tables, which agree on common margins and can be negative; the variance of each cell's
    estimate; `exact` is True if variances are exact, False if they are upper bounds."""

    tables: tuple[Floats, ...]
    variances: tuple[Floats, ...]
    exact: bool


def consistent_tables(
    axes: Sequence[Axes], noisy: Sequence[Integers | Floats], variances: Sequence[float]
) -> ConsistentTables:
    """Return the least-squares estimates of noisy tables, which agree on common margins. `variances` hold the positive
    noise variance of each table's cells."""
    if not all(variance > 0 for variance in variances):
        raise ValueError("variances must be positive")
    made = Orthogonal.of(axes, variances)
    flat = np.concatenate([np.asarray(table, dtype=np.float64).reshape(-1) for table in noisy])
    ends = np.cumsum([table.size for table in noisy])[:-1]
    found = [
        part.reshape(_shape(levels)) for part, levels in zip(np.split(made.estimate(flat), ends), axes, strict=True)
    ]
    return ConsistentTables(tuple(found), *_variances_after(made, axes))


def variances_after(axes: Sequence[Axes], variances: Sequence[float]) -> tuple[tuple[Floats, ...], bool]:
    """Return the variance of each cell of each table after consistency, and True if variances are exact (else upper
    bounds). They depend on the plan alone. `variances` hold the noise variance of each table's cells."""
    return _variances_after(Orthogonal.of(axes, variances), axes)


def common_margin(left: Axes, right: Axes) -> dict[str, Level]:
    """Return attributes and levels of the finest table that is a margin of both tables: shared attributes at the
    coarser of the two levels."""
    return {name: min(left[name], right[name], key=len) for name in sorted(left) if name in right}


def refines(axes: Axes, margin_axes: Axes) -> bool:
    """Return True if the table with the axes `margin_axes` is a margin of the table with the axes `axes`."""
    return all(name in axes and len(axes[name]) >= len(level) for name, level in margin_axes.items())


def cells_of(axes: Axes, margin_axes: Axes) -> Integers:
    """Return for each cell of a table (flat) the cell of its margin that it belongs to."""
    shape = tuple(map(len, axes.values()))
    out = np.zeros(shape, dtype=np.int64)
    stride = prod(len(level) for level in margin_axes.values())
    for name, level in margin_axes.items():
        stride //= len(level)
        along = [1] * len(shape)
        along[list(axes).index(name)] = -1
        out += (coarser_codes(axes[name], level) * stride).reshape(along)
    return out.reshape(-1)


def _variances_after(made: Orthogonal, axes: Sequence[Axes]) -> tuple[tuple[Floats, ...], bool]:
    after, exact = cell_variances(made)
    return tuple(table.reshape(_shape(levels)) for table, levels in zip(after, axes, strict=True)), exact


def _shape(axes: Axes) -> tuple[int, ...]:
    return tuple(map(len, axes.values()))
