"""Scoring all 12,960 schemes of nine attributes: `python -m tests.benchmarks.lattice`.

Two tables: the 30,162 Adult rows that ARX ships, with its hierarchies (from the folder that --data names;
left out, with a word, where there is none), and a million generated rows with
hierarchies of the same shape. Each run is a process of its own, the kinds in turn; CPU seconds are user + system of
collapsing the rows to distinct tuples and of scoring, apart. Beside it stands one grouping of the distinct tuples per
scheme, done for some schemes and scaled to all. The figure to quote is the minimum.
"""

import argparse
import csv
import gzip
import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, collapse
from crowdgate.mechanisms.rows.lattice import SchemeLattice, roll_up
from crowdgate.mechanisms.rows.scores import SCORES, retention_table
from tests.benchmarks.options import DATA, parse

ADULT = "arx_adult_30162.csv.gz"
K, BETA = 69, Fraction(1, 2)
SOME = 60
LIMITS = {"adult": 0.7, "generated": 7.0}
SHAPES = {
    "sex": (2, 1),
    "age": (74, 16, 8, 4, 1),
    "race": (5, 1),
    "marital-status": (7, 2, 1),
    "education": (16, 7, 3, 1),
    "native-country": (41, 6, 1),
    "workclass": (7, 2, 1),
    "occupation": (14, 3, 1),
    "salary-class": (2, 1),
}
ARX = "ARX 3.9.2, whole process on the Adult rows: 7.7 CPU s for (2, 1e-5) with a searched scheme (33 expansions)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--data", type=Path, default=DATA, help="where Adult and ARX's hierarchies are")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parse(parser, rows=1000, runs=1)
    if options.child:
        print(json.dumps(_child(options.child, options.rows, options.data)))
        return
    kinds = ["adult", "generated"] if (options.data / ADULT).is_file() else ["generated"]
    if "adult" not in kinds:
        print(f"the Adult rows are left out: no {ADULT} in {options.data}")
    runs = [{kind: _run(kind, options.rows, options.data) for kind in kinds} for _ in range(options.runs)]
    _report(kinds, runs)


def adult(folder: Path) -> tuple[SchemeLattice, list[np.ndarray]]:
    """The lattice and the codes of the Adult rows."""
    with gzip.open(folder / ADULT, "rt", encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file, delimiter=";"))
    candidates, columns = {}, []
    for i, name in enumerate(header):
        path = folder / "adult_hierarchies" / f"adult_hierarchy_{name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file, delimiter=";"))
        candidates[name] = tuple(_level([line[j] for line in lines]) for j in range(len(lines[0])))
        index = {line[0]: code for code, line in enumerate(lines)}
        columns.append(np.array([index[row[i]] for row in rows], dtype=np.int32))
    return SchemeLattice(candidates), columns


def generated(rows: int, seed: int = 1) -> tuple[SchemeLattice, list[np.ndarray]]:
    """Rows whose columns are independent; in every column a value is likelier the earlier it comes."""
    random = np.random.default_rng(seed)
    candidates, columns = {}, []
    for name, (exact, *coarser) in SHAPES.items():
        codes = np.arange(exact)
        levels = [_level(codes.tolist())]
        for size in coarser:
            codes = codes * size // (int(codes.max()) + 1)
            levels.append(_level(codes.tolist()))
        candidates[name] = tuple(levels)
        weights = (0.97 if exact > 50 else 0.6) ** np.arange(exact)
        columns.append(random.choice(exact, rows, p=weights / weights.sum()).astype(np.int32))
    return SchemeLattice(candidates), columns


def _level(labels: Sequence[object]) -> Level:
    index: dict[object, int] = {}
    codes = np.array([index.setdefault(label, len(index)) for label in labels], dtype=np.int32)
    return Level(f"{len(index)} values", tuple(map(str, index)), codes)


def _run(kind: str, rows: int, data: Path) -> dict[str, float]:
    own = ["--child", kind, "--rows", str(rows), "--data", str(data)]
    command = [sys.executable, "-m", "tests.benchmarks.lattice", *own]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def _child(kind: str, rows: int, data: Path) -> dict[str, float]:
    lattice, columns = adult(data) if kind == "adult" else generated(rows)
    start = time.process_time()
    finest = lattice.finest
    codes = [level.codes[column] for level, column in zip(finest.values(), columns, strict=True)]
    full = collapse(tuple(finest), tuple(map(len, finest.values())), codes, np.ones(len(columns[0]), dtype=np.int64))
    collapsed = time.process_time()
    scores = SCORES["expected_kept_rows"](lattice, full, retention_table(K, BETA, full.rows), {})
    scored = time.process_time()
    naive = _naive(lattice, full, scores)
    return {
        "rows": full.rows,
        "schemes": len(lattice),
        "distinct": len(full),
        "collapse": collapsed - start,
        "cpu": scored - collapsed,
        "naive": naive,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _naive(lattice: SchemeLattice, full: Histogram, scores: Sequence[int]) -> float:
    """CPU seconds of grouping for every scheme anew, from some of them; their scores must be the same."""
    kept = retention_table(K, BETA, full.rows)
    some = np.random.default_rng(2).choice(len(lattice), SOME, replace=False)
    start = time.process_time()
    for i in some.tolist():
        found = roll_up(full, lattice.finest, lattice.scheme(i))
        assert kept.total(found.counts, full.rows) == scores[i]
    return (time.process_time() - start) / SOME * len(lattice)


def _report(kinds: list[str], runs: list[dict[str, dict[str, float]]]) -> None:
    print(f"minimum of {len(runs)} runs in turn; k {K}, beta {float(BETA):g}, score expected_kept_rows")
    for kind in kinds:
        best = {name: min(run[kind][name] for run in runs) for name in runs[0][kind]}
        print(
            f"{kind:<10} {best['rows']:>9,.0f} rows  {best['distinct']:>7,.0f} distinct  {best['schemes']:,.0f} schemes"
            f"  {best['cpu']:5.2f} CPU s (at most {LIMITS[kind]:g})  collapse {best['collapse']:.2f}"
            f"  one by one {best['naive']:.1f}  peak {best['peak_mb']:.0f} MB"
        )
    print(ARX)
    print(json.dumps({"runs": runs}))


if __name__ == "__main__":
    main()
