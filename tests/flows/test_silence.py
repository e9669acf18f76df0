"""Facts about a release that Prefect may know: names, paths, a slot, a public end. Nothing of the records, and no
count.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdgate.errors import Crashed, CrowdgateError
from crowdgate.kind import randomness
from crowdgate.kind.run import Request
from crowdgate.publish import publisher
from crowdgate.releases import release as job
from crowdgate.releases import staging
from crowdgate.releases.private_record import record_line
from crowdgate_flows import release as flow_file
from tests.flows.server import Seen, Server
from tests.workshop import MARK, Workshop, good_rows, make_workshop

SLOT = "2030-01-01"
COUNT = 10_587
"""The number of rows of the marked table, which no identifier, time or duration contains by chance."""
ENDS = {"published": "Completed", "withheld": "Withheld", "refused": "Refused", "crashed": "Crashed"}
COUNTED = re.compile(rf"(?<![\w.]){COUNT}(?!\w|\.\d)|10,587")


def marked_workshop(root: Path, end: str) -> Workshop:
    workshop = make_workshop(root)
    rows = good_rows(COUNT - 30)
    rows += [{**rows[0], "age": f"{MARK} age {i}", "ward": f"{MARK} ward {i}"} for i in range(30)]
    workshop.write(rows)
    if end == "withheld":
        workshop.edit(workshop.policy, "released_rows, at_least: 0", "released_rows, at_least: 90000")
    if end == "refused":
        workshop.edit(workshop.budget, "epsilon: 6", "epsilon: 1")
    return workshop


def _fails(*_: object) -> object:
    try:
        raise KeyError(f"{MARK} {COUNT}")
    except KeyError as error:
        raise RuntimeError(f"{MARK} {COUNT}") from error


@pytest.mark.thorough
def test_marked_values_and_counts_reach_nothing_that_prefect_stores_or_says(
    tmp_path: Path,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level("DEBUG")
    before = set(server.texts())
    runs: list[Seen] = []
    told: list[str] = []
    for end, name in ENDS.items():
        workshop = marked_workshop(tmp_path / end, end)
        if end == "crashed":
            monkeypatch.setattr(randomness, "bernoulli_subsampler", _fails)
        try:
            flow_file.run_release(Request(workshop.policy, SLOT))
        except CrowdgateError as error:
            told += _all_of(error)
        runs.append(server.last_run())
        assert runs[-1].state["name"] == name
        private = workshop.root / "ledger" / "private"
        assert (MARK in "".join(path.read_text() for path in private.glob("*"))) == (end == "crashed")
    server.settle(runs)

    stored = list(server.texts())
    assert any(f"clinic/1/{SLOT} was published" in text for text in stored)
    assert sum("Finished in state" in text for text in stored) >= len(ENDS)
    assert "Finished in state Failed" in caplog.text
    said = capfd.readouterr()
    for text in (*stored, *told, caplog.text, said.out, said.err):
        assert MARK not in text
        assert not COUNTED.search(text), text
    assert said.out == ""
    line = record_line(f"clinic/1/{SLOT}")
    assert [each for each in said.err.splitlines() if "record show" in each] == [line] * 3
    assert not any("record show" in text for text in (*stored, caplog.text))
    raw = server.raw()
    assert b"was published" in raw
    assert MARK.encode() not in raw
    assert [path for path in server.storage.rglob("*") if path.is_file()] == []
    assert not any("suppressed_share" in text for text in set(stored) - before)
    _only_public_facts(server, runs)


def _only_public_facts(server: Server, runs: list[Seen]) -> None:
    """Check that no state holds data, no task run records its inputs, and only verdicts have a page."""
    assert all(row["data"] in (None, "null") for row in server.query("SELECT data FROM flow_run_state"))
    for row in server.query("SELECT task_inputs FROM task_run"):
        assert '"value"' not in row["task_inputs"]
    pages = [page for run in runs for page in run.artifacts.values()]
    assert len(pages) == 2


def _all_of(error: BaseException | None) -> Iterator[str]:
    """Yield all texts of an exception, except local variables of its frames, which are not stored."""
    assert error is not None
    assert (error.__cause__, error.__context__) == (None, None)
    yield from (repr(error), str(error), repr(error.args), repr(vars(error)))


CRASH = f"""
from crowdgate_flows.command import main
from crowdgate.releases import release as job
from crowdgate.kind import randomness
def fails(*_):
    raise RuntimeError("{MARK}")
randomness.bernoulli_subsampler = fails
main()
"""


@pytest.mark.thorough
def test_a_process_of_its_own_prints_one_object_and_no_mark_even_at_debug(workshop: Workshop, server: Server) -> None:
    settings = {"PREFECT_API_URL": server.url, "PREFECT_INTERNAL_LOGGING_LEVEL": "DEBUG"}
    command = [sys.executable, "-c", CRASH, "release", str(workshop.policy), "--as-of", SLOT, "--json"]
    environment = {**os.environ, **settings, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert (ended.returncode, json.loads(ended.stdout)["code"]) == (1, "crashed")
    assert "DEBUG" in ended.stderr
    assert MARK not in ended.stderr


STEPS = {
    "reading": (job, "count_table"),
    "protecting": (randomness, "bernoulli_subsampler"),
    "staging": (publisher, "stage"),
    "withholding": (staging, "private_record"),
}


@pytest.mark.thorough
def test_a_crash_does_not_show_how_far_it_came(tmp_path: Path, server: Server) -> None:
    runs = []
    for name, (place, step) in STEPS.items():
        workshop = make_workshop(tmp_path / name)
        if name == "withholding":
            workshop.edit(workshop.policy, "released_rows, at_least: 0", "released_rows, at_least: 90000")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(place, step, _fails)
            with pytest.raises(Crashed):
                flow_file.run_release(Request(workshop.policy, SLOT))
        runs.append(server.last_run())
    server.settle(runs)
    sql = "SELECT name, state_name FROM task_run WHERE flow_run_id = ? ORDER BY start_time"
    for run in runs:
        tasks = [(row["name"].partition("-")[0], row["state_name"]) for row in server.query(sql, run.id)]
        before = [(step, "Completed") for step in ("prepare", "reserve")]
        assert tasks == [*before, ("protect", "Failed")]
        assert tuple(run.state) == tuple(runs[0].state)


@pytest.mark.thorough
def test_a_mistake_of_ours_before_reading_shows_its_type_only(
    workshop: Workshop, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "plan_release", _fails)
    with pytest.raises(CrowdgateError) as fault:
        flow_file.run_release(Request(workshop.policy, SLOT))
    assert MARK not in "".join(_all_of(fault.value))
    assert server.last_run().state["message"] == "a fault in crowdgate itself: RuntimeError"


def test_the_search_of_the_server_would_find_a_mark(tmp_path: Path) -> None:
    database = tmp_path / "prefect.db"
    connection = sqlite3.connect(database)
    with connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("CREATE TABLE log (id INTEGER, message TEXT)")
        connection.execute("INSERT INTO log VALUES (1, ?)", (f"{MARK}, {COUNT} rows.",))
    server = Server("", database, tmp_path)
    assert MARK.encode() in server.raw()
    assert any(MARK in text and COUNTED.search(text) for text in server.texts())
    connection.close()
