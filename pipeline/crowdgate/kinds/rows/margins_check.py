"""Check margins and weights from the files of a release: their privacy cost, their intervals, their sums."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from pathlib import Path

import numpy as np
import pyarrow as pa

from crowdgate.arrays import Integers
from crowdgate.errors import VerificationFailed
from crowdgate.histogram import Histogram
from crowdgate.kind.kind import Formats
from crowdgate.kinds.rows.candidate import CalibratedMargins, PublishedMargin, PublishedRows
from crowdgate.kinds.rows.files import MARGINS
from crowdgate.kinds.rows.manifest_fields import MarginsFields, RowsManifest
from crowdgate.kinds.rows.margins import NUMBERS, margins_schema
from crowdgate.kinds.rows.share_limits import width_together
from crowdgate.kinds.rows.weights import RIDGE, bounds, recomputed_weights, weights_problems
from crowdgate.mechanisms.rows.calibration import GRID as UNITS
from crowdgate.mechanisms.rows.charge_names import MARGINS_PART
from crowdgate.mechanisms.tables.workload import ContingencyTable
from crowdgate.noisy_counts.guarantee_check import budget_problems, share_problems, spend_problems, width_problems
from crowdgate.noisy_counts.recount import CountsPlan
from crowdgate.publish.dictionary import DictionaryEntry
from crowdgate.publish.levels import COARSER, CoarserLine, ReleasedDomains, domains_of, levels_of, read_coarser


def margins_problems(said: RowsManifest) -> Iterator[str]:
    """Yield the problems of the margins: cost, noise, interval width, and queries."""
    bought = said.mechanism.margins
    part = {part.name: part for part in said.guarantee.guarantee.parts}.get(MARGINS_PART)
    if (bought is None) != (part is None) or (bought is None) != (said.data.margins is None):
        yield "the manifest has margins without their part of the guarantee, or the part without margins"
    elif bought is not None and part is not None:
        if said.format == 1 or said.mechanism.inherited is not None:
            yield "the release has margins, which this format or an inherited sample can't have"
        if said.data.margins is not None and (said.data.margins.use is None) != (bought.calibration == RIDGE):
            yield "the manifest must state what the rows can be used for exactly if weights are in whole numbers"
        if said.data.margins is not None and said.data.margins.shares is not None and bought.calibration == RIDGE:
            yield "the manifest has limits of shares, which releases with such weights never had"
        if bought.residuals is not None:
            yield "margins have noise on their cells, and none on residuals"
            return
        yield from budget_problems(bought)
        if said.guarantee.joint is None:
            yield from spend_problems(bought, part.epsilon, part.delta, Fraction(1))
        else:
            yield from share_problems(bought, said.mechanism.rows, part.epsilon, part.delta)
        yield from width_problems(bought, said.mechanism.rows, said.format)
        yield from _query_problems(said, bought)


def _query_problems(said: RowsManifest, bought: MarginsFields) -> Iterator[str]:
    rows, named = said.mechanism.rows, [tuple(each.levels.items()) for each in bought.queries]
    if any(each.grid is not None or each.sensitivity != rows for each in bought.queries):
        yield f"a margin is not a count with at most {rows} rows of each privacy unit"
    order = [column.name for column in said.data.columns]
    for each in bought.queries:
        axes = {name: each.levels[name] for name in order if name in each.levels}
        if each.name != ContingencyTable(axes).name:
            yield f"{each.name}: the name of this margin differs from that of its columns"
    if len({frozenset(each) for each in named}) != len(named) or () not in named:
        yield "a margin stands there twice, or the total is missing"
    levels = {axis for each in named for axis in each}
    if len({name for name, _ in levels}) != len(levels) or any((axis,) not in named for axis in levels):
        yield "a column has margins at two levels, or none of its own"
    if not {name for name, _ in levels} <= set(said.mechanism.attributes):
        yield "margins of a column that is not released"
    if (bought.unit, bought.low, bought.high) != (Fraction(1, UNITS), *bounds(said.mechanism.beta)):
        yield "the limits of the weights do not follow from the sampling rate"


def read_weighting(
    folder: Path,
    said: RowsManifest,
    formats: Formats,
    rows: Histogram,
    weights: Integers,
    columns: Sequence[DictionaryEntry],
    further: Sequence[DictionaryEntry],
) -> CalibratedMargins:
    """Return margins and weights as read from the files. Raises VerificationFailed that lists all problems."""
    coarser: list[CoarserLine] = read_coarser(folder / COARSER) if further else []
    domains, bought = domains_of([*columns, *further], coarser), said.mechanism.margins
    assert bought is not None, "margins were bought"
    shapes = [[len(domains.labels(*axis)) for axis in each.levels.items()] for each in bought.queries]
    if any(prod(shape) != each.cells for shape, each in zip(shapes, bought.queries, strict=True)):
        raise VerificationFailed(f"{MARGINS}: the cells of a margin are not those of its columns")
    margins = tuple(_margins(_table(folder, said, formats, bought), bought, columns))
    lookup = _lookup(said.mechanism.attributes, bought, domains)
    sizes = {axis: len(domains.labels(*axis)) for axis in lookup}
    found = recomputed_weights(rows, said.mechanism.beta, margins, lookup, sizes, bought.calibration)
    problems = [
        *number_problems(bought, margins, said.mechanism.rows, domains),
        *weights_problems(weights, found, bought.calibration),
    ]
    if problems:
        raise VerificationFailed("\n".join(problems))
    laws = [bought.law_of(at, said.mechanism.rows) for at in range(len(margins))]
    together = width_together(laws, sum(len(each.value) for each in margins))
    return CalibratedMargins(margins, weights, tuple(further), coarser, lookup, sizes, together)


def unvouched_problems(said: RowsManifest, held: PublishedRows) -> Iterator[str]:
    """Yield a problem if the weights of an earlier release, in floating point, differ at all from those computed here:
    otherwise a manifest that restates how weights were made would leave them free within the tolerance."""
    bought, made = said.mechanism.margins, held.weighting
    if bought is None or made is None or bought.calibration != RIDGE:
        return
    found = recomputed_weights(held.rows, said.mechanism.beta, made.margins, made.lookup, made.sizes, RIDGE)
    if (found != made.weights).any():
        yield (
            "the weights differ slightly from those computed here. In this earlier release they were computed in "
            "floating point, so only its signature proves them: verify with --key"
        )


def _lookup(
    released: Mapping[str, str], bought: MarginsFields, domains: ReleasedDomains
) -> dict[tuple[str, str], "np.ndarray[tuple[int], np.dtype[np.int32]]"]:
    axes = {axis for each in bought.queries for axis in each.levels.items()}
    return {(name, at): domains.codes(name, released[name], at).astype(np.int32) for name, at in sorted(axes)}


def _table(folder: Path, said: RowsManifest, formats: Formats, bought: MarginsFields) -> pa.Table:
    """Return the table of all margins from the file of the first format; files in other formats must hold the same
    numbers."""
    end, form = next(iter(formats.items()))
    path = folder / f"{MARGINS}.{end}"
    if path.name not in said.files:
        raise VerificationFailed(f"{path.name}: the file is missing")
    cells = sum(each.cells for each in bought.queries)
    expected = margins_schema(max(len(each.levels) for each in bought.queries))
    try:
        pieces = [piece.select(list(NUMBERS)) for piece in form.read(path, expected, cells)]
        found = pa.concat_tables(pieces).combine_chunks()
    except (pa.ArrowException, OSError, ValueError, KeyError) as fault:
        raise VerificationFailed(f"{path.name}: the file can't be read ({type(fault).__name__})") from None
    if found.num_rows != cells or any(found[name].null_count for name in NUMBERS):
        raise VerificationFailed(f"{path.name}: the file lacks numbers: every cell of a margin has all of them")
    return found


def _margins(table: pa.Table, bought: MarginsFields, columns: Sequence[DictionaryEntry]) -> Iterator[PublishedMargin]:
    """Yield the margins in the file's order, with their axes in the order of the columns."""
    start = 0
    for query in bought.queries:
        part, levels = table.slice(start, query.cells), query.levels
        axes = {each.column: levels[each.column] for each in columns if each.column in levels}
        yield PublishedMargin(*(part[name].to_numpy() for name in NUMBERS), levels=axes)
        start += query.cells


def number_problems(
    bought: MarginsFields, margins: Sequence[PublishedMargin], rows: int, domains: ReleasedDomains
) -> Iterator[str]:
    """Yield a problem for each number that is not finite, not a whole number of at least 0, disagrees with other
    margins, or has another error or interval than its noise gives."""
    for query, found in zip(bought.queries, margins, strict=True):
        if not found.is_finite:
            yield f"{MARGINS}: {query.name}: a number that is none"
            return
    levels = levels_of(domains)
    axes = [{name: levels[name, level] for name, level in each.levels.items()} for each in margins]
    laws = [bought.law_of(at, rows) for at in range(len(margins))]
    names = [f"{MARGINS}: {query.name}" for query in bought.queries]
    yield from CountsPlan(names, axes, laws, Fraction(1), bought.width or Fraction(0)).problems(
        dict(enumerate(margins))
    )
