"""Counting a table in which hardly two rows are alike: `python -m tests.benchmarks.distinct`.

Twelve columns of 50 values, drawn evenly, have 2.4e20 combinations, so nearly every row is a combination of its own.
The process that cleans, encodes and counts them is measured as a whole.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.options import parse
from tests.benchmarks.people import Column, make_people_workshop
from tests.benchmarks.processes import compile_library, least_in_turn

COLUMNS = tuple(Column(f"c{at}", 50, 1, even=True) for at in range(12))
_WRITE = """
from pathlib import Path
from tests.benchmarks.distinct import COLUMNS
from tests.benchmarks.people import write_people
write_people(Path({!r}), {}, columns=COLUMNS)
"""
NAMES = tuple(column.name for column in COLUMNS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=30_000_000)
    parser.add_argument("--runs", type=int, default=1)
    options = parse(parser, rows=1000)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "rows.parquet"
        writing = _WRITE.format(str(data), options.rows)  # apart: a process starts with its parent's peak
        subprocess.run([sys.executable, "-c", writing], check=True)
        policy = make_people_workshop(Path(folder) / "w", data, "0.5", columns=COLUMNS)
        compile_library()
        counting = f"from tests.benchmarks.core_work import *; count_by_crowdgate({str(policy)!r}, {NAMES!r})"
        found = least_in_turn({"counting": ["-c", counting]}, options.runs)["counting"]
    print(f"{options.rows:,} rows x {len(COLUMNS)} columns of 50; minimum of {options.runs} runs")
    print(f"{found.cpu:.2f} CPU s, peak {found.peak_mb:.0f} MB")


if __name__ == "__main__":
    main()
