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
    """Geisser (1993): n - 1 degrees of freedom, mean of the past, variance s^2 (1 + 1/n)."""
    runs, wide = len(past), float(np.std(past, ddof=1))
    for limit in np.linspace(np.mean(past) - 4 * wide, np.mean(past) + 4 * wide, 17):
        expected = stats.t.cdf(limit, runs - 1, np.mean(past), wide * (1 + 1 / runs) ** 0.5)
        assert at_most(past, wide / 100, float(limit)) == pytest.approx(expected, abs=0.01)


@pytest.mark.usefixtures("unchanging")
def test_of_many_runs_that_differ_by_their_measuring_alone_it_is_the_law_of_that() -> None:
    past = list(100 + 5 * stats.norm.ppf((np.arange(12) + 0.5) / 12))
    for limit in (90, 95, 100, 108):
        expected = stats.norm.cdf(limit, 100, 5 * (1 + 1 / 12) ** 0.5)
        assert at_most(past, 5, limit) == pytest.approx(expected, abs=0.02)


@given(NUMBERS, FLOORS, st.floats(-2e6, 2e6), st.floats(0, 1e6))
def test_it_is_a_law(past: list[float], floor: float, limit: float, more: float) -> None:
    law = predictive_distribution(past, floor)
    least, most = law.below(limit), law.below(limit + more)
    assert law.likely.sum() == pytest.approx(1)
    assert (least >= 0).all()
    assert (most <= 1 + 1e-9).all()
    assert (least <= most + 1e-9).all()


@given(NUMBERS, FLOORS, st.floats(-1e6, 1e6))
def test_below_and_above_are_the_same(past: list[float], floor: float, limit: float) -> None:
    mirrored = at_most([-each for each in past], floor, -limit)
    assert 1 - at_most(past, floor, limit) == pytest.approx(mirrored, abs=1e-6)


def test_a_trend_is_carried_on() -> None:
    """The mean of the past would give .15, the last value one half."""
    grown = [100.0, 110, 120, 130, 140]
    assert at_most(grown, 0.5, 144) < 0.1
    assert at_most(grown, 0.5, 156) > 0.9


@pytest.mark.parametrize(("past", "floor"), [([1], 1), ([], 1), ([1, float("nan")], 1), ([1, 2], 0), ([1, 2], -1)])
def test_what_tells_nothing_is_refused(past: list[float], floor: float) -> None:
    with pytest.raises(ValueError, match="past must be two finite numbers or more, and floor positive"):
        predictive_distribution(past, floor)


def test_it_needs_no_library_that_is_slow_to_import() -> None:
    code = (
        "import sys; from crowdgate.forecast.chances.gate_chances import chances;"
        "from crowdgate.forecast.chances.next_value import predictive_distribution;"
        "predictive_distribution([1, 2], 1).below(1);"
        "print('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
