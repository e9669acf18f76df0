"""Costs of commands beside importing numpy, pydantic and yaml: `python -m tests.benchmarks.startup`.

Each run is a process of its own, all of them in turn; CPU seconds are user + system, medians. Bytecode is compiled
first. A release of a table of ten rows is what every release costs before it reads. Below, what each public name costs
to import.
"""

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import crowdgate
import crowdgate_flows
from tests.benchmarks.options import parse
from tests.workshop import good_rows, make_workshop

BASE = ["-c", "import numpy, pydantic, yaml"]
LIBRARIES = ["-c", "import pandas, opendp, pyarrow.parquet"]
COMMAND = ["-c", "from crowdgate_flows.command import main; main()"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", default="", help="measure the lines with this word in their names")
    options = parse(parser, runs=1, only="release of ten rows")
    for package in (crowdgate, crowdgate_flows):
        compileall.compile_dir(package.__path__[0], quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        lines = {"libraries": LIBRARIES, **_commands(Path(folder))}
        _print("beside " + BASE[1], lines, options)
    names = {name: ["-c", f"from crowdgate import {name}"] for name in crowdgate.__all__}
    _print("each public name", {"crowdgate": ["-c", "import crowdgate"], **names}, options)


def _commands(folder: Path) -> Mapping[str, Sequence[str]]:
    subprocess.run([sys.executable, *COMMAND, "init", folder / "copy"], check=True, capture_output=True)
    commands = {"--help": [*COMMAND, "--help"]}
    for policy in sorted((folder / "copy" / "policies").glob("census_income*.yaml")):
        for command in ("check", "plan"):
            commands[f"{command} {policy.stem}"] = [*COMMAND, command, str(policy)]
    small = make_workshop(folder / "small")
    small.write(good_rows(10))
    return {**commands, "release of ten rows": [*COMMAND, "release", str(small.policy), "--as-of", "{slot}"]}


def _print(title: str, lines: Mapping[str, Sequence[str]], options: argparse.Namespace) -> None:
    measured = {"base": BASE, **{name: line for name, line in lines.items() if options.only in name}}
    spent: dict[str, list[float]] = {name: [] for name in measured}
    for run in range(options.runs):
        for name, line in measured.items():
            spent[name].append(_cpu([part.format(slot=f"2030-01-{run + 1:02}") for part in line]))
    base = median(spent["base"])
    print(f"{title}: CPU seconds, and how often the first line")
    for name, seconds in spent.items():
        print(f"{name:32} {median(seconds):6.2f} {median(seconds) / base:6.2f}")


def _cpu(line: Sequence[str]) -> float:
    before = os.times()
    subprocess.run([sys.executable, *line], check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    main()
