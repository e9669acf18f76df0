"""Releases whose gates are judged by recorded audits of inference and of membership."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crowdgate.audit.audits import AUDITS
from crowdgate.audit.common.record_io import digest_of, record_bytes
from crowdgate.audit.common.run import AuditRequest, audit
from crowdgate.audit.common.stored_records import AuditRuntime, now
from crowdgate.audit.confidential_table import ENDED
from crowdgate.candidate import AuditQuestion
from crowdgate.errors import VerificationFailed
from crowdgate.kind.run import Request, Result
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import open_ledger
from crowdgate.manifest import canonical
from crowdgate.releases import release as job
from crowdgate.verification.release import verify
from tests.audit.test_inference_audit import SECRET, people
from tests.audit.workshop import Town, five_blocks
from tests.workshop import MARK, crowdgate, make_workshop, write_parquet

TODAY = now().isoformat()
SECTION = """\
  audit:
    population: towns
    inference: {releases: 20, limit: 0.5}
    membership: {releases: 30, skew: 5, recall: 0.1, limit: 0.5}
"""
GATES = """\
    - {measure: inference_gain, at_most: 0.5, with: {coverage: 1, max_age: 30}}
    - {measure: inference_precision_above_baseline, at_most: 0.5, with: {coverage: 1, max_age: 30}}
    - {measure: membership_precision, at_most: 0.5, with: {skew: 5, recall: 0.1, max_age: 30}}
"""
ASKED = (AuditQuestion.INFERENCE, AuditQuestion.MEMBERSHIP)
FILES = {question: AUDITS[question].file for question in ASKED}


def make(root: Path) -> Town:
    town = Town(make_workshop(root).root)
    town.edit(
        town.contract,
        "          - {property: invalid, value: level}\n",
        f"          - {{property: invalid, value: level}}\n{SECRET}",
    )
    public = town.contract.read_text(encoding="utf-8").replace("id: clinic", "id: towns")
    public = public.replace("patients.parquet", "towns.parquet")
    town.population.write_text(
        public.replace("{property: rowsAtMost, value: 1000}", "{property: public, value: true}"), encoding="utf-8"
    )
    write_parquet(root / "data_contracts" / "towns.parquet", people(600))
    town.edit(town.policy, "  gates:\n", f"{SECTION}  gates:\n{GATES}")
    return town


@pytest.fixture(scope="module", autouse=True)
def _five_blocks() -> Iterator[None]:
    with five_blocks():
        yield


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    town = make(tmp_path_factory.mktemp("audited") / "town")
    for question in ASKED:
        audit(AUDITS[question], AuditRequest(town.policy))
    return town.root


@pytest.fixture
def town(audited: Path, tmp_path: Path) -> Town:
    """A working copy with both audits, made today."""
    shutil.copytree(audited, tmp_path / "town")
    return Town(tmp_path / "town")


@pytest.fixture(scope="module")
def published(audited: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    root = tmp_path_factory.mktemp("published") / "town"
    shutil.copytree(audited, root)
    return release(Town(root))


@pytest.fixture
def folder(published: Result, tmp_path: Path) -> Path:
    """A copy of a published release."""
    assert published.path is not None
    return Path(shutil.copytree(published.path, tmp_path / "copy"))


def release(town: Town, slot: str = TODAY) -> Result:
    return job.release(Request(town.policy, slot), draw_key)


def record(town: Town, question: AuditQuestion) -> Path:
    (path,) = (each for each in town.records if f'"{question}"' in each.read_text())
    return path


@pytest.mark.thorough
def test_a_release_with_fresh_audits_is_published_with_their_records_and_verifies(town: Town) -> None:
    assert crowdgate("check", town.policy) == 0
    found = release(town)
    assert found.outcome == "published"
    assert found.path is not None
    for question, file in FILES.items():
        assert (found.path / file).read_bytes() == record(town, question).read_bytes()
    verify(found.path, town.ledger)
    assert not (found.path / "audit.json").exists()
    assert crowdgate("ledger", "verify", "--ledger", town.ledger) == 0


@pytest.mark.thorough
def test_gates_are_judged_at_the_upper_ends_of_the_records(town: Town, published: Result) -> None:
    shown = {each.measure: each for each in published.verdicts}
    inferred = audit(AUDITS[AuditQuestion.INFERENCE], AuditRequest(town.policy)).findings
    claimed = audit(AUDITS[AuditQuestion.MEMBERSHIP], AuditRequest(town.policy)).findings
    (ward,) = (each for each in inferred.estimates if (each.coverage, each.group) == (1, "all targets"))
    wanted = {
        "inference_gain": inferred.gain, "inference_precision_above_baseline": ward.above,
        "membership_precision": claimed.precision,
    }  # fmt: skip
    for name, figure in wanted.items():
        told = shown[name].shown
        assert told is not None
        assert told.matches(figure), name
    assert ward.above.lower <= ward.above.value <= ward.above.upper
    assert ward.above.value == pytest.approx(
        max(ward.precision.value - ward.base.value, ward.precision.value - ward.base_of_these.value)
    )


@pytest.mark.thorough
@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (Path.unlink, "no audit of this policy is recorded in audits/clinic/1; run `crowdgate audit --of {}`"),
        (lambda path: path.write_bytes(path.read_bytes().replace(b"0.", b"0.0")), "is no record of an audit"),
    ],
    ids=["missing", "edited"],
)
def test_a_release_without_the_audit_that_a_gate_asks_for_is_withheld(
    town: Town, question: AuditQuestion, spoil: Callable[[Path], object], said: str
) -> None:
    spoil(record(town, question))
    found = release(town)
    assert found.outcome == "withheld"
    reasons = {each.measure: each.reason for each in found.verdicts}
    own = [name for name in reasons if name.startswith(question.value)]
    assert own
    assert all(said.format(question) in reasons[name] for name in own)
    assert crowdgate("check", town.policy) == 3


@pytest.mark.thorough
def test_an_audit_that_was_set_otherwise_is_not_relied_on(town: Town) -> None:
    record(town, AuditQuestion.MEMBERSHIP).unlink()
    audit(
        AUDITS[AuditQuestion.MEMBERSHIP],
        AuditRequest(town.policy, units="250"),
        AuditRuntime(draw=lambda: "1" * 32),
    )
    (why,) = {each.reason for each in release(town).verdicts if each.measure == "membership_precision"}
    assert "set otherwise than the policy says; run `crowdgate audit --of membership` anew" in why


@pytest.mark.thorough
def test_a_coverage_of_which_the_audit_tells_nothing_is_inconclusive(town: Town) -> None:
    """A thousandth of 600 people is less than one person: the audit passes, and its gates at that coverage do not."""
    town.edit(town.policy, "with: {coverage: 1, ", "with: {coverage: 0.001, ")
    for path in town.records:
        path.unlink()
    assert audit(AUDITS[AuditQuestion.INFERENCE], AuditRequest(town.policy)).findings.outcome.value == "pass"
    found = release(town)
    assert found.outcome == "withheld"
    reasons = [each.reason for each in found.verdicts if "coverage" in each.rule.options]
    assert len(reasons) == 2
    assert all("the recorded audit tells nothing there" in reason for reason in reasons)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("coverage: 1,", "coverage: 0.5,", "1, 0.1, 0.01 or 0.001"),
        ("coverage: 1, ", "", "coverage"),
        ("skew: 5, recall: 0.1, max_age", "skew: 0.5, recall: 0.1, max_age", "from 1 to 1e9"),
        ("skew: 5, recall: 0.1, max_age", "skew: 6, recall: 0.1, max_age", "has a skew of 5"),
        ("skew: 5, recall: 0.1, max_age", "skew: 5, recall: 0.2, max_age", "has a recall of 0.1"),
    ],
)
def test_options_that_no_audit_tells_of_are_refused(
    town: Town, capfd: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    town.edit(town.policy, old, new)
    assert crowdgate("check", town.policy) == 2
    assert said in capfd.readouterr().err


# --- forged ---


def _changed(path: Path, question: AuditQuestion, change: Callable[[Any], Any]) -> None:
    record, _ = AUDITS[question].read(path.read_bytes())
    made = change(record)
    path.write_bytes(record_bytes(made.model_copy(update={"digest": digest_of(made.setting)})))


def _set(**values: object) -> Callable[[Any], Any]:
    return lambda record: record.model_copy(update={"setting": record.setting.model_copy(update=values)})


def _without_controls(record: Any) -> Any:
    return _set(controls=())(record).model_copy(update={"played": (record.policy_results,)})


def _lenient(record: Any) -> Any:
    other = {"be caught": "hold", "break epsilon": "hold", "break the cap": "hold"}
    played = [each.model_copy(update={"must": other.get(each.must, each.must)}) for each in record.played]
    return record.model_copy(update={"played": tuple(played)})


FORGED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "another policy": (
        _set(policy_digest="0" * 64),
        "this audit belongs to another policy, or ran on a confidential table",
    ),
    "on the table": (_set(confidential=True), "this audit belongs to another policy, or ran on a confidential table"),
    "another mechanism": (
        _set(mechanism="dp_tables"),
        "this audit tried another mechanism, epsilon or delta than the release has",
    ),
    "a failed one": (_set(limit="0"), "this audit failed: its attackers can exceed its limit"),
    "no controls": (_without_controls, "this audit is inconclusive, so no gate can rest on it"),
    "lenient controls": (_lenient, "this audit expects another finding of a control than Crowdgate does"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("forgery", FORGED)
@pytest.mark.parametrize("question", ASKED)
def test_a_forged_record_is_refused_from_the_files_alone(folder: Path, question: AuditQuestion, forgery: str) -> None:
    change, expected = FORGED[forgery]
    file = FILES[question]
    _changed(folder / file, question, change)
    _seal(folder, file)
    with pytest.raises(VerificationFailed) as refused:
        verify(folder)
    if (question, forgery) == (AuditQuestion.INFERENCE, "a failed one"):
        expected = FORGED["no controls"][1]  # below its ceiling it proves nothing, so it can't tell
    assert expected in str(refused.value)


def _seal(folder: Path, file: str) -> None:
    said, data = json.loads((folder / "manifest.json").read_bytes()), (folder / file).read_bytes()
    said["files"][file] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (folder / "manifest.json").write_bytes(canonical(said))


@pytest.mark.thorough
@pytest.mark.parametrize("question", ASKED)
def test_a_record_with_another_level_or_of_nothing_is_refused(folder: Path, question: AuditQuestion) -> None:
    path = folder / FILES[question]
    good = path.read_bytes()
    for data in (b"{}\n", good + b" ", b"[" * 10**5, good.replace(b'"releases":', b'"releases":1')):
        path.write_bytes(data)
        _seal(folder, path.name)
        with pytest.raises(VerificationFailed, match="this file is not the record of an audit"):
            verify(folder)
    record, _ = AUDITS[question].read(good)
    better = record_bytes(record.model_copy(update={"attempt": 9}))
    path.write_bytes(better)
    _seal(folder, path.name)
    with pytest.raises(
        VerificationFailed, match="the value in the manifest differs from the value measured again on the release"
    ):
        verify(folder)


def _of_nothing(record: Any) -> Any:
    """Remove all results of the controls."""
    emptied = {"releases": 0, "points": (), "secrets": ()}
    return record.model_copy(
        update={
            "played": tuple(each if each == record.policy_results else _with(each, **emptied) for each in record.played)
        }
    )


def _again(times: int) -> Callable[[Any], Any]:
    """Repeat every line of the policy's mechanism this many times."""

    def change(record: Any) -> Any:
        own = record.policy_results
        secrets = tuple(_with(each, found=each.found * times) for each in getattr(own, "secrets", ()))
        longer = _with(own, secrets=secrets, points=getattr(own, "points", ()) * times)
        return record.model_copy(
            update={"played": tuple(longer if each == own else each for each in record.played)},
        )

    return change


def _without_shares(record: Any) -> Any:
    """Remove the results of all releases of the controls."""

    def emptied(played: Any) -> Any:
        secrets = tuple(
            _with(each, found=tuple(_with(line, shares=()) for line in each.found))
            for each in getattr(played, "secrets", ())
        )
        return _with(
            played, secrets=secrets, points=tuple(_with(each, tpr=()) for each in getattr(played, "points", ()))
        )

    return record.model_copy(
        update={"played": tuple(each if each == record.policy_results else emptied(each) for each in record.played)}
    )


def _with(each: Any, **values: object) -> Any:
    return each.model_copy(update={name: value for name, value in values.items() if name in type(each).model_fields})


@pytest.mark.thorough
@pytest.mark.parametrize("change", [_of_nothing, _without_shares, _again(2), _again(50)])
@pytest.mark.parametrize("question", ASKED)
def test_a_record_of_no_release_or_of_more_lines_than_there_are_is_refused_at_once(
    audited: Path, question: AuditQuestion, change: Callable[[Any], Any]
) -> None:
    """Judging so many lines would take minutes, and shares of no release have no mean."""
    reading = AUDITS[question]
    made, _ = reading.read(record(Town(audited), question).read_bytes())
    with pytest.raises(VerificationFailed, match="this file is not the record of an audit"):
        reading.read(record_bytes(change(made)))


# --- on the table itself ---


@pytest.mark.thorough
@pytest.mark.parametrize("question", ASKED)
def test_an_audit_on_the_table_shows_one_constant_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], question: AuditQuestion
) -> None:
    town = make(tmp_path / "town")
    before = set(town.root.rglob("*"))
    command = ("audit", town.policy, "--of", question.value, "--on-confidential", "--jobs", 1)
    assert crowdgate(*command) == 0
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == (f"{ENDED}\n", "")
    new = [path for path in set(town.root.rglob("*")) - before if path.is_file()]
    assert {path.parent.name for path in new} <= {"private", "ledger"}
    (kept,) = (path for path in new if path.parent.name == "private")
    held = json.loads(kept.read_text())
    assert held["record"]["setting"]["question"] == question
    assert held["record"]["setting"]["confidential"]
    assert MARK not in kept.read_text()
    events = [line.event for line in open_ledger(town.ledger, None).journal()][-3:]
    assert events[1:] == ["audit-begun", "confidential-audit-recorded"]
    assert crowdgate("check", town.policy) == 3  # no gate reads it


@pytest.mark.parametrize("question", ASKED)
def test_a_table_on_which_nothing_can_be_played_shows_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], question: AuditQuestion
) -> None:
    town = make(tmp_path / "town")
    town.write(people(30))
    assert crowdgate("audit", town.policy, "--of", question.value, "--on-confidential", "--jobs", 1) == 0
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == (f"{ENDED}\n", "")
    (kept,) = (town.root / "ledger" / "private").glob(f"*{question.value}*")
    assert "200 units at least" in kept.read_text() or "from 200 units" in kept.read_text()
