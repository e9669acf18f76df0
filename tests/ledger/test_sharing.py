"""Access to a ledger: only its owner, or a team, whose members can continue each other's work."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdgate.errors import EnvironmentFault
from crowdgate.kind.run import Request
from crowdgate.ledger.file_access import team_folder
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import open_ledger
from crowdgate.publish import publisher
from crowdgate.releases import release as job
from tests.releases.killing import PROCESSES
from tests.workshop import BUDGET, Workshop, crowdgate, make_workshop

TEAM, ANNE, BERT, OUTSIDER = 41000, 41001, 41002, 41003
SLOT = "2030-01-01"
SUCCESS, STOPPED, REFUSED = 0, 3, 1

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run as other users")


closed_to_others = not all(folder.stat().st_mode & 0o001 for folder in Path(__file__).resolve().parents)
readable = pytest.mark.skipif(closed_to_others, reason="other users can't read this checkout, nor run what it holds")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def create(folder: Path, *options: str) -> int:
    return crowdgate("ledger", "create", "team", "--ledger", f"sqlite:///{folder / 'ledger.db'}", *options)


# --- making one ---


@pytest.mark.parametrize("mask", [0o000, 0o077])
@pytest.mark.parametrize("before", [0o700, 0o777])
def test_a_shared_ledger_is_its_groups_and_nobody_elses(tmp_path: Path, mask: int, before: int) -> None:
    folder = tmp_path / "ledger"
    folder.mkdir()
    folder.chmod(before)
    old = os.umask(mask)
    try:
        assert create(folder, "--group") == 0
    finally:
        os.umask(old)
    assert (mode(folder), mode(folder / "ledger.db")) == (0o2770, 0o660)


def test_a_folder_that_holds_other_things_is_not_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes").write_text("mine")
    before = mode(tmp_path)
    assert create(tmp_path, "--group") == 1
    assert "an empty folder, or `chmod 2770`" in capsys.readouterr().err
    assert mode(tmp_path) == before
    tmp_path.chmod(0o2770)
    assert create(tmp_path, "--group") == 0


def test_a_shared_ledger_that_can_not_be_made_leaves_its_folder_as_it_was(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    assert crowdgate("ledger", "create", "Not A Name", "--group", "--ledger", url) == 2
    assert (mode(tmp_path), list(tmp_path.iterdir())) == (0o750, [])
    assert create(tmp_path / "missing", "--group") == 1


def test_a_group_that_the_system_does_not_let_us_set_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel silently drops the setgid bit if the owner is not in the group."""
    chmod = Path.chmod
    monkeypatch.setattr(Path, "chmod", lambda path, bits: chmod(path, bits & ~stat.S_ISGID))
    with pytest.raises(EnvironmentFault, match="a group that you are not in"), team_folder(tmp_path):
        raise AssertionError("the folder is not the group's")


# --- anything wider ---


def closed(path: Path, bits: int, place: str, capsys: pytest.CaptureFixture[str], workshop: Workshop) -> None:
    before = mode(path)
    path.chmod(bits)
    capsys.readouterr()
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 1
    said = capsys.readouterr().err
    assert place in said
    assert f"(mode {bits:04o})" in said
    assert f"`chmod o-rwx {path}`" in said
    path.chmod(before)
    assert open_ledger(workshop.ledger, None).entries() == []


@pytest.mark.thorough
def test_a_ledger_that_others_may_use_is_refused(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    file = workshop.root / "ledger" / "ledger.db"
    for bits in (0o604, 0o602, 0o606, 0o666, 0o664):
        closed(file, bits, "the ledger ", capsys, workshop)
    for bits in (0o777, 0o1777, 0o703, 0o2777, 0o2775, 0o2771):
        closed(file.parent, bits, "the ledger's folder ", capsys, workshop)


@pytest.mark.parametrize("bits", [0o777, 0o2775])
def test_no_ledger_is_made_where_others_could_put_another(tmp_path: Path, bits: int) -> None:
    tmp_path.chmod(bits)
    assert create(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


# --- a team ---


@pytest.fixture
def office() -> Iterator[Workshop]:
    """Make a working copy that all can read, with the ledger and releases of a team."""
    root = Path(tempfile.mkdtemp(prefix="crowdgate-office-"))
    root.chmod(0o755)
    workshop = make_workshop(root / "copy")
    folders = workshop.root / "ledger", workshop.root / "releases"
    shutil.rmtree(folders[0])
    for folder in folders:
        folder.mkdir()
        os.chown(folder, ANNE, TEAM)
    folders[1].chmod(0o2775)
    assert crowdgate("ledger", "create", "clinic", "--group", "--ledger", workshop.ledger) == 0
    name = open_ledger(workshop.ledger, None).id
    workshop.budget.write_text(BUDGET.replace("LEDGER", name), encoding="utf-8")
    yield workshop
    shutil.rmtree(root)


def release_as(user: int, groups: list[int], workshop: Workshop, slot: str, killed: bool = False) -> int | None:
    """Return the exit code of that user's process, which may be killed before it publishes."""
    with tempfile.TemporaryDirectory() as warm:
        spare = make_workshop(Path(warm) / "spare")
        process = PROCESSES.Process(
            target=_release_as, args=(user, groups, spare.policy, workshop.policy, slot, killed)
        )
        process.start()
        process.join()
    return process.exitcode


def _release_as(user: int, groups: list[int], spare: Path, policy: Path, slot: str, killed: bool) -> None:
    job.release(Request(spare, SLOT), draw_key)  # imports what other users may not be able to read
    os.umask(0o077)
    os.setgroups(groups)
    os.setgid(user)
    os.setuid(user)
    if killed:
        setattr(publisher, "publish", lambda *_: os._exit(STOPPED))  # noqa: B010
    try:
        job.release(Request(policy, slot), draw_key)
    except EnvironmentFault:
        os._exit(REFUSED)


@only_root
@readable
def test_members_of_a_team_go_on_with_what_another_began_and_others_can_not(office: Workshop) -> None:
    assert release_as(OUTSIDER, [], office, "2030-01-01") == REFUSED
    assert release_as(ANNE, [TEAM], office, "2030-01-01") == SUCCESS
    assert release_as(ANNE, [TEAM], office, "2030-01-02", killed=True) == STOPPED
    assert release_as(BERT, [TEAM], office, "2030-01-02") == SUCCESS
    assert [str(entry.state) for entry in open_ledger(office.ledger, None).entries()] == ["published"] * 2
    for slot in ("2030-01-01", "2030-01-02"):
        assert {mode(path) for path in office.release_dir(slot).iterdir()} == {0o644}
    private = office.root / "ledger" / "private"
    assert mode(private) == mode(office.root / "ledger") == 0o2770
    assert {mode(path) for path in (*private.iterdir(), office.root / "ledger" / "ledger.db")} == {0o660}
    assert {path.stat().st_gid for path in (private, *private.iterdir())} == {TEAM}
