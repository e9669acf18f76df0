"""Unit costs of counting and writing, which `plan --workers` multiplies: `python -m tests.benchmarks.unit_costs`.

CPU seconds are user + system of this process, the minimum of all runs. The figures belong into
`crowdgate/kind/unit_costs.py`, with the date and the machine.
"""

import argparse
import os
import pickle
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.errors import EnvironmentFault
from crowdgate.hierarchy import EXACT
from crowdgate.histogram import Histogram, View, merge
from crowdgate.kind.run import Request
from crowdgate.planning.plan import bundle_of, plan_policy
from crowdgate.releases import release as job
from crowdgate.sampling import SecretKey
from crowdgate.sources import open_source
from crowdgate.sources.counting import CountingTask, count_table, serial
from tests.benchmarks.options import parse
from tests.benchmarks.people import make_people_workshop, write_people

VIEW = ("sex", "race", "income")
"""Columns of a view that is counted once, and nine times."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--combinations", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parse(parser, rows=2000, combinations=1000, runs=1)
    with tempfile.TemporaryDirectory() as folder:
        few, many = (_workshop(Path(folder), rows) for rows in (1000, options.rows))
        start, whole = (_least(options.runs, partial(_release, each, iter(range(1, 29)))) for each in (few, many))
        counted, columns = _least(options.runs, partial(_counted, many)), len(plan_policy(many).columns)
        once, often = (_least(options.runs, partial(_count, many, number)) for number in (1, 9))
        size = (Path(folder) / f"{options.rows}.parquet").stat().st_size / options.rows / 13
    print(
        f"Measured on {date.today()} ({platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()})"
    )
    _print("a release of a small table, after the imports", start, "CPU s")
    _print("a cell that is read, cleaned and counted", counted / options.rows / columns, "CPU s")
    _print("a row in a further view", (often - once) / 8 / options.rows, "CPU s")
    _print("a row of the table that is sampled, judged and written", (whole - counted - start) / options.rows, "CPU s")
    _print("a cell in the file", size, "bytes")
    for name, value, unit in _of_combinations(options.combinations, options.runs):
        _print(name, value, unit)


def _print(name: str, value: float, unit: str) -> None:
    print(f"{name:60} {value:9.3g} {unit}")


def _least(runs: int, work: Callable[[], object]) -> float:
    found = []
    for _ in range(runs):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def _counted(policy: Path) -> None:
    plan = plan_policy(policy)
    task = CountingTask(plan.bundle.contract, plan.columns, plan.protection.views, plan.watched)
    count_table(open_source(plan.bundle.contract, plan.columns), task, serial())


def _count(policy: Path, number: int) -> None:
    contract = bundle_of(policy).contract
    trees = {name: contract.by_name[name].hierarchy for name in VIEW}
    view = View({name: tree.level(EXACT) for name, tree in trees.items() if tree is not None})
    task = CountingTask(contract, VIEW, {str(each): view for each in range(number)})
    count_table(open_source(contract, VIEW), task, serial())


def _workshop(folder: Path, rows: int) -> Path:
    write_people(folder / f"{rows}.parquet", rows)
    return make_people_workshop(folder / f"w{rows}", folder / f"{rows}.parquet", "0.5")


def _release(policy: Path, days: Iterator[int]) -> None:
    with suppress(EnvironmentFault):  # an injected key is never published
        job.release(Request(policy, f"2030-01-{next(days):02}"), lambda: SecretKey(bytes(32), injected=True))


def _of_combinations(count: int, runs: int) -> list[tuple[str, float, str]]:
    """Return the unit costs of combinations: two sums of `count` of them become one."""
    random, sizes = np.random.default_rng(1), (50,) * 10
    parts = [_histogram(sizes, [random.integers(0, 50, count) for _ in sizes]) for _ in range(2)]
    packed = [pickle.dumps(part) for part in parts]
    added = _least(runs, lambda: pickle.dumps(merge([pickle.loads(each) for each in packed])))
    held = sum(codes.nbytes for codes in parts[0].codes) + parts[0].counts.nbytes
    return [
        ("a combination that is added", added / 2 / count, "CPU s"),
        ("a combination on its way", len(packed[0]) / count, "bytes"),
        ("a combination in memory", held / count, "bytes"),
    ]


def _histogram(sizes: tuple[int, ...], codes: list[Integers]) -> Histogram:
    order = np.lexsort(codes[::-1])
    names = tuple(map(str, range(len(sizes))))
    return Histogram(names, sizes, tuple(each[order] for each in codes), np.ones(len(order), dtype=np.int64))


if __name__ == "__main__":
    main()
