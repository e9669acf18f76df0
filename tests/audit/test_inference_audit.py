"""The audit of attribute inference as a user runs it, on a small public table."""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from crowdgate.audit.common.population_table import population as population_of
from crowdgate.audit.common.run import AuditRequest, audit
from crowdgate.audit.common.saved_progress import TrialBatch
from crowdgate.audit.common.setting import audit_spec
from crowdgate.audit.common.stored_records import AuditRuntime, partial_file
from crowdgate.audit.common.trials import Executor, Schedule, serial
from crowdgate.audit.inference import models
from crowdgate.audit.inference.setting import secrets_of
from crowdgate.audit.inference.tables import InferenceTables
from crowdgate.audit.inference.text import QUESTIONS, Inferred
from crowdgate.audit.inference_audit import INFERENCE
from crowdgate.candidate import AuditQuestion
from crowdgate.errors import ConfigurationError, VerificationFailed
from crowdgate.gate import Outcome
from crowdgate.ledger.audits import attempts, audits, key
from crowdgate.ledger.ledger import open_ledger
from crowdgate.planning.plan import plan_policy
from crowdgate.system import extras
from tests.audit.workshop import SEED, Town, five_blocks, make_town, only_few_controls, unplayed
from tests.workshop import MARK, crowdgate, write_parquet

pytestmark = pytest.mark.thorough

SECTION = """\
  audit: {population: towns, trials: 60, weight: 1e-3, limit: 0.9, inference: {releases: 20, limit: 0.5}}
"""
SECRET = "          - {property: secret, value: true}\n          - {property: knownToAttackers, value: false}\n"


@dataclass(frozen=True)
class Suspicious(Town):
    """A working copy in which the ward is secret."""

    def infer(self, executor: Executor = serial, seed: str = SEED) -> Inferred:
        return audit(INFERENCE, AuditRequest(self.policy), AuditRuntime(executor=executor, draw=lambda: seed))


def people(count: int) -> list[dict[str, Any]]:
    """Return people of whom those under 50 are mostly in the north, older ones mostly in the south."""
    found: list[dict[str, Any]] = []
    for i in range(count):
        age = 17 * i % 100
        ward = ("north" if i % 7 else "east") if age < 50 else ("south" if i % 3 else "east")
        found.append({"patient": f"{MARK}-{i}", "age": age, "ward": ward, "note": f"{MARK} note {i}"})
    return found


def make(root: Path, section: str = SECTION) -> Suspicious:
    town = make_town(root, section, "")
    for contract in (town.contract, town.population):
        town.edit(
            contract,
            "          - {property: invalid, value: level}\n",
            f"          - {{property: invalid, value: level}}\n{SECRET}",
        )
    write_parquet(root / "data_contracts" / "towns.parquet", people(400))
    return Suspicious(town.root)


@pytest.fixture(scope="module", autouse=True)
def _five_blocks() -> Iterator[None]:
    with five_blocks():
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    town = make(tmp_path_factory.mktemp("made") / "town")
    town.infer()
    return town.root


@pytest.fixture
def town(made: Path, tmp_path: Path) -> Suspicious:
    """A working copy with a finished audit."""
    shutil.copytree(made, tmp_path / "town")
    return Suspicious(tmp_path / "town")


def test_an_audit_finds_what_a_release_adds(town: Suspicious) -> None:
    """Controls work; the result is a function of the seed; no person's value is in the texts."""
    found = town.infer(unplayed)
    said = found.findings
    assert said.outcome is Outcome.PASS
    assert [(each.control, each.works) for each in said.controls] == [
        ("identity", True), ("constant", True), ("Mondrian, k = 5", True)
    ]  # fmt: skip
    (whole,) = [each for each in said.estimates if (each.group, each.coverage) == ("all targets", 1.0)]
    assert 0.6 < float(whole.precision.value) < 0.95
    assert said.gain is not None
    assert said.gain.value <= said.gain.upper <= 0.5
    assert found.record.setting.known == ("age",)
    assert found.record.setting.blocks == 5
    assert found.record.setting.secrets == (("ward", "exact"),)
    assert MARK not in json.dumps(INFERENCE.json(found))
    text = " ".join(INFERENCE.text(found))
    assert "known of everybody: age" in text
    assert "Baselines were fitted 5 times, each time without 1 in 5 of the units" in text
    assert "Inconclusive for ward, alone with what is known: figures would be of 0 people, and 20 are" in text
    assert [(each.group, each.targets, each.needed) for each in said.few] == [("alone with what is known", 0, 20)]


def test_a_finished_audit_is_reported_and_a_killed_one_goes_on(tmp_path: Path, made: Path) -> None:
    town = make(tmp_path / "town")

    def stopped(of: Schedule, missing: Sequence[TrialBatch]) -> Iterator[tuple[TrialBatch, Any]]:
        yield from serial(of, missing[:1])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        town.infer(stopped)
    again = town.infer(seed="0" * 32)
    assert again.record.seed == SEED
    assert again.record.attempt == 1
    assert not partial_file(again.path).exists()
    other = Suspicious(made).infer(unplayed)
    assert again.record.played == other.record.played


def test_attempts_at_other_questions_are_counted_apart(town: Suspicious) -> None:
    """An audit of singling out, before or after, does not halve the level of this one."""
    assert [each.event for each in audits(open_ledger(town.ledger, None).journal())] == ["begun", "recorded"]
    with only_few_controls():
        assert town.audit().record.attempt == 1
    digest, lines = plan_policy(town.policy).bundle.digest, open_ledger(town.ledger, None).journal()
    assert [attempts(lines, key(digest, question)) for question in AuditQuestion] == [1, 1, 0, 0, 0]


def test_an_edited_record_is_refused(town: Suspicious) -> None:
    (path,) = town.records
    data = path.read_bytes()
    path.write_bytes(data.replace(b"400", b"401"))
    assert path.read_bytes() != data
    with pytest.raises(VerificationFailed, match="edited"):
        town.infer(unplayed)


def test_the_command_shows_and_ends_as_the_outcome(town: Suspicious, capfd: pytest.CaptureFixture[str]) -> None:
    page = town.root / "page.html"
    assert crowdgate("audit", town.policy, "--of", "inference", "--jobs", "1", "--page", page) == 0
    shown = capfd.readouterr().out
    assert "pass clinic/1, inference" in shown
    text = page.read_text(encoding="utf-8")
    for question in QUESTIONS:
        assert f"<h2>{question}</h2>" in text
    assert text.count("<svg") == 1, "one secret, of everybody: nobody is alone"
    assert "with its confidence limits" in text
    assert "Opinion 05/2014" in text
    assert MARK not in text
    assert crowdgate("audit", town.policy, "--of", "inference", "--json") == 0
    assert json.loads(capfd.readouterr().out)["outcome"] == "pass"


@pytest.mark.parametrize(
    ("field", "value", "outcome", "said"),
    [
        ("limit", "0", Outcome.INCONCLUSIVE, "Cannot tell"),
        ("coverage", "0.01", Outcome.INCONCLUSIVE, "too few targets at coverage 0.01"),
    ],
)
def test_what_is_found_is_judged_by_the_setting(
    made: Path, field: str, value: str, outcome: Outcome, said: str
) -> None:
    played = Suspicious(made).infer(unplayed)
    setting = played.record.setting.model_copy(update={field: Fraction(value)})
    record = played.record.model_copy(update={"setting": setting})
    found = replace(played, record=record, findings=INFERENCE.findings(record))
    assert found.findings.outcome is outcome
    assert said in INFERENCE.conclusion(found)


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ({SECRET: ""}, "the policy releases no secret attribute"),
        ({"        customProperties:\n          - {property: privacyRole, value: other}\n": (
            "        customProperties:\n          - {property: privacyRole, value: other}\n"
            "          - {property: secret, value: true}\n")}, "this secret attribute is not released"),
        ({"      - name: age\n        logicalType: integer\n        customProperties:\n": (
            "      - name: age\n        logicalType: integer\n        customProperties:\n"
            "          - {property: knownToAttackers, value: "
                "false}\n")}, "no released attribute is known to attackers"),
        ({"{property: secret, value: true}": "{property: secret, value: perhaps}"}, "true or false"),
        ({"{property: secret, value: true}": "{property: secrets, value: true}"}, "secret"),
    ],
)  # fmt: skip
def test_a_contract_that_asks_nothing_is_told_what_to_write(tmp_path: Path, edits: dict[str, str], said: str) -> None:
    town = make(tmp_path / "town")
    for old, new in edits.items():
        town.edit(town.contract, old, new)
    with pytest.raises(ConfigurationError, match=said):
        town.infer()


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("{population: towns, units: 100, inference: {releases: 20}}", "200 units at least"),
        ("{population: towns, units: 4000, inference: {releases: 20}}", "no more than there are"),
        ("{population: towns, inference: {releases: 19}}", "a whole number from 20"),
        ("{population: towns, inference: {releases: 20, coverage: 0.3}}", "one of 1, 0.1, 0.01, 0.001"),
        ("{population: towns, inference: {release: 20}}", "releases"),
    ],
)
def test_a_setting_in_which_nothing_could_be_found_is_refused(tmp_path: Path, section: str, said: str) -> None:
    town = make(tmp_path / "town", f"  audit: {section}\n")
    with pytest.raises(ConfigurationError, match=said):
        town.infer()


def test_without_scikit_learn_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match="crowdgate\\[audit\\]"):
        models.library("ensemble")


@pytest.mark.parametrize("option", [["--trials", "5"], ["--weight", "0.1"]])
def test_options_of_singling_out_are_refused(
    town: Suspicious, capfd: pytest.CaptureFixture[str], option: list[str]
) -> None:
    assert crowdgate("audit", town.policy, "--of", "inference", *option) == 2
    assert "only for singling out" in capfd.readouterr().err


def test_numbers_of_a_population_are_those_of_its_own_contract(tmp_path: Path) -> None:
    """The population has ages that the policy's contract does not have; they are known and not released."""
    town = make(tmp_path / "town")
    town.edit(town.policy, "age: 50 years, ", "")
    town.edit(town.population, "{from: 0, to: 99,", "{from: 0, to: 119,")
    old = [{**each, "age": each["age"] + 20} for each in people(400)]
    write_parquet(town.root / "data_contracts" / "towns.parquet", old)
    plan = plan_policy(town.policy)
    secrets, contract = secrets_of(plan), plan.bundle.population
    population = population_of(plan, contract, ("ward", "age"))
    (case,) = InferenceTables(plan, audit_spec(plan), population, tuple(secrets), 1).cases
    assert case.tuples.codes[0].max() == 119
    assert case.original.size == 400


def test_a_population_that_another_contract_does_not_call_public_is_refused(tmp_path: Path) -> None:
    """An audit reads a file only if every contract that describes it states that it is public."""
    town = make(tmp_path / "town")
    other = town.population.read_text(encoding="utf-8").replace("id: towns", "id: secrets")
    private = other.replace("{property: public, value: true}", "{property: rowsAtMost, value: 1000}")
    (town.root / "data_contracts" / "secrets.yaml").write_text(private, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="contract secrets does not say that it is public"):
        town.infer()
    with pytest.raises(ConfigurationError, match="contract secrets does not say that it is public"):
        town.audit()
