"""A whole release beside reading and writing the same file with pyarrow, in turn: `python -m tests.benchmarks.release`.

Each run is a process of its own, warmed up on a small table first; CPU seconds are user + system of the part that
counts, memory is the process's peak. Imports are timed apart. The floor reads text columns as dictionaries, the fastest
way there is. With `--whole` the command `crowdgate release` is timed with all of its imports, beside a process that
imports the libraries. The figure to quote is the ratio of the minima.
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

from tests.benchmarks.core_work import copy_by_pyarrow
from tests.benchmarks.options import parse
from tests.benchmarks.people import make_people_workshop, write_people
from tests.benchmarks.processes import COMMAND, Cost, Line, compile_library, least_in_turn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--betas", nargs="*", default=["0.5", "1"])
    parser.add_argument("--whole", action="store_true", help="time whole processes")
    parser.add_argument("--workers", type=int, default=1, help="with --whole: also count with so many processes")
    parser.add_argument("--child", nargs="*", help=argparse.SUPPRESS)
    options = parse(parser, rows=1000, runs=1, betas=["1"])
    if options.child:
        print(json.dumps(_child(*options.child)))
        return
    with tempfile.TemporaryDirectory() as folder:
        data, small = Path(folder) / "people.parquet", Path(folder) / "small.parquet"
        if options.whole:
            _run("people", data, Path(str(options.rows)), folder)  # apart: a process starts with its parent's peak
            _report_whole(options.rows, options.runs, _whole(data, Path(folder), options.runs, options.workers))
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
    copy_by_pyarrow(small, scratch / "warm.parquet")
    start = time.process_time()
    copy_by_pyarrow(data, scratch / "copy.parquet")
    return {"cpu": time.process_time() - start, "peak_mb": _peak()}


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


_LIBRARIES = "import libraries"


def _whole(data: Path, folder: Path, runs: int, workers: int) -> dict[str, Cost]:
    """Whole processes in turn."""
    policy = make_people_workshop(folder / "w", data, "0.5")
    compile_library()
    release = (*COMMAND, "release", policy, "--as-of", "2030-01-{run}")
    imports = ("-c", "import pandas, opendp, pyarrow.parquet")
    lines: dict[str, Line] = {_LIBRARIES: imports, "crowdgate release": release}
    if workers > 1:
        later = (*release[:-1], "2030-02-{run}", "--workers", str(workers))
        lines[f"with {workers} workers"] = later
    return least_in_turn(lines, runs)


def _report_whole(rows: int, runs: int, found: dict[str, Cost]) -> None:
    print(f"{rows:,} rows x 12 columns, whole processes; minimum of {runs} runs in turn")
    for name, each in found.items():
        ratio = each.cpu / found[_LIBRARIES].cpu
        cost = f"{each.cpu:5.2f} CPU s  {ratio:5.2f}x  {each.elapsed:5.2f} s elapsed  peak {each.peak_mb:5.0f} MB"
        print(f"{name:<18} {cost}")


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
