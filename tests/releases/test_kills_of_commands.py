"""Sixty kills at seeded moments of seven commands; by hand (`soak`). Flows: tests/flows/test_flow_kills.py.

After each kill the ledger is intact or says what to do, the same command ends in a documented way, nothing is half
published, and each run is charged once at most and never below what it read.
"""

import shutil
from collections.abc import Iterator
from contextlib import chdir
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from crowdgate.ledger import reservations
from crowdgate.ledger.ledger import open_ledger
from crowdgate.ledger.values import Spend, State
from tests.conformance.lives import Said, say
from tests.fuzzing.targets import KEPT, SLOT, signed_copy
from tests.kinds.registers import register_workshop
from tests.ledger.books import cut_after
from tests.releases.killing import finish_until
from tests.workshop import Workshop, crowdgate

KILLS = 60
ENTRY = "--of ward --to kl-charged --words Patients --coverage 1 --error 0 --epsilon 0.1 --as-of 2020-01-02"
COMMANDS = {
    "release": f"release policies/clinic.yaml --as-of {SLOT}",
    "register": f"release policies/clinic.yaml --as-of {SLOT}",
    "audit": "audit policies/clinic.yaml --on-confidential --units 20 --trials 20 --jobs 1",
    "kl": f"kl publish data_contracts/clinic.yaml {ENTRY}",
    "restore": "ledger restore copy.db",
    "record": f"record delete clinic/1/{KEPT}",
    "withdraw": f"withdraw clinic/1/{KEPT} --reason wrong",
}
COST = {"kl": Fraction(1, 10), "release": Fraction(2), "register": Fraction(2)}
"""The epsilon that a command charges."""
POINTS = [
    *(("os", name) for name in ("fsync", "rename", "replace", "link", "unlink", "mkdir", "open", "chmod")),
    *(("ledger", name) for name in ("reserve", "begin_reading", "commit", "published", "record", "withdraw")),
]  # fmt: skip


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Make a working copy for each command."""
    folder = tmp_path_factory.mktemp("kills")
    signed = signed_copy(folder / "signed").root
    cut_after(signed / "copy.db", 2)
    return {**dict.fromkeys(COMMANDS, signed), "register": register_workshop(folder / "register").root}


def kills(copies: dict[str, Path], folder: Path) -> Iterator[tuple[str, Workshop]]:
    """Yield the working copies that KILLS killed commands leave, with the name of the command."""
    random, names, made = Random(33), [*COMMANDS], 0
    while made < KILLS:
        name, (holder, point) = names[made % len(names)], random.choice(POINTS)
        home, nth = folder / "copy", random.choice((1, 1, 2, 3, 5, 8, 13))
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(copies[name], home)
        if finish_until(command_in, (home, COMMANDS[name]), point, nth, holder, random.choice(("before", "after"))):
            made += 1
            print(f"kill {made}: {name} at call {nth} of {holder}.{point}")
            yield name, Workshop(home)


def command_in(home: Path, command: str) -> None:
    with chdir(home):
        crowdgate(*command.split())


@pytest.mark.soak
def test_a_command_that_is_killed_at_any_moment_ends_well(
    copies: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reservations, "LEASE_SECONDS", -1)  # so that no run waits for the lease of the killed one
    for name, workshop in kills(copies, tmp_path):
        with chdir(workshop.root):
            check_kill(name, workshop, spent(Workshop(copies[name])))


def check_kill(name: str, workshop: Workshop, before: Spend) -> None:
    """Check what a killed command left, then the same command again; `before` was spent at its start."""
    verified = say("ledger", "verify")
    assert verified.code == 0 or (name == "restore" and "ledger restore" in verified.err), verified
    read = spent(workshop)
    check_end(name, say(*COMMANDS[name].split()))
    now = spent(workshop)
    assert before.within(read)
    assert read.within(now)
    assert name == "restore" or now.epsilon - before.epsilon <= COST.get(name, 0), "charged once"
    assert say("ledger", "verify").code == 0
    check_destination(workshop)


def check_end(name: str, said: Said) -> None:
    """Check that a command ended in words that a person can act on."""
    assert said.code in (0, 3, 5), f"{name}: {said}"
    text = said.out + said.err
    assert "Traceback" not in text
    assert "a fault in crowdgate itself" not in text
    if said.code == 5:
        assert any(words in text for words in ("slot", "restore", "--as-of", "record")), text


def spent(workshop: Workshop) -> Spend:
    """Return what the ledger has spent."""
    ledger = open_ledger(workshop.ledger, None)
    totals = [ledger.spent(each.population) for each in ledger.budgets()]
    return Spend(sum((each.epsilon for each in totals), Fraction(0)), sum((each.delta for each in totals), Fraction(0)))


def check_destination(workshop: Workshop) -> None:
    """Check that every folder at the destination is a whole release or a tombstone, as the ledger states."""
    ledger = open_ledger(workshop.ledger, None)
    for folder in (workshop.root / "releases").glob("[a-z]*/*/*"):
        entry = ledger.entry("/".join(folder.parts[-3:]))
        assert entry is not None
        assert entry.state in (State.PUBLISHED, State.WITHDRAWN)
        assert say("verify", folder).code == (0 if entry.state is State.PUBLISHED else 6)
