"""The audit of whole releases: honest ones pass, and faults in files, decisions, charges and keys are seen."""

import hashlib
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdgate.audit.common.audit import FinishedAudit
from crowdgate.audit.common.planted_faults import PLANTED_FAULTS, PlantedFault
from crowdgate.audit.common.run import AuditRequest, audit, units_of
from crowdgate.audit.common.setting import audit_spec
from crowdgate.audit.common.stored_records import AuditRuntime
from crowdgate.audit.files import setting as files_setting
from crowdgate.audit.files.findings import findings_of
from crowdgate.audit.files.record import FilesRecord
from crowdgate.audit.files.text import ReadFiles
from crowdgate.candidate import AuditQuestion
from crowdgate.gate import Outcome
from crowdgate.kind.stated_laws import Contradiction
from crowdgate.planning.plan import plan_policy
from crowdgate.releases.whole_releases import audits
from crowdgate.releases.whole_releases import marked_table as marked
from crowdgate.releases.whole_releases.audits import SHARED_KEY, WholeReleases, playable
from crowdgate.releases.whole_releases.decision import OTHER_CHARGE, OTHER_DECISION
from crowdgate.releases.whole_releases.marked_table import Mark, marked_table
from crowdgate.releases.whole_releases.traces import HASHED, MARKED, METADATA, TIMES, traces
from crowdgate.releases.whole_releases.trial import UNVERIFIED
from crowdgate.sources.source import Batch
from tests.audit.file_plants import KEYS, WRITTEN
from tests.audit.law_plants import DRAWN, Plant, make_law_town, planted
from tests.audit.test_law_audit import MECHANISMS
from tests.audit.workshop import SEED, Town
from tests.workshop import MARK, crowdgate

SEEN = {
    "input order": UNVERIFIED, "private figures in a README": UNVERIFIED, "a decision that leaks": OTHER_DECISION,
    "a wrong spend": OTHER_CHARGE,
}  # fmt: skip
"""The contradiction that shows each planted fault in one release: no randomness can hide it."""
SLOT = "2026-01-02"
CELL = f"{'ab' * 16}00000007"
SECRET = Mark("ab" * 16, (CELL,))


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return make_law_town(tmp_path_factory.mktemp("files") / "town")


def releases(town: Town, count: int) -> audits.FilesTally:
    return WholeReleases(town.policy, count, 1).batch(0, count)


def read_files(town: Town) -> ReadFiles:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files_setting, "RELEASES", 2)
        return audit(playable(AuditQuestion.FILES), AuditRequest(town.policy), AuditRuntime(draw=lambda: SEED))


@pytest.mark.thorough
def test_honest_whole_releases_pass_and_leave_nothing_behind(town: Town) -> None:
    before = {*town.root.rglob("*")}
    found = read_files(town)
    assert found.findings.outcome is Outcome.PASS, found.findings
    said = playable(AuditQuestion.FILES).text(found)
    assert said[0] == "Whole releases fit their statement: files, decisions, charges and drawn numbers."
    assert said[1].startswith("It may miss 90 % of the noise. To see them, use `--of law`.")
    played = found.record.policy_results
    assert (played.published, played.marked) == (2, 2)
    new = {path.name for path in {*town.root.rglob("*")} - before}
    assert new <= {"audits", "clinic", "1", found.path.name}


@pytest.mark.thorough
@pytest.mark.parametrize("fault", WRITTEN, ids=lambda each: each.name)
def test_a_fault_beyond_the_drawn_numbers_is_seen_in_one_release(fault: Plant, town: Town) -> None:
    with planted(fault):
        assert SEEN[fault.name].sentence in releases(town, 1).law.contradictions


@pytest.mark.thorough
@pytest.mark.parametrize("fault", [KEYS[0], pytest.param(KEYS[1], marks=pytest.mark.soak)], ids=lambda each: each.name)
def test_a_key_that_two_releases_share_is_seen(fault: Plant, town: Town) -> None:
    with planted(fault):
        assert SHARED_KEY.sentence in releases(town, 2).law.contradictions


@pytest.mark.soak
@pytest.mark.statistical
@pytest.mark.parametrize("fault", PLANTED_FAULTS, ids=lambda each: each.name)
def test_whole_releases_show_the_faults_of_the_table_and_no_others(fault: PlantedFault, town: Town) -> None:
    """At a power of .99, fewer than 9 of 10 audits fail with probability .005. A fault that is called unseen has a
    power below .9: 90 % of the noise was seen in 6 of 10 audits, and in all of 10 with probability .006."""
    plant = next(each for each in (*DRAWN, *WRITTEN) if each.name == fault.name)
    count = fault.releases.get(AuditQuestion.FILES, files_setting.RELEASES)
    with planted(plant):
        failed = [judged(town, count, seed) is Outcome.FAIL for seed in range(10)]
    print(f"files, {fault.name}: {sum(failed)} of 10")
    assert sum(failed) >= 9 if AuditQuestion.FILES in fault.releases else sum(failed) < 10


@pytest.mark.soak
@pytest.mark.statistical
def test_no_honest_audit_of_twenty_fails(town: Town) -> None:
    """A false alarm in any has probability .002."""
    assert Outcome.FAIL not in [judged(town, 2, seed) for seed in range(20)]


def judged(town: Town, count: int, seed: int) -> Outcome:
    """Return the outcome of so many whole releases."""
    game = WholeReleases(town.policy, count, seed)
    own = game.played({at: game.batch(at, trials) for at, trials in game.batches(count)}, "judged", "", None)
    return findings_of(empty_record(town).model_copy(update={"played": (own,)})).outcome


def test_an_audit_without_published_files_cannot_tell(town: Town) -> None:
    record = empty_record(town)
    assert findings_of(record).outcome is Outcome.INCONCLUSIVE
    own = record.policy_results.model_copy(update={"published": 1})
    assert findings_of(record.model_copy(update={"played": (own,)})).outcome is Outcome.PASS
    broken = own.model_copy(update={"contradictions": ("A file tells.",)})
    assert findings_of(record.model_copy(update={"played": (broken,)})).outcome is Outcome.FAIL


@pytest.mark.parametrize(("count", "said"), [(20, False), (0, True)])
def test_a_pass_without_marked_values_says_so(count: int, said: bool, town: Town) -> None:
    record = empty_record(town)
    own = record.policy_results.model_copy(update={"published": 20, "marked": count})
    record = record.model_copy(update={"played": (own,)})
    of = playable(AuditQuestion.FILES)
    found = FinishedAudit(record, findings_of(record), Path("x"), True)
    assert ("No marked value was searched for." in of.conclusion(found)) == said
    text = " ".join(of.text(found))
    assert ("no cell could be marked" in text) == said
    assert "No gate reads this audit." in text
    assert not of.json(found)["read_by_gates"]


@pytest.mark.parametrize(("size", "releases"), [(30, 20), (299_285, 20), (1_000_000, 6), (10**8, 2)])
def test_large_tables_have_fewer_releases(size: int, releases: int) -> None:
    assert files_setting.releases_of(size) == releases


def empty_record(town: Town) -> FilesRecord:
    plan = plan_policy(town.policy)
    of = playable(AuditQuestion.FILES)
    setting = of.planned_setting(plan, audit_spec(plan), units_of(of, plan, plan.bundle.population))
    results: dict[str, object] = {
        "mechanism": "whole releases", "must": "judged", "note": "", "rate": None, "releases": 20, "sums": [],
        "rare": {}, "contradictions": [], "published": 0, "marked": 20,
    }  # fmt: skip
    return FilesRecord.model_validate(
        {
            "setting": setting.model_dump(mode="json"), "digest": "", "seed": SEED, "made": "2026-01-01", "attempt": 1,
            "played": [results],
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("write", "seen"),
    [
        (lambda path: path.write_text("nothing"), []),
        (lambda path: path.write_text(f"id {CELL}"), [MARKED]),
        (lambda path: path.write_text(CELL, encoding="utf-16-le"), [MARKED]),
        (lambda path: path.write_text(hashlib.sha256(CELL.encode()).hexdigest()), [HASHED]),
        (lambda path: path.write_text(hashlib.md5(CELL.encode()).hexdigest().upper()), [HASHED]),
        (lambda path: pq.write_table(pa.table({"a": [CELL]}), path, compression="zstd", store_schema=False), [MARKED]),
        (lambda path: pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({"n": "7"}), path), [METADATA]),
    ],
)
def test_a_mark_is_found_in_any_form(
    write: Callable[[Path], object], seen: list[Contradiction], tmp_path: Path
) -> None:
    path = tmp_path / "data.parquet"
    write(path)
    path = path if path.read_bytes()[:4] == b"PAR1" else path.rename(tmp_path / "data.txt")
    _date(path)
    assert [*dict.fromkeys(traces(tmp_path, SLOT, SECRET))] == seen


def test_a_name_and_a_time_that_tell_are_found(tmp_path: Path) -> None:
    (tmp_path / f"{CELL}.txt").write_text("")
    assert [*traces(tmp_path, SLOT, SECRET)] == [TIMES, MARKED]


def _date(path: Path) -> None:
    day = datetime.fromisoformat(SLOT).replace(tzinfo=UTC).timestamp()
    os.utime(path, (day, day))


def test_every_cell_that_is_not_read_is_marked(town: Town) -> None:
    table, mark = marked_table(plan_policy(town.policy))
    assert table.column_names == ["age", "ward", "patient", "note"]
    for name in ("patient", "note"):
        assert all(cell.startswith(mark.text) for cell in table[name].to_pylist())


def test_rows_that_a_source_groups_are_released_as_often_as_they_occur(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_policy(town.policy)
    cells = {"age": pa.array([7, 8]), "ward": pa.array(["north", "east"]), "patient": pa.array(["a", "b"])}

    class Grouped:
        parts = (SimpleNamespace(read=lambda *_: [Batch(2, 0, cells, 0, np.array([3, 1]))]),)

    monkeypatch.setattr(marked, "open_source", lambda *_: Grouped)
    table, _ = marked_table(plan)
    assert table["age"].to_pylist() == [7, 7, 7, 8]
    assert len(table["note"].unique()) == 4


def test_it_is_refused_on_a_confidential_table(town: Town, capfd: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("audit", town.policy, "--of", "files", "--on-confidential") == 2
    assert "a public table" in capfd.readouterr().err
    assert MARK not in capfd.readouterr().err


@pytest.mark.soak
@pytest.mark.parametrize("name", MECHANISMS)
def test_whole_releases_of_every_kind_fit_their_statement(name: str, town: Town, tmp_path: Path) -> None:
    shutil.copytree(town.root, tmp_path / "town")
    copy = Town(tmp_path / "town")
    text = copy.policy.read_text(encoding="utf-8")
    start, section, end = (text.index(each) for each in ("    kind: safe_k", "  audit: ", "  publish:"))
    own = "  gates:\n    - {measure: guarantee_epsilon, at_most: 2}\n"
    audited = text[section : text.index("  gates:\n")]
    copy.policy.write_text(f"{text[:start]}{MECHANISMS[name]}{audited}{own}{text[end:]}", encoding="utf-8")
    found = releases(copy, 2)
    assert not found.law.contradictions
    assert found.published == 2
