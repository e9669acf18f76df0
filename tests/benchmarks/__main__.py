"""Costs of commands and core operations beside bare imports and other libraries: `python -m tests.benchmarks`.

Each run is a process of its own, all of them in turn; CPU seconds are user + system, the minimum of all runs. Bytecode
is compiled first. Every line is compared with `import numpy, pydantic, yaml`, and some with a rival: another library
that does the same core work in a process of its own. `--page FILE` writes the table with its
date and machine.
"""

import argparse
import os
import platform
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.releases import release as job
from crowdgate.releases.working_copy import init
from tests.benchmarks.options import parse
from tests.benchmarks.people import make_people_workshop, write_files, write_people
from tests.benchmarks.processes import COMMAND, Cost, Line, compile_library, least_in_turn
from tests.benchmarks.synthetic_dpmm import ONE_THREAD, command_of
from tests.benchmarks.synthetic_run import counts_of
from tests.workshop import Workshop, good_rows, make_workshop

BASE = "import numpy, pydantic, yaml"
SLOT, LATER, LAST = "2030-01-{run}", "2030-02-{run}", "2030-03-{run}"
ROWS_OF_FILE = 1000
NOTES = """\
Many files: the table lies in files of 1,000 rows. Crowdgate walks the footer of each and the headers of its pages.
PyArrow reads the footer, and then the file. Its state is compared before and after.

Noise: OpenDP gets a whole vector in one call, as a numpy array. Both conversions take .09 us a cell, sampling takes 6
to 16 us. No faster sampler takes its place: `crowdgate/noise.py` says why. Workers draw no noise, since randomness
stays in the run's process."""
_LIBRARIES = ("numpy", "pyarrow", "opendp", "duckdb", "polars")


LEFT_OUT = [
    "demo",
    "plan, tables",
    "check, tables",
    "report, a page of them",
    "release of the table, 2 workers",
    "release of the table, many files",
    "release of synthetic rows",
]
"""Lines that a small run leaves out: each is made as another line is."""


@dataclass(frozen=True)
class Row:
    """A line of the table: a process (None: its library is not installed), and the name of its rival."""

    name: str
    line: Line | None
    rival: str | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the table that is counted and released")
    parser.add_argument("--cells", type=int, default=100_000, help="that get noise")
    parser.add_argument("--runs", type=int, default=5, help="of each line, at most 28")
    parser.add_argument("--only", default="", help="measure the lines with this word in their names, and their rivals")
    parser.add_argument("--without", nargs="*", default=[], help="leave out the lines of these names")
    parser.add_argument("--page", type=Path, help="write the table, as a page in Markdown")
    parser.add_argument("--dpmm", type=Path, help="Python with dpmm 0.1.9, to compare its MST (70 CPU s a run)")
    options = parse(parser, rows=1000, cells=1000, runs=1, without=LEFT_OUT)
    compile_library()
    with tempfile.TemporaryDirectory() as folder:
        rows = _chosen(
            [
                *_imports(),
                *_commands(Path(folder)),
                *_core_work(Path(folder), options),
                *_synthetic(Path(folder), options.dpmm),
            ],
            options,
        )
        found = least_in_turn({row.name: row.line for row in rows if row.line is not None}, options.runs)
    head = f"{options.rows:,} rows, {options.cells:,} cells; minimum of {options.runs} runs in turn"
    lines = "\n".join(table(rows, found))
    print(f"{head}\n{lines}")
    if options.page is not None:
        options.page.write_text(page(head, lines, date.today()), encoding="utf-8")


def page(head: str, lines: str, day: date) -> str:
    """Return a page of the table, with its date, and the machine and the libraries that it was measured with."""
    load, cores = os.getloadavg()[0], os.cpu_count()
    libraries = ", ".join(f"{name} {version(name)}" for name in _LIBRARIES if find_spec(name) is not None)
    machine = f"{platform.machine()}, {cores} cores, load {load:.1f} at the end, Python {platform.python_version()}"
    text = f"Measured on {day} ({machine}; {libraries}). Compare figures of one page only.\n\n{head}"
    return f"# Benchmarks\n\n{text}\n\n```text\n{lines}\n```\n\n{NOTES}\n"


def _chosen(rows: Sequence[Row], options: argparse.Namespace) -> list[Row]:
    named = [row for row in rows if options.only in row.name and row.name not in options.without]
    names = {BASE} | {name for row in named for name in (row.name, row.rival)}
    return [row for row in rows if row.name in names]


def table(rows: Sequence[Row], found: Mapping[str, Cost]) -> Iterator[str]:
    """Return the lines of the table: CPU seconds, and ratios to the bare imports and to the rival."""
    yield f"{'':44} CPU s  ratio to imports  ratio to rival"
    for row in rows:
        if row.line is None:
            yield f"{row.name:44} not installed"
            continue
        cpu = found[row.name].cpu
        rival = found.get(row.rival or "")
        beside = "" if rival is None else f"{cpu / rival.cpu:7.2f}  {row.rival}"
        yield f"{row.name:44}{cpu:6.2f} {cpu / found[BASE].cpu:12.2f}  {beside}".rstrip()


def _imports() -> Iterator[Row]:
    yield Row(BASE, ["-c", BASE])
    yield Row("import pyarrow.parquet", ["-c", "import pyarrow.parquet"])
    yield Row("import duckdb", _with("duckdb", "import duckdb"))
    yield Row("import opendp.measurements", ["-c", "import opendp.measurements"])


def _with(library: str, code: str) -> Line | None:
    return None if find_spec(library) is None else ["-c", code]


def _commands(folder: Path) -> Iterator[Row]:
    copy = init(folder / "copy", "benchmark")
    yield Row("--help", [*COMMAND, "--help"])
    for command in ("check", "plan"):
        for kind, name in (("rows", "census_income"), ("tables", "census_income_tables")):
            yield Row(f"{command}, {kind}", [*COMMAND, command, copy / "policies" / f"{name}.yaml"])
    ten = make_workshop(folder / "ten")
    ten.edit(ten.budget, "epsilon: 6, delta: 0.03", "epsilon: 56, delta: 0.28")  # 28 runs, the most
    ten.write(good_rows(10))
    yield Row("release of 10 rows", [*COMMAND, "release", ten.policy, "--as-of", SLOT])
    release = _thousand_rows(make_workshop(folder / "thousand"))
    yield Row("verify of 1,000 rows", [*COMMAND, "verify", release])
    yield Row("report, a page of them", [*COMMAND, "report", "release", release, "--page", folder / "page-{run}.html"])
    yield Row("demo", [*COMMAND, "demo", folder / "demo-{run}"])


def _thousand_rows(workshop: Workshop) -> Path:
    """A release of about 1,000 of 2,000 rows."""
    workshop.edit(workshop.contract, "value: 1000}", "value: 2000}")
    workshop.edit(workshop.budget, "people: 1000", "people: 2000")
    workshop.write(good_rows(2000))
    made = job.release(Request(workshop.policy, "2030-01-01"), draw_key).path
    assert made is not None, "the release is published"
    return made


def _core_work(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    data = folder / "people.parquet"
    write_people(data, options.rows)
    policy = make_people_workshop(folder / "people", data, "0.5")
    arrow, duckdb, opendp = "PyArrow: count groups", "DuckDB: count groups", "OpenDP: noise"
    written = "PyArrow: read and write the table"
    yield Row(written, ["-c", _core("copy_by_pyarrow", str(data), str(folder / "copy.parquet"))])
    alone = "release of the table"
    yield Row(alone, [*COMMAND, "release", policy, "--as-of", SLOT], written)
    yield Row(f"{alone}, 2 workers", [*COMMAND, "release", policy, "--as-of", LATER, "--workers", "2"], alone)
    files = write_files(data, folder / "files", ROWS_OF_FILE)
    yield Row(f"{alone}, many files", [*COMMAND, "release", policy, "--as-of", LAST, "--input", files], alone)
    persons = make_people_workshop(folder / "persons", data, "0.5", persons=True)
    yield Row(f"{alone}, of persons", [*COMMAND, "release", persons, "--as-of", SLOT], alone)
    yield Row(arrow, ["-c", _core("count_by_pyarrow", str(data))])
    yield Row(duckdb, _with("duckdb", _core("count_by_duckdb", str(data))), arrow)
    yield Row("Polars: count groups", _with("polars", _core("count_by_polars", str(data))), arrow)
    yield Row("Crowdgate: clean and count groups", ["-c", _core("count_by_crowdgate", str(policy))], arrow)
    yield Row(opendp, ["-c", _core("noise_by_opendp", options.cells)])
    yield Row("Crowdgate: noise", ["-c", _core("noise_by_crowdgate", options.cells)], opendp)


def _synthetic(folder: Path, python: Path | None) -> Iterator[Row]:
    """Synthetic rows of the bundled table, whole processes, by a release and by dpmm at the same levels and promise."""
    copy = init(folder / "synthetic", "benchmark")
    policy, budget = copy / "policies/census_income_synthetic.yaml", copy / "policies/budgets/us_cps_1994_95.yaml"
    _edit(budget, "epsilon: 4, delta: 1e-8", "epsilon: 28, delta: 2.8e-8")  # 28 runs, the most
    _edit(policy, "pso_bound, at_most: 0.02", "pso_bound, at_most: 1")  # over so many
    rival = "dpmm: synthetic rows (MST)"
    line = None if python is None else _other(command_of(python, counts_of(policy), folder / "rows.npz", "1", "1e-9"))
    yield Row(rival, line)
    yield Row("release of synthetic rows", [*COMMAND, "release", policy, "--as-of", SLOT], rival)


def _edit(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def _other(command: Sequence[str]) -> Line:
    """Run a command of another environment: its cost is that of the process that waits for it."""
    return ["-c", f"import subprocess; subprocess.run({command!r}, check=True, env={ONE_THREAD!r})"]


def _core(function: str, *arguments: object) -> str:
    return f"from tests.benchmarks.core_work import {function}; {function}(*{arguments!r})"


if __name__ == "__main__":
    main()
