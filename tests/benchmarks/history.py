"""`check` behind 0, 3 and 100 releases of its policy: `python -m tests.benchmarks.history`.

There is one working copy for each number of releases. Each run of `check` is a process of its own, all working copies
in turn. CPU seconds are user + system, the minimum of all runs. `--rows` is the size of the table of each release.
"""

import argparse
import tempfile
from datetime import date, timedelta
from pathlib import Path

from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.releases import release as job
from tests.benchmarks.options import parse
from tests.benchmarks.people import make_people_workshop, write_people
from tests.benchmarks.processes import COMMAND, compile_library, least_in_turn

FIRST = date(2030, 1, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", nargs="*", type=int, default=[0, 3, 100])
    parser.add_argument("--rows", type=int, default=1000, help="of the table of each release")
    parser.add_argument("--runs", type=int, default=15)
    options = parse(parser, releases=[0, 2], runs=1)
    compile_library()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "people.parquet"
        write_people(data, options.rows)
        policies = {
            str(number): copy_with_releases(Path(folder) / str(number), data, number) for number in options.releases
        }
        lines = {name: (*COMMAND, "check", policy) for name, policy in policies.items()}
        found = least_in_turn(lines, options.runs)
    first = found[str(options.releases[0])].cpu
    print(f"check behind releases of {options.rows:,} rows; minimum of {options.runs} runs in turn")
    print("releases  CPU s  ratio to the first line")
    for name, each in found.items():
        print(f"{name:>8} {each.cpu:6.3f} {each.cpu / first:6.2f}")


def copy_with_releases(root: Path, data: Path, releases: int) -> Path:
    """Make a working copy and so many releases in it, one a day, and return its policy."""
    policy = make_people_workshop(root, data, "0.5")
    for day in range(releases):
        made = job.release(Request(policy, (FIRST + timedelta(day)).isoformat()), draw_key)
        assert made.path is not None, "the release is published"
    return policy


if __name__ == "__main__":
    main()
