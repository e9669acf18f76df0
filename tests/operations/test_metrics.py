"""Metrics: a text that monitoring reads, of budgets, audits, forecasts and slots, replaced as a whole."""

import json
from math import floor
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from crowdgate.operations.metrics import metrics_text, write_metrics
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.signing import keys
from tests.workshop import MARK, Workshop, crowdgate

SLOT = "2030-01-01"


@pytest.fixture
def monitored(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A working copy with one release."""
    monkeypatch.chdir(workshop.root)
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 0
    return workshop


def samples(text: str) -> dict[str, float]:
    """Return the value of each sample by its name and labels."""
    return {
        each.name + "".join(f" {value}" for value in each.labels.values()): each.value
        for family in text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
        for each in family.samples
    }


def test_metrics_state_budget_slot_and_forecast(monitored: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    text = metrics_text(monitored.root)
    found = samples(text)
    assert found["crowdgate_budget_left_ratio clinic-patients"] == 0.66  # of 2/3
    assert found["crowdgate_population_frozen clinic-patients"] == 0
    assert found["crowdgate_last_slot_timestamp_seconds clinic published"] == 1893456000
    assert crowdgate("plan", monitored.policy, "--json") == 0
    chance = json.loads(capsys.readouterr().out)["forecast"]["release"]["chance"]
    assert found["crowdgate_publication_forecast_ratio clinic"] == floor(100 * chance) / 100
    assert MARK not in text
    assert crowdgate("ledger", "freeze", "clinic-patients", "--reason", "test") == 0
    assert samples(metrics_text(monitored.root))["crowdgate_population_frozen clinic-patients"] == 1


def test_a_kl_entry_is_no_slot_of_a_policy(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workshop.root)
    keys.create(workshop.root / "own.key")
    settings = workshop.root / "crowdgate.toml"
    settings.write_text(settings.read_text() + 'signing_key = "own.key"\n', encoding="utf-8")
    ledger_at(workshop.root, None).sign()
    said = ("--words", "Patients", "--coverage", "1", "--error", "0", "--as-of", "2020-01-01", "--to", "kl")
    assert crowdgate("kl", "publish", workshop.contract, "--of", "age=50 years,ward", *said, "--epsilon", "0.5") in (
        0,
        3,
    )  # published, or withheld as too noisy
    assert len(ledger_at(workshop.root, None).entries()) == 1
    assert not any(name.startswith("crowdgate_last_slot") for name in samples(metrics_text(workshop.root)))


def test_a_policy_that_can_t_be_read_hides_no_other_metric(monitored: Workshop) -> None:
    gate = "    - {measure: released_rows, at_least: 0}\n"
    stale = "    - {measure: pso_excess, at_most: 0.5, severity: advise, with: {max_age: 30}}\n"
    monitored.edit(monitored.policy, gate, gate + stale)
    monitored.policy.with_name("broken.yaml").write_text("kind: ReleasePolicy\n")
    found = samples(metrics_text(monitored.root))
    assert found["crowdgate_audit_max_age_days clinic singling-out"] == 30
    assert "crowdgate_audit_age_days clinic singling-out" not in found  # there is none
    assert "crowdgate_budget_left_ratio clinic-patients" in found


def test_the_command_writes_the_file_whole_or_leaves_the_old_one(
    monitored: Workshop, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    capsys.readouterr()
    assert crowdgate("metrics") == 0
    text = capsys.readouterr().out
    assert text.endswith("# EOF\n")
    assert crowdgate("metrics", "--file", tmp_path / "crowdgate.prom") == 0
    assert (tmp_path / "crowdgate.prom").read_text() == text
    monitored.root.joinpath("ledger", "ledger.db").write_bytes(b"no database")
    assert crowdgate("metrics", "--file", tmp_path / "crowdgate.prom") in (1, 5)
    assert (tmp_path / "crowdgate.prom").read_text() == text
    assert crowdgate("metrics", "--file", "gone/crowdgate.prom") in (1, 5)
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_labels_are_escaped(monitored: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    name = 'a "b" \\ c\nd'
    monkeypatch.setattr("crowdgate.operations.metrics.version", lambda _: name)
    assert f"crowdgate_version {name}" in samples(metrics_text(monitored.root))


@pytest.mark.thorough
def test_a_folder_that_is_gone_is_a_fault_of_the_machine(monitored: Workshop, tmp_path: Path) -> None:
    from crowdgate.errors import EnvironmentFault

    with pytest.raises(EnvironmentFault, match="metrics can't be written"):
        write_metrics(monitored.root, None, tmp_path / "gone" / "file")
