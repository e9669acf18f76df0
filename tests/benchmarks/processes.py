"""CPU seconds and memory of whole Python processes, run in turn."""

import compileall
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from math import nan
from pathlib import Path

import crowdgate
import crowdgate_flows

COMMAND: tuple[str | Path, ...] = ("-c", "from crowdgate_flows.command import main; main()")
"""Arguments of Python that run our command line; those of the command follow."""
Line = Sequence[str | Path]
"""Arguments of Python. Each `{run}` in them is the number of the run, from 1, in two digits."""


@dataclass(frozen=True)
class Cost:
    """User and system CPU seconds of a process and its children, the peak memory in MB of the largest of them, elapsed
    seconds, and the number that the process printed (NaN if it printed something else, or nothing)."""

    cpu: float
    peak_mb: float
    elapsed: float = 0
    printed: float = nan


def compile_library() -> None:
    """Write the bytecode of the library and its commands, so that no measured process compiles them."""
    for package in (crowdgate, crowdgate_flows):
        compileall.compile_dir(package.__path__[0], quiet=2)


def cost(arguments: Line) -> Cost:
    """Run a Python process with these arguments and return its cost. Raises SystemExit unless it ends with 0."""
    start = time.monotonic()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None, "it is a pipe"
    with process.stdout as output:
        printed = output.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"a process ended with {process.returncode}: {arguments}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, time.monotonic() - start, _number(printed))


def _number(printed: bytes) -> float:
    try:
        return float(printed)
    except ValueError:
        return nan


def least_in_turn(
    lines: Mapping[str, Line], runs: int, before: Callable[[str], object] = lambda _: None
) -> dict[str, Cost]:
    """Return the least cost of each line, over runs of all lines in turn. `before` is called with the name of a line
    before each of its runs."""
    found: dict[str, list[Cost]] = {name: [] for name in lines}
    for run in range(1, runs + 1):
        for name, line in lines.items():
            before(name)
            found[name].append(cost([str(part).replace("{run}", f"{run:02}") for part in line]))
    return {name: _least(costs) for name, costs in found.items()}


def _least(costs: Sequence[Cost]) -> Cost:
    return Cost(*(min(values) for values in zip(*map(astuple, costs), strict=True)))
