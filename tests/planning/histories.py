"""A working copy with a ledger of more than thirty lines of all sorts, and the state that is kept outside of it."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from crowdgate.kind.run import Request, Result
from crowdgate.ledger.ledger import Ledger, Spend, State, open_ledger
from crowdgate.ledger.position import position_file
from crowdgate.releases import release as job
from tests.ledger.books import cut_after, head_at
from tests.workshop import Workshop, crowdgate, make_workshop

POPULATION = "clinic-patients"
HEADS = ("destination", "folder", "none")
"""Places of heads: at the destination only, in a configured folder only, and none at all."""


@dataclass(frozen=True)
class History:
    """A working copy whose ledger has `lines` lines; `spent` is the true spend after each of them, from line 1."""

    workshop: Workshop
    lines: int

    @property
    def file(self) -> Path:
        return self.workshop.root / "ledger" / "ledger.db"

    @property
    def ledger(self) -> Ledger:
        return open_ledger(self.workshop.ledger, None)

    def copy_to(self, root: Path) -> "History":
        """Return a copy of the whole working copy in another folder."""
        shutil.copytree(self.workshop.root, root, symlinks=True)
        return History(Workshop(root), self.lines)

    def cut(self, number: int, heads: str) -> None:
        """Cut the ledger after a line, and leave heads only where `heads` says."""
        cut_after(self.file, number)
        self.leave(heads)

    def leave(self, heads: str) -> None:
        """Remove the heads that are elsewhere than `heads` says, and the attested position."""
        ledger_id = self.ledger.id
        position_file(self.file, ledger_id).unlink(missing_ok=True)
        if heads != "destination":
            head_at(self.workshop.root / "releases", ledger_id).unlink(missing_ok=True)
        if heads != "folder":
            (self.workshop.root / "heads" / f"{ledger_id}.head").unlink(missing_ok=True)


def read_and_crash(workshop: Workshop, slot: str) -> None:
    """Begin a release and stop after its reading has begun, as a killed run does."""
    run = job.prepare(Request(workshop.policy, slot))
    assert not isinstance(run, Result)
    reserved = job.reserve(run)
    assert not isinstance(reserved, Result)
    run.ledger.begin_reading(run.id, reserved.charge.number)


def reserve_only(workshop: Workshop, slot: str) -> None:
    """Charge a release and stop before it reads."""
    run = job.prepare(Request(workshop.policy, slot))
    assert not isinstance(run, Result)
    assert not isinstance(job.reserve(run), Result)


def commands(workshop: Workshop) -> Iterator[tuple[str, ...]]:
    """Yield the commands that make the history, in order."""
    policy, contract = str(workshop.policy), str(workshop.contract)
    yield from (("release", policy, "--as-of", f"2030-01-0{day}") for day in (1, 2, 3))
    yield ("record", "show", "clinic/1/2030-01-01")
    yield ("ledger", "budget", POPULATION, "--raise", "--epsilon", "90", "--reason", "more years")
    yield ("ledger", "freeze", POPULATION, "--reason", "a complaint")
    yield ("ledger", "thaw", POPULATION, "--reason", "settled")
    yield ("audit", policy, "--on-confidential", "--units", "20", "--trials", "20")
    yield ("anonymity", contract, "--of", "age,ward")


def make_history(root: Path, *, keyed: bool) -> History:
    """Make the working copy; the current folder must be `root`."""
    workshop = make_workshop(root)
    workshop.edit(workshop.budget, "epsilon: 6, delta: 0.03", "epsilon: 60, delta: 0.5")
    (root / "heads").mkdir()
    settings = root / "crowdgate.toml"
    settings.write_text(settings.read_text() + 'heads = ["heads"]\n')
    if keyed:
        assert crowdgate("keys", "create", root / "own.key") == 0
        settings.write_text(settings.read_text() + 'signing_key = "own.key"\n')
        assert crowdgate("ledger", "sign") == 0
    for command in commands(workshop):
        assert crowdgate(*command) == 0, command
    reserve_only(workshop, "2030-01-04")
    assert crowdgate("ledger", "free", "clinic/1/2030-01-04") == 0
    read_and_crash(workshop, "2030-01-05")
    workshop.edit(workshop.policy, "version: 1", "version: 2")
    workshop.edit(workshop.policy, "released_rows, at_least: 0", "released_rows, at_least: 90000")
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-06") == 3
    reserve_only(workshop, "2030-01-07")
    return History(workshop, open_ledger(workshop.ledger, None).head().number)


def true_spend(ledger: Ledger) -> Spend:
    """Return the cost of all charges whose reading has begun."""
    read = [entry.spend for entry in ledger.entries() if entry.reading and entry.state is not State.VOID]
    return Spend(sum((each.epsilon for each in read), Fraction(0)), sum((each.delta for each in read), Fraction(0)))
