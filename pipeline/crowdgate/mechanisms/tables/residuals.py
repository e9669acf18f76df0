"""Noise on the residuals of tables instead of their cells: the least sum of variances of all Gaussian noise.

The residual of a set of attributes is what their table says beyond its margins (`accounting.residual_noise`). The
estimate of a table adds up the residuals of all subsets of its attributes, each spread evenly over the other axes. So
tables agree without a further step. With rho_B for the residual of the attributes B, whose axes have n_i values, each
table A that contains them gets in each cell a variance of

    V_B product over B of (1 - 1/n_i) / product over A without B of n_i^2,    V_B = product over B of (1 - 1/n_i) / (2
    rho_B)

for one row a person. The sum over all cells of all tables is sum_B c_B / rho_B, which is least for rho_B in proportion
to the root of c_B (Xiao, He, Zhang, Kifer 2023). The total keeps a part that is no smaller than its stated share, or a
hundredth.

Each attribute has one level in all tables. Tables are counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.accounting.residual_noise import residual_change, residual_factor, residual_scale
from crowdgate.accounting.tables_plan import Query
from crowdgate.limits import MOST_NUMBERS
from crowdgate.mechanisms.tables.workload import ContingencyTable, LinearQuery

if TYPE_CHECKING:
    from crowdgate.accounting.tables_plan import NoiseKind
    from crowdgate.arrays import Floats, Integers
    from crowdgate.errors import Finding
    from crowdgate.hierarchy import Level
    from crowdgate.mechanisms.tables.workload import ResolvedWorkload

Axes = Mapping[str, "Level"]

_TOTAL = 0.01
"""The least part of the total: its error is read more often than those of cells."""
_LARGEST = 1 << 62
"""The greatest number of a residual before noise. Counts are cut off below it, which never enlarges a person's
change."""


def residual_axes(tables: Sequence[Axes]) -> tuple[dict[str, Level], ...]:
    """Return the attributes and levels of each residual that the tables need: all subsets of their attributes of more
    than one value, in order of their number and names. The first is the total."""
    found: dict[tuple[str, ...], dict[str, Level]] = {}
    for levels in tables:
        wide = sorted(name for name, level in levels.items() if len(level) > 1)
        for ways in range(len(wide) + 1):
            for names in combinations(wide, ways):
                found.setdefault(names, {name: levels[name] for name in names})
    return tuple(found[names] for names in sorted(found, key=lambda names: (len(names), names)))


def residual_name(names: Sequence[str]) -> str:
    """Return the name of a residual, from the names of its attributes."""
    return f"residual of {', '.join(names)}" if names else "total"


def residual_queries(tables: Sequence[Axes]) -> tuple[LinearQuery, ...]:
    """Return the vectors that receive noise, one for each residual of the tables."""
    out = []
    for axes in residual_axes(tables):
        sizes = [len(level) for level in axes.values()]
        out.append(LinearQuery(Query(residual_name(list(axes)), prod(sizes), residual_change(sizes)), axes))
    return tuple(out)


def residual_findings(work: ResolvedWorkload, noise: NoiseKind) -> Iterator[Finding]:
    """Yield the findings against noise on the residuals of these tables."""
    queries = work.queries
    if noise != "gaussian":
        yield ("split",), f"residuals with {noise} noise", "noise: gaussian, or another split", None
    if not all(isinstance(item, ContingencyTable) for item in work.items):
        found = "residuals beside sums, means or quantiles"
        yield ("split",), found, "tables of counts alone, or another split", None
        return
    levels: dict[str, Level] = {}
    for linear in queries:
        for name, level in linear.levels.items():
            if len(level) > 1 and not np.array_equal(levels.setdefault(name, level).codes, level.codes):
                yield (
                    ("split",),
                    f"residuals of {name!r} at two levels",
                    "one level of each attribute, or another split",
                    None,
                )
                return
    if any(linear.query.share is not None and linear.query.cells > 1 for linear in queries):
        found = "residuals of tables that state a share"
        yield ("split",), found, "a share of the total alone, or another split", None
    if sum(linear.query.cells for linear in residual_queries([linear.levels for linear in queries])) > MOST_NUMBERS:
        yield ("split",), f"more than {MOST_NUMBERS} numbers of residuals", "fewer tables, or another split", None


def residual_budget(tables: Sequence[Axes], total: Fraction, least: float = _TOTAL) -> tuple[Fraction, ...]:
    """Return the rho of each residual of the tables, in the order of `residual_axes`: the parts with the least sum of
    variances over all cells, of which the total's is at least `least`. They add up to `total` exactly."""
    residuals = residual_axes(tables)
    roots = np.sqrt([sum(_of_cells(axes, table) for table in tables) for axes in residuals])
    parts = roots / roots.sum()
    if len(parts) > 1 and parts[0] < least:
        parts = np.concatenate([[least], parts[1:] * (1 - least) / parts[1:].sum()])
    exact = [Fraction(max(part, 1e-9)).limit_denominator(10**9) for part in parts.tolist()]
    return tuple(total * part / sum(exact) for part in exact)


def stated_total(queries: Sequence[LinearQuery]) -> float:
    """Return the least part of the total: the greatest share that a table of one cell states, or a hundredth."""
    return max([_TOTAL, *(float(each.query.share) for each in queries if each.query.share is not None)])


def true_residual(counts: Integers) -> Integers:
    """Return the residual of exact counts, as whole numbers. Confidential."""
    sizes = counts.shape
    factor = residual_factor(sizes)
    most = _LARGEST // (factor * prod(2 * size for size in sizes))
    out = np.clip(counts, -most, most)
    for axis, size in enumerate(sizes):
        out = size * out - out.sum(axis=axis, keepdims=True)
    return np.asarray(factor * out, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ResidualNoise:
    """Tables whose noise is on residuals: the axes of the tables, those of the residuals, and the variance of the noise
    on each number of a residual."""

    tables: Sequence[Axes]
    residuals: Sequence[Axes]
    variances: Sequence[float]

    def estimates(self, noisy: Sequence[Integers]) -> tuple[Floats, ...]:
        """Return the unbiased estimates of the tables, which agree, from the noisy residuals."""
        parts = [_part(axes, drawn) for axes, drawn in zip(self.residuals, noisy, strict=True)]
        return tuple(self._table(levels, parts) for levels in self.tables)

    @cached_property
    def after(self) -> tuple[Floats, ...]:
        """The variance of each cell of each table's estimate: equal in all cells of a table."""
        each = [(axes, self._part_variance(at)) for at, axes in enumerate(self.residuals)]
        return tuple(
            np.full(tuple(map(len, levels.values())), sum(v * _in_table(axes, levels) for axes, v in each))
            for levels in self.tables
        )

    @property
    def drawn(self) -> list[float]:
        """The variance in each cell of a table that the noise on its finest residual amounts to, if its margins were
        known no better than by it."""
        own = {frozenset(axes): self._part_variance(at) for at, axes in enumerate(self.residuals)}
        return [own[frozenset(name for name, level in levels.items() if len(level) > 1)] for levels in self.tables]

    def _part_variance(self, at: int) -> float:
        scale = residual_scale([len(level) for level in self.residuals[at].values()])
        return self.variances[at] / scale / scale

    def _table(self, levels: Axes, parts: Sequence[Floats]) -> Floats:
        shape = tuple(map(len, levels.values()))
        out, wide = np.zeros(shape), {name for name, level in levels.items() if len(level) > 1}
        for axes, part in zip(self.residuals, parts, strict=True):
            if set(axes) <= wide:
                names = list(axes)
                own = np.transpose(part, [names.index(name) for name in levels if name in axes])
                others = prod(len(levels[name]) for name in wide if name not in axes)
                out += own.reshape([len(level) if name in axes else 1 for name, level in levels.items()]) / others
        return out


def _part(axes: Axes, drawn: Integers) -> Floats:
    """Return the estimate of the part that a residual adds to its own table: it sums to 0 along each axis."""
    out = drawn.astype(np.float64) / residual_scale([len(level) for level in axes.values()])
    for axis in range(out.ndim):
        out = out - out.mean(axis=axis, keepdims=True)
    return out


def _in_table(axes: Axes, table: Axes) -> float:
    """Return the variance in a cell of a table, in parts of that of the numbers of one residual's part before it sums
    to 0; 0 if the table has other attributes."""
    wide = {name: len(level) for name, level in table.items() if len(level) > 1}
    if not set(axes) <= set(wide):
        return 0.0
    others = prod(size for name, size in wide.items() if name not in axes)
    return prod(1 - 1 / wide[name] for name in axes) / others**2


def _of_cells(axes: Axes, table: Axes) -> float:
    """Return twice the sum of variances over the cells of a table that a residual of rho 1 adds."""
    cells = prod(map(len, table.values()))
    return cells * _in_table(axes, table) * prod(1 - 1 / len(level) for level in axes.values())
