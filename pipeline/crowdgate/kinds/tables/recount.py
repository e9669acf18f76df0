"""Recount published tables: cells against their domain, intervals and flags against values, tables against margins."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
import pyarrow as pa

from crowdgate.accounting.discrete_laws import Law
from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.kinds.tables.flags import number_flags, quantile_flags
from crowdgate.kinds.tables.manifest_fields import TableFields, TablesMechanism
from crowdgate.mechanisms.tables.accuracy import is_trustworthy
from crowdgate.mechanisms.tables.columns import MEAN_PARTS
from crowdgate.mechanisms.tables.count_errors import PublishedCounts, count_errors
from crowdgate.mechanisms.tables.error_methods import BY_OTHER_GROUPS, FIRST_METHOD, ErrorMethod
from crowdgate.mechanisms.tables.means import first_order_means, means
from crowdgate.noisy_counts.manifest_fields import GridFields
from crowdgate.noisy_counts.recount import CountCells
from crowdgate.publish.levels import ReleasedDomains

Z95 = 1.959963984540054
SLACK = 1e-13
"""Relative tolerance, for the last bits of another machine's exponentials and powers. Sums, products and roots are
equal on all machines."""
SOLVED = 1e-6
"""Relative tolerance of standard errors, which solve equations in floats, in an order that varies between machines."""


@dataclass(frozen=True)
class CellNoise:
    """The noise on the cells of a count, sum or mean: its distribution, the value of one step for the whole table, the
    sampling rate, the largest contribution of one row (None: of either sign), and the bounds of a mean.

    `after` are the variances of a count's cells after consistency, in format 1; None: as drawn. `form` is the
    manifest's format.
    """

    law: Law
    unit: float
    beta: float
    greatest: int | None
    ends: tuple[float, float]
    after: Floats | None
    form: int

    @classmethod
    def of(cls, mechanism: TablesMechanism, at: int, after: Floats | None, form: int) -> "CellNoise":
        """Return the noise on the cells of query number `at` of the mechanism."""
        query, grid = mechanism.queries[at], mechanism.queries[at].grid
        one_sign = grid is None or grid.low >= 0 or grid.high <= 0
        ends = (0.0, 0.0) if grid is None else (_value(grid, grid.low), _value(grid, grid.high))
        unit, greatest = float(mechanism.unit(at)), query.contribution if one_sign else None
        return cls(mechanism.law(at), unit, float(mechanism.beta), greatest, ends, after, form)

    def sampling_variance(self, steps: Floats) -> Floats:
        """Return the variance that sampling adds, in squared steps, with the greatest contribution for each row."""
        if self.beta == 1:
            return np.zeros_like(steps)
        return np.full_like(steps, np.inf) if self.greatest is None else (1 - self.beta) * self.greatest * np.abs(steps)

    def half_width(self, steps: Floats) -> Floats:
        """Return half of the interval of a number as drawn, in steps. Sampling variance is taken at the far end of the
        interval, where it is greatest; in format 1 at the number."""
        width = float(self.law.half_width(0.95))
        if self.form == 1 or self.beta == 1 or self.greatest is None:
            return np.asarray(np.sqrt(width * width + Z95 * Z95 * self.sampling_variance(steps)))
        each = Z95 * Z95 * (1 - self.beta) * self.greatest
        return np.asarray(each / 2 + np.sqrt(each * each / 4 + each * np.abs(steps) + np.square(width)))


def _value(grid: GridFields, steps: int) -> float:
    """Return the value of a number of steps of a grid, offset + unit x steps, in floats as means are clamped."""
    return float(grid.offset) + float(grid.unit) * steps


def cell_problems(table: pa.Table, mechanism: TablesMechanism) -> Iterator[str]:
    """Yield values outside their intervals, flags that contradict the stated relative error, and cells with only some
    of their numbers."""
    value, error, lower, upper = _numbers(table, mechanism)
    flags = np.array(table["trustworthy"].to_pylist(), dtype=object)
    if any(flag is None for flag in flags) or any(np.isinf(each).any() for each in (value, error, lower, upper)):
        yield "a cell is neither a number nor empty, or a line lacks its flag `trustworthy`"
        return
    held, known = ~np.isnan(value), ~np.isnan(error)
    if not (lower[held & known] <= value[held & known]).all() or not (value[held & known] <= upper[held & known]).all():
        yield "a value lies outside its interval"
    if not (flags.astype(bool) == _trusted(mechanism, value, error, lower, upper)).all():
        yield "a flag `trustworthy` does not follow from value and standard error"
    if (known & ~held).any() or (np.isnan(lower) != ~known).any() or (np.isnan(upper) != ~known).any():
        yield "a line has an empty value with a standard error or interval, or an interval without its standard error"
    if mechanism.suppress and (held & ~flags.astype(bool)).any():
        yield "a value is given that is not trustworthy, which this release leaves empty"
    if mechanism.errors is not None:
        parts = {name: _floats(table, name) for name in MEAN_PARTS if name in table.column_names}
        if (
            table["flag"].to_pylist()
            != number_flags(value, parts, consistent="unbiased" in table.column_names).to_pylist()
        ):
            yield "a code in the column `flag` does not follow from the numbers beside it"


def _numbers(table: pa.Table, mechanism: TablesMechanism) -> tuple[Floats, Floats, Floats, Floats]:
    """Return value, error and limits of each number: the error of the value or, in earlier releases, the standard
    error of the noise."""
    error = "standard_error" if mechanism.errors is None else "error"
    value, errors, lower, upper = (_floats(table, column) for column in ("value", error, "lower", "upper"))
    return value, errors, lower, upper


def _trusted(mechanism: TablesMechanism, value: Floats, error: Floats, lower: Floats, upper: Floats) -> Bools:
    """Return the numbers that are trustworthy: by their intervals or, in earlier releases, by their standard errors."""
    if mechanism.errors is not None:
        return is_trustworthy(value, lower, upper, mechanism.relative_error)
    with np.errstate(invalid="ignore"):
        return np.asarray((error <= float(mechanism.relative_error) * np.abs(value)) & (value != 0))


def noisy_problems(table: pa.Table, mechanism: TablesMechanism, noise: CellNoise) -> Iterator[str]:
    """Yield the problems of counts and sums: numbers that are no whole multiples of their steps, and standard errors or
    intervals that are not those of the noise."""
    value, error, lower, upper = _numbers(table, mechanism)
    held, known = ~np.isnan(value), ~np.isnan(error)
    if not mechanism.suppress and not held.all():
        yield "a count or sum is empty, and this release states all of them"
    if held.any() and not mechanism.suppress and noise.greatest is not None and not known.all():
        yield "a count or sum has no standard error"
    if noise.after is not None and (value[held] < 0).any():
        yield "a count is below 0"
    steps = np.round(value / noise.unit)
    if (steps * noise.unit != value)[held].any():
        yield "a count or sum is not a multiple of its step"
    coins = noise.sampling_variance(steps)
    spread = noise.law.variance if noise.after is None else noise.after
    near = SLACK if noise.after is None else SOLVED
    if _differs(error, np.sqrt(spread + coins) * noise.unit, near)[known].any():
        yield "a standard error does not follow from the stated noise"
    half = noise.half_width(steps) * noise.unit if noise.after is None else Z95 * error
    least = -np.inf if noise.after is None else 0.0
    ends = np.maximum(value - half, least), np.maximum(value + half, least)
    apart = SLACK * (np.abs(value) + half)
    if any((np.abs(own - end) > apart)[known].any() for own, end in zip((lower, upper), ends, strict=True)):
        yield "an interval does not follow from value and standard error"


def counts(table: pa.Table) -> CountCells:
    """Return the cells of a table of consistent counts: value, unbiased estimate, standard error, and limits."""
    return CountCells(*(_floats(table, name) for name in ("value", "unbiased", "standard_error", "lower", "upper")))


def mean_problems(table: pa.Table, _: TablesMechanism, noise: CellNoise) -> Iterator[str]:
    """Yield the problems of means of format 1: outside the column's bounds, or intervals other than 1.96 standard
    errors clipped to the bounds."""
    value, error, lower, upper = (_floats(table, column) for column in ("value", "standard_error", "lower", "upper"))
    low, high = noise.ends
    known = ~np.isnan(value) & ~np.isnan(error)
    if (value[known] < low).any() or (value[known] > high).any() or (error[known] <= 0).any():
        yield "a mean is outside the bounds of its column, or has no standard error"
    ends = np.clip(value - Z95 * error, low, high), np.clip(value + Z95 * error, low, high)
    if any((own != end)[known].any() for own, end in zip((lower, upper), ends, strict=True)):
        yield "an interval does not follow from value and standard error"


def ratio_problems(table: pa.Table, mechanism: TablesMechanism, queries: Sequence[int]) -> Iterator[str]:
    """Yield the problems of means that do not follow from the noisy sum and the noisy rows beside them, both whole
    multiples of their steps."""
    sums, rows = (_floats(table, column) for column in MEAN_PARTS)
    held = ~np.isnan(sums)
    if (np.isnan(rows) == held).any() or not (mechanism.suppress or held.all()):
        yield "a mean is given without the noisy sum and the noisy number of rows from which it follows"
        return
    units = [float(mechanism.unit(at)) for at in queries]
    steps = [np.round(part / unit) for part, unit in zip((sums, rows), units, strict=True)]
    if any((own * unit != part)[held].any() for own, unit, part in zip(steps, units, (sums, rows), strict=True)):
        yield "the noisy sum or number of rows of a mean is not a multiple of its step"
    grid = mechanism.queries[queries[0]].grid
    assert grid is not None, "the queries of a mean have grids"
    laws = mechanism.law(queries[0]), mechanism.law(queries[1])
    recomputed = mechanism.errors not in BY_OTHER_GROUPS or held.all()
    if mechanism.errors is None:
        found = first_order_means(grid, steps[0], steps[1], laws, mechanism.beta)
    else:
        method = mechanism.errors if recomputed else FIRST_METHOD
        found = means(grid, steps[0], steps[1], laws, mechanism.beta, method)
    stated = zip(("value", "error", "lower", "upper"), _numbers(table, mechanism), vars(found).values(), strict=True)
    for column, own, numbers in stated:
        # errors follow from all groups, and cancel where the bounds cut off most of a Normal distribution
        if column == "error" and not recomputed:
            continue
        if _differs(own, numbers, SOLVED if column == "error" else SLACK)[held].any():
            yield f"column {column}: a number does not follow from the noisy sum and number of rows beside it"


def _differs(a: Floats, b: Floats, most: float) -> Bools:
    """Return for each pair of numbers whether they differ by more than `most`, relatively; two unknown numbers do
    not."""
    with np.errstate(invalid="ignore"):
        return ~((np.abs(a - b) <= most * np.maximum(1, np.abs(b))) | (np.isnan(a) & np.isnan(b)))


def count_error_problems(
    tables: Sequence[tuple[PublishedCounts, Floats]], rate: float, method: ErrorMethod
) -> Iterator[str]:
    """Yield a problem unless the errors stated with tables of counts are those computed from their published numbers.
    Errors are compared in parts of the largest of a table: roots of differences are not exact near 0."""
    due = count_errors([each for each, _ in tables], rate, method)
    for (_, stated), found in zip(tables, due, strict=True):
        if (np.abs(stated - found.reshape(-1)) > SOLVED * (1 + found.max())).any():
            yield "an error of a count does not follow from the published counts"


def quantile_problems(table: pa.Table, stated: TableFields, domains: ReleasedDomains) -> Iterator[str]:
    """Yield the problems of quantiles: bins not of the stated level, not in the order lower, bin, upper, or falling
    while the probability rises."""
    assert stated.column is not None, "quantiles state their column"
    assert stated.level is not None, "quantiles state their level"
    assert stated.at is not None, "quantiles state their probabilities"
    labels = domains.labels(stated.column, stated.level)
    place: dict[str | None, int] = {label: at for at, label in enumerate(labels)}
    place[None] = -1
    found = [table[column].to_pylist() for column in ("lower", "bin", "upper")]
    if any(label not in place for own in found for label in own):
        yield "a quantile has a bin that dictionary.csv does not list"
        return
    low, bin_, high = (np.array([place[label] for label in own]).reshape(-1, len(stated.at)) for own in found)
    empty = bin_ < 0
    if "flag" in table.column_names:
        error = _floats(table, "error").reshape(bin_.shape)
        if (np.isnan(error) != empty).any() or not ((error[~empty] >= 0) & (error[~empty] < len(labels))).all():
            yield "a quantile has no error, or one of more bins than there are"
        if table["flag"].to_pylist() != quantile_flags(~empty.reshape(-1)).to_pylist():
            yield "a code in the column `flag` does not follow from the bin beside it"
    if not ((low <= bin_) & (bin_ <= high)).all() or (empty != (low < 0)).any() or (empty != (high < 0)).any():
        yield "a quantile lies outside its interval"
    order = np.argsort([float(p) for p in stated.at])
    if (np.diff(bin_[:, order], axis=1) < 0).any():
        yield "the quantiles fall while their probability rises"


def margin_problems(
    stated: Sequence[TableFields], beta: Fraction, tables: Mapping[str, pa.Table], domains: ReleasedDomains
) -> Iterator[str]:
    """Yield the problems of format 1's margins: counts must have one total, and each table must add up to its finest
    margin among the other tables.

    If that margin is the unpublished histogram behind quantiles, its own finest margin takes its place.
    """
    counted = [each for each in stated if each.kind in ("count", "quantiles")]
    axes = [each.query_levels for each in counted]
    published = {
        at: _floats(tables[each.file], "value") * float(beta) for at, each in enumerate(counted) if each.kind == "count"
    }
    sizes = [prod(len(domains.labels(*axis)) for axis in own.items()) for own in axes]
    parents = _parents(axes, sizes, domains)
    totals = {round(float(values.sum())) for values in published.values() if not np.isnan(values).any()}
    if len(totals) > 1:
        yield "the tables of counts have different totals"
    for at, values in published.items():
        above = parents[at]
        while above is not None and above not in published:
            above = parents[above]
        if above is not None and not _adds_up(values, domains.cells(axes[at], axes[above]), published[above]):
            yield f"{counted[at].file}: it does not add up to {counted[above].file}"


def _parents(
    axes: Sequence[Mapping[str, str]], sizes: Sequence[int], domains: ReleasedDomains
) -> dict[int, int | None]:
    """Return for each table, by its index, the index of its finest margin: of the smaller tables that are margins of it
    the one with the most cells, the first of equals; None if there is none."""
    order = sorted(range(len(axes)), key=lambda at: sizes[at])
    parents: dict[int, int | None] = {}
    for at in order:
        coarser = [other for other in parents if domains.refines(axes[at], axes[other])]
        parents[at] = max(coarser, key=lambda other: (sizes[other], -other), default=None)
    return parents


def _adds_up(values: Floats, cells: Integers, margin: Floats) -> bool:
    """Return whether `values`, summed over the cells of the margin that they belong to, equal `margin` within 1/2.
    Cells of the margin with an empty value on either side are ignored."""
    sums = np.bincount(cells, values, len(margin))
    known = ~np.isnan(sums) & ~np.isnan(margin)
    return bool((np.abs(sums - margin)[known] < 0.5).all())


def _floats(table: pa.Table, column: str) -> Floats:
    """Return the numbers of a column, with NaN for empty cells."""
    return np.array([np.nan if value is None else value for value in table[column].to_pylist()], dtype=np.float64)
