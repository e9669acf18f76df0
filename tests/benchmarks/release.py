"""A whole release beside reading and writing the same file with pyarrow, in turn: `python -m tests.benchmarks.release`.

Each run is a process of its own, warmed up on a small table first; CPU seconds are user + system of the part that
counts, memory is the process's peak. Imports and the contract's rules in Great Expectations are timed apart. The floor
reads text columns as dictionaries, the fastest way there is. The figure to quote is the ratio of the minima.
"""

import argparse
import dataclasses
import json
import resource
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.benchmarks.people import make_people_workshop, write_people


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--betas", nargs="*", default=["0.5", "1"])
    parser.add_argument("--child", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(_child(*options.child)))
        return
    with tempfile.TemporaryDirectory() as folder:
        data, small = Path(folder) / "people.parquet", Path(folder) / "small.parquet"
        write_people(data, options.rows)
        write_people(small, 1000)
        kinds = ["floor", *(f"release {beta}" for beta in options.betas)]
        runs = [{kind: _run(kind, data, small, folder) for kind in kinds} for _ in range(options.runs)]
        _report(options.rows, data.stat().st_size, kinds, runs)


def _run(kind: str, data: Path, small: Path, folder: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        command = [sys.executable, "-m", "tests.benchmarks.release", "--child", *kind.split(), data, small, scratch]
        ended = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
        return dict(json.loads(ended.stdout))


def _child(kind: str, *arguments: str) -> dict[str, float]:
    if kind == "floor":
        return _floor(*map(Path, arguments))
    return _release(arguments[0], *map(Path, arguments[1:]))


def _floor(data: Path, small: Path, scratch: Path) -> dict[str, float]:
    copy_table(small, scratch / "warm.parquet")
    start = time.process_time()
    copy_table(data, scratch / "copy.parquet")
    return {"cpu": time.process_time() - start, "peak_mb": _peak()}


def copy_table(source: Path, target: Path) -> None:
    """Read and write a table with pyarrow, a row group at a time, text columns as dictionaries."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = [field.name for field in pq.read_schema(source) if pa.types.is_string(field.type)]
    file = pq.ParquetFile(source, read_dictionary=text)
    with pq.ParquetWriter(target, file.schema_arrow, compression="snappy") as out:
        for i in range(file.num_row_groups):
            out.write_table(file.read_row_group(i))


def _release(beta: str, data: Path, small: Path, scratch: Path) -> dict[str, float]:
    start = time.process_time()
    from crowdgate.jobs import release as job
    from crowdgate.kind.run import Request
    from crowdgate.ledger.key import draw_key

    rules = _time_rules(job)
    policy = make_people_workshop(scratch / "w", data, "0.5" if beta == "1" else beta)
    if beta == "1":
        _keep_everybody(job)
    job.release(Request(policy, "2030-01-01", input=small), draw_key)
    ready = time.process_time()
    job.release(Request(policy, "2030-01-02"), draw_key)
    cpu = time.process_time() - ready - rules["cpu"]
    return {"cpu": cpu, "peak_mb": _peak(), "imports": ready - start, "rules": rules["cpu"]}


def _time_rules(job: Any) -> dict[str, float]:
    """What the contract's rules take of the latest release, by `cpu`."""
    rules = {"cpu": 0.0}
    original = job.run_rules

    def timed(*inputs: Any) -> Any:
        begun = time.process_time()
        outcome = original(*inputs)
        rules["cpu"] = time.process_time() - begun
        return outcome

    job.run_rules = timed
    return rules


def _keep_everybody(job: Any) -> None:
    """No policy can ask for beta 1, which has no guarantee: for timing the planned mechanism is exchanged for one whose
    coins keep all rows but one in 2^40."""
    original = job.plan_policy

    def planned(policy: Path) -> Any:
        plan: Any = original(policy)
        everybody = dataclasses.replace(plan.protection.planned.mechanism, beta=1 - Fraction(1, 1 << 40), k=35)
        protection = dataclasses.replace(
            plan.protection, planned=dataclasses.replace(plan.protection.planned, mechanism=everybody)
        )
        return dataclasses.replace(plan, protection=protection)

    job.plan_policy = planned


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _report(rows: int, size: int, kinds: list[str], runs: list[dict[str, dict[str, float]]]) -> None:
    best = {kind: {name: min(run[kind][name] for run in runs) for name in runs[0][kind]} for kind in kinds}
    print(f"{rows:,} rows x 12 columns, {size / 1e6:.0f} MB; minimum of {len(runs)} runs in turn")
    for kind in kinds:
        ratio = best[kind]["cpu"] / best["floor"]["cpu"]
        apart = "".join(
            f"  {name} {best[kind][name]:.2f} s apart" for name in ("imports", "rules") if name in best[kind]
        )
        print(f"{kind:<12} {best[kind]['cpu']:6.2f} CPU s  {ratio:5.2f}x  peak {best[kind]['peak_mb']:5.0f} MB{apart}")
    print(json.dumps({"rows": rows, "runs": runs}))


if __name__ == "__main__":
    main()
