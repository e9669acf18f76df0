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
from crowdgate.forecast.chances.next_value import SURE, predictive_distribution

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12)
FLOORS = st.floats(1e-3, 1e5)


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
        assert predictive_distribution(past, wide / 100).at_most(float(limit)).value == pytest.approx(
            expected, abs=0.01
        )


@pytest.mark.usefixtures("unchanging")
def test_of_many_runs_that_differ_by_their_measuring_alone_it_is_the_law_of_that() -> None:
    past = list(100 + 5 * stats.norm.ppf((np.arange(12) + 0.5) / 12))
    for limit in (90, 95, 100, 108):
        expected = stats.norm.cdf(limit, 100, 5 * (1 + 1 / 12) ** 0.5)
        assert predictive_distribution(past, 5).at_most(limit).value == pytest.approx(expected, abs=0.02)


@given(NUMBERS, FLOORS, st.floats(-2e6, 2e6), st.floats(0, 1e6))
def test_it_is_a_law(past: list[float], floor: float, limit: float, more: float) -> None:
    law = predictive_distribution(past, floor)
    least, most = law.at_most(limit), law.at_most(limit + more)
    for each in (least, most):
        assert SURE <= each.low <= each.value <= each.high <= 1 - SURE
    assert least.value <= most.value + 1e-12


@given(NUMBERS, FLOORS, st.floats(-1e6, 1e6))
def test_below_and_above_are_the_same(past: list[float], floor: float, limit: float) -> None:
    mirrored = predictive_distribution([-each for each in past], floor).at_most(-limit)
    assert predictive_distribution(past, floor).at_most(limit).against.value == pytest.approx(mirrored.value, abs=1e-6)


def test_a_trend_is_carried_on() -> None:
    """The mean of the past would give .15, the last value one half."""
    grown = [100.0, 110, 120, 130, 140]
    assert predictive_distribution(grown, 0.5).at_most(144).value < 0.1
    assert predictive_distribution(grown, 0.5).at_most(156).value > 0.9


@pytest.mark.parametrize(("past", "floor"), [([1], 1), ([], 1), ([1, float("nan")], 1), ([1, 2], 0), ([1, 2], -1)])
def test_what_tells_nothing_is_refused(past: list[float], floor: float) -> None:
    with pytest.raises(ValueError, match="past must be two finite numbers or more, and floor positive"):
        predictive_distribution(past, floor)


def test_it_needs_no_library_that_is_slow_to_import() -> None:
    code = (
        "import sys; from crowdgate.forecast.chances.gate_chances import chances;"
        "from crowdgate.forecast.chances.next_value import predictive_distribution;"
        "predictive_distribution([1, 2], 1).at_most(1);"
        "print('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
