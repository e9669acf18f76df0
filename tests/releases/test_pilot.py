"""A pilot release: tables released first, by a policy of their own, which forecasts of later policies rest on."""

import json
from pathlib import Path

import pytest
import yaml

from crowdgate.ledger.ledger import open_ledger
from crowdgate.verification.release import verify
from tests.workshop import MARK, Workshop, crowdgate, good_rows, make_workshop

SLOT = "2030-01-01"
PILOT = f"releases/pilot-clinic/1/{SLOT}"
NEW = ("--policy", "--contract", "clinic", "--owner", "board")


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """A working copy whose budget has room, with a released pilot."""
    workshop = make_workshop(tmp_path_factory.mktemp("pilot") / "w")
    workshop.write(good_rows(1000))
    assert crowdgate("init", workshop.root, *NEW, "--template", "pilot") == 0
    assert crowdgate("release", workshop.root / "policies" / "pilot-clinic.yaml", "--as-of", SLOT) == 0
    return workshop


def stated(policy: Path) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load(policy.read_text(encoding="utf-8"))["spec"]
    return found


def test_a_pilot_is_charged_and_published_like_any_release(released: Workshop) -> None:
    said = verify(released.root / PILOT, ledger=released.ledger).manifest
    assert (str(said.guarantee.epsilon), said.mechanism.kind) == ("1/10", "dp_tables")
    assert [entry.state for entry in open_ledger(released.ledger, None).entries()] == ["published"]
    assert said.data.model_dump()


@pytest.mark.thorough
def test_a_policy_from_a_template_rests_on_the_pilot(released: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    line = ("init", released.root, *NEW, "--template", "research", "--name", "later", "--pilot", released.root / PILOT)
    assert crowdgate(*line) == 0
    assert "Forecasts are unknown" not in capsys.readouterr().out
    policy = released.root / "policies" / "later.yaml"
    assert stated(policy)["pilot"] == PILOT
    assert crowdgate("plan", policy) == 0
    rests = "Expected figures rest on the published counts of release pilot-clinic/1/2030-01-01"
    assert rests in " ".join(capsys.readouterr().out.split())
    assert crowdgate("check", policy) == 0
    assert "read crowdgate plan before you release" in capsys.readouterr().out
    assert crowdgate("rehearse", policy, "--json") in (0, 3)
    found = json.loads(capsys.readouterr().out)
    assert found["without_counts"] == []
    assert found["outcome"] in ("rehearsed: published", "rehearsed: withheld")
    assert all("release pilot-clinic" in words or "together" in words for words in found["drawn_from"].values())


@pytest.mark.thorough
def test_forecasts_read_no_cell_of_the_table(released: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    """The table is gone, and all that a plan with a pilot prints is still there; no marked value is in it."""
    policy = released.root / "policies" / "clinic.yaml"
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text.replace("spec:\n", f"spec:\n  pilot: {PILOT}\n", 1), encoding="utf-8")
    assert crowdgate("plan", policy, "--json") == 0
    before = capsys.readouterr().out
    kept = released.data.read_bytes()
    released.data.unlink()
    assert crowdgate("plan", policy, "--json") == 0
    assert capsys.readouterr().out == before
    assert MARK not in before
    released.data.write_bytes(kept)
    policy.write_text(text, encoding="utf-8")


def test_without_a_pilot_and_without_counts_the_answer_is_unknown_in_one_line(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    """The gate on rows would withhold uniform rows: that says nothing about people."""
    workshop.edit(workshop.policy, "{measure: released_rows, at_least: 0}", "{measure: released_rows, at_least: 900}")
    assert crowdgate("rehearse", workshop.policy, "--to", workshop.root / "out") == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("rehearsed: unknown rehearsal-clinic/1/")
    assert told[1].startswith("no public counts of age: gates that read rows are unknown (give --from")
    assert [line for line in told if "released_rows" in line] == ["  unknown      released_rows at least 900"]
    assert crowdgate("init", workshop.root, *NEW, "--template", "public-use") == 0
    assert "Forecasts are unknown: no public counts relate" in capsys.readouterr().out


def test_a_gate_that_no_row_decides_withholds_also_where_rows_are_unknown(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, "{measure: pso_bound, at_most: 1}", "{measure: guarantee_epsilon, at_most: 1}")
    assert crowdgate("rehearse", workshop.policy, "--to", workshop.root / "out") == 3


@pytest.mark.parametrize("folder", ["releases/none", "../elsewhere", "/etc"])
def test_a_pilot_that_is_no_release_of_the_working_copy_is_refused(
    folder: str, workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop.edit(workshop.policy, "spec:\n", f"spec:\n  pilot: {folder}\n")
    for command in ("plan", "rehearse"):
        assert crowdgate(command, workshop.policy) == 2
        assert "expected the folder of a published release of tables" in " ".join(capsys.readouterr().err.split())
    assert crowdgate("init", workshop.root, *NEW, "--template", "tables", "--pilot", folder) == 2


@pytest.mark.thorough
def test_columns_that_the_pilot_lacks_are_not_guessed_and_are_named(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop.write(good_rows(1000))
    assert crowdgate("init", workshop.root, *NEW, "--template", "pilot") == 0
    pilot = workshop.root / "policies" / "pilot-clinic.yaml"
    spec = yaml.safe_load(pilot.read_text(encoding="utf-8"))
    spec["spec"]["mechanism"] |= {"levels": {"ward": "exact"}, "tables": [{"all": 1}]}
    pilot.write_text(yaml.safe_dump(spec), encoding="utf-8")
    assert crowdgate("release", pilot, "--as-of", SLOT) == 0
    line = ("init", workshop.root, *NEW, "--template", "tables", "--pilot", workshop.root / PILOT)
    assert crowdgate(*line, "--name", "guessed") == 0
    policy = workshop.root / "policies" / "guessed.yaml"
    assert "ward" in policy.read_text(encoding="utf-8")
    assert "age" not in stated(policy)["mechanism"]["levels"]  # type: ignore[index]
    capsys.readouterr()
    assert crowdgate(*line[:-2], "--name", "apart") == 0
    assert f"names no pilot release. Give --pilot {workshop.root / PILOT}\n" in capsys.readouterr().out
    assert crowdgate(*line, "--name", "stated", "--attributes", "age,ward") == 0
    assert "The pilot release does not count age: forecasts that need them are unknown." in capsys.readouterr().out
    workshop.edit(workshop.policy, "spec:\n", f"spec:\n  pilot: {PILOT}\n")
    assert crowdgate("rehearse", workshop.policy, "--to", workshop.root / "out") in (0, 3)
    said = capsys.readouterr().out
    assert (
        "no public counts of age: gates that read rows are unknown (the pilot release lacks them: give --from" in said
    )
    assert "--template pilot" not in said
