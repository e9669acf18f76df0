"""A ledger that was changed, restored or exchanged is refused by the next release, from the command line."""

import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from crowdgate.errors import LedgerRefused
from crowdgate.kind.run import Request, Result
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import open_ledger
from crowdgate.ledger.private import private_file
from crowdgate.publish import publisher
from crowdgate.publish.publisher import staged_folder
from crowdgate.releases import release as job
from tests.ledger.books import append, edit, head_at
from tests.workshop import Workshop, crowdgate, make_workshop

DAYS = [f"2030-01-{day:02}" for day in range(1, 9)]


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return make_workshop(tmp_path)


@pytest.fixture
def file(workshop: Workshop) -> Path:
    return workshop.root / "ledger" / "ledger.db"


def release(workshop: Workshop, day: int, *options: object) -> int:
    return crowdgate("release", workshop.policy, "--as-of", DAYS[day], *options)


def keyed(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Configure a key in the working copy, and sign the ledger."""
    assert crowdgate("keys", "create", workshop.root / "own.key") == 0
    settings = workshop.root / "crowdgate.toml"
    settings.write_text(settings.read_text() + 'signing_key = "own.key"\n')
    monkeypatch.chdir(workshop.root)
    assert crowdgate("ledger", "sign") == 0


TAMPERED = {
    "a budget raised": "UPDATE populations SET epsilon = '600/1'",
    "a budget for more people": "UPDATE populations SET people = 1",
    "entries deleted": "DELETE FROM entries",
    "an entry cheapened": "UPDATE entries SET epsilon = '1/1000'",
    "an entry given back": "UPDATE entries SET state = 'void'",
    "a total lowered": "UPDATE totals SET epsilon = '0/1'",
    "a line changed": "UPDATE journal SET subject = 'x' WHERE number = 4",
    "a truncated tail": "DELETE FROM journal WHERE number > 4",
}


@pytest.mark.thorough
@pytest.mark.parametrize("how", TAMPERED)
def test_what_was_edited_is_refused_before_anything_is_charged(
    workshop: Workshop, file: Path, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert release(workshop, 0) == 0
    edit(file, TAMPERED[how])
    assert crowdgate("ledger", "verify", "--ledger", workshop.ledger) == 6
    capsys.readouterr()
    assert release(workshop, 1) == 5
    assert "is not used" in capsys.readouterr().err
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT * FROM entries WHERE release_id LIKE ?", (f"%{DAYS[1]}",)).fetchall() == []


def test_an_older_copy_is_told_by_a_release_at_the_destination(
    workshop: Workshop, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert release(workshop, 0) == 0
    older = shutil.copy(file, tmp_path / "older.db")
    assert release(workshop, 1) == 0
    newest = shutil.copy(file, tmp_path / "newest.db")
    shutil.copy(older, file)
    capsys.readouterr()
    assert release(workshop, 2) == 5
    assert "older copy" in capsys.readouterr().err
    assert release(workshop, 2, "--to", workshop.root / "elsewhere") == 5  # what its policy names is compared, too
    shutil.copy(newest, file)
    assert release(workshop, 2) == 0


@pytest.fixture
def cut(workshop: Workshop, file: Path, tmp_path: Path) -> Path:
    """Make three releases, and cut the ledger after the reservation of the third: an authentic older state."""
    assert release(workshop, 0) == 0
    assert release(workshop, 1) == 0
    run = job.prepare(Request(workshop.policy, DAYS[2]))
    assert not isinstance(run, Result)
    reserved = job.reserve(run)
    assert not isinstance(reserved, Result)
    older = shutil.copy(file, tmp_path / "older.db")
    ready = job.conclude(reserved, draw_key())
    assert not isinstance(ready, Result)
    assert job.publish(reserved, ready).outcome == "published"
    return Path(shutil.copy(older, file))


@pytest.mark.thorough
def test_a_published_release_is_not_freed_by_a_ledger_that_was_cut(
    workshop: Workshop, cut: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workshop.root)
    released, before = f"clinic/1/{DAYS[2]}", cut.read_bytes()
    for folder in (workshop.root, workshop.root.parent):  # from another folder, too
        monkeypatch.chdir(folder)
        for code, *command in ((6, "verify"), (5, "free", released)):
            capsys.readouterr()
            assert crowdgate("ledger", *command, "--ledger", workshop.ledger) == code
            assert released in capsys.readouterr().err
    for options in ((), ("--to", workshop.root / "elsewhere")):
        capsys.readouterr()
        assert release(workshop, 3, *options) == 5
        assert released in capsys.readouterr().err
    assert cut.read_bytes() == before


@pytest.mark.thorough
@pytest.mark.usefixtures("cut")
def test_what_a_run_left_anywhere_is_not_freed(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either trace suffices: a private record shows that the table was read, and so do staged files."""
    monkeypatch.chdir(workshop.root)
    released, folder = f"clinic/1/{DAYS[2]}", workshop.release_dir(DAYS[2])
    ledger = open_ledger(workshop.ledger, None)
    shutil.rmtree(folder)
    head_at(workshop.root / "releases", ledger.id).unlink()
    assert crowdgate("ledger", "verify") == 6
    assert crowdgate("ledger", "free", released) == 5
    assert f"does not know {released} that left" in capsys.readouterr().err
    private_file(ledger.path, ledger.id, released).unlink()
    assert crowdgate("ledger", "verify") == 0  # nothing outside differs
    staged = staged_folder(workshop.root / "releases", ledger.id, released)
    staged.mkdir()
    assert crowdgate("ledger", "free", released) == 5
    assert str(staged) in capsys.readouterr().err
    staged.rmdir()
    assert crowdgate("ledger", "free", released) == 0


def test_a_manifest_that_was_changed_is_named(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workshop.root)
    assert release(workshop, 0) == 0
    manifest = workshop.release_dir(DAYS[0]) / "manifest.json"
    manifest.write_bytes(manifest.read_bytes() + b"\n")
    capsys.readouterr()
    assert release(workshop, 1) == 5
    assert crowdgate("ledger", "verify") == 6
    said = capsys.readouterr().err
    assert said.count("the release was changed, or this is another copy of the ledger") == 2


def test_a_release_that_a_crash_left_committed_is_no_foreign_one(workshop: Workshop) -> None:
    """The release was moved, and the run was killed before the ledger recorded it."""
    run = job.prepare(Request(workshop.policy, DAYS[0]))
    assert not isinstance(run, Result)
    reserved = job.reserve(run)
    assert not isinstance(reserved, Result)
    ready = job.conclude(reserved, draw_key())
    assert not isinstance(ready, Result)
    publisher.publish(ready.staged, run.destination)
    assert release(workshop, 1) == 0
    assert release(workshop, 0) == 0


@pytest.mark.thorough
def test_an_anchor_that_was_kept_tells_it_anywhere(workshop: Workshop, file: Path, tmp_path: Path) -> None:
    older = shutil.copy(file, tmp_path / "older.db")
    assert release(workshop, 0) == 0
    line = open_ledger(workshop.ledger, None).verify()
    anchor = ("--anchor", f"{line.number}:{line.digest}")
    assert crowdgate("ledger", "verify", "--ledger", workshop.ledger, *anchor) == 0
    assert release(workshop, 1, *anchor) == 0
    shutil.copy(older, file)
    assert crowdgate("ledger", "verify", "--ledger", workshop.ledger, *anchor) == 6
    assert release(workshop, 2, "--to", workshop.root / "elsewhere", *anchor) == 5
    assert release(workshop, 2, "--anchor", "4:nonsense") == 2


def test_who_can_write_a_folder_at_the_destination_stops_nobody_where_keys_are_trusted(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert release(workshop, 0) == 0
    forged = workshop.root / "releases" / "clinic" / "1" / "forged"
    shutil.copytree(workshop.release_dir(DAYS[0]), forged)
    manifest = forged / "manifest.json"
    manifest.write_text(re.sub(r'"line": *\d+', '"line": 9999', manifest.read_text()))
    assert release(workshop, 1) == 5
    keyed(workshop, monkeypatch)
    assert release(workshop, 1) == 0


def test_an_older_copy_that_a_key_signed_is_told_by_a_signed_release(
    workshop: Workshop, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyed(workshop, monkeypatch)
    assert release(workshop, 0) == 0
    older = shutil.copy(file, tmp_path / "older.db")
    assert release(workshop, 1) == 0
    shutil.copy(older, file)
    assert release(workshop, 2) == 5


@pytest.mark.thorough
def test_a_line_without_a_signature_is_refused_where_a_key_is_configured(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyed(workshop, monkeypatch)
    assert release(workshop, 0) == 0
    append(open_ledger(workshop.ledger, None), "note", "of somebody without the key")
    assert crowdgate("ledger", "verify") == 6
    assert release(workshop, 1) == 5
    assert crowdgate("ledger", "sign") == 0
    assert release(workshop, 1) == 0


def test_a_changed_policy_needs_a_new_version(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert release(workshop, 0) == 0
    workshop.edit(workshop.policy, "at_most: 500", "at_most: 501")
    capsys.readouterr()
    assert release(workshop, 1) == 5
    assert "Give the changed policy a new version" in capsys.readouterr().err
    workshop.edit(workshop.policy, "version: 1", "version: 2")
    assert release(workshop, 1) == 0


@pytest.mark.thorough
def test_a_frozen_population_is_shown_and_refused(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    where = ("--ledger", workshop.ledger)
    assert release(workshop, 0) == 0
    assert crowdgate("check", workshop.policy) == 0
    assert crowdgate("ledger", "freeze", "clinic-patients", "--reason", "a complaint", *where) == 0
    assert release(workshop, 1) == 5
    capsys.readouterr()
    assert crowdgate("check", workshop.policy) == 3
    assert "Refused         the population clinic-patients is frozen" in capsys.readouterr().out
    assert crowdgate("ledger", "show", *where) == 0
    said = capsys.readouterr().out
    assert "; frozen" in said
    assert "clinic-patients frozen: a complaint (line" in said
    assert "epsilon 4 of 6 left after clinic/1/2030-01-01 was charged" in said
    assert crowdgate("ledger", "thaw", "clinic-patients", "--reason", "settled", *where) == 0
    assert release(workshop, 1) == 0


def test_a_reservation_that_never_read_is_freed_by_a_person(workshop: Workshop) -> None:
    run = job.prepare(Request(workshop.policy, DAYS[0]))
    assert not isinstance(run, Result)
    reserved = job.reserve(run)
    assert not isinstance(reserved, Result)
    assert release(workshop, 0) == 5
    assert crowdgate("ledger", "free", f"clinic/1/{DAYS[0]}", "--ledger", workshop.ledger) == 0
    assert release(workshop, 0) == 0
    assert crowdgate("ledger", "free", f"clinic/1/{DAYS[0]}", "--ledger", workshop.ledger) == 5
    with pytest.raises(LedgerRefused):
        job.conclude(reserved, draw_key())  # the stalled run comes back


def test_a_ledger_is_shown_and_verified_by_who_can_only_read_it(
    workshop: Workshop, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert release(workshop, 0) == 0
    before = sorted(path.name for path in file.parent.iterdir())
    monkeypatch.setattr("crowdgate.ledger.sqlite.os.access", lambda *_: False)
    file.chmod(0o444)
    assert crowdgate("ledger", "verify", "--ledger", workshop.ledger) == 0
    assert crowdgate("ledger", "show", "--ledger", workshop.ledger) == 0
    assert sorted(path.name for path in file.parent.iterdir()) == before
    assert release(workshop, 1) in (1, 2)


def test_a_withheld_run_is_not_drawn_again_from_an_older_copy(
    workshop: Workshop, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing of it is at a destination, so only its private record shows that its noise was drawn."""
    workshop.edit(workshop.policy, "released_rows, at_least: 0", "released_rows, at_least: 90000")
    assert release(workshop, 0) == 3
    older = shutil.copy(file, tmp_path / "older.db")
    assert release(workshop, 1) == 3
    shutil.copy(older, file)
    capsys.readouterr()
    assert release(workshop, 1) == 5
    said = capsys.readouterr().err
    assert "lacks line 9, which its head" in said
    assert f"does not know clinic/1/{DAYS[1]} that left" in said
    assert release(workshop, 2) == 5  # another slot is not charged either


def test_a_release_that_went_elsewhere_is_not_drawn_again_from_an_older_copy(
    workshop: Workshop, file: Path, tmp_path: Path
) -> None:
    older = shutil.copy(file, tmp_path / "older.db")
    assert release(workshop, 0, "--to", workshop.root / "elsewhere") == 0
    shutil.copy(older, file)
    assert release(workshop, 0) == 5
    assert not workshop.release_dir(DAYS[0]).exists()


def test_staged_files_of_a_run_are_not_drawn_again_from_an_older_copy(
    workshop: Workshop, file: Path, tmp_path: Path
) -> None:
    older = shutil.copy(file, tmp_path / "older.db")
    run = job.prepare(Request(workshop.policy, DAYS[0]))
    assert not isinstance(run, Result)
    reserved = job.reserve(run)
    assert not isinstance(reserved, Result)
    assert not isinstance(job.conclude(reserved, draw_key()), Result)
    shutil.copy(older, file)
    record = private_file(file, run.ledger.id, run.id)
    record.unlink()
    staged = staged_folder(workshop.root / "releases", run.ledger.id, run.id)
    assert staged.exists()
    assert release(workshop, 0) == 5
    assert staged.exists()


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["moved below", "another suffix", "broken"])
def test_a_published_release_is_not_freed_where_its_policy_is_hidden(
    workshop: Workshop, cut: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only its policy names the destination of the third release: it has no entry and no private record."""
    monkeypatch.chdir(workshop.root)
    shutil.rmtree(cut.parent / "private")
    if how == "moved below":
        (workshop.policy.parent / "deep").mkdir()
        workshop.policy.rename(workshop.policy.parent / "deep" / workshop.policy.name)
    elif how == "another suffix":
        workshop.policy.rename(workshop.policy.with_suffix(".yml"))
    else:
        workshop.policy.write_text(workshop.policy.read_text() + "\n: [\n")
    assert crowdgate("ledger", "free", f"clinic/1/{DAYS[2]}") == 5
    assert crowdgate("ledger", "verify") == 6


def test_a_policy_that_is_no_regular_file_is_reported_and_stops_others_until_it_is_removed(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its destination is unknown, so a release may be there that the ledger lacks."""
    monkeypatch.chdir(workshop.root)
    assert release(workshop, 0) == 0
    other = workshop.policy.with_name("other.yaml")
    os.mkfifo(other)
    capsys.readouterr()
    assert crowdgate("ledger", "verify") == 6
    assert "other.yaml publishes: the file can't be read, or names no destination" in capsys.readouterr().err
    assert release(workshop, 1) == 5
    other.unlink()
    assert release(workshop, 1) == 0


def test_a_policy_whose_destination_is_a_loop_of_links_is_reported_and_stops_others(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workshop.root)
    other = workshop.policy.with_name("other.yaml")
    text = workshop.policy.read_text().replace("name: clinic", "name: other").replace("to: releases", "to: loop")
    assert release(workshop, 0) == 0
    other.write_text(text)
    (workshop.root / "loop").symlink_to("loop")
    assert release(workshop, 1) == 5
    capsys.readouterr()
    assert crowdgate("ledger", "verify") == 6
    assert "other.yaml publishes: the file can't be read, or names no destination" in capsys.readouterr().err
