"""A budget that is nearly spent is called low, in the same words by every command."""

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.ledger.attestation import first_replay
from crowdgate.ledger.values import ZERO, Spend
from crowdgate.planning.budget_left import BudgetLeft
from crowdgate.planning.budgets import low_budget_text
from crowdgate.planning.low_budget import LOW
from crowdgate.planning.paid_series import PaidSeries
from crowdgate.releases import release as job
from tests.workshop import Workshop, crowdgate

CAP = Spend(Fraction(6), Fraction("0.03"))


@pytest.fixture
def clinic(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """Make a working copy whose budget pays for three releases."""
    monkeypatch.chdir(workshop.root)
    return workshop


def left(spent: Spend = ZERO, releases: int = 9, **said: Any) -> BudgetLeft:
    return BudgetLeft(spent, CAP, None, releases, releases, None, 1000, **said)


@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 6))
def test_a_budget_is_low_for_two_releases_or_less_or_below_a_tenth(epsilon: int, delta: int, releases: int) -> None:
    spent = Spend(CAP.epsilon * epsilon / 100, CAP.delta * delta / 100)
    assert (left(spent, releases).low is None) == (releases > 2 and max(epsilon, delta) <= 90)


@given(st.integers(0, 110), st.integers(3, 9))
def test_a_filter_counts_by_its_used_part(used: int, releases: int) -> None:
    found = left(CAP, releases, used=Fraction(used, 100)).low
    assert (found is None) == (used <= 90)
    assert low_budget_text({"used": str(Fraction(used, 100))}) == found


@pytest.mark.parametrize(("releases", "number"), [(0, "no further"), (1, "1 further"), (2, "2 further")])
def test_the_sentence_names_the_number_of_releases(releases: int, number: str) -> None:
    plural = "s" if releases == 2 else ""
    assert left(CAP, releases).low == f"{LOW}: it pays for {number} such release{plural}."


def test_one_sample_and_a_paid_series_are_no_sign_of_a_low_budget() -> None:
    assert left(releases=1, sample="spring").low is None
    assert left(releases=2, series=PaidSeries(2)).low is None
    assert left(CAP, 1, series=PaidSeries(3, "clinic/1/2030-01-01", 2)).low is None
    assert left(CAP, 0, sample="spring").low is not None
    assert left(CAP, 0, series=PaidSeries(3)).low is not None


def test_commands_warn_alike_and_only_when_the_budget_is_low(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = ("check", "plan", "explain")
    for command in commands:
        assert crowdgate(command, clinic.policy) == 0
        assert LOW not in capsys.readouterr().out
    assert crowdgate("release", clinic.policy, "--as-of", "2030-01-01", "--json") == 0
    low = f"{LOW}: it pays for 2 further such releases."
    assert json.loads(capsys.readouterr().out)["plain"].endswith(low)
    for command in commands:
        assert crowdgate(command, clinic.policy) == 0
        assert low.removesuffix(".") in " ".join(capsys.readouterr().out.split()), command


def test_the_page_of_a_budget_warns_once_less_than_a_tenth_is_left(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = []
    for day in (1, 2, 3):
        assert crowdgate("release", clinic.policy, "--as-of", f"2030-01-0{day}") == 0
        capsys.readouterr()
        assert crowdgate("report", "budget", "clinic-patients", "--ledger", clinic.ledger) == 0
        shown.append(LOW in capsys.readouterr().out)
    assert shown == [False, False, True]


def test_the_warning_after_a_release_replays_no_journal(clinic: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts replays of the journal in a release with the warning and in one without it."""
    counts = [0, 0]
    for day in (0, 1):

        def counting(*args: Any, day: int = day) -> Any:
            counts[day] += 1
            return first_replay(*args)

        monkeypatch.setattr("crowdgate.ledger.ledger.first_replay", counting)
        assert crowdgate("release", clinic.policy, "--as-of", f"2030-01-0{day + 1}") == 0
        monkeypatch.setattr(job, "budget_after", lambda *_: None)
    assert counts[0] == counts[1] > 0
