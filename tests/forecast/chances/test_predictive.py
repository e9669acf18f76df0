"""The predictive distribution of the next of some numbers."""

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from crowdgate.forecast.chances import next_value
from crowdgate.forecast.chances.next_value import predictive_distribution

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12)
FLOORS = st.floats(1e-3, 1e5)
ROUNDING = 1e-12
"""Bound on the rounding of sums of 840 probabilities: each adds 2^-52 at most."""


def at_most(past: list[float], floor: float, limit: float) -> float:
    """Return the probability that the next number is at most `limit`, over all models of change."""
    law = predictive_distribution(past, floor)
    return float(law.likely @ law.below(limit))


@pytest.fixture
def unchanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Disable the models of change, so that nothing changes from run to run."""
    monkeypatch.setattr(next_value, "STEPS", (0.0,))
    monkeypatch.setattr(next_value, "SLOPES", ())
    next_value._change_models.cache_clear()
    yield
    next_value._change_models.cache_clear()


@pytest.mark.usefixtures("unchanging")
@pytest.mark.parametrize("past", [[431, 428], [431, 428, 440], [3, 9, 4, 7, 1, 2, 8]])
def test_without_changes_and_floor_it_is_students_t(past: list[float]) -> None:
    """Geisser (1993): n - 1 degrees of freedom, mean of the past, variance s^2 (1 + 1/n).

    The grid of variances ends at WIDEST times the sum of squares S. S / variance has the law of chi-square with n - 1
    degrees of freedom, so the grid lacks P(chi-square < 1 / WIDEST) of the posterior, which moves a probability by at
    most half of this. Rounding and the sum in place of an integral add less than 1e-5.
    """
    runs, wide = len(past), float(np.std(past, ddof=1))
    room = stats.chi2.cdf(1 / next_value.WIDEST, runs - 1) / 2 + 1e-5
    for limit in np.linspace(np.mean(past) - 4 * wide, np.mean(past) + 4 * wide, 17):
        expected = stats.t.cdf(limit, runs - 1, np.mean(past), wide * (1 + 1 / runs) ** 0.5)
        assert at_most(past, wide / 100, float(limit)) == pytest.approx(expected, abs=room)


@pytest.mark.usefixtures("unchanging")
def test_of_many_runs_that_differ_by_their_measuring_alone_it_is_the_law_of_that() -> None:
    """The variance is 25, with the weight of ALONE e-foldings, or above. The grid's first point has the weight of a
    whole step in place of half of one: of at least ALONE, so a probability moves by at most half of step / (2 ALONE).
    """
    past = 100 + 5 * stats.norm.ppf((np.arange(12) + 0.5) / 12)
    squares = float(((past - past.mean()) ** 2).sum())
    step = np.log(squares / 25 * next_value.WIDEST) / (next_value.POINTS - 1)
    logs = np.linspace(np.log(25), np.log(25) + 12, 20_001)
    fits = np.exp(-11 / 2 * (logs - logs[0]) - squares / 2 * (np.exp(-logs) - 1 / 25))
    for limit in (90, 95, 100, 108):
        below = stats.norm.cdf(limit, 100, np.exp(logs / 2) * (1 + 1 / 12) ** 0.5)
        alone = next_value.ALONE
        expected = (alone * below[0] + np.trapezoid(fits * below, logs)) / (alone + np.trapezoid(fits, logs))
        assert at_most(list(past), 5, limit) == pytest.approx(expected, abs=step / (4 * alone))


@given(NUMBERS, FLOORS, st.floats(-2e6, 2e6), st.floats(0, 1e6))
def test_it_is_a_law(past: list[float], floor: float, limit: float, more: float) -> None:
    law = predictive_distribution(past, floor)
    least, most = law.below(limit), law.below(limit + more)
    assert law.likely.sum() == pytest.approx(1, abs=ROUNDING)
    assert (least >= 0).all()
    assert (most <= 1 + ROUNDING).all()
    assert (least <= most + ROUNDING).all()


@given(NUMBERS, FLOORS, st.floats(-1e6, 1e6))
def test_below_and_above_are_the_same(past: list[float], floor: float, limit: float) -> None:
    mirrored = at_most([-each for each in past], floor, -limit)
    assert 1 - at_most(past, floor, limit) == pytest.approx(mirrored, abs=ROUNDING)


def test_a_trend_is_carried_on() -> None:
    """The mean of the past would give .15, the last value one half."""
    grown = [100.0, 110, 120, 130, 140]
    assert at_most(grown, 0.5, 144) < 0.1
    assert at_most(grown, 0.5, 156) > 0.9


@pytest.mark.parametrize(("past", "floor"), [([1], 1), ([], 1), ([1, float("nan")], 1), ([1, 2], 0), ([1, 2], -1)])
def test_what_tells_nothing_is_refused(past: list[float], floor: float) -> None:
    with pytest.raises(ValueError, match="past must be two finite numbers or more, and floor positive"):
        predictive_distribution(past, floor)


@pytest.mark.thorough
def test_it_needs_no_library_that_is_slow_to_import() -> None:
    code = (
        "import sys; from crowdgate.forecast.chances.gate_chances import chances;"
        "from crowdgate.forecast.chances.next_value import predictive_distribution;"
        "predictive_distribution([1, 2], 1).below(1);"
        "print('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
