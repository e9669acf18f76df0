"""Dry-run policies release nothing, however a release is requested: a simulated run takes its place."""

import json

import pytest

from crowdgate.errors import ConfigurationError
from crowdgate.kind.run import Request
from crowdgate.releases.release import prepare
from tests.workshop import Workshop, crowdgate

SLOT = "2030-01-01"


@pytest.fixture
def dry(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """Remove the table: nothing may open it."""
    monkeypatch.chdir(workshop.root)
    workshop.edit(workshop.policy, "spec:\n", "spec:\n  enforcement: dry-run\n")
    workshop.data.unlink()
    return workshop


def state(dry: Workshop) -> dict[str, bytes]:
    """Return all files except those of simulated runs."""
    files = (path for path in dry.root.rglob("*") if path.is_file() and "rehearsals" not in path.parts)
    return {str(path.relative_to(dry.root)): path.read_bytes() for path in files}


def test_a_release_is_rehearsed_and_ends_as_nothing_published(
    dry: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state(dry)
    assert crowdgate("release", dry.policy, "--as-of", SLOT) == 3
    told = capsys.readouterr().out
    assert told.startswith("Dry run: the policy says enforcement: dry-run, so nothing is released")
    assert "rehearsed: unknown rehearsal-clinic/1/" in told
    assert state(dry) == before
    (readme,) = (dry.root / "rehearsals").rglob("README.md")
    assert "REHEARSAL: simulated rows" in readme.read_text()


def test_programs_never_read_published(dry: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = dry.root / "elsewhere"
    options = ("--to", elsewhere, "--input", dry.root / "none.parquet", "--ledger", "sqlite:///none.db")
    assert crowdgate("release", dry.policy, "--json", *options) == 3
    assert json.loads(capsys.readouterr().out)["outcome"] == "dry-run: unknown"
    assert not elsewhere.exists()
    assert not (dry.root / "none.db").exists()


def test_no_step_of_a_release_takes_it(dry: Workshop) -> None:
    with pytest.raises(ConfigurationError, match="'dry-run': nothing is released of it; expected 'enforce'"):
        prepare(Request(dry.policy, SLOT))


def test_a_rehearsal_and_a_release_are_each_what_they_say(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop.edit(workshop.policy, "spec:\n", "spec:\n  enforcement: dryrun\n")
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 2
    assert "'enforce' or 'dry-run'" in capsys.readouterr().err
    workshop.edit(workshop.policy, "enforcement: dryrun", "enforcement: enforce")
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 0


def test_a_diff_says_which_way_it_goes(dry: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    live = dry.policy.with_name("live.yaml")
    live.write_text(dry.policy.read_text().replace("enforcement: dry-run", "enforcement: enforce"))
    assert crowdgate("diff", live, dry.policy) == 0
    assert "tighter" in capsys.readouterr().out
    assert crowdgate("diff", dry.policy, live) == 3
    assert "looser" in capsys.readouterr().out
