"""Permissions under any umask: private files are their owner's, published ones are readable by all."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.system import permissions
from crowdgate.system.permissions import Access
from tests.audit.workshop import Town, make_town, only_few_controls
from tests.workshop import crowdgate

MASKS = (0o000, 0o077)
SLOT = "2020-01-01"
ID = f"clinic/1/{SLOT}"
PRIVATE_FOLDERS = {"ledger", "private", ".crowdgate-staging"}
PRIVATE_FILES = {"holder.key", "record.md"}
SAID = ("--words", "Towns", "--coverage", "1", "--error", "0", "--as-of", SLOT, "--public", "--to", "kl")
DECISION = ("--of", "age", "--decision", "collect", "--reason", "enough", "--by", "board", "--rests-on", "a prediction")
MADE = {
    "anonymity.html", "audit.html", "audits/clinic/1", "copy/crowdgate.toml", "copy/data_contracts/census_income.yaml",
    "copy/ledger/ledger.db", "copy/policies/budgets", "holder.key", "holder.key.pub", "kl/.crowdgate-staging",
    "ledger/figures",
    "kl/index.dsse.json", "ledger/ledger.db-wal", "ledger/ledger.db-shm", "ledger/private", "plan.md",
    "policies/decisions", "record.md", f"releases/{ID}/data.parquet", f"releases/{ID}/manifest.json",
    "releases/.crowdgate-staging", "releases/catalogue.dsse.json",
}  # fmt: skip


@pytest.fixture(params=MASKS, ids=oct)
def mask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Town]:
    """Make a working copy in advance."""
    made = make_town(tmp_path / "town", gates="")
    monkeypatch.chdir(made.root)
    with only_few_controls():
        yield made


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def live(town: Town) -> None:
    """Make every kind of file, with the commands themselves."""
    assert crowdgate("init", "copy") == 0
    assert crowdgate("keys", "create", "holder.key") == 0
    settings = town.root / "crowdgate.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + 'signing_key = "holder.key"\n', encoding="utf-8")
    assert crowdgate("ledger", "sign") == 0
    assert crowdgate("audit", town.policy, "--jobs", 1, "--page", "audit.html") in (0, 3)
    assert crowdgate("audit", town.policy, "--jobs", 1, "--on-confidential") == 0
    assert crowdgate("plan", town.policy, "--page", "plan.md") == 0
    assert crowdgate("release", town.policy, "--as-of", SLOT) == 0
    assert crowdgate("record", "show", ID, "--page", "record.md") == 0
    assert crowdgate("anonymity", town.population, "--up-to", 1, "--page", "anonymity.html") == 0
    assert crowdgate("anonymity", town.contract, "--up-to", 1) == 0
    assert crowdgate("kl", "publish", town.population, "--of", "age=50 years,ward", *SAID) == 0
    assert crowdgate("kl", "decide", town.contract, *DECISION) == 0


def expected(path: Path) -> int:
    """Return the expected mode of a path of a working copy."""
    private = PRIVATE_FOLDERS.intersection(path.parts) or path.name in PRIVATE_FILES
    folder, file = (0o700, 0o600) if private else (0o755, 0o644)
    return folder if path.is_dir() else file


@pytest.mark.thorough
def test_what_the_commands_make_has_its_mode_whatever_the_umask(town: Town, mask: int) -> None:
    there = set(town.root.rglob("*"))
    live(town)
    with closing(sqlite3.connect(town.root / "ledger" / "ledger.db")) as reader:
        reader.execute(
            "SELECT name FROM sqlite_master"
        ).fetchall()  # while somebody reads, the log lies beside the ledger
        made = {path.relative_to(town.root) for path in set(town.root.rglob("*")) - there}
        assert set(map(Path, MADE)) <= made
        wrong = {str(path): oct(mode(path)) for path in made if mode(path) != expected(path)}
    assert wrong == {}
    assert os.umask(mask) == mask


MODES = st.sampled_from((0o700, 0o755, 0o777, 0o2700, 0o2755, 0o2775, 0o2770, 0o770))


@pytest.mark.parametrize("access", [permissions.OWNERS, permissions.PRIVATE, permissions.PUBLIC])
@given(umask=st.integers(0, 0o777), parent=MODES)
def test_a_mode_depends_on_the_folder_alone(
    tmp_path_factory: pytest.TempPathFactory, access: Access, umask: int, parent: int
) -> None:
    root = tmp_path_factory.mktemp("made")
    root.chmod(parent)
    before = os.umask(umask)
    try:
        permissions.make_folder(root / "folder", access)
        os.close(permissions.open_file(root / "file", os.O_WRONLY | os.O_EXCL, access))
    finally:
        os.umask(before)
    team = parent & 0o2020 == 0o2020
    assert permissions.is_shared(root) == team
    assert mode(root / "file") == (access.team_file if team else access.file)
    assert mode(root / "folder") == (access.team_folder if team else access.folder)


def test_what_is_private_is_for_no_others_and_what_is_public_is_read_by_all() -> None:
    for access in (permissions.OWNERS, permissions.PRIVATE):
        bits = (access.folder, access.file, access.team_folder, access.team_file)
        assert not any(each & 0o007 for each in bits)
        assert not (access.folder | access.file) & 0o077
    assert permissions.PUBLIC.file == permissions.PUBLIC.team_file == 0o644
    assert permissions.PUBLIC.folder & permissions.PUBLIC.team_folder & 0o555 == 0o555


def test_in_the_folder_of_a_team_a_signing_key_is_its_owners_alone(tmp_path: Path) -> None:
    team = tmp_path / "team"
    team.mkdir()
    team.chmod(0o2775)
    assert crowdgate("keys", "create", team / "holder.key") == 0
    assert (mode(team / "holder.key"), mode(team / "holder.key.pub")) == (0o600, 0o644)


def test_folders_that_are_there_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(0o750)
    assert permissions.make_folders(tmp_path / "there" / "a" / "b", permissions.RELEASE) == [
        tmp_path / "there" / "a",
        tmp_path / "there" / "a" / "b",
    ]
    assert mode(tmp_path / "there") == 0o750
    assert permissions.make_folders(tmp_path / "there" / "a" / "b", permissions.RELEASE) == []


def test_a_new_file_whose_mode_can_not_be_set_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchmod", refuses)
    before = os.umask(0o777)
    try:
        with pytest.raises(PermissionError):
            permissions.open_file(tmp_path / "new", os.O_WRONLY | os.O_EXCL, permissions.PRIVATE)
    finally:
        os.umask(before)
    assert list(tmp_path.iterdir()) == []
