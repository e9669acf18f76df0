"""Stores a working copy whose ledger has the present format: `python -m tests.ledger.keep`, once per format.

A stored copy is never written again: ledgers of every published format must stay usable. Contract, table and policies
are those of the copy of format 2. The ledger is signed and keeps heads. It holds an additive budget, which is closed,
and a filter beside it; releases of all kinds, a withdrawn one, two of a series, and a withheld one that a person
charged although it would be held; a restored charge, a crashed run and a lease; KL entries, an audit of the table, an
access to a private record and a deletion.
"""

import re
import tarfile
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any

from crowdgate.ledger.schema import FORMAT
from crowdgate.ledger.values import Budget
from crowdgate.planning.open_ledger import ledger_at
from tests.releases.killing import run_and_kill
from tests.workshop import crowdgate

UNPACKED: dict[str, Any] = {"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}
"""How archives are unpacked: by the filter that keeps modes, from Python 3.11.4 on."""
KEPT = Path(__file__).with_name("kept")
OLD = KEPT / "format_2.tar.xz"
SETTINGS = 'ledger = "sqlite:///ledger/ledger.db"\nheads = ["heads"]\nsigning_key = "own.key"\n'
KINDS = ("rows", "tables", "synthetic")
CONVERT = "ledger convert clinic-patients --epsilon 20 --delta 0.1 --reason test"
ENTRY = "--to kl --words Patients --coverage 1 --error 0"
KL = (
    f"kl publish data_contracts/clinic.yaml --of ward {ENTRY} --epsilon 0.1 --as-of 2020-01-01",
    f"kl publish data_contracts/clinic.yaml --of ward --from releases/tables/2/2030-01-01 {ENTRY} --as-of 2020-01-01",
)
AUDIT = "audit policies/rows.yaml --on-confidential --units 20 --trials 20 --jobs 1"
WITHHELD = "release policies/withheld.yaml --anyway test --as-of"
BUDGET, STATED = Path("policies/budgets/clinic.yaml"), r"epsilon: [^,]+, delta: [^,}]+,"


def keep(place: Path = KEPT) -> None:
    """Store a working copy of the present format."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        make(Path(folder))
        pack(Path(folder), place / f"format_{FORMAT}.tar.xz")


def make(home: Path) -> None:
    """Make the working copy in the empty folder `home`, which is the current one."""
    begin(home)
    run("release policies/rows.yaml --as-of 2029-12-01")
    run("withdraw rows/1/2029-12-01 --reason test")
    begin_filter(home)
    for name in KINDS:
        for month in (1, 2):
            run(f"release policies/{name}.yaml --as-of 2030-0{month}-01")
    begin_series(home)
    lose_charges(home)
    run_and_kill(home / "policies/rows.yaml", "job", "protect", "before", "2030-03-01")
    run_and_kill(home / "policies/rows.yaml", "ledger", "begin_reading", "before", "2030-04-01")
    for command in (*KL, AUDIT, "record show rows/2/2030-01-01", "record delete tables/2/2030-01-01"):
        run(command)


def begin(home: Path) -> None:
    """Take over contract, table and policies, with a key, a folder for heads and a new ledger."""
    with tarfile.open(OLD) as old:
        wanted = [each for each in old if re.match(r"\./(policies|data_contracts)(/|$)", each.name)]
        old.extractall(home, wanted, **UNPACKED)
    (home / "crowdgate.toml").write_text(SETTINGS)
    for folder in ("heads", "ledger"):
        (home / folder).mkdir()
    run("keys create own.key")
    run("ledger create clinic")
    edit(home / BUDGET, r"ledger: [^,]+", f"ledger: {ledger_at(home, None).id}")
    edit(home / BUDGET, "people: 1000", "people: 2000")
    edit(home / "data_contracts/clinic.yaml", "rowsAtMost, value: 1000", "rowsAtMost, value: 2000")
    table = home / "data_contracts" / "patients.csv"
    names, rows = table.read_text(encoding="utf-8").split("\n", 1)
    table.write_text(f"{names}\n{rows * 3}", encoding="utf-8")  # a KL entry needs 1,000 people


def begin_filter(home: Path) -> None:
    """Close the additive budget, open a second one beside it, and give the policies a new version."""
    run(CONVERT)
    budget = ledger_at(home, None).budget("clinic-patients")
    assert budget is not None
    edit(home / BUDGET, STATED, stated(budget))
    for policy in (home / "policies").glob("*.yaml"):
        edit(policy, r"\bversion: \S+", "version: '2'")


def begin_series(home: Path) -> None:
    """Add a policy whose first release pays for three, and make two of them."""
    policy = home / "policies" / "series.yaml"
    policy.write_text((home / "policies" / "tables.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    edit(policy, r"name: tables\b", "name: series")
    edit(policy, r"\n  publish:", "\n  series: {releases: 3}\n  publish:")
    for month in (1, 2):
        run(f"release policies/series.yaml --as-of 2030-0{month}-01")


def stated(budget: Budget) -> str:
    """Return the amounts of a budget counted by a filter, as its file states them."""
    return f"epsilon: {float(budget.cap.epsilon):g}, delta: {float(budget.cap.delta):g}, accounting: renyi,"


def lose_charges(home: Path) -> None:
    """Put an older copy of the ledger in its place, which lacks a withheld release, and restore it."""
    run(f"{WITHHELD} 2030-01-01", 3)
    copy = (home / "ledger" / "ledger.db").read_bytes()
    run(f"{WITHHELD} 2030-02-01", 3)
    (home / "ledger" / "ledger.db").write_bytes(copy)
    run("ledger restore")


def edit(path: Path, pattern: str, text: str) -> None:
    """Replace the first match of a pattern in a file."""
    changed, number = re.subn(pattern, text, path.read_text(encoding="utf-8"), count=1)
    assert number == 1, path
    path.write_text(changed, encoding="utf-8")


def run(command: str, code: int = 0) -> None:
    """Run a command that must end with this exit code."""
    assert crowdgate(*command.split()) == code, command


def pack(home: Path, file: Path) -> None:
    """Store a folder, with the same owner and time for each file, so that the archive is small."""
    with tarfile.open(file, "x:xz", preset=9) as archive:
        archive.add(home, ".", filter=plain)


def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return a member of an archive without its owner and time."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    return member


if __name__ == "__main__":
    keep()
