"""Worker processes: the same counts and faults as one process, whichever of them are lost."""

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.errors import FileFault
from crowdgate.histogram import Histogram, View
from crowdgate.sources import files, open_source, parquet, workers
from crowdgate.sources.counting import CountingTask, PartialCounts, count_table
from crowdgate.sources.workers import _receive, executor_of, part_groups
from tests.examples import examples
from tests.sources.test_sources import WORDS, attribute, contract_of, write


@dataclass(frozen=True)
class SizedPart:
    """A part of the table of which only the size is known."""

    number: int
    size: int

    def read(self, columns: Sequence[str], unique: Sequence[str]) -> Any:
        raise NotImplementedError


@settings(max_examples=examples(100), deadline=None)
@given(sizes=st.lists(st.integers(0, 100), max_size=30), most=st.integers(1, 9))
def test_groups_hold_each_part_once_and_in_order(sizes: list[int], most: int) -> None:
    parts = [SizedPart(number, size) for number, size in enumerate(sizes)]
    groups = part_groups(parts, most)
    assert [part for group in groups for part in group] == parts
    assert len(groups) <= most
    assert all(groups)


@pytest.mark.parametrize("total", [200, 203, 439_418_300])
def test_parts_of_one_size_are_divided_evenly(total: int) -> None:
    """Sizes of parts that add up to that of a file may differ by one."""
    parts = [SizedPart(i, total * (i + 1) // 40 - total * i // 40) for i in range(40)]
    assert [len(group) for group in part_groups(parts, 8)] == [5] * 8


def damaged(path: Path) -> None:
    """Make the length of a text in a file without a dictionary wrong."""
    pq.write_table(pa.table({"x": [f"text {i}" for i in range(500)]}), path, compression="NONE", use_dictionary=False)
    content = bytearray(path.read_bytes())
    first = content.index(b"text 250")
    content[first - 4 : first] = b"\xff" * 4
    path.write_bytes(content)


def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (files, parquet):
        monkeypatch.setattr(module, "PART_ROWS", 1)


def counted(folder: Path, processes: int) -> PartialCounts:
    contract = contract_of(folder, attribute("x", WORDS))
    tree = contract.columns["x"].hierarchy
    assert tree is not None
    task = CountingTask(contract, ("x",), {"v": View({"x": tree.finest})})
    with executor_of(processes) as executor:
        return count_table(open_source(contract, ["x"]), task, executor(None))


@pytest.mark.thorough
def test_two_workers_count_what_one_process_counts_and_raise_its_first_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_parts(monkeypatch)
    for at in range(6):
        write(tmp_path / f"{at}.parquet", {"x": ["a", "b", "zz", None][: at + 1] * 5})
    one, two = counted(tmp_path, 1), counted(tmp_path, 2)
    assert vars(one.facts) == vars(two.facts)
    assert pickle.dumps(one.histograms) == pickle.dumps(two.histograms)
    for name in ("2.parquet", "4.parquet"):
        damaged(tmp_path / name)
    for processes in (1, 2):
        with pytest.raises(FileFault, match=r"^2\.parquet: the file can't be read to its end$"):
            counted(tmp_path, processes)


def histogram_of(sizes: Sequence[int], codes: Sequence[Sequence[int]], counts: Sequence[int]) -> Histogram:
    names = tuple(f"c{at}" for at in range(len(sizes)))
    return Histogram(names, tuple(sizes), tuple(map(np.array, codes)), np.array(counts, dtype=np.int64))


def test_an_answer_that_a_lost_worker_did_not_finish_is_none() -> None:
    """Every truncation, as the worker may be killed at any byte."""

    @dataclass
    class Ended:
        stdout: BytesIO

    answer = pickle.dumps({"v": histogram_of([3, 4], [[0, 1, 2], [1, 0, 3]], [5, 1, 70000])}, 5)
    for size in range(len(answer)):
        assert _receive(Ended(BytesIO(answer[:size]))) is None  # type: ignore[arg-type]
    assert _receive(Ended(BytesIO(answer))) is not None  # type: ignore[arg-type]


@settings(max_examples=examples(100), deadline=None)
@given(counts=st.lists(st.integers(1, 2**62), min_size=1, max_size=6))
def test_a_histogram_is_the_same_after_its_way_between_processes(counts: list[int]) -> None:
    size = len(counts)
    held = histogram_of([size, 1 << 40, 1 << 40], [list(range(size)), [7] * size, [1 << 39] * size], counts)
    found: Histogram = pickle.loads(pickle.dumps(held))
    assert (found.names, found.sizes) == (held.names, held.sizes)
    assert all(np.array_equal(*each) for each in zip(found.codes, held.codes, strict=True))
    assert found.counts.tolist() == counts
    assert found.counts.dtype == np.int64


def test_a_table_of_one_part_is_counted_in_this_process() -> None:
    """A stream can't be sent anywhere."""
    given: list[Any] = []
    counter: Any = lambda parts, _: given.append(parts)  # noqa: E731
    with executor_of(2) as executor:
        list(executor(None)(counter, [SizedPart(0, 5)]))
    assert given == [[SizedPart(0, 5)]]


UNREAD = """\
import sys
from crowdgate.sources import worker
sys.exit(str({"pydantic", "yaml", "sqlalchemy", "cryptography", "pandas"} & sys.modules.keys()))
"""


def test_a_worker_imports_nothing_that_reads_documents() -> None:
    """It starts while the run prepares, on the same cores."""
    ended = subprocess.run([sys.executable, "-c", UNREAD], capture_output=True, text=True, check=False)
    assert ended.stderr == "set()\n"


UNDUMPED = """\
import ctypes, resource
from crowdgate.sources import worker
state = lambda: (resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
worker._answer = lambda *_: RuntimeError(str(state() == ((0, 0), 0)))
worker.main()
"""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the flag")
def test_a_worker_can_not_be_dumped_when_it_gets_its_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_COMMAND", (sys.executable, "-c", UNDUMPED))
    small_parts(monkeypatch)
    for name in ("0", "1"):
        write(tmp_path / f"{name}.parquet", {"x": ["a"]})
    with pytest.raises(RuntimeError, match=r"^True$"):
        counted(tmp_path, 2)


SPEAKING = """\
import os
from crowdgate.sources import worker
def fail(parts, progress):
    raise RuntimeError(str(sorted(os.environ)))
answer = worker._answer
worker._answer = lambda counter, parts: WHAT
worker.main()
"""
SECRETS = (
    "CROWDGATE_SIGNING_KEY", "CROWDGATE_SIGNING_PASSPHRASE", "CROWDGATE_LEDGER", "CROWDGATE_EVENT_WEBHOOK",
    "PGPASSWORD", "PGPASSFILE", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "CREDENTIALS_DIRECTORY",
)  # fmt: skip


def failure(folder: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> str:
    """Return the text of a worker's error."""
    monkeypatch.setattr(workers, "_COMMAND", (sys.executable, "-c", SPEAKING.replace("WHAT", what)))
    small_parts(monkeypatch)
    for name in ("0", "1"):
        write(folder / f"{name}.parquet", {"x": ["a"]})
    with pytest.raises(RuntimeError) as caught:
        counted(folder, 2)
    return str(caught.value)


@pytest.mark.thorough
def test_a_worker_has_no_secret_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, "x")
    said = failure(tmp_path, monkeypatch, "RuntimeError(str(sorted(os.environ)))")
    assert "'PATH'" in said
    assert [name for name in SECRETS if f"'{name}'" in said] == []


@pytest.mark.thorough
def test_an_error_of_a_worker_is_its_type_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = failure(tmp_path, monkeypatch, "answer(fail, parts)")
    assert said == "a worker failed: RuntimeError"


STARTED = """\
import time
from crowdgate.sources import workers
started = []
workers.Popen = lambda *a, popen=workers.Popen, **k: started.append(popen(*a, **k)) or started[-1]
with workers.executor_of(2):
    print(*(each.pid for each in started), flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers end at their next question")
def test_workers_end_with_a_run_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", STARTED], stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        pids = [int(pid) for pid in run.stdout.readline().split()]
        os.kill(run.pid, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while any(_runs(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(pids) == 2
    assert not any(map(_runs, pids))


def _runs(pid: int) -> bool:
    """Return whether a process runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
