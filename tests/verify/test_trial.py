"""Files that crash the process which reads them are refused like any other, and so is the next one."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crowdgate.errors import VerificationFailed
from crowdgate.formats import parquet
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.releases import release as job
from crowdgate.verification.release import verify
from tests.forging import reseal
from tests.workshop import make_workshop


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workshop = make_workshop(tmp_path_factory.mktemp("trial") / "w")
    found = job.release(Request(workshop.policy, "2030-01-01"), draw_key).path
    assert found is not None
    return found


@pytest.mark.thorough
def test_no_flipped_bit_of_a_footer_ends_the_verification(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some bits crash pyarrow's reader, past any `except`: bits around a codec, some others, and the good file after
    them.
    """
    started = count_starts(monkeypatch)
    whole = (published / "data.parquet").read_bytes()
    begins = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    copy = Path(shutil.copytree(published, tmp_path / "copy"))
    around = range(8 * (begins + 72), 8 * (begins + 77))
    for at in (*around, *range(8 * begins, 8 * len(whole), 97)):
        changed = bytearray(whole)
        changed[at // 8] ^= 1 << at % 8
        (copy / "data.parquet").write_bytes(changed)
        reseal(copy)
        with pytest.raises(VerificationFailed, match="step 6, contents: "):
            verify(copy)
    assert verify(published)
    assert len(started) > 1


def count_starts(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The processes that read files first, from now on."""
    started: list[object] = []
    monkeypatch.setattr(parquet._TRIAL, "process", None)
    real = subprocess.Popen

    def popen(*arguments: Any, **options: Any) -> Any:
        started.append(arguments)
        return real(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", popen)
    return started


def test_a_folder_of_any_name_is_verified(published: Path, tmp_path: Path) -> None:
    folder = tmp_path / b"not \xff text".decode(errors="surrogateescape")
    try:
        shutil.copytree(published, folder)
    except OSError:
        pytest.skip("this file system takes no such name")
    assert verify(folder)


def test_a_good_file_is_read_right_after_one_that_ended_its_reader(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that dies at once is no reason to refuse what comes next."""
    program = tmp_path / "trial.py"
    program.write_text("import os, sys\nsys.stdin.readline()\nos.abort()\n", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(parquet._TRIAL, "process", None)
        patch.setattr(parquet, "__file__", str(tmp_path / "parquet.py"))
        with pytest.raises(VerificationFailed, match=r"data\.parquet: unreadable"):
            verify(published)
        assert parquet._TRIAL.process is None
    assert verify(published)


def test_the_process_imports_no_numpy(published: Path) -> None:
    """pyarrow imports it where it is installed, which took half of the time until the first answer."""
    command = [sys.executable, "-P", "-X", "importtime", str(Path(parquet.__file__).with_name("trial.py"))]
    asked = json.dumps([str(published / "data.parquet"), 1_000_000])
    ended = subprocess.run(command, input=f"{asked}\n", capture_output=True, text=True, check=True)
    assert ended.stdout == "yes\n"
    assert "pyarrow.lib" in ended.stderr
    assert "numpy.linalg" not in ended.stderr
