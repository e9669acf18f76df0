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
from crowdgate.mechanisms.tables.count_errors import BinPosterior, PublishedCounts, bin_posteriors, count_errors
from crowdgate.mechanisms.tables.hierarchical_quantiles import hierarchical_bins
from crowdgate.mechanisms.tables.means import means
from crowdgate.mechanisms.tables.quantiles import KnownBins, quantile_bins, quantile_errors, quantile_limits
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


def raw_answers(
    mechanism: DpTables, noisy: Sequence[Integers], relative: Fraction
) -> tuple[TableAnswer | QuantileAnswer, ...]:
    """Return the published answers of the items, one each, with the numbers as drawn and the exact intervals of their
    noise. Counts can be negative."""
    cells = {i: _exact(mechanism, i, noisy[i], relative) for i in range(len(noisy))}
    return _answers(mechanism, noisy, cells, {i: _drawn(mechanism, i, noisy[i]) for i in range(len(noisy))}, relative)


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
    known: Mapping[int, KnownBins] = {}
    if mechanism.width is not None:
        axes = [mechanism.queries[i].levels for i in counts]
        spread = [mechanism.laws[i].variance for i in counts]
        found = consistent_tables(axes, [noisy[i] for i in counts], spread)
        tables = whole_tables(axes, found.tables, spread)
        parts = zip(axes, spread, found.variances, found.tables, tables, strict=True)
        counted = {i: PublishedCounts(*each) for i, each in zip(counts, parts, strict=True)}
        cells |= _consistent(mechanism, counted, relative)
        known = _bins_known(mechanism, counted)
    return _answers(mechanism, noisy, cells, known, relative)


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


def _bins_known(mechanism: DpTables, counts: Mapping[int, PublishedCounts]) -> dict[int, KnownBins]:
    """Return what is known of the counts behind quantiles, by the place of their query."""
    pairs = zip(mechanism.workload.items, mechanism.workload.answers, strict=True)
    columns = {own[0]: item.column for item, own in pairs if isinstance(item, Quantiles)}
    if not columns:
        return {}
    places = list(counts)
    found = bin_posteriors(list(counts.values()), {places.index(at): column for at, column in columns.items()})
    return {places[at]: _known(counts[places[at]], each) for at, each in found.items()}


def _drawn(mechanism: DpTables, at: int, noisy: Integers) -> KnownBins:
    """Return what is known of counts as drawn."""
    values, spread = noisy.astype(np.float64), np.full(noisy.shape, mechanism.laws[at].variance)
    return KnownBins(values, spread, values, values, spread, np.inf)


def _known(counts: PublishedCounts, found: BinPosterior) -> KnownBins:
    values, shape = counts.values.astype(np.float64), counts.values.shape
    squares = np.square(values - found.mean.reshape(shape)) + found.variance.reshape(shape)
    means, spread = found.mean.reshape(shape), found.spread.reshape(shape)
    return KnownBins(values, squares, means, counts.estimates, spread, found.total)


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
    known: Mapping[int, KnownBins], relative: Fraction,
) -> tuple[TableAnswer | QuantileAnswer, ...]:  # fmt: skip
    out: list[TableAnswer | QuantileAnswer] = []
    for item, own in zip(mechanism.workload.items, mechanism.workload.answers, strict=True):
        levels = mechanism.queries[own[0]].levels
        if isinstance(item, Quantiles):
            quantiles = _hierarchical if len(own) > 1 else _quantiles
            out.append(quantiles(mechanism, item, own, noisy, known[own[0]]))
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


def _hierarchical(
    mechanism: DpTables, item: Quantiles, own: Sequence[int], noisy: Sequence[Integers], known: KnownBins
) -> QuantileAnswer:
    levels = mechanism.queries[own[0]].levels
    found = hierarchical_bins(mechanism, item, own, noisy, _of_column(known, levels, item.column))
    groups = tuple(mechanism.queries[at].levels[item.column] for at in own[1:])
    return QuantileAnswer(item, _others(levels, item), levels[item.column], *found, groups)


def _quantiles(
    mechanism: DpTables, item: Quantiles, own: Sequence[int], noisy: Sequence[Integers], known: KnownBins
) -> QuantileAnswer:
    """Return the bins of the quantiles by the published counts, their 95 % limits by the counts as drawn (`noisy`),
    widened to contain the bins, and their errors by what is `known` of the counts."""
    levels, law = mechanism.queries[own[0]].levels, mechanism.laws[own[0]]
    mine, found = _of_column(known, levels, item.column), []
    drawn = _bins_last(noisy[own[0]], levels, item.column)
    for p in item.probabilities:
        bins = quantile_bins(mine.values, p)
        low, high = quantile_limits(drawn, p, law, mechanism.budget.beta)
        errors = quantile_errors(mine, bins, p, mechanism.budget.beta)
        found.append((bins, np.minimum(low, bins), np.where(bins < 0, -1, np.maximum(high, bins)), errors))
    bins, low, high, errors = (np.stack(part, axis=-1) for part in zip(*found, strict=True))
    return QuantileAnswer(item, _others(levels, item), levels[item.column], bins, low, high, errors)


def _others(levels: Mapping[str, Level], item: Quantiles) -> dict[str, Level]:
    return {name: level for name, level in levels.items() if name != item.column}


def _of_column(known: KnownBins, levels: Mapping[str, Level], column: str) -> KnownBins:
    """Return what is known of a table's cells with the column's bins along the last axis."""
    names = "values", "squares", "means", "estimates", "spread"
    return replace(known, **{name: _bins_last(getattr(known, name), levels, column) for name in names})


def _bins_last(numbers: Array, levels: Mapping[str, Level], column: str) -> Any:
    """Return the numbers of a table with the column's bins along the last axis, without the invalid one."""
    level = levels[column]
    last = len(level) - (level.labels[-1] == INVALID_LABEL)
    return np.moveaxis(numbers, list(levels).index(column), -1)[..., :last]
