"""Anonymity sets beside reading and writing the same file: `python -m tests.benchmarks.anonymity_sets`.

The floor is that of `release`, and all kinds run in turn. Each run is a process of its own, warmed up on a small table;
CPU seconds are user + system. `codes` reads the table's columns and counts nothing, so what is quoted is `sets` (or
`levels`) less `codes`, as a multiple of `floor`: 129 subsets of up to three of nine columns at their finest level, and
the same at three levels each, 2,619 groupings.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.core_work import copy_by_pyarrow
from tests.benchmarks.options import parse
from tests.benchmarks.people import COLUMNS, make_people_workshop, write_people

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.hierarchy import Level

UP_TO, ATTRIBUTES = 3, 9
KINDS = ("floor", "codes", "sets", "levels")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kinds", nargs="*", choices=KINDS[2:], default=KINDS[2:])
    parser.add_argument("--child", nargs="*", help=argparse.SUPPRESS)
    options = parse(parser, rows=1000, runs=1, kinds=["levels"])
    if options.child:
        kind, *paths = options.child
        print(json.dumps(_child(kind, *map(Path, paths))))
        return
    with tempfile.TemporaryDirectory() as folder:
        data, small = Path(folder) / "people.parquet", Path(folder) / "small.parquet"
        write_people(data, options.rows)
        write_people(small, 1000)
        kinds = [*KINDS[:2], *options.kinds]
        runs = [{kind: _run(kind, data, small, folder) for kind in kinds} for _ in range(options.runs)]
    _report(options.rows, runs)


def _run(kind: str, data: Path, small: Path, folder: str) -> float:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        command = [sys.executable, "-m", "tests.benchmarks.anonymity_sets", "--child", kind, data, small, scratch]
        return float(subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout)


def _child(kind: str, data: Path, small: Path, scratch: Path) -> float:
    once = _copying(scratch) if kind == "floor" else _measuring(kind, data, scratch)
    once(small)
    start = time.process_time()
    once(data)
    return time.process_time() - start


def _copying(scratch: Path) -> Callable[[Path], None]:
    return lambda path: copy_by_pyarrow(path, scratch / f"copy of {path.name}")


def _measuring(kind: str, data: Path, scratch: Path) -> Callable[[Path], None]:
    from crowdgate.contracts.reading import read_contract
    from crowdgate.planning.bundle import KNOWN

    make_people_workshop(scratch / "w", data, "0.5")
    contract = read_contract(scratch / "w" / "data_contracts" / "people.yaml", KNOWN.servers)
    return lambda path: _measure(kind, path, contract)


def _measure(kind: str, data: Path, contract: "Contract") -> None:
    from crowdgate.histogram import View
    from crowdgate.risk.anonymity_sets import cover, groupings, measure_groupings
    from crowdgate.sources import open_source
    from crowdgate.sources.counting import CountingTask, count_table, serial

    levels = {column.name: _levels(contract, column.name) for column in COLUMNS[:ATTRIBUTES]}
    names = tuple(levels)
    if kind == "codes":
        count_table(open_source(contract, names, data), CountingTask(contract, names, {"": View({})}), serial())
        return
    looked_at = levels if kind == "levels" else {name: own[:1] for name, own in levels.items()}
    covering = cover(looked_at, UP_TO)
    held = count_table(
        open_source(contract, names, data), CountingTask(contract, names, covering.views), serial()
    ).histograms
    assert len(list(measure_groupings(covering, held))) == groupings(looked_at, UP_TO)


def _levels(contract: "Contract", name: str) -> tuple["Level", ...]:
    """Exact, pairs of values, and sixths: three nested levels of every column."""
    from crowdgate.hierarchy import EXACT

    hierarchy = contract.by_name[name].hierarchy
    assert hierarchy is not None
    exact = hierarchy.level(EXACT)
    return (exact, *(_grouped(exact, width) for width in (2, 6)))


def _grouped(exact: "Level", width: int) -> "Level":
    import numpy as np

    from crowdgate.hierarchy import Level

    codes = (exact.codes // width).astype(np.int32)
    return Level(f"by {width}", tuple(map(str, range(int(codes.max()) + 1))), codes)


def _report(rows: int, runs: Sequence[Mapping[str, float]]) -> None:
    best = {kind: min(run[kind] for run in runs) for kind in runs[0]}
    print(f"{rows:,} rows; least of {len(runs)} runs in turn")
    for kind in best:
        beyond = (best[kind] - best["codes"]) / best["floor"]
        said = f"  {beyond:5.2f}x the floor beyond reading codes" if kind in ("sets", "levels") else ""
        print(f"{kind:<8} {best[kind]:6.2f} CPU s{said}")
    print(json.dumps(runs))


if __name__ == "__main__":
    main()
