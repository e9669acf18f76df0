"""CPU seconds of tables: counting a million rows of nine columns, consistency, and the noise per cell.

`python -m tests.benchmarks.tables` prints the least of several runs. Codes are in memory: reading is not counted.
"""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np
import numpy.typing as npt

from crowdgate.accounting.tables_plan import Query
from crowdgate.hierarchy import Level
from crowdgate.histogram import Column, Records, scan
from crowdgate.mechanisms.tables.coarse_to_fine import whole_tables
from crowdgate.mechanisms.tables.consistency import Axes, consistent_tables
from crowdgate.mechanisms.tables.counting import answer, cover
from crowdgate.mechanisms.tables.workload import LinearQuery, all_ways
from crowdgate.noise import OPENDP
from tests.benchmarks.options import parse

Table = npt.NDArray[np.int64]
SIGMA = 37.0
BATCH = 250_000
SIZES = {"age": 10, "sex": 2, "race": 5, "education": 6, "marital": 7, "state": 9, "income": 2, "union": 3, "work": 15}
LARGE = ("age", "sex", "education", "marital", "state")
"""10 x 2 x 6 x 7 x 9 = 7,560 cells."""


def levels() -> dict[str, Level]:
    """Ungrouped levels of nine attributes."""
    names = {name: tuple(f"{name} {i}" for i in range(size)) for name, size in SIZES.items()}
    return {name: Level("exact", labels, np.arange(len(labels), dtype=np.int32)) for name, labels in names.items()}


def queries() -> tuple[list[LinearQuery], LinearQuery]:
    """All 36 two-way tables, and the large one."""
    known = levels()
    pairs = [table.levels for table in all_ways(2, dict.fromkeys(SIZES, "exact"))]
    return [_query(known, tuple(names)) for names in pairs], _query(known, LARGE)


def _query(known: dict[str, Level], names: tuple[str, ...]) -> LinearQuery:
    chosen = {name: known[name] for name in names}
    return LinearQuery(Query(" x ".join(names), prod(map(len, chosen.values()))), chosen)


def batches(rows: int) -> list[Records]:
    """Coded rows; in every column a value is likelier the earlier it comes."""
    random = np.random.default_rng(1)
    sizes = [min(BATCH, rows - start) for start in range(0, rows, BATCH)]
    return [Records(many, {n: Column(_codes(size, many, random)) for n, size in SIZES.items()}) for many in sizes]


def _codes(size: int, rows: int, random: np.random.Generator) -> npt.NDArray[np.int32]:
    weights = 0.75 ** np.arange(size)
    return random.choice(size, rows, p=weights / weights.sum()).astype(np.int32)


def least(work: Callable[[], object], runs: int) -> float:
    """CPU seconds of the quickest run."""
    seconds = []
    for _ in range(runs):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parse(parser, rows=1000, runs=1)
    data = batches(options.rows)
    pairs, large = queries()
    for name, workload in (("36 two-way tables", pairs), ("7,560-cell table", [large]), ("both", [*pairs, large])):
        views = cover(workload)
        cells = [view.cells for view in views.values()]
        seconds = least(lambda w=workload, v=views: answer(w, v, scan(data, v)), options.runs)  # type: ignore[misc]
        print(f"{name}: {seconds:.3f} CPU s to count, {len(views)} views of {cells} cells")
    everything = [*pairs, large]
    views = cover(everything)
    true = answer(everything, views, scan(data, views))
    total = sum(table.size for table in true)
    epsilon, rho = Fraction(1, 37), Fraction(1, 2 * 37**2)
    for kind, draw, budget in (("laplace", OPENDP.laplace, epsilon), ("gaussian", OPENDP.gaussian, rho)):
        seconds = least(lambda d=draw, b=budget: [d(table, 1, b) for table in true], options.runs)  # type: ignore[misc]
        print(f"discrete {kind}: {1e6 * seconds / total:.2f} microseconds a cell, {total} cells")
    consistency("36 two-way tables and the large one", true, [query.levels for query in everything])
    nested, truth = nested_tables(min(BATCH, options.rows))
    consistency("the same at two levels each", truth, nested)


def consistency(name: str, true: Sequence[Table], axes: Sequence[Axes]) -> None:
    """CPU seconds of each step, and root mean square errors, the noise being the same in all cells."""
    spread = [SIGMA**2] * len(axes)
    noisy = [OPENDP.gaussian(table, 1, Fraction(1, 2 * 37**2)) for table in true]
    start = time.process_time()
    found = consistent_tables(axes, noisy, spread)
    middle = time.process_time()
    whole = whole_tables(axes, found.tables, spread)
    end = time.process_time()
    cells = sum(table.size for table in true)
    print(
        f"{name}, {len(true)} tables, {cells} cells: {middle - start:.2f} CPU s for least squares and variances", end=""
    )
    print(f" (exact: {found.exact}), {end - middle:.2f} for whole tables")
    for stage, tables in (("noisy", noisy), ("least squares", found.tables), ("whole", whole)):
        off = [np.sqrt(np.mean((table - exact) ** 2)) for table, exact in zip(tables, true, strict=True)]
        print(f"  {stage}: root mean square error by table {min(off):.1f} to {max(off):.1f}")


def nested_tables(many: int) -> tuple[list[Axes], list[Table]]:
    """All tables of one and two of nine attributes at two levels each, in uneven groups, and their counts."""
    random = np.random.default_rng(2)
    known: dict[str, tuple[Level, Level]] = {}
    for name, size in SIZES.items():
        fine = 3 * size
        groups = np.sort(np.concatenate([np.arange(size), random.integers(0, size, fine - size)])).astype(np.int32)
        exact = Level("exact", tuple(map(str, range(fine))), np.arange(fine, dtype=np.int32))
        known[name] = exact, Level("groups", tuple(map(str, range(size))), groups)
    rows = {n: _codes(len(each[0]), many, random) for n, each in known.items()}
    axes: list[Axes] = [{}]
    for ways in (1, 2):
        for names in combinations(known, ways):
            axes += [{n: known[n][at] for n in names} for at in (0, 1)]
    return axes, [_count(rows, levels) for levels in axes]


def _count(rows: Mapping[str, npt.NDArray[np.int32]], levels: Axes) -> Table:
    shape = tuple(map(len, levels.values()))
    cell = np.zeros(len(next(iter(rows.values()))), dtype=np.int64)
    for name, level in levels.items():
        cell = cell * len(level) + level.codes[rows[name]]
    return np.bincount(cell, minlength=prod(shape)).reshape(shape).astype(np.int64)


if __name__ == "__main__":
    main()
