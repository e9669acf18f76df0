"""Check a release of tables from its files alone: guarantee, queries, domains, flags, and sums of whole numbers."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path

import numpy as np
import pyarrow as pa

from crowdgate.arrays import Floats
from crowdgate.candidate import Candidate, PublishedCells
from crowdgate.errors import VerificationFailed
from crowdgate.formats import Format
from crowdgate.kind.facts import static_of
from crowdgate.kind.kind import Formats
from crowdgate.kinds.tables.files import RAW
from crowdgate.kinds.tables.joint_check import joint_problems, stated_series_problems
from crowdgate.kinds.tables.manifest_fields import TableFields, TablesManifest
from crowdgate.kinds.tables.recount import (
    CellNoise,
    cell_problems,
    count_error_problems,
    counts,
    margin_problems,
    mean_problems,
    noisy_problems,
    quantile_problems,
    ratio_problems,
)
from crowdgate.kinds.tables.released_files import PublishedTables
from crowdgate.kinds.tables.residual_check import residual_problems
from crowdgate.kinds.tables.standard_errors import Spread, consistent_counts, count_variances, counts_plan
from crowdgate.limits import LARGEST_LISTING
from crowdgate.manifest import guarantee_sentences
from crowdgate.mechanisms.tables.columns import (
    COUNT_NUMBERS,
    EARLIER_COUNT_NUMBERS,
    EARLIER_NUMBERS,
    EARLIER_QUANTILE_COLUMNS,
    MEAN_PARTS,
    NUMBERS,
    QUANTILE_COLUMNS,
)
from crowdgate.mechanisms.tables.count_errors import PublishedCounts
from crowdgate.noisy_counts.guarantee_check import budget_problems, spend_problems, width_problems
from crowdgate.noisy_counts.manifest_fields import GridFields, QueryFields
from crowdgate.noisy_counts.recount import CountCells, CountsPlan
from crowdgate.publish.dictionary import DICTIONARY, read_dictionary
from crowdgate.publish.levels import COARSER, ReleasedDomains, domains_of, read_coarser


def manifest_problems(said: TablesManifest) -> Iterator[str]:
    """Yield the problems of the manifest's guarantee, budget and queries."""
    stated, mechanism = said.guarantee.guarantee, said.mechanism
    if said.facts.margins or said.facts.joint or said.facts.classes is not None:
        yield "no gate on tables reads public counts"
    if said.guarantee.words != tuple(guarantee_sentences(stated, None)):
        yield "the manifest's sentences on the guarantee differ from its numbers"
    # all other parts belong to charged gates
    own = {part.name: part for part in stated.parts}.get("mechanism")
    if own is None:
        yield "a release of tables has a part that is the mechanism"
        return
    beta, rows = mechanism.beta, mechanism.rows_per_unit
    if not 0 < beta <= 1 or (rows != 1 and (stated.unit == "row" or beta != 1)) or rows != said.facts.rows_per_unit:
        yield "rows of a privacy unit or the sampling rate are not what the guarantee is computed for"
        return
    faults = [*budget_problems(mechanism), *residual_problems(said), *_query_problems(said)]
    yield from faults
    if not faults:
        if said.guarantee.joint is None:
            yield from spend_problems(mechanism, own.epsilon, own.delta, beta)
        else:
            yield from joint_problems(said)
        yield from stated_series_problems(said)
        yield from width_problems(mechanism, rows, said.format)


def _query_problems(said: TablesManifest) -> Iterator[str]:
    queries, rows = said.mechanism.queries, said.mechanism.rows_per_unit
    if [at for table in said.data.tables for at in table.queries] != list(range(len(queries))):
        yield "the manifest's tables do not use each of its queries exactly once, in order"
        return
    for table in said.data.tables:
        own = [queries[at] for at in table.queries]
        if not _fits(table, own) or not _numbers_fit(table, own[0].grid, said.format):
            yield f"{table.file}: the manifest describes this table wrongly for a {table.kind}, or with other queries"
        if any(query.sensitivity != rows * query.contribution for query in own):
            yield f"{table.file}: the sensitivity in the manifest is wrong for {rows} rows per privacy unit"


def _fits(table: TableFields, own: Sequence[QueryFields]) -> bool:
    """Return whether a table states what its kind must state, and its queries are those of such a table."""
    stated = (table.column is not None, table.level is not None, table.at is not None)
    columns = [axis.column for axis in table.axes] + ([table.column] if table.kind == "quantiles" else [])
    grids = {"mean": [True, True], "sum": [True], "clamped": [True]}.get(table.kind, [False])
    free = {str(table.column)} if table.kind == "quantiles" else set()
    wanted = (table.kind != "count", *([table.kind == "quantiles"] * 2))
    names = [table.table] if len(own) == 1 else [f"{table.table}: sum around the middle", f"{table.table}: count"]
    if table.kind == "quantiles":
        names = [table.table, *(f"{table.table}: {query.levels.get(str(table.column))}" for query in own[1:])]
        grids = [False] * len(own)
    return (
        stated == wanted
        and len(set(columns)) == len(columns)
        and all(query.grid is None or _is_grid(query.grid) for query in own)
        and (table.kind != "mean" or (_is_centred(own[0].grid) and _counts_valid(own[1].grid)))
        and [query.grid is not None for query in own] == grids
        and [query.name for query in own] == names
        and own[0].levels == table.query_levels
        and all(_same_axes(query.levels, table.query_levels, free) for query in own)
    )


def _same_axes(own: Mapping[str, str], stated: Mapping[str, str], free: set[str]) -> bool:
    """Return whether a query has the stated axes, at the stated levels except for the columns in `free`."""
    return own.keys() == stated.keys() and all(own[name] == stated[name] for name in own if name not in free)


def _numbers_fit(table: TableFields, grid: GridFields | None, form: int) -> bool:
    """Return whether a table of numbers states their treatment in agreement with its query's grid. Format 1 did not
    state it."""
    numbers = table.numbers
    if (table.end is not None) != (table.kind == "clamped") or (table.kind == "clamped" and form == 1):
        return False
    if form == 1 or table.kind in ("count", "quantiles"):
        return numbers is None
    if numbers is None or grid is None or not numbers.low < numbers.high or numbers.precision <= 0:
        return False
    if table.kind == "clamped":
        return grid.low == grid.offset == 0 and grid.high == grid.unit == 1
    stated = (numbers.high - numbers.low) % numbers.precision == 0 and numbers.precision % grid.unit == 0
    return stated and (numbers.low, numbers.high) == grid.value_limits


def _is_grid(grid: GridFields) -> bool:
    return grid.unit > 0 and grid.low <= grid.high


def _is_centred(grid: GridFields | None) -> bool:
    """Return whether the grid of a mean is centred at the middle of its bounds, rounded down."""
    return grid is not None and grid.low + grid.high in (0, 1)


def _counts_valid(grid: GridFields | None) -> bool:
    """Return whether a query counts the rows of a mean."""
    return grid is not None and grid.high == grid.unit == 1 and grid.low >= 0


def read(folder: Path, said: TablesManifest, formats: Formats) -> PublishedTables:
    """Read the tables in the columns that dictionary.csv lists. Raises VerificationFailed that lists all problems.

    Reads the files of the first format; the others must hold the same tables.
    """
    if not 0 < said.mechanism.beta <= 1:
        raise VerificationFailed("the manifest's sampling rate is not in (0, 1]")
    columns, above = read_dictionary(folder / DICTIONARY), read_coarser(folder / COARSER)
    domains = domains_of(columns, above)
    if said.estimand is not None and not all(said.estimand.allows(each.column, each.labels) for each in columns):
        raise VerificationFailed(
            f"{DICTIONARY}: its values do not follow the treatment of invalid cells that the manifest states (estimand)"
        )
    _refuse(_cell_problems(said, domains))
    after = count_variances(said, domains) if said.format == 1 else {}
    tables = _tables(folder, said, formats, domains, "", after)
    raw = _tables(folder, said, formats, domains, RAW, {}) if said.mechanism.raw else ()
    held = {each.file: table for each, table in zip(said.data.tables, tables, strict=True)}
    if said.format == 1:
        _refuse(margin_problems(said.data.tables, said.mechanism.beta, held, domains))
    else:
        _refuse(_count_problems(said, domains, held))
    return PublishedTables(said.data.tables, tables, raw, columns, above)


def _count_problems(said: TablesManifest, domains: ReleasedDomains, held: Mapping[str, pa.Table]) -> Iterator[str]:
    """Yield the problems of counts that were made consistent."""
    tables = [table for table, _ in consistent_counts(said)]
    published = {at: counts(held[each.file]) for at, each in enumerate(tables) if each.kind == "count"}
    for at, each in published.items():
        if not said.mechanism.suppress and np.isnan(each.value).any():
            yield f"{tables[at].file}: a count is empty, and this release states all counts"
    if published:
        plan = counts_plan(said, domains)
        yield from plan.problems(published)
        if said.mechanism.errors is not None and all(each.is_finite for each in published.values()):
            errors = {at: held[tables[at].file]["error"].to_numpy() for at in published}
            yield from count_error_problems(
                _with_errors(plan, published, errors), float(said.mechanism.beta), said.mechanism.errors
            )


def _with_errors(
    plan: CountsPlan, published: Mapping[int, CountCells], errors: Mapping[int, Floats]
) -> list[tuple[PublishedCounts, Floats]]:
    """Return the published tables of counts, for the counted rows, each with its stated errors."""
    spread, drawn = plan.spread, plan.drawn
    out = []
    for at, each in published.items():
        shape, rate = spread[at].shape, float(plan.beta)
        values = np.round(each.value * rate).reshape(shape)
        unbiased = (each.unbiased * rate).reshape(shape)
        counts = PublishedCounts(plan.axes[at], drawn[at], spread[at], unbiased, values)
        out.append((counts, errors[at]))
    return out


def output_candidate(said: TablesManifest, held: PublishedTables) -> Candidate:
    """Return the candidate that output measures read: the numbers of the published cells."""
    pairs = zip(held.said, held.tables, strict=True)
    cells = tuple(_published(each, table) for each, table in pairs if each.kind != "quantiles")
    return Candidate(static=static_of(said, {}, {}, 1), cells=cells)


def _published(said: TableFields, table: pa.Table) -> PublishedCells:
    errors = "error" if "error" in table.column_names else "standard_error"
    value, error = (table[name].to_numpy() for name in ("value", errors))
    flags = table["trustworthy"].to_numpy()
    return PublishedCells(said.kind, value, error, flags, said.kind == "count" and not said.axes)


def _refuse(problems: Iterator[str]) -> None:
    found = list(problems)
    if found:
        raise VerificationFailed("\n".join(found))


def _cell_problems(said: TablesManifest, domains: ReleasedDomains) -> Iterator[str]:
    """Yield queries with other cells than their domain, and tables with another number of lines."""
    used = {axis for query in said.mechanism.queries for axis in query.levels.items()}
    listed = [(*axis, len(labels)) for axis, labels in domains.listed.items()]
    if used != set(domains.listed) or listed != [(each.name, each.level, each.values) for each in said.data.columns]:
        yield f"{DICTIONARY}: its columns, levels or numbers of values differ from those of the tables"
        return
    for table in said.data.tables:
        lines = prod(len(domains.labels(*axis)) for axis in table.levels.items()) * max(1, len(table.at or ()))
        own = [said.mechanism.queries[at] for at in table.queries]
        if any(each.cells != _cells(each.levels, domains) for each in own) or table.cells != lines:
            yield f"{table.file}: the number of cells in the manifest differs from that of the table's columns"


def _cells(levels: Mapping[str, str], domains: ReleasedDomains) -> int:
    return prod(len(domains.labels(*axis)) for axis in levels.items())


def _tables(
    folder: Path, said: TablesManifest, formats: Formats, domains: ReleasedDomains, suffix: str, after: Spread
) -> tuple[pa.Table, ...]:
    end, form = next(iter(formats.items()))
    found = []
    for table in said.data.tables:
        path = folder / f"{table.file}{suffix}.{end}"
        consistent = table.kind == "count" and not suffix and said.format > 1
        columns = _schema(table, said.mechanism.errors is not None, consistent=consistent)
        found.append(_read(path, columns, form, table.cells))
        problems = list(_table_problems(found[-1], table, said, domains, None if consistent else after))
        if problems:
            raise VerificationFailed("\n".join(f"{path.name}: {problem}" for problem in problems))
    return tuple(found)


def _table_problems(
    found: pa.Table, table: TableFields, said: TablesManifest, domains: ReleasedDomains, after: Spread | None
) -> Iterator[str]:
    """Yield the problems of a single table; consistent counts (no `after`) are recounted together later."""
    if not domains.complete(found, table.levels, table.probabilities):
        yield "its lines are not all combinations of its columns' values, in order"
    elif table.kind == "quantiles":
        yield from quantile_problems(found, table, domains)
    else:
        yield from cell_problems(found, said.mechanism)
        if table.kind == "mean" and said.format > 1:
            yield from ratio_problems(found, said.mechanism, table.queries)
        elif after is not None:
            noise = CellNoise.of(said.mechanism, table.queries[0], after.get(table.file), said.format)
            check = mean_problems if table.kind == "mean" else noisy_problems
            yield from check(found, said.mechanism, noise)


def _read(path: Path, expected: pa.Schema, form: Format, cells: int) -> pa.Table:
    try:
        pieces = [_decoded(piece, expected) for piece in form.read(path, expected, cells)]
        found = pa.concat_tables(pieces) if pieces else expected.empty_table()
    except (pa.ArrowException, OSError, ValueError) as fault:
        raise VerificationFailed(f"{path.name}: the file can't be read ({type(fault).__name__})") from None
    if found.schema != expected:
        raise VerificationFailed(f"{path.name}: its columns differ from the manifest's")
    return found.combine_chunks()


def _decoded(piece: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a piece with text in place of dictionaries. Raises ValueError for labels that would fill the memory."""
    for name in schema.names:
        column = piece[name]
        if pa.types.is_dictionary(column.type):
            longest = max((len(str(label)) for chunk in column.chunks for label in chunk.dictionary), default=0)
            if longest * piece.num_rows > LARGEST_LISTING:
                raise ValueError("labels that would fill the memory")
    return piece.cast(schema)


def _schema(table: TableFields, with_errors: bool, *, consistent: bool) -> pa.Schema:
    """Return the columns of a table's file, in a release that states the errors of values or in an earlier one."""
    axes = [(name, pa.string()) for name in table.levels]
    if table.kind == "quantiles":
        names = QUANTILE_COLUMNS if with_errors else EARLIER_QUANTILE_COLUMNS
        return pa.schema([*axes, *((name, pa.float64() if name == "error" else pa.string()) for name in names)])
    numbers = (COUNT_NUMBERS, NUMBERS) if with_errors else (EARLIER_COUNT_NUMBERS, EARLIER_NUMBERS)
    parts = MEAN_PARTS if table.kind == "mean" and table.numbers is not None else ()
    types = {"trustworthy": pa.bool_(), "flag": pa.string()}
    typed = [(name, types.get(name, pa.float64())) for name in (*numbers[not consistent], *parts)]
    return pa.schema([*axes, *typed])
