"""Plants faults and says which tests find them: `python -m tests.mutation --seed 1 --lines 200 --out mutants.txt`.

A line of the rooms that carry guarantees is drawn, one small fault is planted there in a copy of the tree, and the
nearest tests run. What is in the file of results already is not tried again: a run can be ended and goes on, and a
line that is deleted is tried anew. Tests run without a fault first: that tells which call the function of a line.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from random import Random

from tests.mutation import trial
from tests.mutation.calls import Calls
from tests.mutation.nearest import LIBRARY, nearest
from tests.mutation.operators import Mutant, at, lines
from tests.mutation.trial import killer, plant

HOUSE = Path(__file__).parents[2]
ROOMS = ("accounting", "mechanisms", "verification", "ledger", "audit", "guarantee.py", "gate.py")
LEFT = shutil.ignore_patterns(".git", ".venv", "*cache*", ".hypothesis", "dist", "releases", "crowdgate-demo")


def main() -> int:
    """Test random mutants; return 1 if one survives."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--lines", type=int, default=200)
    asked.add_argument("--out", type=Path, default=Path("mutants.txt"))
    options = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="crowdgate-mutation-") as folder:
        root = Path(folder).resolve() / "house"
        shutil.copytree(HOUSE, root, ignore=LEFT)
        os.environ["PYTHONPATH"] = os.pathsep.join(str(root / part) for part in trial.HOUSE)
        chosen = drawn(root, options.seed, options.lines)
        return _run(root, sorted(chosen, key=lambda one: one[0]), options.out)


def drawn(root: Path, seed: int, number: int) -> list[tuple[str, Mutant]]:
    """Return so many mutants, each of its own line: all lines with a mutant are equally probable."""
    house = root / LIBRARY / "crowdgate"
    files = sorted(
        file for room in ROOMS for file in ((house / room).rglob("*.py") if "." not in room else [house / room])
    )
    sources = {str(file.relative_to(root)): file.read_text(encoding="utf-8") for file in files}
    places = sorted((path, line) for path, source in sources.items() for line in lines(source))
    random = Random(seed)
    return [(path, random.choice(at(sources[path], line))) for path, line in random.sample(places, number)]


def _run(root: Path, chosen: list[tuple[str, Mutant]], out: Path) -> int:
    done = {line.split("\t")[1] for line in out.read_text(encoding="utf-8").splitlines()} if out.exists() else set()
    calls = Calls(root, out.with_suffix(".calls.json"))
    for path, mutant in chosen:
        place = f"{path}:{mutant.line}"
        if place not in done:
            found = _tried(root, path, mutant, calls)
            with out.open("a", encoding="utf-8") as results:
                results.write(f"{'killed' if found else 'survived'}\t{place}\t{mutant.words}\t{found or ''}\n")
    said = out.read_text(encoding="utf-8").splitlines()
    survived = sum(line.startswith("survived") for line in said)
    print(f"{len(said)} mutants, {survived} survived")
    return int(survived > 0)


def _tried(root: Path, path: str, mutant: Mutant, calls: Calls) -> str | None:
    near, far = nearest(root, path)
    for files in (near, *([file] for file in far)):
        tests = calls.tests(files, path, mutant.line)
        if tests and (found := _planted(root, path, mutant, tests)):
            return found
    return None


def _planted(root: Path, path: str, mutant: Mutant, tests: list[str]) -> str | None:
    file = root / path
    kept = file.read_text(encoding="utf-8")
    plant(file, mutant.source)
    try:
        return killer(root, tests)
    finally:
        plant(file, kept)


if __name__ == "__main__":
    sys.exit(main())
