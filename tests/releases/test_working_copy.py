"""Working copies and settings: made atomically, and nothing is replaced."""

import stat
from pathlib import Path

import pytest
import yaml

from crowdgate.ledger.ledger import open_ledger
from crowdgate.releases.working_copy import DEMO_POLICY, FOLDERS, init
from tests.workshop import Workshop, crowdgate

FILES = {"crowdgate.toml", "data_contracts", "ledger", "policies", "schedules"}


def test_a_working_copy_has_a_ledger_of_its_own_that_its_budgets_name(tmp_path: Path) -> None:
    root = init(tmp_path / "copy", "own")
    assert {path.name for path in root.iterdir()} == FILES
    ledger = open_ledger(f"sqlite:///{root / 'ledger' / 'ledger.db'}", None)
    assert ledger.id.startswith("own-")
    for path in (root / "policies" / "budgets").glob("*.yaml"):
        assert yaml.safe_load(path.read_text())["spec"]["ledger"] == ledger.id
    assert stat.S_IMODE((root / "ledger").stat().st_mode) == 0o700
    assert stat.S_IMODE((root / "ledger" / "ledger.db").stat().st_mode) == 0o600


@pytest.mark.thorough
def test_a_working_copy_can_share_a_ledger(tmp_path: Path, workshop: Workshop) -> None:
    assert crowdgate("init", tmp_path / "copy", "--ledger", workshop.ledger) == 0
    assert crowdgate("release", tmp_path / "copy" / DEMO_POLICY, "--as-of", "2030-01-01") == 0
    assert open_ledger(workshop.ledger, None).entry("census-income/2/2030-01-01")


@pytest.mark.parametrize("name", [*FOLDERS, "crowdgate.toml", "ledger"])
def test_nothing_that_is_there_is_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    assert crowdgate("init", tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_an_empty_folder_that_is_there_is_used_and_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy").chmod(0o750)
    assert crowdgate("init", tmp_path / "copy") == 0
    assert {path.name for path in (tmp_path / "copy").iterdir()} == FILES
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o750


def test_a_folder_that_can_not_be_written_is_a_fault_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert crowdgate("init", tmp_path / "file" / "copy") == 1


def test_a_ledger_missing_from_the_settings_is_named(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    (workshop.root / "crowdgate.toml").unlink()
    assert crowdgate("release", workshop.policy) == 2
    assert "CROWDGATE_LEDGER" in capsys.readouterr().err


def test_the_option_comes_before_the_environment_and_that_before_the_file(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDGATE_LEDGER", "sqlite:///nowhere.db")
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 5
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01", "--ledger", workshop.ledger) == 0


@pytest.mark.parametrize("text", ["ledger = 3\n", "leger = 'x'\n", "ledger = \n", 'ledger = "mysql://u:secret@h/db"\n'])
def test_wrong_settings_are_refused(workshop: Workshop, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (workshop.root / "crowdgate.toml").write_text(text)
    assert crowdgate("release", workshop.policy) == 2
    said = capsys.readouterr().err
    assert "crowdgate.toml" in said
    assert "secret" not in said


def test_a_url_that_is_no_file_is_refused_and_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("ledger", "show", "--ledger", "postgresql://user:secret@host/db") == 2
    assert "secret" not in capsys.readouterr().err


def test_a_ledger_is_created_once_and_its_budgets_are_raised_with_a_reason(
    workshop: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path / 'new.db'}"
    assert crowdgate("ledger", "create", "mine", "--ledger", url) == 0
    assert capsys.readouterr().out.startswith("mine-")
    assert crowdgate("ledger", "create", "mine", "--ledger", url) == 1
    assert crowdgate("ledger", "create", "Not A Name", "--ledger", url) == 2
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    more = ("ledger", "budget", "clinic-patients", "--raise", "--epsilon", "9", "--ledger", workshop.ledger)
    assert crowdgate(*more) == 2
    assert crowdgate(*more, "--reason", "board decision 7") == 0
    assert crowdgate("ledger", "verify", "--ledger", workshop.ledger) == 0
    assert crowdgate("ledger", "show", "--ledger", workshop.ledger) == 0
    assert "published" in capsys.readouterr().out


def test_a_slot_that_is_no_day_is_refused(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("release", workshop.policy, "--as-of", "2030-02-31") == 2
    assert "--as-of" in capsys.readouterr().err
