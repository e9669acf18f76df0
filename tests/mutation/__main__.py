"""Plants faults and says which tests find them: `python -m tests.mutation --seed 1 --lines 200 --out mutants.txt`.

A line of the rooms that carry guarantees is drawn, one small fault is planted there in a copy of the tree, and the
nearest tests run. What is in the file of results already is not tried again: a run can be ended and goes on, and a
line that is deleted is tried anew. At the end all tests that killed run without a fault, where they must pass.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from random import Random

from tests.mutation.nearest import LIBRARY, nearest
from tests.mutation.operators import Mutant, at, lines
from tests.mutation.trial import killer, plant

HOUSE = Path(__file__).parents[2]
ROOMS = ("accounting", "mechanisms", "verify", "ledger", "audit", "guarantee.py", "gate.py")
LEFT = shutil.ignore_patterns(".git", ".venv", "*cache*", ".hypothesis", "dist", "releases", "crowdgate-demo")


def main() -> int:
    """Tries what was drawn; ends with 1 if a mutant survives, or a test fails without one."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--lines", type=int, default=200)
    asked.add_argument("--out", type=Path, default=Path("mutants.txt"))
    options = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="crowdgate-mutation-") as folder:
        root = Path(folder).resolve() / "house"
        shutil.copytree(HOUSE, root, ignore=LEFT)
        os.environ["PYTHONPATH"] = os.pathsep.join(str(root / part) for part in (LIBRARY, "flows", ""))
        return _run(root, drawn(root, options.seed, options.lines), options.out)


def drawn(root: Path, seed: int, number: int) -> list[tuple[str, Mutant]]:
    """So many mutants, each of a line of its own: all lines that have one are as likely."""
    house = root / LIBRARY / "crowdgate"
    files = sorted(
        file for room in ROOMS for file in ((house / room).rglob("*.py") if "." not in room else [house / room])
    )
    sources = {str(file.relative_to(root)): file.read_text(encoding="utf-8") for file in files}
    places = sorted((path, line) for path, source in sources.items() for line in lines(source))
    random = Random(seed)
    return [(path, random.choice(at(sources[path], line))) for path, line in random.sample(places, number)]


def _run(root: Path, chosen: list[tuple[str, Mutant]], out: Path) -> int:
    done = {line.split("\t")[1] for line in out.read_text().splitlines()} if out.exists() else set()
    for path, mutant in chosen:
        place = f"{path}:{mutant.line}"
        if place not in done:
            found = _tried(root, path, mutant)
            with out.open("a", encoding="utf-8") as results:
                results.write(f"{'killed' if found else 'survived'}\t{place}\t{mutant.words}\t{found or ''}\n")
    said = [line.split("\t") for line in out.read_text(encoding="utf-8").splitlines()]
    survived = [line for line in said if line[0] == "survived"]
    killers = sorted({line[3].split(" (")[0] for line in said} - {"", "timeout"})
    wrong = killer(root, killers) if killers else None
    print(f"{len(said)} mutants, {len(survived)} survived; without a fault {wrong or 'nothing'} fails")
    return int(bool(survived or wrong))


def _tried(root: Path, path: str, mutant: Mutant) -> str | None:
    file = root / path
    kept = file.read_text(encoding="utf-8")
    plant(file, mutant.source)
    try:
        near, far = nearest(root, path)
        return (killer(root, near) if near else None) or (killer(root, far) if far else None)
    finally:
        plant(file, kept)


if __name__ == "__main__":
    sys.exit(main())
