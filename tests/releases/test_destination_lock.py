"""Two ledgers at one destination: the loser is refused before it is charged, and no claim outlives its purpose."""

import os
from pathlib import Path

import pytest

from crowdgate.errors import Crashed, CrowdgateError, EnvironmentFault, LedgerRefused
from crowdgate.kind import randomness
from crowdgate.kind.run import Request, Result, Run
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import State, open_ledger
from crowdgate.publish import destination_claims
from crowdgate.releases import destination_lock
from crowdgate.releases import release as job
from tests.releases.killing import run_and_kill
from tests.workshop import Workshop, crowdgate, make_workshop

SLOT = "2030-01-01"
ID = f"clinic/1/{SLOT}"


@pytest.fixture
def rival(tmp_path: Path) -> Workshop:
    """Make a working copy with another ledger."""
    return make_workshop(tmp_path / "rival")


def run(workshop: Workshop, to: Path | None = None) -> Result:
    return job.release(Request(workshop.policy, SLOT, to=to), draw_key)


def spent(workshop: Workshop) -> object:
    return open_ledger(workshop.ledger, None).spent("clinic-patients").epsilon


def state(workshop: Workshop) -> State | None:
    entry = open_ledger(workshop.ledger, None).entry(ID)
    return None if entry is None else entry.state


def claimed_by(root: Path) -> str | None:
    path = destination_claims.claim_file(root, ID)
    return path.read_text().strip() if path.exists() else None


def name(workshop: Workshop) -> str:
    return open_ledger(workshop.ledger, None).id


STEPS = ("reserve", "begin_reading", "commit", "published")


@pytest.mark.thorough
@pytest.mark.parametrize("step", STEPS)
def test_who_comes_second_is_refused_before_the_charge_and_the_first_goes_on(
    workshop: Workshop, rival: Workshop, step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    to = workshop.root / "releases"
    run_and_kill(workshop.policy, "ledger", step, "before")
    assert crowdgate("release", rival.policy, "--as-of", SLOT, "--to", to) == 1
    said = capsys.readouterr().err
    assert "exists already" in said if step == "published" else name(workshop) in said
    assert (spent(rival), state(rival)) == (0, None)
    if step in ("reserve", "published"):
        assert run(workshop).outcome == "published"
        assert claimed_by(to) is None


def test_of_two_ledgers_that_pass_every_check_at_once_one_publishes_and_the_other_is_not_charged(
    workshop: Workshop, rival: Workshop, tmp_path: Path
) -> None:
    first = job.prepare(Request(workshop.policy, SLOT, to=tmp_path / "to"))
    assert isinstance(first, Run)
    with pytest.raises(EnvironmentFault, match=name(workshop)):
        run(rival, tmp_path / "to")
    destination_claims.claim_file(tmp_path / "to", ID).unlink()  # a person takes it for given up
    assert run(rival, tmp_path / "to").outcome == "published"
    with pytest.raises(EnvironmentFault, match="exists already"):
        job.reserve(first)
    assert (spent(workshop), state(workshop), claimed_by(tmp_path / "to")) == (0, None, None)


def test_a_committed_release_is_not_published_against_another_ledgers_claim(
    workshop: Workshop, rival: Workshop
) -> None:
    to = workshop.root / "releases"
    run_and_kill(workshop.policy, "ledger", "commit", "after")
    destination_claims.claim_file(to, ID).unlink()
    ready = job.prepare(Request(rival.policy, SLOT, to=to))
    assert isinstance(ready, Run)
    with pytest.raises(EnvironmentFault, match=name(rival)):
        run(workshop)
    destination_lock.give_back_claim(ready)
    assert run(workshop).outcome == "published"


ENDS = {
    "withheld before reading": ("pso_bound, at_most: 1", "pso_bound, at_most: 0.001"),
    "withheld": ("released_rows, at_least: 0", "released_rows, at_least: 900"),
    "published": ("owner: board", "owner: board"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("end", ENDS)
def test_a_run_that_ends_leaves_no_claim(workshop: Workshop, end: str) -> None:
    workshop.edit(workshop.policy, *ENDS[end])
    assert run(workshop).outcome == end.split()[0]
    assert claimed_by(workshop.root / "releases") is None


def test_a_run_that_is_refused_leaves_no_claim(workshop: Workshop) -> None:
    workshop.edit(workshop.budget, "epsilon: 6", "epsilon: 1")
    with pytest.raises(LedgerRefused):
        run(workshop)
    assert claimed_by(workshop.root / "releases") is None


def test_a_withheld_run_that_was_killed_gives_its_claim_back_when_it_is_asked_again(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, *ENDS["withheld"])
    run_and_kill(workshop.policy, "ledger", "commit", "after")
    assert claimed_by(workshop.root / "releases") == name(workshop)
    assert run(workshop).outcome == "withheld"
    assert claimed_by(workshop.root / "releases") is None


def test_a_crash_leaves_the_claim_with_its_ledger(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomness, "bernoulli_subsampler", None)
    with pytest.raises(Crashed):
        run(workshop)
    assert claimed_by(workshop.root / "releases") == name(workshop)


def test_a_run_that_another_of_its_ledger_overtook_leaves_that_ones_claim(workshop: Workshop) -> None:
    slow, quick = (job.prepare(Request(workshop.policy, SLOT)) for _ in range(2))
    assert isinstance(slow, Run)
    assert isinstance(quick, Run)
    job.reserve(quick)
    with pytest.raises(CrowdgateError):
        job.reserve(slow)
    assert claimed_by(quick.root) == name(workshop)


def test_a_claim_that_another_run_gave_back_is_taken_anew_after_the_charge(workshop: Workshop) -> None:
    ready = job.prepare(Request(workshop.policy, SLOT))
    assert isinstance(ready, Run)
    destination_lock.give_back_claim(ready)
    job.reserve(ready)
    assert claimed_by(ready.root) == name(workshop)


def test_a_destination_on_another_disk_costs_nothing(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    def across(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", across)
        with pytest.raises(EnvironmentFault, match="on another file system"):
            run(workshop)
    assert (spent(workshop), state(workshop)) == (0, None)
    assert run(workshop).outcome == "published"
