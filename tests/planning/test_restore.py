"""A restored ledger has spent at least what was truly spent, whatever copy it is restored from."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from crowdgate.ledger import restoration, schema
from crowdgate.ledger.ledger import Ledger, State, create, open_ledger
from crowdgate.ledger.schema import FORMAT
from crowdgate.planning import outside_findings
from tests.ledger.books import compute_anew, edit
from tests.planning.histories import HEADS, POPULATION, History, true_spend
from tests.workshop import Workshop, crowdgate, make_workshop

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


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "heads"), [(3, "none"), (4, "none"), (8, "folder"), (13, "destination")])
def test_a_ledger_that_was_cut_goes_on_with_everything_spent(history: History, number: int, heads: str) -> None:
    check_cut(history, number, heads)


@pytest.mark.thorough
@pytest.mark.parametrize("heads", HEADS)
def test_a_population_is_frozen_where_no_head_states_the_charges_of_lost_lines(history: History, heads: str) -> None:
    """A withheld run between two releases leaves nothing at the destination, and its private record may be deleted."""
    whole = history.ledger.spent(POPULATION)
    history.cut(4, heads)
    for path in (history.workshop.root / "ledger" / "private").glob("*2030-01-06*"):
        path.unlink()
    ledger = restored(history)
    assert whole.within(ledger.spent(POPULATION)) or ledger.frozen(POPULATION)
    assert ledger.frozen(POPULATION) == (heads == "none")


@pytest.mark.thorough
@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("heads", HEADS)
def test_a_ledger_that_was_cut_at_any_line_goes_on_with_everything_spent(
    history: History, heads: str, every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line is tried with one place of heads, with or without a key; with all of them under `soak`."""
    turn = HEADS.index(heads) + len(HEADS) * (history.workshop.root / "own.key").exists()
    for number in range(1 + turn % every, history.lines, every):
        copy = history.copy_to(tmp_path / str(number))
        monkeypatch.chdir(copy.workshop.root)
        check_cut(copy, number, heads)
        shutil.rmtree(copy.workshop.root)


@pytest.mark.thorough
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


@pytest.mark.thorough
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


def test_an_older_format_is_upgraded_when_it_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workshop = make_workshop(tmp_path / "w")
    monkeypatch.chdir(workshop.root)
    (workshop.root / "ledger" / "ledger.db").unlink()
    monkeypatch.setattr(schema, "FORMAT", 2)
    create(workshop.ledger, "clinic")
    monkeypatch.undo()
    monkeypatch.chdir(workshop.root)
    assert open_ledger(workshop.ledger, None).state().form == 2
    assert crowdgate("ledger", "restore") == 0
    assert open_ledger(workshop.ledger, None).state().form == FORMAT


FAULTS = {
    "restores nothing": (restoration, "_book_charge", lambda *_: iter(())),
    "reads no releases": (outside_findings, "releases_at", lambda *_: iter(())),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_restoration_that_books_less_is_found(history: History, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate refuses what a faulty restoration left out."""
    where, name, wrong = FAULTS[fault]
    history.cut(7, "folder")
    monkeypatch.setattr(where, name, wrong)
    assert (crowdgate("ledger", "restore"), crowdgate("ledger", "verify")) == (5, 6)


@pytest.mark.parametrize("faulty", [False, True])
def test_what_only_a_head_still_counts_is_booked(
    history: History, faulty: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = true_spend(history.ledger)
    history.cut(7, "folder")
    _remove_traces(history)
    if faulty:
        monkeypatch.setattr(restoration, "_book_totals", lambda *_: iter(()))
    assert crowdgate("ledger", "restore") == (5 if faulty else 0)
    assert whole.within(history.ledger.spent(POPULATION)) is not faulty
    assert ("states less spent" in capsys.readouterr().err) is faulty


def _remove_traces(history: History) -> None:
    """Remove all that reveals releases but heads."""
    shutil.rmtree(history.workshop.root / "releases")
    for path in (history.file.parent / "private").iterdir():
        path.unlink()


@pytest.mark.parametrize("killed", [False, True])
def test_rows_of_the_replaced_ledger_are_booked_after_a_kill_between_its_two_renames_too(
    histories: dict[bool, History], killed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = histories[False].copy_to(tmp_path / "own")
    monkeypatch.chdir(history.workshop.root)
    whole, file = true_spend(history.ledger), history.file
    kept = file.read_bytes()
    history.cut(7, "none")
    _remove_traces(history)
    older = Path(shutil.copy(file, history.workshop.root / "older.db"))
    older.chmod(0o600)
    place = file.with_name("ledger.db.replaced-1") if killed else file
    place.write_bytes(kept)
    place.chmod(0o600)
    if killed:
        file.unlink()
    else:
        edit(file, "UPDATE totals SET epsilon = '1/1000'")
    assert crowdgate("ledger", "restore", "older.db") == 0
    assert whole.within(history.ledger.spent(POPULATION))


def test_a_row_of_the_replaced_ledger_that_can_not_be_read_freezes_every_population(
    histories: dict[bool, History], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    history = histories[False].copy_to(tmp_path / "own")
    monkeypatch.chdir(history.workshop.root)
    kept = history.file.read_bytes()
    history.cut(7, "none")
    _remove_traces(history)
    Path(shutil.copy(history.file, history.workshop.root / "older.db")).chmod(0o600)
    history.file.write_bytes(kept)
    edit(history.file, "UPDATE entries SET policy_digest = CAST(x'ff' AS TEXT) WHERE number = 1")
    read = true_spend(histories[False].ledger)
    assert crowdgate("ledger", "restore", "older.db") == 0
    assert "can't be read" in capsys.readouterr().out
    ledger = history.ledger
    assert ledger.frozen(POPULATION)
    assert read.epsilon - 2 <= ledger.spent(POPULATION).epsilon


@pytest.mark.thorough
def test_a_policy_that_was_changed_after_an_access_stays_informed_in_a_restored_ledger(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workshop.root)
    file = workshop.root / "ledger" / "ledger.db"
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    older = file.read_bytes()
    assert crowdgate("record", "show", "clinic/1/2030-01-01") == 0
    workshop.edit(workshop.policy, "version: 1", "version: 2")
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-02") == 0
    for end in ("-wal", "-shm"):
        Path(f"{file}{end}").unlink(missing_ok=True)
    file.write_bytes(older)
    assert crowdgate("ledger", "restore") == 0
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-03") == 0
    for day, informed in ((1, None), (2, True), (3, True)):
        folder = workshop.root / "releases" / "clinic" / ("1" if day == 1 else "2") / f"2030-01-0{day}"
        assert json.loads((folder / "manifest.json").read_bytes())["facts"].get("informed") is informed


def test_the_private_record_of_a_policy_of_any_name_is_booked(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of other private files begin with `anonymity`, which is a valid name of a policy."""
    monkeypatch.chdir(workshop.root)
    workshop.edit(workshop.policy, "name: clinic", "name: anonymity")
    workshop.edit(workshop.policy, "released_rows, at_least: 0", "released_rows, at_least: 90000")
    file = workshop.root / "ledger" / "ledger.db"
    older = file.read_bytes()
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 3
    whole = open_ledger(workshop.ledger, None).spent(POPULATION)
    for path in (*file.parent.glob("ledger.db-*"), *(workshop.root / "releases").glob("*/*.head")):
        path.unlink()
    file.write_bytes(older)
    assert crowdgate("ledger", "verify") == 6
    assert crowdgate("ledger", "restore") == 0
    assert whole.within(open_ledger(workshop.ledger, None).spent(POPULATION))
