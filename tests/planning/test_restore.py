"""A restored ledger has spent at least what was truly spent, whatever copy it is restored from."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from crowdgate.ledger import restoration
from crowdgate.ledger.ledger import Ledger, State, open_ledger
from crowdgate.ledger.schema import FORMAT
from crowdgate.planning import outside_findings
from tests.ledger.books import compute_anew, edit
from tests.planning.histories import POPULATION, History, true_spend
from tests.workshop import crowdgate

READ = {f"clinic/1/2030-01-0{day}" for day in (1, 2, 3, 5)} | {"clinic/2/2030-01-06"}


def restored(history: History, *copy: str) -> Ledger:
    """Restore the ledger, twice, and return it after checking that the second restoration changed nothing."""
    assert crowdgate("ledger", "restore", *copy) == 0
    before = history.ledger.journal()
    assert crowdgate("ledger", "restore", *copy) == 0
    assert history.ledger.journal() == before
    assert crowdgate("ledger", "verify") == 0
    return history.ledger


def assert_nothing_is_lost(history: History, ledger: Ledger, whole: Ledger) -> None:
    """Every release that was read is charged and read, at no less than its cost, and none is drawn again."""
    assert true_spend(whole).within(ledger.spent(POPULATION))
    assert {entry.release_id for entry in ledger.entries() if entry.reading and entry.state is not State.VOID} >= READ
    for entry in whole.entries():
        if entry.reading:
            now = ledger.entry(entry.release_id)
            assert now is not None
            assert entry.spend.within(now.spend)
    assert crowdgate("ledger", "free", "clinic/1/2030-01-05") == 5
    policy = history.workshop.policy
    assert crowdgate("release", policy, "--as-of", "2030-01-06") in (3, 5)
    assert crowdgate("ledger", "free", "clinic/1/2030-01-02") == 5


def signed_lines(history: History) -> set[int]:
    with closing(sqlite3.connect(history.file)) as connection:
        return {number for (number,) in connection.execute("SELECT number FROM signatures")}


def check_cut(history: History, number: int, heads: str) -> None:
    whole = open_ledger(history.workshop.ledger, None)
    kept = shutil.copy(history.file, history.workshop.root / "whole.db")
    signed = signed_lines(history)
    history.cut(number, heads)
    if signed and number not in signed:  # a copy that no process left: cut inside a transaction
        assert crowdgate("ledger", "restore") == 5
        return
    ledger = restored(history)
    Path(kept).chmod(0o600)
    whole = open_ledger(f"sqlite:///{kept}", None)
    assert_nothing_is_lost(history, ledger, whole)


@pytest.mark.parametrize(("number", "heads"), [(3, "none"), (4, "none"), (8, "folder"), (13, "destination")])
def test_a_ledger_that_was_cut_goes_on_with_everything_spent(history: History, number: int, heads: str) -> None:
    check_cut(history, number, heads)


@pytest.mark.thorough
@pytest.mark.parametrize("heads", ["destination", "folder", "none"])
def test_a_ledger_that_was_cut_at_any_line_goes_on_with_everything_spent(
    history: History, heads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, history.lines):
        copy = history.copy_to(tmp_path / str(number))
        monkeypatch.chdir(copy.workshop.root)
        check_cut(copy, number, heads)
        shutil.rmtree(copy.workshop.root)


def test_an_older_copy_takes_the_place_of_a_damaged_ledger_which_is_kept(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    root = history.workshop.root
    whole = Path(shutil.copy(history.file, root / "whole.db"))
    older = Path(shutil.copy(history.file, root / "older.db"))
    for path in (whole, older):
        path.chmod(0o600)
    History.cut(History(history.workshop, history.lines), 11, "destination")
    shutil.copy(history.file, older)
    shutil.copy(whole, history.file)
    edit(history.file, "UPDATE entries SET epsilon = '1/1000'")
    assert crowdgate("ledger", "verify") == 6
    capsys.readouterr()
    ledger = restored(history, "older.db")
    said = capsys.readouterr().out
    assert "the ledger that was in place is kept as" in said
    assert "is booked as spent" in said
    assert (root / "ledger" / "ledger.db.replaced-1").exists()
    assert_nothing_is_lost(history, ledger, open_ledger(f"sqlite:///{whole}", None))
    assert {path.name for path in (root / "ledger").iterdir() if "restored" in path.name} == set()


def test_a_copy_never_takes_the_place_of_a_ledger_that_has_all_its_lines(history: History) -> None:
    root = history.workshop.root
    shutil.copy(history.file, root / "older.db")
    assert crowdgate("record", "show", "clinic/1/2030-01-01") == 0
    before = history.ledger.journal()
    assert crowdgate("ledger", "restore", "older.db") == 0
    assert history.ledger.journal() == before


def test_a_chain_that_was_computed_anew_is_restored_with_its_true_costs(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    if signed_lines(history):
        return
    whole = history.ledger.spent(POPULATION)
    compute_anew(history.file, history.ledger.id)
    ledger = restored(history)
    assert whole.within(ledger.spent(POPULATION))
    assert crowdgate("ledger", "free", "clinic/1/2030-01-05") == 5
    capsys.readouterr()
    assert crowdgate("ledger", "show") == 0
    assert "was restored" in capsys.readouterr().out


def test_an_unknown_cost_freezes_its_population(history: History, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither the ledger nor a policy knows the version; only a private record is left."""
    before = history.ledger.spent(POPULATION)
    stray = history.file.parent / "private" / f"{history.ledger.id}~clinic~7~2030-06-01.json"
    stray.write_text("{}")
    assert crowdgate("ledger", "verify") == 6
    capsys.readouterr()
    now = restored(history)
    assert f"{POPULATION} is frozen: the privacy cost of clinic/7/2030-06-01 is unknown" in capsys.readouterr().out
    assert now.frozen(POPULATION)
    assert before.epsilon + 2 <= now.spent(POPULATION).epsilon
    assert crowdgate("ledger", "thaw", POPULATION, "--reason", "looked into") == 0


def test_a_destination_that_is_gone_for_good_freezes_its_population(history: History) -> None:
    history.leave("none")
    shutil.rmtree(history.workshop.root / "releases")
    assert crowdgate("ledger", "verify") == 6
    assert restored(history).frozen(POPULATION)


def test_a_restored_release_verifies_with_its_ledger(history: History) -> None:
    if signed_lines(history):
        return
    history.cut(11, "folder")
    restored(history)
    where = ("--ledger", history.workshop.ledger)
    for day in (1, 2, 3):
        assert crowdgate("verify", f"releases/clinic/1/2030-01-0{day}", *where) == 0
    assert crowdgate("report", "budget", POPULATION) == 0


def test_an_older_format_is_upgraded_when_it_is_restored(history: History) -> None:
    history.cut(11, "folder")
    assert restored(history).state().form == FORMAT


FAULTS = {
    "restores nothing": (restoration, "_book_charge", lambda *_: iter(())),
    "compares no totals": (restoration, "_book_totals", lambda *_: iter(())),
    "reads no releases": (outside_findings, "releases_at", lambda *_: iter(())),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_restoration_that_books_less_is_found(history: History, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second line of defence holds: the gate refuses what a faulty restoration left out, or the head's total does."""
    where, name, wrong = FAULTS[fault]
    whole = true_spend(history.ledger)
    history.cut(7, "folder")
    monkeypatch.setattr(where, name, wrong)
    code = crowdgate("ledger", "restore")
    assert code != 0 or whole.within(history.ledger.spent(POPULATION))
