"""Margins as they are published: one tidy table of all of them, with the released rows' sums for each cell."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import pyarrow as pa

from crowdgate.arrays import Floats, Integers
from crowdgate.candidate import WeightedCells, WeightedRows
from crowdgate.histogram import Histogram
from crowdgate.kinds.rows.candidate import CalibratedMargins, Lookup, PublishedMargin, PublishedRows, Sizes
from crowdgate.kinds.rows.share_limits import MarginBox, margin_box
from crowdgate.mechanisms.rows.calibration import GRID as UNITS
from crowdgate.number_text import HUNDREDTHS, format_value

NUMBERS = ("estimate", "unbiased", "standard_error", "lower", "upper")
Labels = Mapping[tuple[str, str], Sequence[str]]


@dataclass(frozen=True, eq=False)
class MarginFit:
    """The released rows of each cell of a margin: their number, the sum of their weights (`UNITS` to a weight of 1),
    and the distance of this sum from the cell's interval: 0 inside, negative below, NaN if no row is released."""

    rows: Integers
    weighted: Integers
    residual: Floats


def cells(rows: Histogram, levels: Mapping[str, str], lookup: Lookup, sizes: Sizes) -> Integers:
    """Return for each class of released rows the index of its cell in a table over `levels` (level by column), with the
    cells in row-major order."""
    out = np.zeros(len(rows), dtype=np.int64)
    for name, level in levels.items():
        out = out * sizes[name, level] + lookup[name, level][rows.codes[rows.names.index(name)]]
    return out


def labels_of(held: PublishedRows) -> Labels:
    """Return the labels of the values for each published (column, level), including levels that only margins have."""
    entries = (*held.columns, *(() if held.weighting is None else held.weighting.entries))
    return {(each.column, each.level): each.labels for each in entries}


def margin_fit(held: PublishedRows, margin: PublishedMargin) -> MarginFit:
    """Return the sums of the released rows in each cell of a margin. Numbers of rows and sums of weights are exact."""
    rows, weighted = _sums(held.rows, _calibrated_margins(held), margin)
    near = np.clip(weighted / UNITS, margin.lower, margin.upper)
    return MarginFit(rows, weighted, np.where(rows > 0, weighted / UNITS - near, np.nan))


def _sums(released: Histogram, weighting: CalibratedMargins, margin: PublishedMargin) -> tuple[Integers, Integers]:
    """Return the number of released rows and the sum of their weights, in units, in each cell of a margin."""
    cell = cells(released, margin.levels, weighting.lookup, weighting.sizes)
    rows, weighted = (np.zeros(len(margin.value), dtype=np.int64) for _ in range(2))
    np.add.at(rows, cell, released.counts)
    np.add.at(weighted, cell, released.counts * weighting.weights)
    return rows, weighted


def weighted_rows(released: Histogram, weighting: CalibratedMargins) -> WeightedRows:
    """Return the weights and margins of released rows as measures read them."""
    return WeightedRows(weighting.weights, tuple(_cells_of(released, weighting, each) for each in weighting.margins))


def _cells_of(released: Histogram, weighting: CalibratedMargins, margin: PublishedMargin) -> WeightedCells:
    rows, weighted = _sums(released, weighting, margin)
    return WeightedCells(
        tuple(margin.levels), rows, weighted / UNITS, margin.value, margin.unbiased, margin.error, margin.lower,
        margin.upper,
    )  # fmt: skip


def margins_schema(axes: int) -> pa.Schema:
    """Return the Arrow schema of the one table that holds all margins, of at most `axes` columns each."""
    named = [(f"{what}_{at}", pa.string()) for at in range(1, axes + 1) for what in ("column", "label")]
    numbers = [(name, pa.float64()) for name in NUMBERS]
    made = [("rows", pa.int64()), ("weighted", pa.float64()), ("residual", pa.float64())]
    return pa.schema([("table", pa.int64()), *named, *numbers, *made])


def margins_table(held: PublishedRows) -> pa.Table:
    """Return all margins in one table, with a row for each cell: the number of its margin (from 1), its columns and
    labels, the published figures, and the sums of the released rows in it."""
    weighting = _calibrated_margins(held)
    axes = max((len(each.levels) for each in weighting.margins), default=0)
    columns = margins_schema(axes)
    parts = [_part(held, at, each, axes) for at, each in enumerate(weighting.margins, start=1)]
    return pa.concat_tables([part.cast(columns) for part in parts]).combine_chunks()


def _part(held: PublishedRows, at: int, margin: PublishedMargin, axes: int) -> pa.Table:
    labels, found = labels_of(held), margin_fit(held, margin)
    shape = [len(labels[axis]) for axis in margin.levels.items()]
    size, codes = prod(shape), np.indices(shape).reshape(len(shape), prod(shape))
    columns: dict[str, object] = {"table": np.full(size, at)}
    for place in range(axes):
        axis = list(margin.levels.items())[place] if place < len(shape) else None
        held_labels = None if axis is None else np.asarray(labels[axis], dtype=object)[codes[place]]
        columns[f"column_{place + 1}"] = pa.array([None if axis is None else axis[0]] * size, pa.string())
        columns[f"label_{place + 1}"] = pa.array([None] * size if held_labels is None else held_labels, pa.string())
    numbers = (margin.value, margin.unbiased, margin.error, margin.lower, margin.upper)
    columns |= dict(zip(NUMBERS, numbers, strict=True))
    residual = pa.array(found.residual, mask=np.isnan(found.residual))
    return pa.table({**columns, "rows": found.rows, "weighted": found.weighted / UNITS, "residual": residual})


def line_numbers(held: PublishedRows, margin: PublishedMargin) -> Iterator[list[object]]:
    """Yield for each cell of a margin its estimate, standard error, limits, released rows, sum of weights and
    residual."""
    found = margin_fit(held, margin)
    for code in range(len(margin.value)):
        residual = "" if np.isnan(found.residual[code]) else decimal_text(found.residual[code])
        yield [decimal_text(margin.value[code]), decimal_text(margin.error[code]),
               *limits_text(margin.lower[code], margin.upper[code]), found.rows[code],
               decimal_text(found.weighted[code] / UNITS), residual]  # fmt: skip


def margin_boxes(released: Histogram, weighting: CalibratedMargins) -> tuple[MarginBox, ...]:
    """Return the limits of all cells of all margins that hold together."""
    return tuple(_box(released, weighting, each) for each in weighting.margins)


def _box(released: Histogram, weighting: CalibratedMargins, margin: PublishedMargin) -> MarginBox:
    rows, _ = _sums(released, weighting, margin)
    return margin_box(margin, [weighting.sizes[axis] for axis in margin.levels.items()], rows, weighting.together)


def decimal_text(value: float) -> str:
    """Return a number as text with at most two decimals."""
    return format_value(value, HUNDREDTHS)


def limits_text(lower: float, upper: float) -> tuple[str, str]:
    """Return the limits of an interval with at most two decimals, rounded outwards."""
    return decimal_text(np.floor(lower * 100) / 100), decimal_text(np.ceil(upper * 100) / 100)


def _calibrated_margins(held: PublishedRows) -> CalibratedMargins:
    assert held.weighting is not None, "margins were bought"
    return held.weighting
