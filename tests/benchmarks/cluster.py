"""A release counted on a Dask cluster of this machine, beside one process: `python -m tests.benchmarks.cluster`.

The release runs in a process of its own, after one of a small table, which imports the libraries there and on the
workers. CPU seconds are user + system of the release alone, memory is the peak of each process. All releases have one
injected key, so their bytes must be the same; the benchmark ends with an error if they are not.
"""

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.benchmarks.options import parse
from tests.clusters import cluster

PARTS = 8
"""The least number of parts of a table."""
SLOTS = ("2030-01-01", "2030-01-02")
TITLES = (
    "elapsed s",
    "CPU s",
    "CPU s of driver",
    "of busiest worker",
    "MB of driver",
    "of largest worker",
    "of smallest",
)
Run = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--persons", action="store_true", help="the privacy unit is a person")
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    options = parse(parser, rows=1000, runs=1)
    if options.child or options.write:
        print(json.dumps(_child(*options.child) if options.child else _write(*options.write)))
        return
    with tempfile.TemporaryDirectory() as folder:
        data, small = Path(folder) / "people.parquet", Path(folder) / "small.parquet"
        for path, rows in ((data, options.rows), (small, 1000)):
            _run("--write", path, rows)  # apart: a process starts with its parent's peak
        with cluster(options.workers) as made:
            persons = "persons" if options.persons else "rows"
            places = {"one process": "", f"{options.workers} workers": made.address}
            runs = [
                {name: _released(data, small, folder, persons, address) for name, address in places.items()}
                for _ in range(options.runs)
            ]
    _report(options, list(places), runs)


def _run(*arguments: object) -> Run:
    command = [sys.executable, "-m", "tests.benchmarks.cluster", *map(str, arguments)]
    return dict(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))


def _released(data: Path, small: Path, folder: str, persons: str, address: str) -> Run:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        return _run("--child", data, small, scratch, persons, address)


def _write(path: str, rows: str) -> Run:
    """Write a table of at least so many parts."""
    from tests.benchmarks import people

    people.ROW_GROUP = min(people.ROW_GROUP, int(rows) // PARTS)
    people.write_people(Path(path), int(rows))
    return {}


def _child(data: str, small: str, folder: str, persons: str, address: str) -> Run:
    """Release the small table, then the table; return what the second release cost, and its digest."""
    import pyarrow.parquet as pq

    from crowdgate.errors import EnvironmentFault
    from crowdgate.kind.run import Request
    from crowdgate.publish.file_names import STAGING
    from crowdgate.releases import release as job
    from crowdgate.sampling import SecretKey
    from crowdgate.sources import files, parquet
    from tests.benchmarks.people import make_people_workshop

    scratch = Path(folder)
    policy = make_people_workshop(scratch / "w", Path(data), "0.5", persons=persons == "persons")
    for slot, table in zip(SLOTS, (small, data), strict=True):
        for module in (files, parquet):
            vars(module)["PART_ROWS"] = pq.read_metadata(table).row_group(0).num_rows
        before, start = _spent(address), time.perf_counter()
        with suppress(EnvironmentFault):  # an injected key is never published
            job.release(
                Request(policy, slot, input=Path(table), cluster=address or None),
                lambda: SecretKey(bytes(range(32)), injected=True),
            )
        elapsed, after = time.perf_counter() - start, _spent(address)
    cpu = [now[0] - then[0] for now, then in zip(after, before, strict=True)]
    (staged,) = (scratch / "w" / "releases" / STAGING).glob(f"*{SLOTS[1]}")
    digest = hashlib.sha256((staged / "data.parquet").read_bytes()).hexdigest()
    return {"elapsed": elapsed, "cpu": cpu, "peak_mb": [peak for _, peak in after], "digest": digest}


def _spent(address: str) -> list[tuple[float, float]]:
    """Return the CPU seconds and the peak memory in MB of this process, and of each worker."""
    if not address:
        return [_usage()]
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        return [_usage(), *(found for _, found in sorted(client.run(_usage).items()))]


def _usage() -> tuple[float, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def _report(options: argparse.Namespace, names: Sequence[str], runs: Sequence[dict[str, Run]]) -> None:
    digests = {run[name]["digest"] for run in runs for name in names}
    if len(digests) > 1:
        raise SystemExit("the releases differ")
    unit = "persons" if options.persons else "rows"
    print(f"{options.rows:,} rows x 12 columns, unit: {unit}; minimum of {len(runs)} runs in turn")
    print(f"{'':12}" + "".join(f"{title:>20}" for title in TITLES))
    for name in names:
        least = [min(values) for values in zip(*(_figures(run[name]) for run in runs), strict=True)]
        print(f"{name:12}" + "".join(f"{value:20.1f}" for value in least))
    print("the same bytes in all runs")


def _figures(run: Run) -> tuple[float, ...]:
    driver, *workers = run["cpu"]
    here, *there = run["peak_mb"]
    memory = (here, min(there, default=0.0), max(there, default=0.0))
    return run["elapsed"], sum(run["cpu"]), driver, max(workers, default=0.0), *memory


if __name__ == "__main__":
    main()
