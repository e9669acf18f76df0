"""Releases counted on a Dask cluster: the bytes of one process, whatever happens to workers and scheduler; nothing
confidential in the output and the state of the cluster."""

import os
import random
import secrets
import signal
import socket
import threading
import warnings
from collections import UserDict
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from crowdgate.errors import ConfigurationError, EnvironmentFault, FileFault
from crowdgate.histogram import View
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.noise import NoiseSource
from crowdgate.planning.plan import bundle_of
from crowdgate.releases import release as job
from crowdgate.sources import cluster as clusters
from crowdgate.sources import cluster_connection, open_source
from crowdgate.sources.cluster import ClusterWarning, _answers, check_cluster, cluster_executor
from crowdgate.sources.cluster_tasks import (
    GroupCounts,
    WorkerState,
    add_groups,
    count_group,
    sealed,
    unseen_files,
    versions,
)
from crowdgate.sources.counting import CountingTask, _Counter
from crowdgate.sources.source import TablePart
from tests.clusters import ALL_MESSAGES, WORKER, cluster
from tests.releases.test_partitions import MODES, PERSON, ROWS, recorded, small_parts, staged, ten_parts
from tests.servers import wait_for
from tests.sources.test_sources import WORDS, attribute, contract_of, write
from tests.sources.test_workers import damaged
from tests.workshop import MARK, Workshop, crowdgate, make_workshop, write_parquet

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.thorough
FAULTY = """\
import itertools, os, random, time
from crowdgate.sources import counting
call, calls, draw = counting._Counter.__call__, itertools.count(), random.Random(os.getpid())
def count(self, parts, progress=None):
    number = next(calls)
    FAULT
    return call(self, parts, progress)
counting._Counter.__call__ = count
"""
"""The source of a worker with a fault where it counts; `number` is that of the group among its own."""
DYING = "os.kill(os.getpid(), 9)"


def worker(fault: str) -> str:
    """Return the program of a worker with a fault."""
    return FAULTY.replace("FAULT", fault) + WORKER


def working_copy(root: Path, mode: str = "rows") -> Workshop:
    workshop = make_workshop(root)
    policy, person = MODES[mode]
    workshop.policy.write_text(policy, encoding="utf-8")
    workshop.edit(workshop.budget, "epsilon: 6, delta: 0.03", "epsilon: 600, delta: 0.9")
    if person:
        workshop.edit(workshop.contract, *PERSON)
        workshop.edit(workshop.budget, "unit: row", 'unit: "person:patient"')
    return workshop


@pytest.fixture(autouse=True)
def recorded_noise_and_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    small_parts(monkeypatch)
    monkeypatch.setattr(
        job, "KeyedRandomness", lambda key: KeyedRandomness(key, vectors=NoiseSource(recorded, recorded))
    )


def test_a_cluster_gives_the_bytes_of_one_process(tmp_path: Path) -> None:
    """A fall-back to this process would be a warning, which is an error here. One worker is slow."""
    (data := tmp_path / "data").mkdir()
    ten_parts(data)
    with cluster(1) as made:
        made.add_worker(worker("time.sleep(.3 * (number == 3))"))
        for mode in ("rows", "rows of people", "tables of people"):
            workshop = working_copy(tmp_path / mode, mode)
            alone = staged(workshop, "2030-01-01", data)
            assert staged(workshop, "2030-01-02", data, made.address) == alone
            assert sum(map(len, alone.values())) > 500


SCENES: dict[str, tuple[str, list[str], bool]] = {
    "one worker is killed": ("rows", [DYING, "pass"], False),
    "one worker is killed, of people": ("rows of people", [DYING, "pass"], False),
    "all workers are killed": ("rows", [DYING], True),
    "the scheduler is killed": ("rows of people", ["os.kill(SCHEDULER, 9)"], True),
}
"""Modes of a release, faults of workers, and whether they leave this process to count."""


@pytest.mark.parametrize("scene", SCENES)
def test_what_is_killed_changes_no_byte(scene: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_connection, "_IDLE", 1)
    (data := tmp_path / "data").mkdir()
    mode, faults, falls_back = SCENES[scene]
    workshop = working_copy(tmp_path / "w", mode)
    alone = staged(workshop, "2030-01-01", ten_parts(data))
    with cluster() as made:
        scheduler = made.processes[0]
        for fault in faults:
            made.add_worker(worker(fault.replace("SCHEDULER", str(scheduler.pid))))
        with pytest.warns(ClusterWarning) if falls_back else nullcontext():
            there = staged(workshop, "2030-01-02", data, made.address)
        assert -signal.SIGKILL in [each.poll() for each in made.processes]
    assert there == alone


@pytest.mark.parametrize("hanging", ["the scheduler hangs", "the worker is short of memory"])
def test_a_cluster_that_hangs_is_lost(hanging: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that is short of memory takes no task, and stays connected."""
    monkeypatch.setattr(cluster_connection, "_IDLE", 1)
    monkeypatch.setattr(cluster_connection, "ANSWER", 1)
    for number in range(4):
        write(tmp_path / f"{number}.parquet", {"x": list("ab" * 30)})
    counter, parts = task_of(tmp_path)
    with cluster() as made:
        stop = f"os.kill({made.processes[0].pid}, {int(signal.SIGSTOP)})"
        if hanging == "the scheduler hangs":
            made.add_worker(worker(stop))
        else:
            made.add_worker("import sys; sys.argv += ['--memory-limit', '1MB']\n" + WORKER)
            wait_for(lambda: "Pausing worker" in made.output(1), made.folder / "1")
        with pytest.warns(ClusterWarning, match=r"did not count the table \(TimeoutError\)"):
            found = list(cluster_executor(made.address, None)(counter.value, parts))
    assert [each.facts.rows for each in found] == [240]


@pytest.mark.soak
@pytest.mark.parametrize("mode", ["rows", "rows of people"])
def test_fifty_releases_have_the_same_bytes_while_processes_are_killed_at_random(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers die at every third group. In every other run the scheduler is killed at a random moment: before the
    charge, the run is refused.
    """
    monkeypatch.setattr(cluster_connection, "_IDLE", 1)
    warnings.simplefilter("ignore", ClusterWarning)
    (data := tmp_path / "data").mkdir()
    workshop = working_copy(tmp_path / "w", mode)
    alone, draw, refused = staged(workshop, "2030-01-01", ten_parts(data)), random.Random(1), 0
    for run in range(50):
        slot = f"2031-{run // 25 + 1:02}-{run % 25 + 1:02}"
        with cluster() as made:
            for _ in range(3):
                made.add_worker(worker(f"draw.random() < 1 / 3 and {DYING}"))
            if run % 2:
                threading.Timer(draw.random() * 3, made.processes[0].kill).start()
            try:
                found = staged(workshop, slot, data, made.address)
            except AssertionError:  # another error than that of the injected key
                assert made.processes[0].wait(10) == -signal.SIGKILL
                refused += 1
                found = staged(workshop, slot, data)
            assert found == alone
    assert refused < 25


@pytest.mark.parametrize("mode", ["rows", "rows of people"])
def test_nothing_confidential_is_in_the_output_and_the_state_of_a_cluster(mode: str, tmp_path: Path) -> None:
    """Marks are in cells, in ids of people, in an error of counting, and in the value of a folder, which is a
    column.
    """
    (data := tmp_path / "data" / f"place={MARK}").mkdir(parents=True)
    rows = [{**row, "ward": MARK, "patient": f"{MARK}{row['patient']}"} for row in ROWS]
    for number in range(6):
        write_parquet(data / f"{number}.parquet", rows[number::6])
    workshop = working_copy(tmp_path / "w", mode)
    states: list[str] = []

    def look(*_: int) -> None:
        with distributed.Client(made.address, set_as_default=False) as client:
            client.dump_cluster_state(str(tmp_path / "state"), write_from_scheduler=False, format="yaml")
        states.append((tmp_path / "state.yaml").read_text(encoding="utf-8"))

    with cluster() as made:
        made.add_worker(worker(f"time.sleep(.2)\n    if number == 1: raise RuntimeError('{MARK}')"))
        request = Request(workshop.policy, "2030-01-01", input=data.parent, cluster=made.address)
        with pytest.warns(ClusterWarning, match="all parts of the table"):
            assert job.release(request, draw_key, look).outcome == "published"
        said = [made.output(number) for number in range(2)]
    assert all("crowdgate-count-" in each for each in states)
    assert any("crowdgate-merge-" in each for each in states) == (mode == "rows of people")
    assert all("INFO" in each for each in said)
    assert [each for each in [*states, *said] if MARK in each] == []


def faulty_folder(folder: Path) -> Path:
    """Return a folder of six files of which two are damaged."""
    folder.mkdir()
    for number in range(6):
        write(folder / f"{number}.parquet", {"x": ["a", "b"]})
    for number in (2, 4):
        damaged(folder / f"{number}.parquet")
    return folder


def test_a_fault_of_a_file_is_that_of_one_process(tmp_path: Path) -> None:
    counter, parts = task_of(faulty_folder(tmp_path / "data"))
    with cluster(1) as made, pytest.raises(FileFault, match=r"^2\.parquet: the file can't be read to its end$"):
        list(cluster_executor(made.address, None)(counter.value, parts))


def task_of(folder: Path) -> tuple[Any, Sequence[TablePart]]:
    """Return a sealed counter of a folder's column, and the parts of the folder."""
    contract = contract_of(folder, attribute("x", WORDS))
    tree = contract.columns["x"].hierarchy
    assert tree is not None
    task = CountingTask(contract, ("x",), {"v": View({"x": tree.finest})})
    return sealed(_Counter(task)), open_source(contract, ["x"]).parts


@pytest.fixture
def inside_a_worker(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Let tasks run in this process; return the settings of its worker's memory."""
    manager = SimpleNamespace(memory_target_fraction=False, memory_spill_fraction=False, data={})
    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(memory_manager=manager))
    return vars(manager)


def drawing(*_: object, **__: object) -> Any:
    raise AssertionError("a task draws random numbers")


def test_a_repeated_task_has_the_same_bytes_and_no_task_draws(
    tmp_path: Path, inside_a_worker: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    del inside_a_worker
    for owner, name in ((os, "urandom"), (secrets, "token_bytes"), (np.random, "default_rng"), (random, "random")):
        monkeypatch.setattr(owner, name, drawing)
    for name, rows in (("0", "ab" * 30), ("1", "bz" * 30)):
        write(tmp_path / f"{name}.parquet", {"x": list(rows)})
    counter, parts = task_of(tmp_path)
    groups = [sealed([part]) for part in parts]
    once, twice = ([count_group(n, versions(), counter, group) for n, group in enumerate(groups)] for _ in range(2))
    assert len(once) == 2
    assert once == twice
    assert add_groups((0, 1), versions(), once) == add_groups((0, 1), versions(), twice)


def test_a_worker_that_may_spill_counts_nothing(tmp_path: Path, inside_a_worker: dict[str, Any]) -> None:
    """Also one that joins the cluster later."""
    write(tmp_path / "0.parquet", {"x": ["a"]})
    counter, parts = task_of(tmp_path)
    assert count_group(7, versions(), counter, sealed(parts)).value.missing == ()
    for name, value in (("memory_spill_fraction", 0.7), ("memory_target_fraction", 0.6), ("data", UserDict())):
        before, inside_a_worker[name] = inside_a_worker[name], value
        found: GroupCounts = count_group(7, versions(), counter, sealed(parts)).value
        assert (found.counts, found.missing) == (None, (7,))
        inside_a_worker[name] = before


def test_a_worker_of_other_versions_counts_nothing(tmp_path: Path, inside_a_worker: dict[str, Any]) -> None:
    """One that joins the cluster after the check."""
    del inside_a_worker
    write(tmp_path / "0.parquet", {"x": ["a"]})
    counter, parts = task_of(tmp_path)
    once = count_group(0, versions(), counter, sealed(parts))
    assert any(each.startswith("pyarrow ") for each in versions())
    older = (*versions()[:-1], "pyarrow 1")
    for found in (count_group(0, older, counter, sealed(parts)), add_groups((0,), older, [once])):
        assert (found.value.counts, found.value.missing) == (None, (0,))


def test_workers_in_another_directory_see_a_table_of_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "0.parquet", {"x": ["a"]})
    monkeypatch.chdir(tmp_path)
    source: Any = open_source(contract_of(tmp_path, attribute("x", WORDS)), ["x"], Path("0.parquet"))
    monkeypatch.chdir("/")
    assert unseen_files(sealed(source.parts[0].slices)) == []


def test_an_argument_of_a_task_shows_its_type_alone() -> None:
    assert repr(sealed(MARK)) == "Sealed()"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


ADDRESS = "tcp://127.0.0.1:8786"
EXPECTED = "tls://HOST:PORT, or inside one machine tcp://localhost:PORT"
STATE = WorkerState(versions(), may_spill=False, logs_messages=False)
STATES: dict[str, tuple[WorkerState | Exception, list[str]]] = {
    "can't run Crowdgate (ModuleNotFoundError); install": (ModuleNotFoundError(MARK), []),
    "has Python 3, crowdgate 0; expected Python ": (replace(STATE, versions=("Python 3", "crowdgate 0")), []),
    "may write confidential counts to its disk; set ": (replace(STATE, may_spill=True), []),
    "logs messages, which hold confidential counts; set ": (replace(STATE, logs_messages=True), []),
    "does not see 0.parquet as this machine does; mount ": (STATE, ["0.parquet"]),
}


@pytest.mark.parametrize("words", STATES)
def test_a_worker_that_can_not_count_the_table_is_refused_in_one_sentence(
    words: str, workshop: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = "tcp://10.0.0.1:1", "tcp://10.0.0.2:1"
    state, unseen = STATES[words]
    monkeypatch.setattr(clusters, "_answers", lambda *_: (False, {good: STATE, bad: state}, {good: [], bad: unseen}))
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01", "--cluster", ADDRESS) == 1
    said = capsys.readouterr().err
    assert f"--cluster: the worker {bad} {words}" in said
    assert MARK not in said


def test_a_table_without_a_part_needs_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "_answers", lambda *_: (False, {ADDRESS: STATE}, {}))
    empty: Any = SimpleNamespace(parts=())
    counter: Any = lambda parts, _: len(parts)  # noqa: E731
    check_cluster(ADDRESS, empty)
    assert sum(cluster_executor(ADDRESS, None)(counter, empty.parts)) == 0  # type: ignore[arg-type]


BLIND = "from crowdgate.sources import cluster_tasks; cluster_tasks.has_changed = lambda _: 1 / 0\n"


def test_workers_say_what_makes_them_unfit(workshop: Workshop) -> None:
    contract = bundle_of(workshop.policy).contract
    ends = sealed([open_source(contract, ["age"]).parts[0].slices[0]])  # type: ignore[attr-defined]
    with cluster() as made:
        made.add_worker(DASK_DISTRIBUTED__WORKER__MEMORY__SPILL="0.7")
        made.add_worker(BLIND + WORKER)
        logs, states, unseen = _answers(made.address, ends)
        assert not logs
        assert sorted(map(str, states.values())) == [str(STATE), str(replace(STATE, may_spill=True))]
        assert sorted(unseen.values()) == [[], [workshop.data.name]]
        made.add_worker(**ALL_MESSAGES)
        _, states, unseen = _answers(made.address, ends)
    assert replace(STATE, logs_messages=True) in states.values()
    assert unseen == {}  # nobody was asked, as arguments are logged


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--cluster", "127.0.0.1:8786"), f"--cluster: '127.0.0.1:8786'; expected {EXPECTED}"),
        (("--cluster", "tcp://10.0.0.1:8786"), f"--cluster: 'tcp://10.0.0.1:8786'; expected {EXPECTED}"),
        (("--cluster", "tls://user:word@host:1"), f"--cluster: an address with credentials; expected {EXPECTED}"),
        (("--cluster", ADDRESS, "--workers", "2"), "--cluster: --workers as well; expected one of them"),
    ],
)
def test_a_wrong_command_line_is_refused(
    arguments: tuple[str, ...], words: str, workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01", *arguments) == 2
    assert words in capsys.readouterr().err


def test_a_table_that_is_not_in_files_is_refused(workshop: Workshop) -> None:
    """A database answers one query, and joins its tables itself; a table in memory is in this process."""
    request = Request(workshop.policy, "2030-01-01", cluster=ADDRESS, table=pq.read_table(workshop.data))
    with pytest.raises(ConfigurationError, match="not in files; expected a table in files, or --workers in place"):
        job.release(request, draw_key)


def uncharged(workshop: Workshop) -> None:
    """Check that nothing is charged or staged."""
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0


def test_a_scheduler_without_workers_or_out_of_reach_is_refused(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_connection, "_CONNECT", 1)
    with cluster() as made:
        cases = {
            made.address: "no worker is connected to",
            f"tcp://127.0.0.1:{free_port()}": r"no answer from the scheduler at \S+ \(OSError\); is it running",
        }
        for address, words in cases.items():
            with pytest.raises(EnvironmentFault, match=words):
                job.release(Request(workshop.policy, "2030-01-01", cluster=address), draw_key)
    uncharged(workshop)
