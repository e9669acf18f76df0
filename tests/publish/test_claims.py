"""Destinations are tested and claimed before any charge."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.errors import EnvironmentFault
from crowdgate.publish import destination_claims, fsync_rename, trial_publication
from crowdgate.publish.file_names import SCRATCH, STAGING
from tests.examples import examples

ID = "clinic/1/2030-01-01"
MINE, OTHER = "mine-00000001", "other-00000002"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = tmp_path / "releases"
    trial_publication.probe(found, found / ID)
    return found


def test_of_any_ledgers_that_claim_at_once_exactly_one_has_it(root: Path) -> None:
    def attempt(owner: str) -> str | None:
        try:
            destination_claims.claim(root, ID, owner)
        except EnvironmentFault:
            return None
        return owner

    with ThreadPoolExecutor(8) as pool:
        (winner,) = {each for each in pool.map(attempt, [f"ledger-{i % 8:08x}" for i in range(40)]) if each}
    assert destination_claims.claim_file(root, ID).read_text() == f"{winner}\n"


def test_another_ledgers_claim_is_refused_with_words_and_can_be_removed_by_a_person(root: Path) -> None:
    destination_claims.claim(root, ID, OTHER)
    with pytest.raises(EnvironmentFault) as refused:
        destination_claims.claim(root, ID, MINE)
    assert all(
        word in str(refused.value)
        for word in (OTHER, str(destination_claims.claim_file(root, ID)), "No budget was charged")
    )
    destination_claims.claim_file(root, ID).unlink()
    destination_claims.claim(root, ID, MINE)


def test_a_folder_that_is_in_the_way_of_claims_is_named(root: Path) -> None:
    (destination_claims.claim_file(root, ID).parent / f"{SCRATCH}claim").mkdir(parents=True)
    with pytest.raises(EnvironmentFault, match=rf"{SCRATCH}claim is a folder"):
        destination_claims.claim(root, ID, MINE)


@settings(max_examples=examples(60), deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from([MINE, OTHER]), st.sampled_from(["claim", "give back", "needed"])), max_size=12
    )
)
def test_a_claim_is_re_entrant_and_only_its_ledger_gives_it_back_when_it_is_not_needed(
    steps: list[tuple[str, str]],
) -> None:
    with TemporaryDirectory() as folder:
        holder: str | None = None
        for owner, step in steps:
            if step == "claim" and holder in (None, owner):
                destination_claims.claim(Path(folder), ID, owner)
                holder = owner
            elif step == "claim":
                with pytest.raises(EnvironmentFault):
                    destination_claims.claim(Path(folder), ID, owner)
            else:
                destination_claims.give_back(Path(folder), ID, owner, lambda step=step: step == "needed")  # type: ignore[misc]
                holder = None if (holder, step) == (owner, "give back") else holder
        path = destination_claims.claim_file(Path(folder), ID)
        assert (path.read_text().strip() if path.exists() else None) == holder
        assert [*path.parent.glob("*"), *path.parent.glob(".*")] == ([path] if holder else [])


def _link(path: Path) -> None:
    path.symlink_to("/nowhere")


UNNAMED: dict[str, Callable[[Path], Any]] = {
    "empty": Path.touch,
    "torn": lambda path: path.write_text(MINE),
    "long": lambda path: path.write_text(f"{MINE}\n" * 50),
    "a line of a terminal": lambda path: path.write_text("\x1b[2Jmine-00000001\n"),
    "a folder": Path.mkdir,
    "a link to nowhere": _link,
    "a pipe": lambda path: os.mkfifo(path),
}


@pytest.mark.parametrize("unnamed", UNNAMED)
def test_a_claim_that_names_no_ledger_is_nobodys_to_take(root: Path, unnamed: str) -> None:
    UNNAMED[unnamed](destination_claims.claim_file(root, ID))
    with pytest.raises(EnvironmentFault, match="names no ledger") as refused:
        destination_claims.claim(root, ID, MINE)
    assert "\x1b" not in str(refused.value)
    destination_claims.give_back(root, ID, MINE)
    assert os.path.lexists(destination_claims.claim_file(root, ID))


def test_what_a_killed_run_left_of_a_claim_hinders_nobody(root: Path) -> None:
    (root / STAGING / destination_claims._PART).write_text("mi")
    destination_claims.claim(root, ID, MINE)
    assert [path.name for path in (root / STAGING).iterdir()] == [destination_claims.claim_file(root, ID).name]


def test_a_probe_leaves_nothing_but_staging_for_its_owner_and_clears_a_killed_one(root: Path) -> None:
    (root / "clinic").mkdir()
    for left in (root / STAGING, root / "clinic"):
        (left / trial_publication.PROBE / "file").mkdir(parents=True)
    trial_publication.probe(root, root / ID)
    assert sorted(root.rglob("*")) == [root / STAGING, root / "clinic"]
    assert stat.S_IMODE((root / STAGING).stat().st_mode) == 0o700


@pytest.fixture
def other_disk() -> Iterator[Path]:
    with TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        yield Path(folder)


@pytest.mark.parametrize("place", ["clinic", "clinic/1", STAGING])
def test_a_link_to_another_file_system_is_refused(root: Path, other_disk: Path, place: str) -> None:
    if root.stat().st_dev == other_disk.stat().st_dev:
        pytest.skip("this machine has one file system")
    (root / STAGING).rmdir()
    (root / place).parent.mkdir(exist_ok=True)
    (root / place).symlink_to(other_disk)
    with pytest.raises(EnvironmentFault, match="on another file system"):
        trial_publication.probe(root, root / ID)
    assert list(other_disk.iterdir()) == []


FAULTS = [("rename", errno.EROFS), ("rename", errno.EACCES), ("fsync", errno.ENOSPC), ("fsync", errno.EIO)]


@pytest.mark.parametrize(("name", "number"), FAULTS)
def test_a_destination_that_can_not_be_written_is_refused_and_left_clean(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, number: int
) -> None:
    def failing(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, name, failing)
    with pytest.raises(EnvironmentFault, match=os.strerror(number)):
        trial_publication.probe(root, root / ID)
    assert not list(root.rglob(trial_publication.PROBE))


def test_every_new_folder_is_in_its_parent_on_disk_before_anything_is_made_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[str, Path]] = []
    made = Path.mkdir
    monkeypatch.setattr(fsync_rename, "fsync_path", lambda path: done.append(("sync", path)))
    monkeypatch.setattr(Path, "mkdir", lambda path, *rest, **more: done.append(("make", path)) or made(path, *rest, **more))  # type: ignore[func-returns-value]  # fmt: skip  # noqa: E501
    fsync_rename.make_folder(tmp_path / "a" / "b" / "c")
    a, b = tmp_path / "a", tmp_path / "a" / "b"
    assert done[1:] == [("make", a), ("sync", tmp_path), ("make", b), ("sync", a), ("make", b / "c"), ("sync", b)]
    assert done[0] == ("sync", tmp_path.parent)
