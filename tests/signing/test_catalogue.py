"""The catalogue: releases that are removed from a destination, replaced or added are detected."""

import json
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.errors import EnvironmentFault, LedgerRefused, VerificationFailed
from crowdgate.ledger.ledger import Ledger, create, open_ledger
from crowdgate.planning import catalogue
from crowdgate.planning.catalogue import NAME, verify_catalogue, write_catalogue
from crowdgate.publish import locking
from crowdgate.publish.file_names import STAGING
from crowdgate.signing import keys
from crowdgate.signing.keys import SigningKey
from crowdgate.signing.statement import CatalogueStatement
from tests.examples import examples
from tests.signing.desk import commit, new_key, private_pem, publish
from tests.workshop import Workshop, crowdgate

FIRST, SECOND, THIRD = "clinic/1/2030-01-01", "clinic/1/2030-01-02", "ward/2/2030-01-01T0600Z"


@dataclass(frozen=True)
class Desk:
    """A working copy with a ledger, a destination and a key."""

    home: Path
    ledger: Ledger
    key: SigningKey

    @property
    def root(self) -> Path:
        return self.home / "releases"

    def write(self) -> CatalogueStatement:
        return write_catalogue(self.root, self.home, self.ledger, self.key)

    def verify(self) -> CatalogueStatement:
        return verify_catalogue(self.root, [self.key.public])


def make_desk(home: Path, *published: str) -> Desk:
    home.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{home}/ledger.db"
    desk = Desk(home, open_ledger(url, create(url, "test")), new_key())
    for release_id in published:
        publish(desk.ledger, home, release_id)
    return desk


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Make three published releases and their catalogue once: every change of a ledger waits for the disk."""
    made = make_desk(tmp_path_factory.mktemp("template") / "home", FIRST, SECOND, THIRD)
    made.write()
    return made


@pytest.fixture
def desk(template: Desk, tmp_path: Path) -> Desk:
    """A copy of the template."""
    shutil.copytree(template.home, tmp_path / "home")
    return Desk(tmp_path / "home", open_ledger(f"sqlite:///{tmp_path}/home/ledger.db", None), template.key)


# What it lists


def test_it_lists_what_the_ledger_published_there_and_where_the_ledger_is(desk: Desk) -> None:
    found = desk.verify()
    entries = {entry.release_id: entry.manifest_digest for entry in desk.ledger.entries()}
    assert found.releases() == entries
    assert list(entries) == [FIRST, SECOND, THIRD]
    assert found.predicate.ledger.digest == desk.ledger.verify().digest
    assert found.predicate.ledger.line == len(desk.ledger.journal())
    assert found.predicate.ledger.id == desk.ledger.id


def test_what_is_not_published_or_published_elsewhere_is_not_listed(tmp_path: Path) -> None:
    desk = make_desk(tmp_path / "home", FIRST)
    commit(desk.ledger, desk.home, "releases", SECOND)
    publish(desk.ledger, desk.home, THIRD, "elsewhere")
    publish(desk.ledger, desk.home, "clinic/1/2030-01-03", "releases/below")
    publish(desk.ledger, desk.home, "clinic/1/2030-01-04", str(tmp_path / "apart"))
    assert list(desk.write().releases()) == [FIRST]
    assert list(write_catalogue(tmp_path / "apart", desk.home, desk.ledger, desk.key).releases()) == [
        "clinic/1/2030-01-04"
    ]


def test_the_directory_is_never_asked(desk: Desk) -> None:
    shutil.rmtree(desk.root / SECOND)
    shutil.copytree(desk.root / FIRST, desk.root / "clinic/1/2030-02-02")
    assert list(desk.write().releases()) == [FIRST, SECOND, THIRD]


def test_the_same_ledger_gives_the_same_bytes_dated_by_the_last_slot(desk: Desk) -> None:
    before = (desk.root / NAME).read_bytes()
    desk.write()
    assert (desk.root / NAME).read_bytes() == before
    assert (desk.root / NAME).stat().st_mtime == 1893542400  # 2030-01-02
    assert stat.S_IMODE((desk.root / NAME).stat().st_mode) == 0o644
    assert os.listdir(desk.root / STAGING) == []


@pytest.mark.thorough
@settings(max_examples=examples(8), deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 9)), min_size=1, max_size=4, unique=True))
def test_what_was_written_verifies(some: list[tuple[str, int]]) -> None:
    ids = [f"{name}/1/2030-01-0{day}" for name, day in some]
    with tempfile.TemporaryDirectory() as folder:
        desk = make_desk(Path(folder), *ids)
        desk.write()
        assert list(desk.verify().releases()) == sorted(ids)


# What it finds out


def edit(path: Path) -> None:
    path.write_text("another\n")


def removed(place: Path) -> Path:
    """Remove a place, and return it."""
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()
    return place


def replace_by_link(place: Path, apart: Path) -> None:
    place.rename(apart)
    place.symlink_to(apart)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "release removed": (lambda root: shutil.rmtree(root / SECOND), f"{SECOND}/manifest.json: No such file"),
    "policy removed": (lambda root: shutil.rmtree(root / "ward"), f"{THIRD}/manifest.json: No such file"),
    "manifest removed": (lambda root: (root / SECOND / "manifest.json").unlink(), "No such file"),
    "manifest replaced": (lambda root: edit(root / SECOND / "manifest.json"), "its digest is .*; expected .*lists it"),
    "release replaced": (
        lambda root: shutil.copytree(root / FIRST, root / SECOND, dirs_exist_ok=True),
        f"{SECOND}/manifest.json: this manifest was changed: its digest is",
    ),
    "release smuggled in": (
        lambda root: shutil.copytree(root / FIRST, root / "clinic/1/2030-02-02"),
        "clinic/1/2030-02-02: not listed",
    ),
    "policy smuggled in": (lambda root: shutil.copytree(root / "ward", root / "wards"), "releases/wards: not listed"),
    "release inside a release": (
        lambda root: shutil.copytree(root / FIRST, root / SECOND / "more"),
        f"{SECOND}/more: not listed",
    ),
    "empty folder": (lambda root: (root / "clinic" / "2").mkdir(), "clinic/2: not listed"),
    "file": (lambda root: edit(root / "data.csv"), "releases/data.csv: not listed"),
    "file between": (lambda root: edit(root / "clinic" / "manifest.json"), "clinic/manifest.json: not listed"),
    "hidden file": (lambda root: edit(root / "clinic" / "1" / ".data"), "clinic/1/.data: not listed"),
    "staging elsewhere": (lambda root: (root / "clinic" / STAGING).mkdir(), "clinic/.crowdgate-staging: not listed"),
    "release that is a link": (
        lambda root: replace_by_link(root / SECOND, root.parent / "apart"),
        f"{SECOND}: not listed",
    ),
    "link": (lambda root: (root / "link").symlink_to(root / "clinic"), "releases/link: not listed"),
    "pipe": (lambda root: os.mkfifo(root / SECOND / "pipe"), f"{SECOND}/pipe: not listed"),
    "manifest that is a pipe": (
        lambda root: os.mkfifo(removed(root / SECOND / "manifest.json")),
        "manifest.json: a named pipe, not a regular file",
    ),
    "release that is a file": (lambda root: edit(removed(root / SECOND)), "Not a directory"),
    "name for a terminal": (lambda root: edit(root / "\x1b[2J"), r"\\x1b\[2J': not listed"),
    "name of no text": (lambda root: (root / os.fsdecode(b"\xff")).touch(), r"\\udcff': not listed"),
    "catalogue deleted": (lambda root: (root / NAME).unlink(), f"{NAME}: No such file"),
    "catalogue emptied": (lambda root: (root / NAME).write_bytes(b""), f"{NAME}: the file is not a signed envelope"),
    "catalogue that is a folder": (lambda root: removed(root / NAME).mkdir(), "a folder, not a regular file"),
    "catalogue that is a pipe": (lambda root: os.mkfifo(removed(root / NAME)), "a named pipe, not a regular file"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_what_differs_is_named(desk: Desk, case: str) -> None:
    damage, said = DAMAGE[case]
    damage(desk.root)
    with pytest.raises(VerificationFailed, match=said):
        desk.verify()


def test_a_link_in_place_of_catalogue_or_staging_is_named(desk: Desk) -> None:
    for name in (NAME, STAGING):
        replace_by_link(desk.root / name, desk.home / name)
    with pytest.raises(VerificationFailed) as found:
        desk.verify()
    assert [line.split(":")[0].rpartition("/")[2] for line in str(found.value).splitlines()] == [STAGING, NAME]


def test_everything_that_differs_is_named_at_once(desk: Desk) -> None:
    shutil.rmtree(desk.root / FIRST)
    edit(desk.root / SECOND / "manifest.json")
    edit(desk.root / "data.csv")
    with pytest.raises(VerificationFailed) as found:
        desk.verify()
    assert len(str(found.value).splitlines()) == 3


def test_other_files_of_a_release_and_staging_are_left_to_others(desk: Desk) -> None:
    edit(desk.root / SECOND / "data.csv")
    shutil.copytree(desk.root / FIRST, desk.root / STAGING / "test~clinic~1~2030-01-09")
    assert desk.verify()


def test_a_copy_elsewhere_verifies(desk: Desk, tmp_path: Path) -> None:
    shutil.copytree(desk.root, tmp_path / "copy", ignore=shutil.ignore_patterns(STAGING))
    assert verify_catalogue(tmp_path / "copy", [desk.key.public]) == desk.verify()


def test_another_key_is_refused_and_any_trusted_one_is_enough(desk: Desk) -> None:
    other = new_key().public
    with pytest.raises(VerificationFailed, match=f"{NAME}: signed by {desk.key.public.id}"):
        verify_catalogue(desk.root, [other])
    assert verify_catalogue(desk.root, [other, desk.key.public])


def test_an_older_catalogue_put_back_is_found_out_while_the_releases_stay(desk: Desk) -> None:
    before = (desk.root / NAME).read_bytes()
    publish(desk.ledger, desk.home, "clinic/1/2030-01-03")
    desk.write()
    (desk.root / NAME).write_bytes(before)
    with pytest.raises(VerificationFailed, match="clinic/1/2030-01-03: not listed"):
        desk.verify()
    shutil.rmtree(desk.root / "clinic/1/2030-01-03")  # what it can't find out; its line tells who kept the last one
    assert desk.verify().predicate.ledger.line < len(desk.ledger.journal())


# Writing


def test_nothing_to_list_is_refused(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(LedgerRefused, match="knows no release published at"):
        write_catalogue(tmp_path / "empty", desk.home, desk.ledger, desk.key)
    with pytest.raises(EnvironmentFault, match="No such file"):
        write_catalogue(tmp_path / "missing", desk.home, desk.ledger, desk.key)
    assert not (tmp_path / "missing").exists()


def test_a_list_never_grows_shorter(desk: Desk, tmp_path: Path) -> None:
    """Covers an older ledger restored, another ledger, and another working copy of the same name."""
    before = (desk.root / NAME).read_bytes()
    other = make_desk(tmp_path / "other", FIRST)
    with pytest.raises(LedgerRefused, match=f"lists {SECOND}, which the ledger {other.ledger.id} does not know"):
        write_catalogue(desk.root, desk.home, other.ledger, desk.key)
    assert (desk.root / NAME).read_bytes() == before
    (desk.root / NAME).unlink()
    assert list(write_catalogue(desk.root, desk.home, other.ledger, desk.key).releases()) == [FIRST]


@pytest.mark.parametrize("there", [b"", b"{}", b"x" * 9999])
def test_a_damaged_catalogue_is_written_anew(desk: Desk, there: bytes) -> None:
    (desk.root / NAME).write_bytes(there)
    desk.write()
    assert desk.verify()


def test_a_new_key_signs_the_next_catalogue(desk: Desk) -> None:
    new = Desk(desk.home, desk.ledger, new_key())
    new.write()
    assert new.verify()
    with pytest.raises(VerificationFailed):
        desk.verify()


def test_a_write_that_fails_leaves_the_old_one(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (desk.root / NAME).read_bytes()
    publish(desk.ledger, desk.home, "clinic/1/2030-01-03")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(EnvironmentFault, match="No space left"):
            desk.write()
    assert (desk.root / NAME).read_bytes() == before
    desk.write()
    assert "clinic/1/2030-01-03" in desk.verify().releases()


def test_whoever_reads_its_ledger_first_is_not_the_last_to_write(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run stops between its list and its file; another publishes meanwhile, and waits for the first."""
    listed, go = threading.Event(), threading.Event()
    replace = catalogue._replace

    def slow(*words: object) -> None:
        if not listed.is_set():
            listed.set()
            assert go.wait(10)
        replace(*words)  # type: ignore[arg-type]

    monkeypatch.setattr(catalogue, "_replace", slow)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(desk.write)
        assert listed.wait(10)
        publish(desk.ledger, desk.home, "clinic/1/2030-01-03")
        second = pool.submit(desk.write)
        with suppress(TimeoutError):
            second.result(0.2)
        assert not second.done()
        go.set()
        assert len(first.result().releases()) == 3
    assert len(desk.verify().releases()) == len(second.result().releases()) == 4


def test_many_runs_leave_a_list_of_all(tmp_path: Path) -> None:
    desk = make_desk(tmp_path / "home")

    def run(day: int) -> None:
        publish(desk.ledger, desk.home, f"clinic/1/2030-01-{day:02}")
        desk.write()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(1, 13)))
    assert len(desk.verify().releases()) == 12


def test_a_run_that_never_ends_is_not_waited_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "BUSY_SECONDS", 0)
    with (
        locking.locked(desk.root, catalogue.NAME),
        pytest.raises(EnvironmentFault, match="another run is writing it; try again"),
    ):
        desk.write()


# Commands


@pytest.fixture
def published(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A working copy with one release and a key."""
    monkeypatch.chdir(workshop.root)
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    assert crowdgate("keys", "create", "key") == 0
    workshop.edit(workshop.root / "crowdgate.toml", "ledger =", 'signing_key = "key"\nledger =')
    assert crowdgate("ledger", "sign") == 0
    return workshop


def test_the_commands_write_and_verify(published: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("catalogue", "write", "releases") == 0
    capsys.readouterr()
    assert crowdgate("catalogue", "verify", "releases", "--key", "key.pub", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["outcome"] == "verified"
    assert list(said["releases"]) == ["clinic/1/2030-01-01"]
    assert said["ledger"]["id"] == open_ledger(published.ledger, None).id
    assert crowdgate("verify", published.release_dir("2030-01-01"), "--ledger", published.ledger) == 0
    shutil.rmtree(published.release_dir("2030-01-01"))
    assert crowdgate("catalogue", "verify", "releases", "--key", "key.pub") == 6
    assert "releases/clinic/1/2030-01-01/manifest.json: No such file" in capsys.readouterr().err


def test_without_a_key_nothing_is_written(
    published: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    published.edit(published.root / "crowdgate.toml", 'signing_key = "key"\n', "")
    assert crowdgate("catalogue", "write", "releases") == 2
    assert "no key is named; expected signing_key" in capsys.readouterr().err
    pem = private_pem()
    monkeypatch.setenv("CROWDGATE_SIGNING_KEY", pem.decode())
    assert crowdgate("catalogue", "write", "releases", "--ledger", published.ledger) == 0
    (published.root / "env.pub").write_bytes(keys.signing_key(pem, "test").public.pem())
    assert crowdgate("catalogue", "verify", "releases", "--key", "key.pub") == 6
    assert crowdgate("catalogue", "verify", "releases", "--key", "key.pub", "--key", "env.pub") == 0
    assert crowdgate("catalogue", "verify", "releases", "--key", "key") == 2
    shown = "".join(capsys.readouterr())
    assert pem.decode().splitlines()[1] not in shown
    assert (published.root / "key").read_text().splitlines()[1] not in shown
