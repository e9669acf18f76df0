"""Published answers from noisy vectors: consistent tables, sums, means and quantiles with their errors.

Post-processing: it reads only noisy numbers and the plan, so it costs no budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdgate.arrays import Array, Floats, Integers
from crowdgate.hierarchy import INVALID_LABEL, Level
from crowdgate.mechanisms.tables.accuracy import Cells, consistent_cells, estimated_cells, exact_cells
from crowdgate.mechanisms.tables.coarse_to_fine import whole_tables
from crowdgate.mechanisms.tables.columns import MEAN_PARTS
from crowdgate.mechanisms.tables.consistency import consistent_tables
from crowdgate.mechanisms.tables.count_errors import PublishedCounts, count_errors, variances_of_rows
from crowdgate.mechanisms.tables.hierarchical_quantiles import hierarchical_bins
from crowdgate.mechanisms.tables.means import means
from crowdgate.mechanisms.tables.noisy_bins import noisy_bins
from crowdgate.mechanisms.tables.quantile_errors import NoisyRows, quantile_errors
from crowdgate.mechanisms.tables.quantiles import quantile_bins, quantile_limits
from crowdgate.mechanisms.tables.workload import ContingencyTable, Item, Mean, Quantiles

if TYPE_CHECKING:
    from crowdgate.mechanisms.tables.dp_tables import DpTables
    from crowdgate.mechanisms.tables.residuals import ResidualNoise
    from crowdgate.mechanisms.tables.sums import ClampAndRounding


@dataclass(frozen=True, eq=False)
class TableAnswer:
    """One published table: a number with its error in each cell of `levels`, in the axes' order.

    `taken` states clamping and rounding of the column's numbers; `parts` are further columns: the noisy sum and rows of
    a mean.
    """

    item: Item
    levels: Mapping[str, Level]
    cells: Cells
    taken: ClampAndRounding | None = None
    parts: Mapping[str, Floats] = field(default_factory=dict)

    def suppressed(self) -> TableAnswer:
        """Return the answer with NaN in place of each number that is not trustworthy."""
        parts = {name: np.where(self.cells.trustworthy, part, np.nan) for name, part in self.parts.items()}
        return replace(self, cells=self.cells.suppressed(), parts=parts)


@dataclass(frozen=True, eq=False)
class QuantileAnswer:
    """Bins of `column` (codes of its level; -1: nothing to count) that hold the quantiles, with 95 % limits.

    Shape: the cells of `levels`, then the item's probabilities. A quantile is known to its bin at best. `errors` are
    root mean square distances from the true bin, in bins (NaN: no bin). `groups` are the levels of the column at which
    bins were counted together.
    """

    item: Quantiles
    levels: Mapping[str, Level]
    column: Level
    bins: Integers
    lower: Integers
    upper: Integers
    errors: Floats
    groups: tuple[Level, ...] = ()


@dataclass(frozen=True, eq=False)
class _BinCounts:
    """Counts behind quantiles: the published ones and unbiased estimates, in the table's shape, and the variance of the
    sum of the estimates of all values of the column."""

    values: Integers | Floats
    estimates: Integers | Floats
    rows_variance: float = np.inf


def raw_answers(
    mechanism: DpTables, noisy: Sequence[Integers], relative: Fraction
) -> tuple[TableAnswer | QuantileAnswer, ...]:
    """Return the published answers of the items, one each, with the numbers as drawn and the exact intervals of their
    noise. Counts can be negative."""
    cells = {i: _exact(mechanism, i, noisy[i], relative) for i in range(len(noisy))}
    return _answers(mechanism, noisy, cells, {i: _BinCounts(each, each) for i, each in enumerate(noisy)}, relative)


def consistent_answers(
    mechanism: DpTables, noisy: Sequence[Integers], relative: Fraction
) -> tuple[TableAnswer | QuantileAnswer, ...]:
    """Return the published answers of the items, one each: counts consistent and in whole numbers from 0 on
    (`coarse_to_fine`), with the linear estimates behind them and their intervals. They are made consistent on the
    sample, if any, then scaled by 1/beta. Sums and means are as drawn."""
    if mechanism.residual_noise is not None:
        return _residual_answers(mechanism, mechanism.residual_noise, noisy, relative)
    counts = [i for i, linear in enumerate(mechanism.queries) if linear.grid is None]
    cells = {i: _exact(mechanism, i, noisy[i], relative) for i in range(len(noisy)) if i not in counts}
    behind: Mapping[int, _BinCounts] = {}
    if mechanism.width is not None:
        axes = [mechanism.queries[i].levels for i in counts]
        spread = [mechanism.laws[i].variance for i in counts]
        found = consistent_tables(axes, [noisy[i] for i in counts], spread)
        tables = whole_tables(axes, found.tables, spread)
        parts = zip(axes, spread, found.variances, found.tables, tables, strict=True)
        counted = {i: PublishedCounts(*each) for i, each in zip(counts, parts, strict=True)}
        cells |= _consistent(mechanism, counted, relative)
        behind = _counts_behind_quantiles(mechanism, counted)
    return _answers(mechanism, noisy, cells, behind, relative)


def _residual_answers(
    mechanism: DpTables, noise: ResidualNoise, noisy: Sequence[Integers], relative: Fraction
) -> tuple[TableAnswer, ...]:
    """Return the published tables from noisy residuals, whose estimates agree: in whole numbers from 0 on."""
    axes, estimates = [linear.levels for linear in mechanism.queries], noise.estimates(noisy)
    tables = whole_tables(axes, estimates, [float(each.flat[0]) for each in noise.after])
    parts = zip(axes, noise.drawn, noise.after, estimates, tables, strict=True)
    cells = _consistent(mechanism, {at: PublishedCounts(*each) for at, each in enumerate(parts)}, relative)
    pairs = zip(mechanism.workload.items, mechanism.workload.answers, axes, strict=True)
    return tuple(TableAnswer(item, levels, cells[own[0]]) for item, own, levels in pairs)


def _counts_behind_quantiles(mechanism: DpTables, counts: Mapping[int, PublishedCounts]) -> dict[int, _BinCounts]:
    pairs = zip(mechanism.workload.items, mechanism.workload.answers, strict=True)
    columns = {own[0]: item.column for item, own in pairs if isinstance(item, Quantiles)}
    if not columns:
        return {}
    places = list(counts)
    found = variances_of_rows(list(counts.values()), {places.index(at): column for at, column in columns.items()})
    return {at: _BinCounts(counts[at].values, counts[at].estimates, found[places.index(at)]) for at in columns}


def _consistent(mechanism: DpTables, counts: Mapping[int, PublishedCounts], relative: Fraction) -> dict[int, Cells]:
    """Return the cells of each published table of counts, by the place of its query. Counts behind quantiles are not
    published, so no error is computed from them."""
    work, width, beta = mechanism.workload, mechanism.width, mechanism.budget.beta
    assert width is not None, "there are counts"
    pairs = zip(work.items, work.answers, strict=True)
    published = {own[0]: counts[own[0]] for item, own in pairs if isinstance(item, ContingencyTable)}
    errors = count_errors(list(published.values()), float(beta))
    return {
        at: consistent_cells(each.values, each.estimates, each.after, error, width, beta, relative)
        for (at, each), error in zip(published.items(), errors, strict=True)
    }


def _exact(mechanism: DpTables, at: int, noisy: Integers, relative: Fraction) -> Cells:
    grid, law = mechanism.queries[at].grid, mechanism.laws[at]
    if grid is None:
        return exact_cells(noisy, law, Fraction(1), mechanism.budget.beta, relative)
    one_sign = grid.low >= 0 or grid.high <= 0
    return exact_cells(noisy, law, grid.unit, mechanism.budget.beta, relative, grid.greatest if one_sign else None)


def _answers(
    mechanism: DpTables, noisy: Sequence[Integers], cells: Mapping[int, Cells],
    behind: Mapping[int, _BinCounts], relative: Fraction,
) -> tuple[TableAnswer | QuantileAnswer, ...]:  # fmt: skip
    out: list[TableAnswer | QuantileAnswer] = []
    for item, own in zip(mechanism.workload.items, mechanism.workload.answers, strict=True):
        levels = mechanism.queries[own[0]].levels
        if isinstance(item, Quantiles):
            out.append(_quantiles(mechanism, item, own, noisy, behind[own[0]]))
        elif isinstance(item, Mean):
            out.append(_mean(mechanism, item, own, noisy, relative))
        else:
            grid = mechanism.queries[own[0]].grid
            out.append(TableAnswer(item, levels, cells[own[0]], None if grid is None else grid.taken))
    return tuple(out)


def _mean(
    mechanism: DpTables, item: Mean, own: Sequence[int], noisy: Sequence[Integers], relative: Fraction
) -> TableAnswer:
    """Return the table of means with further columns scaled to the full table: the noisy sum of the differences from
    the offset, and the noisy number of rows."""
    sums, counts = own
    grid, beta = mechanism.queries[sums].grid, mechanism.budget.beta
    assert grid is not None
    found = means(grid, noisy[sums], noisy[counts], (mechanism.laws[sums], mechanism.laws[counts]), beta)
    units = float(grid.unit / beta), float(1 / beta)
    parts = (np.asarray(noisy[at] * unit, dtype=np.float64) for at, unit in zip(own, units, strict=True))
    named = dict(zip(MEAN_PARTS, parts, strict=True))
    return TableAnswer(item, mechanism.queries[sums].levels, estimated_cells(found, relative), grid.taken, named)


def _quantiles(
    mechanism: DpTables, item: Quantiles, own: Sequence[int], noisy: Sequence[Integers], counts: _BinCounts
) -> QuantileAnswer:
    """Return the bins of the quantiles by the published counts, their 95 % limits by the counts as drawn (`noisy`),
    widened to contain the bins, and their errors by the counts of all tables as drawn."""
    levels = [mechanism.queries[at].levels for at in own]
    values = _bins_last(counts.values, levels[0], item.column)
    if len(own) > 1:
        bins, low, high = hierarchical_bins(mechanism, item, own, noisy, values)
    else:
        bins = np.stack([quantile_bins(values, p) for p in item.probabilities], axis=-1)
        drawn, law = _bins_last(noisy[own[0]], levels[0], item.column), mechanism.laws[own[0]]
        limits = [quantile_limits(drawn, p, law, mechanism.budget.beta) for p in item.probabilities]
        low, high = (np.stack(each, axis=-1) for each in zip(*limits, strict=True))
    low, high = np.minimum(low, bins), np.where(bins < 0, -1, np.maximum(high, bins))
    errors, groups = _quantile_errors(mechanism, item, own[0], noisy, counts, bins), levels[1:]
    return QuantileAnswer(
        item, _others(levels[0], item), levels[0][item.column], bins, low, high, errors,
        tuple(each[item.column] for each in groups),
    )  # fmt: skip


def _quantile_errors(
    mechanism: DpTables, item: Quantiles, at: int, noisy: Sequence[Integers], counts: _BinCounts, bins: Integers
) -> Floats:
    """Return the errors of the bins of the quantiles from query number `at`. The number of rows without invalid ones is
    known less well than that of all rows, by the noise of one count."""
    places = [i for i, linear in enumerate(mechanism.queries) if linear.grid is None]
    axes, variances = [mechanism.queries[i].levels for i in places], [mechanism.laws[i].variance for i in places]
    known = noisy_bins(axes, [noisy[i] for i in places], variances, places.index(at), item.column)
    estimates = _bins_last(counts.estimates, mechanism.queries[at].levels, item.column)
    unknown = mechanism.laws[at].variance * (estimates.size < counts.estimates.size)
    rows = None if np.isinf(counts.rows_variance) else NoisyRows(estimates.sum(-1), counts.rows_variance + unknown)
    return quantile_errors(known, bins, item.probabilities, float(mechanism.beta), rows)


def _others(levels: Mapping[str, Level], item: Quantiles) -> dict[str, Level]:
    return {name: level for name, level in levels.items() if name != item.column}


def _bins_last(numbers: Array, levels: Mapping[str, Level], column: str) -> Any:
    """Return the numbers of a table with the column's bins along the last axis, without the invalid one."""
    level = levels[column]
    last = len(level) - (level.labels[-1] == INVALID_LABEL)
    return np.moveaxis(numbers, list(levels).index(column), -1)[..., :last]
