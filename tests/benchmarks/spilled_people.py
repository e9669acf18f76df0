"""A release of people in temporary files, beside one in memory: `python -m tests.benchmarks.spilled_people`.

The privacy unit is a person. Each release runs in a process of its own. CPU seconds are user + system of the release
with its worker processes, memory is the peak of the run's process and of the largest worker, and files are the bytes of
all temporary files. All releases have one injected key, so their bytes must be the same; the benchmark ends with an
error if they are not.
"""

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.benchmarks.options import parse

SLOT = "2030-01-01"
TITLES = ("CPU s", "MB of run", "MB of worker", "MB of files")
Run = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=60_000_000)
    parser.add_argument("--entries", type=int, default=1 << 24, help="entries of people that a process holds")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    options = parse(parser, rows=1000, runs=1, entries=50, workers=[1])
    if options.child or options.write:
        print(json.dumps(_child(*options.child) if options.child else _write(*options.write)))
        return
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "people.parquet"
        _run("--write", data, options.rows)  # apart: a process starts with its parent's peak
        ways = {"in memory": (1 << 62, 1)}
        ways |= {f"in files, {workers} workers": (options.entries, workers) for workers in options.workers}
        runs = [{name: _released(data, folder, *how) for name, how in ways.items()} for _ in range(options.runs)]
    _report(options.rows, list(ways), runs)


def _run(*arguments: object) -> Run:
    command = [sys.executable, "-m", "tests.benchmarks.spilled_people", *map(str, arguments)]
    return dict(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))


def _released(data: Path, folder: str, entries: int, workers: int) -> Run:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        return _run("--child", data, scratch, entries, workers)


def _write(path: str, rows: str) -> Run:
    from tests.benchmarks.people import write_people

    write_people(Path(path), int(rows))
    return {}


def _child(data: str, folder: str, entries: str, workers: str) -> Run:
    """Release the table; return what that cost, and the digest of the release."""
    from crowdgate.errors import EnvironmentFault
    from crowdgate.kind.run import Request
    from crowdgate.publish.file_names import STAGING
    from crowdgate.releases import release as job
    from crowdgate.sampling import SecretKey
    from crowdgate.sources import spill
    from crowdgate.sources.counting import count_table
    from tests.benchmarks.people import make_people_workshop

    root, written = Path(folder) / "w", [0]
    policy = make_people_workshop(root, Path(data), "0.5", persons=True)

    def counted(*asked: Any) -> Any:
        total = count_table(*asked)
        written.append(sum(each.stat().st_size for each in (root / "ledger" / "private").glob("*/*")))
        return total

    spill.MOST_ENTRIES, vars(job)["count_table"] = int(entries), counted
    with suppress(EnvironmentFault):  # an injected key is never published
        key = SecretKey(bytes(range(32)), injected=True)
        job.release(Request(policy, SLOT, workers=int(workers)), lambda: key)
    (staged,) = (root / "releases" / STAGING).glob(f"*{SLOT}")
    used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "figures": [
            sum(each.ru_utime + each.ru_stime for each in used),
            *(each.ru_maxrss / 1024 for each in used),
            max(written) / 1e6,
        ],
        "digest": hashlib.sha256((staged / "data.parquet").read_bytes()).hexdigest(),
    }


def _report(rows: int, names: Sequence[str], runs: Sequence[dict[str, Run]]) -> None:
    if len({run[name]["digest"] for run in runs for name in names}) > 1:
        raise SystemExit("the releases differ")
    print(f"{rows:,} rows x 12 columns of {rows * 3 // 10:,} people; minimum of {len(runs)} runs in turn")
    print(f"{'':22}" + "".join(f"{title:>14}" for title in TITLES))
    for name in names:
        least = [min(values) for values in zip(*(run[name]["figures"] for run in runs), strict=True)]
        print(f"{name:22}" + "".join(f"{value:14.1f}" for value in least))
    print("the same bytes in all runs")


if __name__ == "__main__":
    main()
