"""CPU seconds of tables: counting a million rows of nine columns, consistency, and the noise per cell.

`python -m tests.benchmarks.tables` prints the least of several runs. Codes are in memory: reading is not counted.
"""

import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt

from crowdgate.accounting.tables_plan import Query
from crowdgate.hierarchy import Level
from crowdgate.histogram import Column, Records, scan
from crowdgate.mechanisms.tables.consistency import Axes, Consistent, agree
from crowdgate.mechanisms.tables.counting import answer, cover
from crowdgate.mechanisms.tables.rounding import round_tables
from crowdgate.mechanisms.tables.workload import LinearQuery, all_ways
from crowdgate.noise import OPENDP

Table = npt.NDArray[np.int64]
SIGMA = 37.0
ROWS, BATCH, RUNS = 1_000_000, 250_000, 5
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


def batches() -> list[Records]:
    """Coded rows; in every column a value is likelier the earlier it comes."""
    random = np.random.default_rng(1)
    return [
        Records(BATCH, {n: Column(_codes(size, random)) for n, size in SIZES.items()}) for _ in range(ROWS // BATCH)
    ]


def _codes(size: int, random: np.random.Generator) -> npt.NDArray[np.int32]:
    weights = 0.75 ** np.arange(size)
    return random.choice(size, BATCH, p=weights / weights.sum()).astype(np.int32)


def least(work: Callable[[], object], runs: int = RUNS) -> float:
    """CPU seconds of the quickest run."""
    seconds = []
    for _ in range(runs):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    """Print the figures."""
    data = batches()
    pairs, large = queries()
    for name, workload in (("36 two-way tables", pairs), ("7,560-cell table", [large]), ("both", [*pairs, large])):
        views = cover(workload)
        cells = [view.cells for view in views.values()]
        seconds = least(lambda w=workload, v=views: answer(w, v, scan(data, v)))  # type: ignore[misc]
        print(f"{name}: {seconds:.3f} CPU s to count, {len(views)} views of {cells} cells")
    everything = [*pairs, large]
    views = cover(everything)
    true = answer(everything, views, scan(data, views))
    total = sum(table.size for table in true)
    epsilon, rho = Fraction(1, 37), Fraction(1, 2 * 37**2)
    for kind, draw, budget in (("laplace", OPENDP.laplace, epsilon), ("gaussian", OPENDP.gaussian, rho)):
        seconds = least(lambda d=draw, b=budget: [d(table, 1, b) for table in true], 3)  # type: ignore[misc]
        print(f"discrete {kind}: {1e6 * seconds / total:.2f} microseconds a cell, {total} cells")
    noisy = [OPENDP.gaussian(table, 1, rho) for table in true]
    axes, spread = [query.levels for query in everything], [SIGMA**2] * 37
    start = time.process_time()
    found = agree(axes, noisy, spread)
    middle = time.process_time()
    round_tables(axes, found.tables)
    print(f"consistency: {middle - start:.2f} CPU s (exact variances: {found.exact}, gap {found.gap:.3g})")
    print(f"rounding: {time.process_time() - middle:.3f} CPU s")
    report(true, noisy, found, axes)


def report(true: Sequence[Table], noisy: Sequence[Table], found: Consistent, axes: Sequence[Axes]) -> None:
    """Errors, and how often 1.96 standard errors hold the truth by the true size of a cell: reported, not promised."""
    spread = [np.full(table.shape, SIGMA**2) for table in true]
    whole = round_tables(axes, found.tables)
    least_squares = agree(axes, noisy, [SIGMA**2] * len(axes), non_negative=False)
    flat = np.concatenate([table.reshape(-1) for table in true])
    stages = (
        ("noisy", noisy, spread),
        ("least squares", least_squares.tables, found.variances),
        ("non-negative", found.tables, found.variances),
        ("whole", whole, found.variances),
    )
    for name, tables, variances in stages:
        off = np.concatenate([table.reshape(-1) for table in tables]) - flat
        error = np.sqrt(np.concatenate([variance.reshape(-1) for variance in variances]))
        print(f"{name}: root mean square error {np.sqrt(np.mean(off**2)):.1f}, covered", end="")
        for low, high in ((0, 1), (1, 10), (10, 100), (100, 1000), (1000, 10**9)):
            cells = (flat >= low) & (flat < high)
            print(f"; {cells.sum()} cells from {low}: {np.mean(np.abs(off[cells]) <= 1.96 * error[cells]):.3f}", end="")
        print()


if __name__ == "__main__":
    main()
