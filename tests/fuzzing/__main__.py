"""Mutates inputs for some time: `python -m tests.fuzzing --seconds 600 --seed 1 [--only parquet]`.

Ends with 1 if something is found; a finding names the target and the seed of its trial.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzzing.targets import TARGETS
from tests.fuzzing.trials import copies, numbered, trial


def main() -> int:
    """Run trials until the time is over, and print findings and totals."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--seconds", type=float, default=60)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--only", choices=TARGETS)
    options = asked.parse_args()
    ends: Counter[str] = Counter()
    found, slowest, memory, start = 0, 0.0, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        starts = copies(Path(folder))
        for target, seed in numbered(options.seed):
            if time.monotonic() - start > options.seconds:
                break
            if options.only not in (None, target):
                continue  # trials are the same ones with and without others
            began = time.monotonic()
            command, ended, broken = trial(starts, target, seed, Path(folder))
            ends[f"{target} {ended.code}"] += 1
            slowest, memory = max(slowest, time.monotonic() - began), max(memory, ended.memory)
            for promise in broken:
                found += 1
                print(f"{target} {seed} ({command}): {promise}: {ended.said[-300:]!r}", flush=True)
    print(f"{sum(ends.values())} trials, {found} findings; slowest {slowest:.1f} s, most memory {memory >> 20} MiB")
    print(", ".join(f"{end}: {number}" for end, number in sorted(ends.items())))
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
