"""CPU seconds of the probability that nobody is alone: `python -m tests.benchmarks.nobody_alone`.

Each case is a process of its own, and its first call. With 1e6 bins and 5e6 people the limit is .5 CPU s without
imports; what a fresh process takes with them stands beside it.
"""

import argparse
import json
import subprocess
import sys
import time

from tests.benchmarks.options import parse

CASES = ((10**6, 5 * 10**6), (10**7, 10**8), (10**11, 10**12))
LIMIT = 0.5
"""CPU seconds of the first case."""


def main() -> None:
    """Print a line for every case; exit 1 where the first is above its limit, unless the run is small."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=len(CASES), help="the first so many")
    parser.add_argument("--child", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parse(parser, cases=1)
    if options.child:
        print(json.dumps(_child(*options.child)))
        return
    taken = []
    for bins, people in CASES[: options.cases]:
        command = [sys.executable, "-m", "tests.benchmarks.nobody_alone", "--child", str(bins), str(people)]
        found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        taken.append(found["alone"])
        print(f"N = {bins:.0e}, k = {people:.0e}: ", end="")
        print("{alone:.3f} CPU s, {all:.2f} with imports; ln P = {log:.6f} within {error:.1e}".format(**found))
    sys.exit(not options.small and taken[0] >= LIMIT)


def _child(bins: int, people: int) -> dict[str, float]:
    import scipy.optimize  # noqa: F401  imported late by the integral

    from crowdgate.risk.singletons import Bins, none_within

    three = Bins.grouped([0.5, 1, 2], [bins // 2, bins // 4, bins // 4])
    start = time.process_time()
    found = none_within(three, people)
    alone = time.process_time() - start
    return {"alone": alone, "all": time.process_time(), "log": found.value, "error": found.error}


if __name__ == "__main__":
    main()
