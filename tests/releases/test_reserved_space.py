"""Disk space of a release is reserved before the charge; files that killed runs left at a destination are removed."""

import io
import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from crowdgate.errors import Crashed, EnvironmentFault, LedgerRefused
from crowdgate.kind.run import Request, Result
from crowdgate.kind.run import Run as PlannedRun
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import open_ledger
from crowdgate.publish import live_files, publisher, reserved_space
from crowdgate.publish.destination_claims import claim_file
from crowdgate.publish.file_names import STAGING
from crowdgate.publish.reserved_space import SPACE, SpacedFile
from crowdgate.releases import release as job
from crowdgate.releases.largest_release import most_bytes
from crowdgate.verification.release import verify
from tests.forgery.generated import FOLDERS, released
from tests.releases.killing import run_and_kill
from tests.workshop import Workshop

SLOT, NEXT = "2030-01-01", "2030-01-02"
ID = f"clinic/1/{SLOT}"
MEGABYTE = 1 << 20


def release(workshop: Workshop, to: Path | None = None, slot: str = SLOT) -> Result:
    return job.release(Request(workshop.policy, slot, to=to), draw_key)


def staged(root: Path) -> list[str]:
    """Return the names of staged files, other than the ledger's head."""
    return sorted(name for name in os.listdir(root / STAGING) if not name.endswith(".head"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=1M,mode=755", "tmpfs", str(folder)]
    try:
        subprocess.run(mounted, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no right to mount a small file system here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> None:
    """Fill a file system to its last byte."""
    with suppress(OSError), (disk / "filler").open("ab", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def space(disk: Path) -> int:
    return os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::crowdgate.ledger.ledger.HeadWarning")  # the next command writes the head
@pytest.mark.parametrize("after", ["claim_destination", "reserve", "count", "protect", "judge"])
def test_no_charge_is_lost_on_a_disk_that_fills_after_the_probe(
    workshop: Workshop, small_disk: Path, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    original = getattr(job, after)
    monkeypatch.setattr(publisher, "FOLDER_BYTES", 4096)  # so that each file must take its own
    monkeypatch.setattr(reserved_space, "_CHUNK", 4096)

    def then_full(*args: object) -> object:
        found = original(*args)
        fill(small_disk)
        assert space(small_disk) == 0
        return found

    monkeypatch.setattr(job, after, then_full)
    found = release(workshop, small_disk / "releases")
    assert found.outcome == "published"
    assert verify(small_disk / "releases" / ID, workshop.ledger)
    assert staged(small_disk / "releases") == []


def test_a_disk_that_is_too_small_is_refused_before_the_charge(workshop: Workshop, small_disk: Path) -> None:
    with (small_disk / "filler").open("wb") as file:
        file.write(bytes(space(small_disk) - 200_000))
    with pytest.raises(EnvironmentFault, match="nothing was charged"):
        release(workshop, small_disk / "releases")
    assert open_ledger(workshop.ledger, None).entry(ID) is None
    assert staged(small_disk / "releases") == []
    (small_disk / "filler").unlink()
    assert release(workshop, small_disk / "releases").outcome == "published"


@pytest.mark.thorough
@pytest.mark.parametrize("name", FOLDERS)
def test_no_release_is_larger_than_the_space_that_is_reserved(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def measured(run: PlannedRun) -> int:
        sizes.append(most_bytes(run))
        return sizes[-1]

    monkeypatch.setattr("crowdgate.releases.destination_lock.most_bytes", measured)
    folder = released(name, tmp_path / "w")
    written = sum(path.stat().st_size for path in folder.iterdir())
    print(name, written, sizes)
    assert written <= min(sizes)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("holder", "name"),
    [("job", "claim_destination"), ("ledger", "reserve"), ("ledger", "begin_reading"), ("job", "protect")],
)
def test_what_a_killed_run_left_is_removed_by_the_next_run(workshop: Workshop, holder: str, name: str) -> None:
    run_and_kill(workshop.policy, holder, name, "after", SLOT)
    root = workshop.root / "releases"
    assert len(staged(root)) == 2
    release(workshop, slot=NEXT)
    assert staged(root) == []


def test_what_a_running_process_holds_stays(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    root, original, seen = workshop.root / "releases", job.protect, list[list[str]]()

    def meanwhile(*args: object) -> object:
        monkeypatch.setattr(job, "protect", original)
        release(workshop, slot=NEXT)
        seen.append(staged(root))
        return original(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(job, "protect", meanwhile)
    assert release(workshop).outcome == "published"
    assert [name for name in seen[0] if name.endswith(".claim")] == [claim_file(root, ID).name]
    assert any(name.startswith(SPACE) for name in seen[0])
    assert staged(root) == []


def test_a_run_that_crashed_gives_up_its_space_and_the_next_run_removes_its_claim(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("planted")

    with monkeypatch.context() as patch:
        patch.setattr("crowdgate.releases.staging.ReleaseContents.writers", broken)
        with pytest.raises(Crashed):
            release(workshop)
    root = workshop.root / "releases"
    assert staged(root) == [claim_file(root, ID).name]
    release(workshop, slot=NEXT)
    assert staged(root) == []


def test_the_claim_of_a_committed_release_stays(workshop: Workshop) -> None:
    run_and_kill(workshop.policy, "ledger", "commit", "after", SLOT)
    root = workshop.root / "releases"
    release(workshop, slot=NEXT)
    assert claim_file(root, ID).name in staged(root)
    assert release(workshop).outcome == "published"
    assert staged(root) == []


def test_a_rerun_says_what_was_spent_what_is_left_and_what_to_do(workshop: Workshop) -> None:
    run_and_kill(workshop.policy, "ledger", "begin_reading", "after", SLOT)
    with pytest.raises(LedgerRefused) as refused:
        release(workshop)
    assert refused.value.code == "spent"
    for words in (
        "Spent: epsilon 2 and delta 0.01",
        "Left of clinic-patients: epsilon 4 and delta 0.02, enough for another such run",
        "another slot (--as-of)",
        f"crowdgate record show {ID}",
    ):
        assert words in str(refused.value)
    assert release(workshop, slot=NEXT).outcome == "published"
    assert release(workshop, slot="2030-01-03").outcome == "published"
    with pytest.raises(LedgerRefused, match="epsilon 0 and delta 0, not enough for another such run"):
        release(workshop)


def test_a_file_that_cant_grow_takes_reserved_space(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk: each shortening of the space raises it."""
    before, grown = resource.getrlimit(resource.RLIMIT_FSIZE), list[int]()

    def shrink(size: int) -> bool:
        grown.append(size)
        resource.setrlimit(resource.RLIMIT_FSIZE, before if len(grown) > 2 else (1000 * len(grown), before[1]))
        return True

    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, before[1]))
        with io.BufferedWriter(SpacedFile(tmp_path / "f", shrink)) as file:
            file.write(bytes(range(256)) * 20)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert (tmp_path / "f").read_bytes() == bytes(range(256)) * 20
    assert len(grown) == 3


def test_reserved_space_is_given_up_where_no_thread_can_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / STAGING).mkdir()
    monkeypatch.setattr(reserved_space, "_AT_ONCE", 4096)
    reserved_space.reserve_space(tmp_path, ID, "owner", MEGABYTE)
    handle = live_files._HANDLES[reserved_space.space_file(tmp_path, ID, "owner")]

    def no_thread(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", no_thread)
    reserved_space.free_space(tmp_path, ID, "owner")
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handle)
