"""`check`, or the first charge of a process, behind a long journal, with and without an attested position:
`python -m tests.benchmarks.journal`, and with `--of charge`.

Each ledger begins with a release of the policy. Each run is a process of its own; CPU seconds are user + system of the
whole process, or of the charge without its imports, the minimum of all runs in turn. `followed` removes the position
before each run, so that the journal is followed from line 1 and a position is written. What a line takes is compared
with `empty`, a ledger of a few lines.
"""

import argparse
import tempfile
from pathlib import Path

from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import open_ledger
from crowdgate.ledger.position import position_file
from crowdgate.releases import release as job
from crowdgate.settings import signing_key, trusted_keys
from crowdgate.signing import keys
from tests.benchmarks.options import parse
from tests.benchmarks.processes import COMMAND, compile_library, least_in_turn
from tests.ledger.books import publish_many
from tests.workshop import Workshop, make_workshop


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=30_000, help="of the journal")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--of", choices=("check", "charge"), default="check")
    options = parse(parser, lines=1000, runs=1)
    compile_library()
    with tempfile.TemporaryDirectory() as folder:
        empty, full = (_signed_workshop(Path(folder) / name) for name in ("empty", "full"))
        position = _fill(full, options.lines)
        copies = {"empty": empty, "followed": full, "position": full}
        lines = {name: _line(options.of, copy) for name, copy in copies.items()}
        found = least_in_turn(lines, options.runs, lambda name: position.unlink() if name == "followed" else None)
        size = position.stat().st_size
    cost = {name: each.printed if options.of == "charge" else each.cpu for name, each in found.items()}
    print(f"{options.of} behind {options.lines:,} lines, position of {size / 1e6:.2f} MB")
    print("            CPU s  beyond `empty`  ratio to it")
    for name, cpu in cost.items():
        print(f"{name:10} {cpu:6.3f} {cpu - cost['empty']:15.3f} {cpu / cost['empty']:12.2f}")
    print(f"with a position, of what it takes without: {cost['position'] / cost['followed']:.2f}")


def _line(of: str, copy: Workshop) -> tuple[str | Path, ...]:
    return (*COMMAND, "check", copy.policy) if of == "check" else ("-m", "tests.benchmarks.charge", copy.root, "{run}")


def _signed_workshop(root: Path) -> Workshop:
    made = make_workshop(root)
    assert job.release(Request(made.policy, "2030-01-01"), draw_key).path is not None, "the release is published"
    keys.create(root / "own.key")
    with (root / "crowdgate.toml").open("a", encoding="utf-8") as file:
        file.write('signing_key = "own.key"\n')
    open_ledger(made.ledger, None, signer=signing_key(root)).sign()
    return made


def _fill(workshop: Workshop, lines: int) -> Path:
    root = workshop.root
    ledger = open_ledger(workshop.ledger, None, signer=signing_key(root), trusted=trusted_keys(root))
    publish_many(ledger, lines)
    ledger.attest()
    return position_file(ledger.path, ledger.id)


if __name__ == "__main__":
    main()
