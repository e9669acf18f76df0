"""A whole release beside reading and writing the same file with pyarrow, in turn: `python -m tests.benchmarks.release`.

Each run is a process of its own, warmed up on a small table first; CPU seconds are user + system of the part that
counts, memory is the process's peak. Imports are timed apart. The floor reads text columns as dictionaries, the fastest
way there is. With `--whole` the command `crowdgate release` is timed with all of its imports, beside a process that
imports the libraries. The figure to quote is the ratio of the minima.
"""

import argparse
import compileall
import dataclasses
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.benchmarks.options import parse
from tests.benchmarks.people import make_people_workshop, write_people


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--betas", nargs="*", default=["0.5", "1"])
    parser.add_argument("--whole", action="store_true", help="time whole processes")
    parser.add_argument("--child", nargs="*", help=argparse.SUPPRESS)
    options = parse(parser, rows=1000, runs=1, betas=["1"])
    if options.child:
        print(json.dumps(_child(*options.child)))
        return
    with tempfile.TemporaryDirectory() as folder:
        data, small = Path(folder) / "people.parquet", Path(folder) / "small.parquet"
        if options.whole:
            _run("people", data, Path(str(options.rows)), folder)  # apart: a process starts with its parent's peak
            _report_whole(options.rows, _whole(data, Path(folder), options.runs))
            return
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
    if kind == "people":
        write_people(Path(arguments[0]), int(arguments[1]))
        return {}
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
    from crowdgate.kind.run import Request
    from crowdgate.ledger.key import draw_key
    from crowdgate.releases import release as job

    policy = make_people_workshop(scratch / "w", data, "0.5" if beta == "1" else beta)
    if beta == "1":
        _keep_everybody(job)
    job.release(Request(policy, "2030-01-01", input=small), draw_key)
    ready = time.process_time()
    job.release(Request(policy, "2030-01-02"), draw_key)
    cpu = time.process_time() - ready
    return {"cpu": cpu, "peak_mb": _peak(), "imports": ready - start}


def _keep_everybody(job: Any) -> None:
    """No policy can ask for beta 1, which has no guarantee: for timing the planned mechanism is exchanged for one whose
    coins keep all rows but one in 2^40."""
    original = job.plan_release

    def planned(*asked: Any) -> Any:
        plan: Any = original(*asked)
        everybody = dataclasses.replace(plan.protection.mechanism, beta=1 - Fraction(1, 1 << 40), k=35)
        figures = dataclasses.replace(plan.protection.figures, beta=everybody.beta, least_class=everybody.k)
        protection = dataclasses.replace(plan.protection, mechanism=everybody, figures=figures)
        return dataclasses.replace(plan, protection=protection)

    job.plan_release = planned


_LIBRARIES = "import pandas, opendp, pyarrow.parquet"
_COMMAND = "from crowdgate_flows.command import main; main()"


def _whole(data: Path, folder: Path, runs: int) -> dict[str, list[tuple[float, float]]]:
    """CPU seconds and peak in MB of whole processes in turn, after a run of each with bytecode and a warm cache."""
    policy = make_people_workshop(folder / "w", data, "0.5")
    for source in ("pipeline", "flows"):
        compileall.compile_dir(source, quiet=2)
    found: dict[str, list[tuple[float, float]]] = {"import libraries": [], "crowdgate release": []}
    for run in range(runs + 1):
        slot = f"2030-01-{run + 1:02}"
        found["import libraries"].append(_spent("-c", _LIBRARIES))
        found["crowdgate release"].append(_spent("-c", _COMMAND, "release", str(policy), "--as-of", slot))
    return {name: each[1:] for name, each in found.items()}


def _spent(*arguments: str) -> tuple[float, float]:
    """Return the costs of a Python process with these arguments, which must succeed."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"a process ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _report_whole(rows: int, found: dict[str, list[tuple[float, float]]]) -> None:
    print(f"{rows:,} rows x 12 columns, whole processes; minimum of {len(found['import libraries'])} runs in turn")
    least = {name: tuple(map(min, zip(*each, strict=True))) for name, each in found.items()}
    for name, (cpu, peak) in least.items():
        print(f"{name:<18} {cpu:5.2f} CPU s  {cpu / least['import libraries'][0]:5.2f}x  peak {peak:5.0f} MB")


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _report(rows: int, size: int, kinds: list[str], runs: list[dict[str, dict[str, float]]]) -> None:
    best = {kind: {name: min(run[kind][name] for run in runs) for name in runs[0][kind]} for kind in kinds}
    print(f"{rows:,} rows x 12 columns, {size / 1e6:.0f} MB; minimum of {len(runs)} runs in turn")
    for kind in kinds:
        ratio = best[kind]["cpu"] / best["floor"]["cpu"]
        apart = f"  imports {best[kind]['imports']:.2f} s apart" if "imports" in best[kind] else ""
        print(f"{kind:<12} {best[kind]['cpu']:6.2f} CPU s  {ratio:5.2f}x  peak {best[kind]['peak_mb']:5.0f} MB{apart}")
    print(json.dumps({"rows": rows, "runs": runs}))


if __name__ == "__main__":
    main()
