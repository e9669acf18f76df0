"""Releases whose rows by person exceed memory: the same bytes, and temporary files that nobody can read or find."""

import json
import os
import signal
import stat
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from crowdgate.errors import Crashed, EnvironmentFault, LedgerRefused
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.noise import NoiseSource
from crowdgate.planning.spill_folder import PREFIX
from crowdgate.releases import release as job
from crowdgate.sources import sealed_file, spill
from crowdgate.sources.buckets import MOST_BUCKETS
from crowdgate.sources.counting import count_table
from crowdgate.sources.sealed_file import write_sealed
from crowdgate.system import permissions
from crowdgate.system.temporary_folder import sweep_temporary_folders, temporary_folder
from tests.releases.killing import PROCESSES
from tests.releases.test_partitions import (
    MODES,
    PERSON,
    a_shuffled_folder,
    one_file,
    recorded,
    small_parts,
    staged,
    three_dying_workers,
    two_workers,
)
from tests.workshop import MARK, Workshop, crowdgate, good_rows, make_workshop

SLOT = "2030-01-01"


def of_people(root: Path, mode: str = "rows of people") -> Workshop:
    """Return a working copy whose privacy unit is a person, with marks in its table."""
    workshop = make_workshop(root)
    workshop.policy.write_text(MODES[mode][0], encoding="utf-8")
    workshop.edit(workshop.budget, "epsilon: 6, delta: 0.03", "epsilon: 600, delta: 0.9")
    workshop.edit(workshop.contract, *PERSON)
    workshop.edit(workshop.budget, "unit: row", 'unit: "person:patient"')
    rows = [{**row, "patient": f"{MARK}{i % 230}"} for i, row in enumerate(good_rows(600))]
    workshop.write([*rows, {**rows[0], "ward": MARK, "age": None}])
    return workshop


def private(workshop: Workshop) -> Path:
    return workshop.root / "ledger" / "private"


def temporary_files(workshop: Workshop) -> list[Path]:
    """Return the temporary folders in the private folder, and what is in them."""
    return [each for folder in private(workshop).glob(f"{PREFIX}*") for each in (folder, *folder.rglob("*"))]


WAYS: list[tuple[int, Callable[[pytest.MonkeyPatch], None]]] = [
    (0, small_parts), (100, lambda _: None), (7, small_parts), (20, two_workers), (3, three_dying_workers),
]  # fmt: skip
"""The most entries of people in memory, and how the table is counted."""


@pytest.mark.thorough
@pytest.mark.parametrize("mode", [mode for mode, (_, person) in MODES.items() if person])
def test_a_release_has_the_same_bytes_whatever_exceeds_memory(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        job, "KeyedRandomness", lambda key: KeyedRandomness(key, vectors=NoiseSource(recorded, recorded))
    )
    workshop = of_people(tmp_path / "w", mode)
    (folder := tmp_path / "data").mkdir()
    a_shuffled_folder(folder)
    (whole := tmp_path / "whole").mkdir()
    expected, written = staged(workshop, SLOT, one_file(whole)), []

    def looked(*asked: object) -> object:
        total = count_table(*asked)  # type: ignore[arg-type]
        written.append(len(total.buckets))
        return total

    monkeypatch.setattr(job, "count_table", looked)
    for number, (most, how) in enumerate(WAYS):
        with pytest.MonkeyPatch.context() as patch:
            how(patch)
            patch.setattr(spill, "MOST_ENTRIES", most)
            assert staged(workshop, f"2030-02-{number + 1:02}", folder) == expected
        assert temporary_files(workshop) == []
    assert written == [MOST_BUCKETS] * len(WAYS)


def killed_at(policy: Path, nth: int) -> None:
    """Run a release that is killed when it has written a temporary file for the `nth` time."""
    os.umask(0)
    spill.MOST_ENTRIES, calls = 50, count(1)

    def killed(*asked: object) -> object:
        made = write_sealed(*asked)  # type: ignore[arg-type]
        if next(calls) == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return made

    spill.__dict__["write_sealed"] = killed
    job.release(Request(policy, SLOT), draw_key)


def kill(workshop: Workshop, nth: int) -> None:
    process = PROCESSES.Process(target=killed_at, args=(workshop.policy, nth))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("nth", [1, 40])
def test_what_a_killed_run_leaves_is_unreadable_and_the_next_run_removes_it(nth: int, tmp_path: Path) -> None:
    """The next run is one of the same slot, which is refused, as the run that was killed had read the table."""
    workshop = of_people(tmp_path / "w")
    kill(workshop, nth)
    folder, *files = temporary_files(workshop)
    assert len(files) == nth
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(private(workshop).stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}
    assert [each for each in files if MARK.encode() in each.read_bytes() or b"ARROW" in each.read_bytes()] == []
    with pytest.raises(LedgerRefused) as refused:
        job.release(Request(workshop.policy, SLOT), draw_key)
    assert refused.value.code == "spent"
    assert temporary_files(workshop) == []


def test_only_a_folder_that_no_run_holds_is_removed(tmp_path: Path) -> None:
    (outside := tmp_path / "outside").mkdir()
    (outside / "file").touch()
    (parent := tmp_path / "private").mkdir()
    (parent / f"{PREFIX}link").symlink_to(outside)
    (parent / "clinic~1.json").touch()
    (parent / f"{PREFIX}left").mkdir()
    with temporary_folder(parent, PREFIX, permissions.SPILLED) as folder:
        (folder / "file").touch()
        sweep_temporary_folders(parent, PREFIX)
        assert (folder / "file").exists()
        assert not (parent / f"{PREFIX}left").exists()
    assert sorted(each.name for each in parent.iterdir()) == ["clinic~1.json", f"{PREFIX}link"]
    assert (outside / "file").exists()
    sweep_temporary_folders(tmp_path / "missing", PREFIX)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_run_that_fails_removes_its_folder(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop, found = of_people(tmp_path / "w"), list[int]()

    def fails(*_: object) -> object:
        found.append(len(temporary_files(workshop)))
        raise error(MARK)

    monkeypatch.setattr(spill, "MOST_ENTRIES", 50)
    monkeypatch.setattr(spill, "figures_of", fails)
    with pytest.raises(Crashed):
        job.release(Request(workshop.policy, SLOT), draw_key)
    assert found[0] > 1
    assert temporary_files(workshop) == []


def test_a_full_disk_is_one_error_for_the_curator_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The public output is that of any crash: whether entries exceed memory depends on the table."""
    workshop = of_people(tmp_path / "w")

    def full(path: Path, *_: object) -> int:
        path.touch()
        return os.open("/dev/full", os.O_WRONLY)

    monkeypatch.setattr(spill, "MOST_ENTRIES", 50)
    monkeypatch.setattr(sealed_file, "permissions", replace_open(full))
    caplog.set_level("DEBUG")
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 1
    said = capfd.readouterr()
    assert "space" not in said.out + said.err
    assert MARK not in said.out + said.err + caplog.text
    assert temporary_files(workshop) == []
    (record,) = private(workshop).glob("*~2030-01-01.json")
    reason = json.loads(record.read_text(encoding="utf-8"))["reason"]
    assert "temporary files of rows by person can't be written: No space left on device; free some space" in reason


def replace_open(opened: Callable[..., int]) -> object:
    class Opening:
        SPILLED, open_file = permissions.SPILLED, staticmethod(opened)

    return Opening


def test_a_private_folder_without_room_for_a_folder_is_told_before_the_table_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop = of_people(tmp_path / "w")

    def refused(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("crowdgate.planning.spill_folder.temporary_folder", refused)
    monkeypatch.setattr(job, "count_table", lambda *_: pytest.fail("the table is read"))
    with pytest.raises(EnvironmentFault, match=r"private: temporary files can't be stored there: No space left"):
        job.release(Request(workshop.policy, SLOT), draw_key)


def test_marked_ids_are_nowhere_outside_the_private_folder_and_in_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop, looked = of_people(tmp_path / "w"), list[Path]()

    def look(*asked: object) -> object:
        total = count_table(*asked)  # type: ignore[arg-type]
        looked.extend(each for each in workshop.root.rglob("*") if each.is_file())
        assert sum(PREFIX in str(each) for each in looked) > MOST_BUCKETS
        assert [each for each in looked if MARK.encode() in each.read_bytes()] == [workshop.data]
        return total

    monkeypatch.setattr(spill, "MOST_ENTRIES", 50)
    monkeypatch.setattr(job, "count_table", look)
    assert job.release(Request(workshop.policy, SLOT), draw_key).outcome == "published"
    assert looked
    assert [each for each in workshop.root.rglob("*") if each.is_file() and MARK.encode() in each.read_bytes()] == [
        workshop.data
    ]
