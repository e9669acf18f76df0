"""CPU seconds of tables: counting a million rows of nine columns, consistency, and the noise per cell.

`python -m tests.benchmarks.tables` prints the least of several runs. Codes are in memory already: reading is not counted.
"""

import time
from collections.abc import Callable
from fractions import Fraction
from math import prod

import numpy as np

from pipeline.accounting.tables_plan import Query
from pipeline.hierarchy import Level
from pipeline.histogram import Column, Records, scan
from pipeline.mechanisms.consistency import agree
from pipeline.mechanisms.dp_counting import answer, cover
from pipeline.mechanisms.dp_workload import LinearQuery, all_ways
from pipeline.mechanisms.rounding import round_tables
from pipeline.noise import OPENDP

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


def _codes(size: int, random: np.random.Generator) -> np.ndarray:
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
    axes, spread = [query.levels for query in everything], [37.0**2] * 37
    start = time.process_time()
    found = agree(axes, noisy, spread)
    middle = time.process_time()
    round_tables(axes, found.tables)
    print(f"consistency: {middle - start:.2f} CPU s (exact variances: {found.exact}, gap {found.gap:.3g})")
    print(f"rounding: {time.process_time() - middle:.3f} CPU s")
    rms = [
        (float(np.sqrt(np.mean([np.mean((e - t) ** 2) for e, t in zip(found_, true, strict=True)]))))
        for found_ in (noisy, found.tables)
    ]
    print(f"root mean square error of a cell, averaged over tables: {rms[0]:.1f} noisy, {rms[1]:.1f} consistent")


if __name__ == "__main__":
    main()
