"""A release from its policy file to its end: published, withheld, refused, crashed."""

import json
import os
import re
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdgate.errors import Crashed, EnvironmentFault, FileFault, LedgerRefused
from crowdgate.histogram import scan
from crowdgate.kind import randomness
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.kind.run import Request, Result
from crowdgate.ledger import ledger as ledgers
from crowdgate.ledger import reservations
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import State, open_ledger
from crowdgate.publish import publisher
from crowdgate.publish.file_names import STAGING
from crowdgate.releases import release as job
from crowdgate.sampling import SecretKey
from crowdgate.sources import counting
from crowdgate.verification.release import verify
from tests.examples import examples
from tests.releases.killing import run_and_kill
from tests.workshop import MARK, Row, Workshop, crowdgate, good_rows, make_workshop, verified, write_csv, write_parquet

SLOT = "2030-01-01"


def run(workshop: Workshop, slot: str = SLOT, **changes: object) -> Result:
    return job.release(Request(workshop.policy, slot, **changes), draw_key)  # type: ignore[arg-type]


def entry_state(workshop: Workshop, slot: str = SLOT) -> State | None:
    entry = open_ledger(workshop.ledger, None).entry(f"clinic/1/{slot}")
    return None if entry is None else entry.state


def published_files(workshop: Workshop) -> list[str]:
    root = workshop.root / "releases"
    found = (path for path in root.rglob("*") if path.is_file() and path.suffix != ".head")
    return sorted(str(path.relative_to(root)) for path in found)


def test_a_release_is_published_and_holds_what_its_manifest_claims(workshop: Workshop) -> None:
    result = run(workshop)
    assert result.outcome == "published"
    assert result.path == workshop.release_dir(SLOT)
    names = ["README.md", "counts.csv", "data.csv", "data.parquet", "dictionary.csv", "manifest.json"]
    assert published_files(workshop) == [f"clinic/1/{SLOT}/{name}" for name in names]
    claims = verified(result.path, workshop.ledger)
    assert claims["data"]["rows"] == pq.read_table(result.path / "data.parquet").num_rows > 0
    assert entry_state(workshop) is State.PUBLISHED


def test_a_published_release_is_readable_by_all_and_dated_by_its_slot(workshop: Workshop) -> None:
    path = run(workshop).path
    assert path is not None
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o644 for file in path.iterdir())
    assert {file.stat().st_mtime for file in path.iterdir()} == {1893456000.0}
    assert stat.S_IMODE((workshop.root / "releases" / STAGING).stat().st_mode) == 0o700
    assert [path.suffix for path in (workshop.root / "releases" / STAGING).iterdir()] == [".head"]


def test_the_parquet_file_carries_no_index_and_no_label_of_suppressed_rows(workshop: Workshop) -> None:
    workshop.write([*good_rows(400), {"patient": "p", "age": 3, "ward": "unknown place", "note": ""}])
    path = run(workshop).path
    assert path is not None
    parquet = pq.ParquetFile(path / "data.parquet")
    assert parquet.schema_arrow.metadata is None
    assert parquet.schema_arrow.names == ["age", "ward"]
    raw = (path / "data.parquet").read_bytes()
    assert b"(invalid)" not in raw
    assert b"pandas" not in raw
    assert b"(invalid)" in (path / "dictionary.csv").read_bytes()


LIMITS = {
    "pso_bound": ("pso_bound, at_most: 1", "pso_bound, at_most: 0.001", "void"),
    "expected_singletons": ("expected_singletons, at_most: 4,", "expected_singletons, at_most: -1,", "void"),
    "singletons": ("singletons, at_most: 500,", "singletons, at_most: -500,", "charged"),
    "released_rows": ("released_rows, at_least: 0", "released_rows, at_least: 900", "charged"),
    "smallest_class": ("smallest_class, at_least: 1", "smallest_class, at_least: 999", "charged"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("measure", LIMITS)
def test_each_blocking_gate_withholds_when_its_limit_is_tightened(
    workshop: Workshop, measure: str, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new, end = LIMITS[measure]
    workshop.edit(workshop.policy, old, new)
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 3
    assert published_files(workshop) == []
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.split()[0] == "fail"]
    assert measure in line
    assert "must be at" in line
    spent = open_ledger(workshop.ledger, None).spent("clinic-patients").epsilon
    assert spent == (0 if end == "void" else 2)


def test_a_gate_that_could_not_measure_blocks(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "KeyedRandomness", _with_noise(float("nan")))
    assert run(workshop).outcome == "withheld"


def _with_noise(value: Any) -> object:
    return lambda key: KeyedRandomness(key, noise=lambda *_: value)


def test_a_second_run_of_a_published_id_reports_it_and_reads_nothing(workshop: Workshop) -> None:
    first = run(workshop)
    workshop.data.unlink()
    second = run(workshop)
    assert (second.outcome, second.path) == ("published", first.path)
    assert open_ledger(workshop.ledger, None).spent("clinic-patients").epsilon == 2


def test_a_working_copy_may_be_moved(workshop: Workshop, tmp_path: Path) -> None:
    run(workshop)
    moved = Workshop(workshop.root.rename(tmp_path / "elsewhere"))
    assert run(moved).path == moved.release_dir(SLOT)


def test_a_release_published_elsewhere_is_found_again(workshop: Workshop, tmp_path: Path) -> None:
    run_and_kill(workshop.policy, "publisher", "publish", "before", to=tmp_path / "to")
    assert run(workshop).path == tmp_path / "to" / "clinic" / "1" / SLOT


def test_a_second_run_of_a_withheld_id_reports_it(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, *LIMITS["released_rows"][:2])
    assert run(workshop).outcome == "withheld"
    workshop.data.unlink()
    assert run(workshop).outcome == "withheld"
    assert open_ledger(workshop.ledger, None).spent("clinic-patients").epsilon == 2


def test_a_published_release_whose_files_are_gone_is_lost(workshop: Workshop) -> None:
    path = run(workshop).path
    assert path is not None
    (path / "data.csv").unlink()
    with pytest.raises(LedgerRefused, match="lost") as refused:
        run(workshop)
    assert refused.value.code == "lost"


def test_another_policy_under_the_same_id_is_refused(workshop: Workshop) -> None:
    run(workshop)
    workshop.edit(workshop.policy, "owner: board", "owner: somebody")
    with pytest.raises(LedgerRefused, match="Give the changed policy a new version"):
        run(workshop)


@pytest.mark.thorough
def test_releases_end_with_exit_5_when_the_budget_is_spent_before_anything_is_read(
    workshop: Workshop, tmp_path: Path
) -> None:
    """For a table with unreadable rows, a run that reads ends with exit 4."""
    unread = make_workshop(tmp_path / "unread")
    make_rows_unreadable(unread.data)
    assert crowdgate("release", unread.policy, "--as-of", SLOT) == 4
    assert entry_state(unread) is State.RESERVED
    for day in range(1, 4):
        assert crowdgate("release", workshop.policy, "--as-of", f"2030-01-0{day}") == 0
    make_rows_unreadable(workshop.data)
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-04") == 5
    assert not workshop.release_dir("2030-01-04").exists()
    assert entry_state(workshop, "2030-01-04") is None


def make_rows_unreadable(path: Path) -> None:
    """Damage the checksums at the ends of the compressed data; footer and page headers stay."""
    pq.write_table(pq.read_table(path), path, compression="gzip", use_dictionary=False)
    group, content = pq.read_metadata(path).row_group(0), bytearray(path.read_bytes())
    for chunk in map(group.column, range(group.num_columns)):
        end = chunk.data_page_offset + chunk.total_compressed_size
        content[end - 8 : end] = bytes(8)
    path.write_bytes(content)


def test_a_deleted_ledger_is_no_new_budget(workshop: Workshop) -> None:
    (workshop.root / "ledger" / "ledger.db").unlink()
    assert crowdgate("release", workshop.policy) == 5
    assert not (workshop.root / "ledger" / "ledger.db").exists()


def test_a_ledger_of_another_id_is_refused(workshop: Workshop, tmp_path: Path) -> None:
    other = make_workshop(tmp_path / "other")
    assert crowdgate("release", workshop.policy, "--ledger", other.ledger) == 5


def test_a_locked_ledger_is_a_fault_of_the_machine(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    monkeypatch.setattr(ledgers, "PATIENCE", 0)
    holder = sqlite3.connect(workshop.root / "ledger" / "ledger.db", isolation_level=None)
    try:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(EnvironmentFault):
            run(workshop)
    finally:
        holder.close()


STEPS = [
    ("ledger", "reserve", "before", "free"),
    ("ledger", "reserve", "after", "held"),
    ("ledger", "begin_reading", "before", "held"),
    ("ledger", "begin_reading", "after", "spent"),
    ("job", "protect", "before", "spent"),
    ("job", "protect", "after", "spent"),
    ("job", "judge", "after", "spent"),
    ("publisher", "stage", "before", "spent"),
    ("publisher", "stage", "after", "spent"),
    ("ledger", "commit", "before", "spent"),
    ("ledger", "commit", "after", "published"),
    ("publisher", "publish", "before", "published"),
    ("publisher", "publish", "after", "published"),
    ("ledger", "published", "before", "published"),
    ("ledger", "published", "after", "published"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("holder", "name", "when", "end"), STEPS)
def test_a_run_killed_at_any_step_draws_and_publishes_at_most_once(
    workshop: Workshop, holder: str, name: str, when: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_and_kill(workshop.policy, holder, name, when)
    staged = _staged(workshop)
    if end in ("spent", "held"):
        with pytest.raises(LedgerRefused) as refused:
            run(workshop)
        assert refused.value.code == end
        assert published_files(workshop) == [] or all(STAGING in name for name in published_files(workshop))
        assert open_ledger(workshop.ledger, None).spent("clinic-patients").epsilon == 2
    if end == "spent":
        return
    monkeypatch.setattr(reservations, "LEASE_SECONDS", -1)
    result = run(workshop)
    assert result.path is not None
    verify(result.path, workshop.ledger)
    assert open_ledger(workshop.ledger, None).spent("clinic-patients").epsilon == 2
    if staged:
        assert {file.name: file.read_bytes() for file in result.path.iterdir()} == staged


def _staged(workshop: Workshop) -> dict[str, bytes]:
    root = workshop.root / "releases"
    found = root.glob(f"{STAGING}/*/*") if root.exists() else []
    return {path.name: path.read_bytes() for path in found}


def test_committed_bytes_that_are_gone_are_lost(workshop: Workshop) -> None:
    run_and_kill(workshop.policy, "ledger", "commit", "after")
    for path in (workshop.root / "releases" / STAGING).glob("*/data.csv"):
        path.unlink()
    with pytest.raises(LedgerRefused) as refused:
        run(workshop)
    assert refused.value.code == "lost"


def test_leftovers_of_a_killed_run_are_removed_by_the_next_one(workshop: Workshop) -> None:
    run_and_kill(workshop.policy, "publisher", "stage", "after")
    assert _staged(workshop)
    run(workshop, "2030-01-02")
    assert not _staged(workshop)


FAULTS: dict[str, object] = {
    "unknown category": "west",
    "null": None,
    "not a number": "NaN",
    "long cell": "x" * 10_000,
    "infinite": "inf",
    "formula": "=1+1",
}


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("column", ["age", "ward"])
def test_one_bad_row_never_changes_the_public_outcome(workshop: Workshop, fault: str, column: str) -> None:
    rows = good_rows(600)
    workshop.write(rows)
    good = run(workshop, "2030-01-01")
    workshop.write([*rows, {**rows[0], column: FAULTS[fault]}])
    bad = run(workshop, "2030-01-02")
    assert bad.outcome == good.outcome == "published"
    assert [found.outcome for found in bad.verdicts] == [found.outcome for found in good.verdicts]


CELLS = st.one_of(st.none(), st.integers(-5, 300), st.sampled_from(["north", "", "NaN", "\x00", '"', "=cmd", "9" * 50]))


@pytest.mark.thorough
@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=st.lists(st.tuples(CELLS, CELLS), max_size=6), number=st.integers(0, 10**9))
def test_whatever_a_few_rows_hold_the_run_goes_on(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[object, object]], number: int
) -> None:
    workshop = make_workshop(tmp_path_factory.mktemp(f"w{number}") / "w")
    rows = [{"patient": i, "age": age, "ward": ward, "note": ""} for i, (age, ward) in enumerate(cells)]
    workshop.write([*good_rows(300), *rows])
    assert run(workshop).outcome == "published"


@pytest.mark.parametrize("rows", [[], good_rows(1), good_rows(5)], ids=["empty", "one row", "all suppressed"])
def test_a_table_that_leaves_nothing_publishes_an_empty_release(workshop: Workshop, rows: list[Row]) -> None:
    workshop.write(rows)
    path = run(workshop).path
    assert path is not None
    verify(path, workshop.ledger)
    assert pq.read_table(path / "data.parquet").num_rows == 0
    assert (path / "data.csv").read_text() == "age,ward\n"


def test_a_missing_column_is_a_file_fault_and_costs_nothing(workshop: Workshop) -> None:
    table = pq.read_table(workshop.data)
    pq.write_table(table.drop_columns(["ward"]), workshop.data)
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 4
    assert entry_state(workshop) is None


def test_a_truncated_parquet_file_is_a_file_fault_and_costs_nothing(workshop: Workshop) -> None:
    workshop.data.write_bytes(workshop.data.read_bytes()[:-20])
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 4
    assert entry_state(workshop) is None


def test_an_input_that_changes_while_it_is_read_is_a_file_fault_and_stays_charged(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changing(*args: Any) -> object:
        write_parquet(workshop.data, good_rows(601))
        return scan(*args)

    monkeypatch.setattr(counting, "scan", changing)
    with pytest.raises(FileFault, match="changed while it was read"):
        run(workshop)
    assert entry_state(workshop) is State.RESERVED


def test_an_existing_destination_is_kept_and_costs_nothing(workshop: Workshop) -> None:
    workshop.release_dir(SLOT).mkdir(parents=True)
    (workshop.release_dir(SLOT) / "mine.txt").write_text("kept")
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 1
    assert published_files(workshop) == [f"clinic/1/{SLOT}/mine.txt"]
    assert entry_state(workshop) is None


def test_a_destination_that_appears_during_the_run_is_kept(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    original = job.stage

    def racing(*args: object) -> object:
        ready = original(*args)  # type: ignore[arg-type]
        workshop.release_dir(SLOT).mkdir(parents=True)
        (workshop.release_dir(SLOT) / "mine.txt").write_text("kept")
        return ready

    monkeypatch.setattr(job, "stage", racing)
    with pytest.raises(EnvironmentFault):
        run(workshop)
    assert (workshop.release_dir(SLOT) / "mine.txt").read_text() == "kept"
    (workshop.release_dir(SLOT) / "mine.txt").unlink()
    monkeypatch.undo()
    assert run(workshop).outcome == "published"


def test_a_destination_that_can_not_be_written_is_a_fault_before_anything_is_charged(workshop: Workshop) -> None:
    (workshop.root / "releases").write_text("a file, not a folder")
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 1
    assert entry_state(workshop) is None


FULL = """
import resource, sys
from pathlib import Path
from crowdgate.ledger import key as entropy
from crowdgate.releases import release as job
from crowdgate.kind.run import Request
from crowdgate.errors import Crashed
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
original = job.publisher.stage
def full(*args):
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))
    try:
        return original(*args)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
job.publisher.stage = full
try:
    job.release(Request(Path(sys.argv[1]), "2030-01-01"), entropy.draw_key)
except Crashed as error:
    print(error)
    sys.exit(error.exit_code)
"""


@pytest.mark.thorough
def test_a_full_disk_is_a_crash_that_leaves_nothing_and_stays_charged(workshop: Workshop) -> None:
    ended = subprocess.run([sys.executable, "-c", FULL, workshop.policy], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout.split(";")[0]) == (1, "crashed")
    assert published_files(workshop) == [f"{STAGING}/clinic~1~{SLOT}.claim"]
    assert entry_state(workshop) is State.RESERVED
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_release_with_an_injected_key_is_staged_and_never_published(workshop: Workshop) -> None:
    with pytest.raises(EnvironmentFault, match="injected"):
        job.release(Request(workshop.policy, SLOT), lambda: SecretKey(bytes(32), injected=True))
    assert not workshop.release_dir(SLOT).exists()
    assert json.loads(_staged(workshop)["manifest.json"])["key"] == "injected"


def test_the_same_key_stages_the_same_bytes_from_parquet_and_csv_in_any_row_order(
    workshop: Workshop, tmp_path: Path
) -> None:
    workshop.edit(workshop.policy, "    - {measure: singletons, at_most: 500, charge: {epsilon: 0.5}}\n", "")
    other = tmp_path / "patients.csv"
    write_csv(other, reversed(good_rows(600)))
    staged = []
    for slot, path in (("2030-01-01", None), ("2030-01-02", other)):
        with pytest.raises(EnvironmentFault):
            job.release(Request(workshop.policy, slot, input=path), lambda: SecretKey(bytes(32), injected=True))
        (folder,) = (workshop.root / "releases" / STAGING).glob(f"*~clinic~1~{slot}")
        staged.append({name: (folder / name).read_bytes() for name in ("data.csv", "data.parquet", "dictionary.csv")})
    assert staged[0] == staged[1]


def test_a_crash_after_reading_shows_one_word_and_no_chain(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> object:
        raise KeyError(MARK)

    monkeypatch.setattr(counting, "scan", broken)
    with pytest.raises(Crashed) as crashed:
        run(workshop)
    assert crashed.value.__cause__ is None
    assert crashed.value.__context__ is None
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-02", "--json") == 1
    said = capsys.readouterr()
    assert MARK not in said.out + said.err
    assert json.loads(said.out)["code"] == "crashed"
    assert MARK in _private_text(workshop)


def _private_text(workshop: Workshop) -> str:
    return "".join(path.read_text() for path in (workshop.root / "ledger" / "private").iterdir())


def test_private_records_are_for_their_owner_only_and_the_ledger_holds_their_commitments(workshop: Workshop) -> None:
    run(workshop)
    (path,) = (workshop.root / "ledger" / "private").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    entry = open_ledger(workshop.ledger, None).entry(f"clinic/1/{SLOT}")
    import hashlib

    assert entry is not None
    assert entry.private_commitment == hashlib.sha256(path.read_bytes()).hexdigest()
    assert "suppressed_share" in path.read_text()


@pytest.mark.parametrize("end", ["published", "withheld"])
def test_every_verdict_is_recorded_in_fields_and_the_public_ones_are_told_with_words(
    workshop: Workshop, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if end == "withheld":
        workshop.edit(workshop.policy, *LIMITS["released_rows"][:2])
    assert crowdgate("release", workshop.policy, "--as-of", SLOT, "--json") == (0 if end == "published" else 3)
    told = json.loads(capsys.readouterr().out)
    record = json.loads(_private_text(workshop))
    assert told["outcome"] == record["outcome"] == end
    fields = [{name: found[name] for name in found if name not in ("gate", "reason")} for found in told["verdicts"]]
    assert fields == [found for found in record["verdicts"] if found["class"] != "confidential"]
    assert [found["gate"].split()[0] for found in told["verdicts"]] == [found["measure"] for found in fields]
    (rows,) = (found for found in told["verdicts"] if found["measure"] == "released_rows")
    stated = {"severity": "block", "class": "output", "outcome": "pass" if end == "published" else "fail"}
    assert {name: rows[name] for name in stated} == stated
    assert rows["reason"] == f"{rows['value']}, must be at least {rows['at_least']}"
    assert rows["value"] == rows["low"] == rows["high"]
    (secret,) = (found for found in record["verdicts"] if found["class"] == "confidential")
    assert (secret["measure"], secret["at_most"], secret["severity"]) == ("suppressed_share", "0.5", "advise")
    if end == "published":
        assert verified(workshop.release_dir(SLOT))["verdicts"] == fields


@pytest.mark.parametrize("end", ["published", "withheld", "refused", "crashed"])
def test_marked_values_appear_nowhere_but_in_the_private_folder(
    workshop: Workshop,
    end: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    rows = good_rows(600)
    rows += [{**rows[0], "age": f"{MARK} age {i}", "ward": f"{MARK} ward {i}"} for i in range(30)]
    workshop.write(rows)
    if end == "withheld":
        workshop.edit(workshop.policy, *LIMITS["released_rows"][:2])
    if end == "refused":
        workshop.edit(workshop.budget, "epsilon: 6", "epsilon: 1")
    if end == "crashed":
        monkeypatch.setattr(randomness, "bernoulli_subsampler", _fails)
    caplog.set_level("DEBUG")
    expected = {"published": 0, "withheld": 3, "refused": 5, "crashed": 1}[end]
    assert crowdgate("release", workshop.policy, "--as-of", SLOT, "--json") == expected
    said = capfd.readouterr()
    assert MARK not in caplog.text + said.out + said.err
    assert list(_files_with(MARK, workshop)) == []


def _fails(*_: object) -> object:
    raise RuntimeError(MARK)


def _files_with(mark: str, workshop: Workshop) -> Iterator[Path]:
    for path in workshop.root.rglob("*"):
        private = "private" in path.parts or path == workshop.data
        if path.is_file() and not private and mark.encode() in path.read_bytes():
            yield path


def test_public_output_tells_no_count_of_the_table(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    workshop.write(good_rows(587))
    assert crowdgate("release", workshop.policy, "--as-of", SLOT, "--json") == 0
    assert not re.search(r"\b587\b", capsys.readouterr().out)
    public = [path.read_text(errors="ignore") for path in workshop.release_dir(SLOT).iterdir()]
    assert not any(re.search(r"\b587\b", text) for text in public)


@pytest.mark.thorough
def test_temporary_files_stay_inside_the_private_folders(workshop: Workshop, tmp_path: Path) -> None:
    outside = tmp_path / "tmp"
    outside.mkdir()
    code = "import sys; from crowdgate_flows.command import main; main()"
    environment = {**os.environ, "TMPDIR": str(outside)}
    arguments = ["release", str(workshop.policy), "--as-of", SLOT]
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, env=environment, capture_output=True)
    assert list(outside.rglob("*")) == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", ['a, "b"', "line\nend", "\u202eright to left", "pipe | bar"])
def test_a_released_column_may_have_any_name_of_one_line(
    workshop: Workshop, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pq.read_table(workshop.data)
    pq.write_table(table.rename_columns([name if column == "ward" else column for column in table.column_names]),
                   workshop.data)  # fmt: skip
    workshop.edit(workshop.contract, "name: ward", f"name: {json.dumps(name)}")
    workshop.edit(workshop.policy, "ward: exact", f"{json.dumps(name)}: exact")
    workshop.edit(workshop.policy, "over: [ward]", f"over: [{json.dumps(name)}]")
    code = crowdgate("release", workshop.policy, "--as-of", SLOT)
    if "\n" not in name:
        assert code == 0
        verify(workshop.release_dir(SLOT), workshop.ledger)
    else:
        assert code == 2
        assert "clinic.yaml:" in capsys.readouterr().err


def test_odd_names_of_columns_that_are_not_read_do_not_matter(workshop: Workshop) -> None:
    table = pq.read_table(workshop.data)
    names = ['line\nend, "quoted" \u202e' if column == "note" else column for column in table.column_names]
    pq.write_table(table.rename_columns(names), workshop.data)
    assert run(workshop).outcome == "published"


def test_a_sweep_asks_under_the_lock_whether_a_run_has_committed_meanwhile(tmp_path: Path) -> None:
    folder = tmp_path / STAGING / "ledger~a~1~2030-01-01"
    folder.mkdir(parents=True)
    publisher.sweep(tmp_path, "ledger", lambda: {folder.name})
    assert folder.exists()
    publisher.sweep(tmp_path, "ledger", set)
    assert not folder.exists()


def test_staged_files_that_changed_before_publishing_are_not_published(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = job.stage

    def damaging(*args: object) -> object:
        ready = original(*args)  # type: ignore[arg-type]
        (ready.staged.folder / "data.csv").unlink()
        return ready

    monkeypatch.setattr(job, "stage", damaging)
    with pytest.raises(EnvironmentFault, match="differ from what the ledger recorded"):
        run(workshop)
    assert not workshop.release_dir(SLOT).exists()


def test_a_fault_between_charging_and_reading_gives_the_charge_back(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> object:
        raise MemoryError

    monkeypatch.setattr(job, "judge_static", broken)
    with pytest.raises(MemoryError):
        run(workshop)
    assert open_ledger(workshop.ledger, None).spent("clinic-patients").epsilon == 0


def test_private_records_of_two_ledgers_in_one_folder_are_kept_apart(tmp_path: Path) -> None:
    from crowdgate.ledger.private import write_private

    write_private(tmp_path / "a.db", "a-1", "clinic/1/2030-01-01", {})
    write_private(tmp_path / "b.db", "b-1", "clinic/1/2030-01-01", {})
    assert len(list((tmp_path / "private").iterdir())) == 2


def test_a_folder_that_goes_away_during_a_sweep_is_nobodys_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / STAGING / "ledger~gone"
    monkeypatch.setattr(Path, "glob", lambda *_: iter([gone]))
    publisher.sweep(tmp_path, "ledger", set)
    assert not gone.exists()


def test_nothing_is_staged_in_a_folder_that_another_run_holds(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "_lock", lambda _: None)
    with pytest.raises(Crashed):
        run(workshop)
    assert "another run is using this folder" in _private_text(workshop)
    assert not workshop.release_dir(SLOT).exists()


def test_two_runs_that_publish_one_committed_release_both_report_it(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_and_kill(workshop.policy, "ledger", "commit", "after")
    original = publisher.recover

    def overtaken(folder: Path, digest: str) -> publisher.StagedRelease:
        publisher.publish(original(folder, digest), workshop.release_dir(SLOT))
        return original(folder, digest)  # the other run has moved it: lost, unless one looks again

    monkeypatch.setattr(publisher, "recover", overtaken)
    assert run(workshop).path == workshop.release_dir(SLOT)
