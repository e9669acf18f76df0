"""One function opens every file that a person can name, and refuses files that are not regular and bounded."""

import ast
import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from crowdgate.system.large_pages import read_in_large_pages
from crowdgate.system.regular_files import read_plain
from tests.workshop import Workshop, crowdgate, make_workshop

PACKAGE = Path(__file__).parents[2] / "pipeline" / "crowdgate"
OPENERS = {
    "open",
    "read_text",
    "read_bytes",
    "read_csv",
    "ParquetFile",
    "read_table",
    "memory_map",
    "OSFile",
    "fromfile",
}
OWN = {
    "system/regular_files.py": "the function itself",
    "formats/trial.py": "a program of its own process, with bounds, started after the file was opened here",
    "formats/parquet.py": "Arrow is handed the open file",
    "sources/parquet.py": "Arrow opens it again by its path, after it was opened here when the source was",
    "sources/csv.py": "Arrow is handed bytes",
    "sources/excel.py": "members of an archive that was opened here",
    "sources/worker.py": "the null device, and its own standard output",
    "releases/table_from_frame.py": "a new file in a folder that only its owner opens",
    "releases/frames_of_release.py": "a release that was verified just before",
    "contracts/domains.py": "the reader of small CSV files, which stands on read_plain",
    "contracts/joint.py": "the reader of small CSV files, which stands on read_plain",
    "contracts/standard.py": "a schema in an installed package",
    "review/lint/codes.py": "a bundled page",
    "releases/working_copy.py": "the bundled budgets, as they were just copied",
    "releases/schedule.py": "the bundled schedules, as they were just copied",
    "releases/schedule_upgrade.py": "schedules that were read with bounds just before",
    "releases/working_copy_upgrade.py": "the bundled schemas",
    "report/html.py": "a bundled style sheet",
    "system/atomic_file.py": "new files in a locked folder",
    "review/candidate_files.py": "a new file that is written",
    "review/templates/new_policy.py": "a new file that is written",
    "review/templates/draft_sources.py": "a new file that is written",
    "releases/rehearsal/rehearse.py": "a private record in the scratch folder of the rehearsal",
    "ledger/postgresql/migrations.py": "bundled SQL files",
    "ledger/postgresql/catalog.py": "a bundled list of a schema's objects",
    "ledger/position.py": "the modules of the rules, of which it takes the digest",
    "system/installed_code.py": "the installed code, of which it takes the digest",
    "review/schemas/reference.py": "pages of the reference that are generated",
    "anonymity/kl/web.py": "a URL, with bounds of its own",
    "operations/post.py": "a URL of the settings",
    "system/permissions.py": "files that are made",
    "system/fsync.py": "a folder that is synced",
    "system/abandoned_paths.py": "what runs made",
    "system/temporary_folder.py": "folders that runs made in the private folder",
    "publish/locking.py": "the staging folder",
    "publish/live_files.py": "claims and reserved space in the staging folder",
    "publish/publisher.py": "files that are staged",
    "releases/whole_releases/traces.py": "Arrow is handed the open file of a temporary release",
}
"""Files that may call functions which open files, each with the reason why no person can name their paths."""


@pytest.mark.thorough
def test_nothing_else_opens_a_file() -> None:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
            if name in OPENERS:
                found.add(path.relative_to(PACKAGE).as_posix())
    assert found <= set(OWN), f"{found - set(OWN)} must read by crowdgate.system.regular_files"
    assert set(OWN) <= found, f"{set(OWN) - found} opens nothing any more"


@pytest.fixture(autouse=True)
def _hang() -> Iterator[None]:
    """Fail a read that waits for a writer, or does not end."""

    def late(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"still reading after signal {number}: {frame}")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 << 30)


def _socket(path: Path) -> None:
    home = Path.cwd()
    os.chdir(path.parent)  # a socket's name has at most 107 characters
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(home)


PLANTED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a named pipe": (os.mkfifo, "a named pipe, not a regular file"),
    "a link to a device": (lambda path: path.symlink_to("/dev/zero"), "a device, not a regular file"),
    "a folder": (Path.mkdir, "a folder, not a regular file"),
    "a socket": (_socket, "No such device or address"),
    "a sparse file of 3 GiB": (_sparse, "larger than"),
    "a link to nothing": (lambda path: path.symlink_to("nothing"), "No such file"),
}


@pytest.mark.parametrize("what", PLANTED)
def test_what_is_no_regular_file_of_a_bounded_size_is_refused(what: str, tmp_path: Path) -> None:
    plant, said = PLANTED[what]
    plant(tmp_path / "file")
    for read in (read_plain, read_in_large_pages):
        with pytest.raises(OSError, match=said):
            read(tmp_path / "file", 1 << 20)


@pytest.mark.parametrize("size", [0, 1, (1 << 21) - 1, 1 << 21, (1 << 21) + 1])
def test_large_pages_hold_the_bytes_of_the_file(size: int, tmp_path: Path) -> None:
    data = np.random.default_rng(size).bytes(size)
    (tmp_path / "file").write_bytes(data)
    found = read_in_large_pages(tmp_path / "file", size)
    assert found == data
    assert found.readonly


def test_a_file_whose_size_says_nothing_is_read_up_to_its_bound() -> None:
    if not Path("/proc/self/pagemap").exists():
        pytest.skip("no /proc here")
    with pytest.raises(OSError, match="larger than 1 MiB"):
        read_plain(Path("/proc/self/pagemap"), 1 << 20)


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    made = make_workshop(tmp_path)
    monkeypatch.chdir(made.root)
    return made


NAMED = {
    "the policy": "policies/clinic.yaml",
    "the contract": "data_contracts/clinic.yaml",
    "the margins": "data_contracts/ward.csv",
    "the budget": "policies/budgets/clinic.yaml",
    "the settings": "crowdgate.toml",
    "the ledger": "ledger/ledger.db",
    "the table": "data_contracts/patients.parquet",
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", ["a named pipe", "a link to a device", "a sparse file of 3 GiB"])
@pytest.mark.parametrize("name", NAMED)
def test_commands_end_with_an_error_that_names_the_file(
    name: str, what: str, workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    path = workshop.root / NAMED[name]
    assert path.exists()
    path.unlink()
    PLANTED[what][0](path)
    codes = [
        crowdgate("check", workshop.policy),
        crowdgate("plan", workshop.policy),
        crowdgate("release", workshop.policy, "--as-of", "2030-01-01"),
    ]
    printed = capsys.readouterr()
    assert "a fault in crowdgate itself" not in printed.err
    assert codes[2] in {"the ledger": (1, 5), "the table": (4,)}.get(name, (2,))
    if name not in ("the ledger", "the table"):
        assert codes[0] == 2
    assert path.name in printed.out + printed.err or path.stem in printed.err
