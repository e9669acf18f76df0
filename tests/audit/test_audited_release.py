"""Releases whose gates are judged by a recorded audit."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from crowdgate.audit.common.record_io import digest_of, parsed, record_bytes
from crowdgate.audit.common.stored_records import now
from crowdgate.audit.singling_out.record import SinglingOutRecord, SinglingOutResults
from crowdgate.errors import VerificationFailed
from crowdgate.kind.run import Request, Result
from crowdgate.ledger.key import draw_key
from crowdgate.manifest import canonical
from crowdgate.releases import release as job
from crowdgate.system import installed_code
from crowdgate.verification.release import verify
from tests.audit.workshop import GATES, Town, make_town, only_few_controls
from tests.workshop import crowdgate, good_rows, write_parquet

TODAY = now().isoformat()
KEPT = "    - {measure: kept_share_in_audit, at_least: 0.01, with: {max_age: 30}}\n"


@pytest.fixture(scope="module", autouse=True)
def few_controls() -> Iterator[None]:
    with only_few_controls():
        yield


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    town = make_town(tmp_path_factory.mktemp("audited") / "town")
    town.audit(TODAY)
    return town.root


@pytest.fixture
def town(audited: Path, tmp_path: Path) -> Town:
    """A working copy with an audit made today."""
    shutil.copytree(audited, tmp_path / "town")
    return Town(tmp_path / "town")


def release(town: Town, slot: str = TODAY) -> Result:
    return job.release(Request(town.policy, slot), draw_key)


def why(result: Result) -> str:
    (found,) = {each.reason for each in result.verdicts if each.measure == "pso_excess"}
    return found


@pytest.mark.thorough
def test_a_release_with_a_fresh_audit_is_published_with_its_record_and_verifies(town: Town) -> None:
    found = release(town)
    assert found.outcome == "published"
    assert found.path is not None
    assert (found.path / "audit.json").read_bytes() == town.records[0].read_bytes()
    said = verify(found.path, town.ledger).manifest
    assert said.files["audit.json"].sha256 == hashlib.sha256(town.records[0].read_bytes()).hexdigest()
    assert crowdgate("ledger", "verify", "--ledger", town.ledger) == 0


def _missing(town: Town) -> None:
    town.records[0].unlink()


def _edited(town: Town) -> None:
    record = parsed(town.records[0].read_bytes(), SinglingOutRecord)
    none = (0,) * len(record.policy_results.weights)
    better = record.policy_results.attacked[0].model_copy(update={"light": none, "tenth_light": none})
    own = record.policy_results.model_copy(update={"attacked": (better, *record.policy_results.attacked[1:])})
    town.records[0].write_bytes(record_bytes(record.model_copy(update={"played": (own, *record.played[1:])})))


def _unreadable(town: Town) -> None:
    town.records[0].write_text("{}\n")


def _other_policy(town: Town) -> None:
    town.edit(town.policy, "owner: board", "owner: another board")


def _overridden(town: Town) -> None:
    town.records[0].unlink()
    town.audit(TODAY, seed="f" * 32, trials="50")


def _stale(town: Town) -> None:
    town.records[0].unlink()
    town.audit((now() - timedelta(days=31)).isoformat(), seed="f" * 32, trials="60")


def _future(town: Town) -> None:
    town.records[0].unlink()
    town.audit((now() + timedelta(days=2)).isoformat(), seed="f" * 32, trials="60")


def _other_people(town: Town) -> None:
    write_parquet(town.root / "data_contracts" / "towns.parquet", good_rows(199))


def _nobody(town: Town) -> None:
    (town.root / "data_contracts" / "towns.parquet").unlink()


def _folder(town: Town) -> None:
    town.records[0].unlink()
    (town.root / "audits" / "clinic" / "1" / "odd.json").mkdir()


REFUSED: dict[str, tuple[Callable[[Town], None], str]] = {
    "missing": (_missing, "no audit of this policy is recorded in audits/clinic/1"),
    "edited": (_edited, "was edited, or is of another ledger"),
    "unreadable": (_unreadable, "is no record of an audit, or it was edited"),
    "other policy": (_other_policy, "another digest"),
    "overridden": (_overridden, "set otherwise than the policy says"),
    "stale": (_stale, "31 days old today"),
    "of the future": (_future, "dated in the future"),
    "other people": (_other_people, "the population's table is another one"),
    "nobody": (_nobody, "the population's table is another one"),
    "a folder": (_folder, "odd.json can't be read"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("fault", REFUSED)
def test_a_release_without_an_audit_to_rely_on_is_withheld_and_told_why(town: Town, fault: str) -> None:
    spoil, expected = REFUSED[fault]
    spoil(town)
    found = release(town)
    assert found.outcome == "withheld"
    assert expected in why(found)
    assert str(town.root) not in why(found)
    assert not (town.root / "releases" / "clinic").exists()
    assert crowdgate("check", town.policy) == 3


@pytest.mark.thorough
def test_an_audit_of_other_code_is_not_relied_on(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdgate.audit.record_search.code_digest", lambda: "0" * 64)
    assert "another version of Crowdgate" in why(release(town))
    monkeypatch.undo()
    monkeypatch.setattr("crowdgate.audit.record_search.libraries", lambda: {**installed_code.libraries(), "numpy": "1"})
    assert "another version of Crowdgate" in why(release(town, "2020-01-01"))


@pytest.mark.thorough
@pytest.mark.parametrize(("days", "outcome"), [(30, "published"), (31, "withheld")])
def test_the_age_is_that_at_the_slot(town: Town, days: int, outcome: str) -> None:
    found = release(town, (date.fromisoformat(TODAY) + timedelta(days=days)).isoformat())  # also after midnight
    assert found.outcome == outcome
    assert outcome == "published" or "older than max_age allows: 31 days" in why(found)


@pytest.mark.thorough
def test_a_slot_in_the_past_makes_no_old_audit_fresh(town: Town) -> None:
    _stale(town)
    slot = (now() - timedelta(days=31)).isoformat()
    assert "31 days old today" in why(release(town, slot))


@pytest.mark.thorough
@pytest.mark.parametrize("strict", ["pso_excess, at_most: 0.3", "pso_success, at_most: 0.4"])
def test_of_gates_with_different_max_age_the_stricter_one_decides(town: Town, strict: str) -> None:
    """At the slot, the day of the audit, neither gate finds it too old."""
    town.edit(town.policy, f"{strict}, with: {{max_age: 30}}", f"{strict}, with: {{max_age: 10}}")
    town.records[0].unlink()
    made = (now() - timedelta(days=20)).isoformat()
    town.audit(made)
    assert "20 days old today, and max_age is 10" in why(release(town, made))


@pytest.mark.thorough
def test_a_gate_that_only_advises_lets_a_release_without_an_audit_through(town: Town) -> None:
    town.edit(town.policy, "{max_age: 30}}", "{max_age: 30}, severity: advise}")
    found = release(town)
    assert (found.outcome, [each.outcome for each in found.verdicts[:2]]) == ("published", ["inconclusive"] * 2)
    assert found.path is not None
    assert not (found.path / "audit.json").exists()
    verify(found.path, town.ledger)


@pytest.mark.thorough
@pytest.mark.parametrize(("rows", "outcome"), [(600, "withheld"), (60, "published")])
def test_the_share_that_is_kept_must_be_near_that_of_the_audit(tmp_path: Path, rows: int, outcome: str) -> None:
    """The audit's tables of 30 units lose nearly all rows. So do 60 rows of at most 1,000 people, but not 600 rows."""
    town = make_town(tmp_path / "town", gates=GATES + KEPT)
    town.write(good_rows(rows))
    kept = town.audit(TODAY).findings.kept
    assert kept is not None
    assert kept < 0.1
    found = release(town)
    assert found.outcome == outcome
    (verdict,) = (each for each in found.verdicts if each.measure == "kept_share_in_audit")
    assert outcome == "published" or "another share of its sampled rows" in verdict.reason
    if found.path is not None:
        verify(found.path, town.ledger)


# --- forged ---


def _forged(town: Town, change: Callable[[Path], None]) -> Path:
    """Return a published release with a changed audit record, and a manifest that states the changed file."""
    folder = release(town).path
    assert folder is not None
    change(folder / "audit.json")
    said = json.loads((folder / "manifest.json").read_bytes())
    if (folder / "audit.json").exists():
        data = (folder / "audit.json").read_bytes()
        said["files"]["audit.json"] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    else:
        del said["files"]["audit.json"]
    (folder / "manifest.json").write_bytes(canonical(said))
    return folder


def _rewritten(**setting: object) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        record = parsed(path.read_bytes(), SinglingOutRecord)
        made = record.setting.model_copy(update=setting)
        path.write_bytes(record_bytes(record.model_copy(update={"setting": made, "digest": digest_of(made)})))

    return change


def _better(path: Path) -> None:
    record = parsed(path.read_bytes(), SinglingOutRecord)
    zeros = (0,) * len(record.policy_results.weights)
    none = tuple(
        each.model_copy(update={"light": zeros, "tenth_light": zeros}) for each in record.policy_results.attacked
    )
    own = record.policy_results.model_copy(update={"attacked": none})
    path.write_bytes(record_bytes(record.model_copy(update={"played": (own, *record.played[1:])})))


def _nothing(played: SinglingOutResults) -> SinglingOutResults:
    names = ("light", "any", "tenth_light", "tenth_any")
    none = [each.model_copy(update=dict.fromkeys(names, (0,) * len(each.light))) for each in played.attacked]
    return played.model_copy(update={"attacked": tuple(none)})


def _silent(path: Path) -> None:
    """Make the control that must be caught miss every attack."""
    record = parsed(path.read_bytes(), SinglingOutRecord)
    played = [_nothing(each) if each.must == "be caught" else each for each in record.played]
    path.write_bytes(record_bytes(record.model_copy(update={"played": tuple(played)})))


def _lenient(path: Path) -> None:
    record = parsed(path.read_bytes(), SinglingOutRecord)
    played = [_nothing(each) if each.must == "be caught" else each for each in record.played]
    held = [each.model_copy(update={"must": "hold"}) if each.must == "be caught" else each for each in played]
    path.write_bytes(record_bytes(record.model_copy(update={"played": tuple(held)})))


def _without_controls(path: Path) -> None:
    record = parsed(path.read_bytes(), SinglingOutRecord)
    path.write_bytes(record_bytes(record.model_copy(update={"played": (record.policy_results,)})))


def _fewer_weights(path: Path) -> None:
    record = parsed(path.read_bytes(), SinglingOutRecord)
    names = ("light", "any", "tenth_light", "tenth_any")
    cut = [each.model_copy(update={n: getattr(each, n)[:1] for n in names}) for each in record.policy_results.attacked]
    first = record.setting.weights[:1]
    own = record.policy_results.model_copy(update={"weights": first, "attacked": tuple(cut)})
    made = record.setting.model_copy(update={"weights": first})
    said = {"setting": made, "digest": digest_of(made), "played": (own, *record.played[1:])}
    path.write_bytes(record_bytes(record.model_copy(update=said)))


def _negative(path: Path) -> None:
    path.write_bytes(re.sub(rb'"kept": ?\d+', b'"kept": -1', path.read_bytes(), count=1))


def _endless(path: Path) -> None:
    path.write_bytes(re.sub(rb'("weight": ?)"[^"]*"', rb'\1"1e999999999"', path.read_bytes(), count=1))


def _spaced(path: Path) -> None:
    path.write_text(path.read_text() + " ")


def _emptied(path: Path) -> None:
    path.write_text("{}\n")


FORGED: dict[str, tuple[Callable[[Path], None], str]] = {
    "no record": (Path.unlink, "the value in the manifest differs from the value measured again on the release"),
    "better counts": (_better, "the value in the manifest differs from the value measured again on the release"),
    "another policy": (
        _rewritten(policy_digest="0" * 64),
        "this audit belongs to another policy, or ran on a confidential table",
    ),
    "on the table": (
        _rewritten(confidential=True),
        "this audit belongs to another policy, or ran on a confidential table",
    ),
    "a silent control": (_silent, "this audit is inconclusive, so no gate can rest on it"),
    "a control that may be silent": (_lenient, "this audit expects another finding of a control than Crowdgate does"),
    "no controls": (_without_controls, "this file is not the record of an audit"),
    "fewer weights": (_fewer_weights, "this audit was not judged at the predicate weights that its settings give"),
    "another guarantee": (
        _rewritten(epsilon="0.01"),
        "this audit tried another mechanism, epsilon or delta than the release has",
    ),
    "counts that can't be": (_negative, "this file is not the record of an audit"),
    "other trials": (_rewritten(trials=61), "this file is not the record of an audit"),
    "an endless number": (_endless, "this file is not the record of an audit"),
    "other text": (_spaced, "this file is not the record of an audit"),
    "nothing": (_emptied, "this file is not the record of an audit"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_record_is_refused_from_the_files_alone(town: Town, forgery: str) -> None:
    change, expected = FORGED[forgery]
    folder = _forged(town, change)
    with pytest.raises(VerificationFailed, match=expected):
        verify(folder)


@pytest.mark.thorough
def test_a_record_beside_a_release_without_such_gates_is_refused(town: Town) -> None:
    data = town.records[0].read_bytes()
    town.edit(town.policy, GATES, "")
    folder = release(town).path
    assert folder is not None
    (folder / "audit.json").write_bytes(data)
    said = json.loads((folder / "manifest.json").read_bytes())
    said["files"]["audit.json"] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (folder / "manifest.json").write_bytes(canonical(said))
    with pytest.raises(VerificationFailed, match=r"audit\.json: no gate of the release is judged by this audit"):
        verify(folder)


@pytest.mark.thorough
def test_the_ledger_knows_which_record_is_its_own(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = release(town).path
    assert folder is not None
    verify(folder, town.ledger)
    monkeypatch.setattr("crowdgate.verification.ledger.is_recorded", lambda *_: False)
    with pytest.raises(VerificationFailed, match=r"audit\.json: the ledger knows no audit of this policy"):
        verify(folder, town.ledger)
