"""Limits of forecasts hold the true probability as often as they state, and forecasts get better with more runs.

The tables stay as they are. Limits are those of a 95 % confidence interval, or wider.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from crowdgate.candidate import Measurement, OutputType, PublishedCells
from crowdgate.forecast.chances.laws import FrequencyLaw, confidence_limits, constant_law, spread_law
from crowdgate.kind.drawing import vector_noise
from crowdgate.kinds.tables.plan import TablesPlan
from crowdgate.kinds.tables.release import published_cells
from crowdgate.measures import MEASURES, tables
from crowdgate.mechanisms.tables.answers import consistent_answers
from crowdgate.planning.plan import plan_policy
from tests.forecast.chances.tables_drawn import (
    FOUR,
    GENERATED,
    MEASURED,
    POLICIES,
    Draws,
    Forecasted,
    _limit,
    forecast,
    forecasts,
    rule_of,
)
from tests.forecast.chances.test_calibration import TABLES, TABLES_MEASURES, small_table
from tests.workshop import Workshop

COVERAGE = 0.95

pytestmark = pytest.mark.statistical


@pytest.mark.parametrize("runs", [2, 3, 5, 12])
@pytest.mark.parametrize("mean", [-1.5, 0.2, 1.0])
def test_limits_of_normal_distances_are_those_of_the_noncentral_t(runs: int, mean: float) -> None:
    beyond = (stats.norm.ppf((np.arange(runs) + 0.5) / runs) + mean).tolist()
    law, t = spread_law(beyond, 0), float(np.sqrt(runs) * np.mean(beyond) / np.std(beyond, ddof=1))
    for chance in (0.05, 0.2, 0.5, 0.9):
        shift = -np.sqrt(runs) * stats.norm.ppf(chance)
        assert law.above(chance) == pytest.approx(float(stats.nct.sf(t, runs - 1, shift)), rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(("passed", "runs"), [(0, 3), (2, 7), (9, 9), (40, 60)])
def test_limits_of_frequencies_are_those_of_clopper_and_pearson(passed: int, runs: int) -> None:
    expected = stats.binomtest(passed, runs).proportion_ci(0.95, "exact")
    assert confidence_limits(FrequencyLaw(passed, runs)) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_one_noisy_count_has_the_law_of_its_noise() -> None:
    """With the flat prior the constant is the count minus the noise, so two noises lie between two counts."""
    law = constant_law([3], 2.0)
    noise = np.arange(-400, 401)
    weights = stats.dlaplace.pmf(noise, 0.5)
    expected = float(weights @ stats.dlaplace.cdf(-3 + noise, 0.5))
    assert law.value == pytest.approx(expected, rel=1e-9)


def check(found: Sequence[Forecasted], least: int) -> None:
    """Check for each measure coverage and the number of forecasts, and overall that errors fall with runs."""
    by_measure, errors = defaultdict(list), defaultdict(list)
    for each in found:
        by_measure[each.measure].append(each)
        errors[each.runs].append(abs(each.value - each.truth))
    for name, own in by_measure.items():
        covered, number = float(np.mean([each.covered for each in own])), len(own)
        width = float(np.median([each.high - each.low for each in own]))
        print(f"{name}: {number} forecasts, covered {covered:.3f}, median width {width:.2f}")
        assert number >= least
        assert covered >= COVERAGE - 3 * (COVERAGE * (1 - COVERAGE) / number) ** 0.5, name
    mean = {runs: float(np.mean(errors[runs])) for runs in sorted(errors)}
    print("mean error by runs:", {runs: round(each, 3) for runs, each in mean.items()})
    assert mean[2] > mean[10] > mean[40]
    assert mean[40] < mean[4] / 2


@pytest.mark.thorough
def test_limits_cover_and_errors_fall_with_the_number_of_runs() -> None:
    """40 forecasts for each of eight measures, on two generated tables. Coverage below .95 by three standard errors has
    a false-alarm rate below .004 for each measure; limits of level 50 %, about a third of the width, fail (planted
    below)."""
    check(list(forecasts(3, GENERATED, POLICIES[::3], 5, 500)), 40)


@pytest.mark.thorough
def test_limits_that_are_too_narrow_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: limits of level 50 % in place of 95 %, without the models of change."""
    monkeypatch.setattr("crowdgate.forecast.chances.laws.OUTSIDE", 0.25)
    monkeypatch.setattr("crowdgate.forecast.chances.from_past_runs.UNLIKELY", 1.1)
    with pytest.raises(AssertionError):
        check(list(forecasts(3, GENERATED, POLICIES[::3], 5, 500)), 40)


@pytest.mark.soak
def test_limits_cover_for_ten_policies_and_four_tables() -> None:
    """At least 300 forecasts for each of eight measures: false alarms below .002 for each."""
    assert len(POLICIES) == 10
    found = list(forecasts(17, FOUR, POLICIES, 10))
    assert {each.measure for each in found} == {*MEASURED}
    check(found, 300)


@pytest.mark.soak
def test_limits_cover_for_tables_with_noise(workshop: Workshop) -> None:
    """Up to 320 forecasts for each of three measures of ten policies of tables, on four generated tables: fewer where a
    measure has no value in some draw."""
    draws = np.random.default_rng(23)
    text = workshop.policy.read_text(encoding="utf-8")
    text = text[: text.index("    kind: safe_k")] + TABLES
    found: list[Forecasted] = []
    for at in range(10):
        other = text.replace("relative_error: 0.1", f"relative_error: {0.04 * (at % 5 + 1):.2f}")
        workshop.policy.write_text(other.replace("share: 0.2", f"share: {0.1 + 0.3 * (at // 5):.1f}"), encoding="utf-8")
        planned = plan_policy(workshop.policy).protection.mechanism
        assert isinstance(planned, TablesPlan)
        for _ in range(4):
            drawn = list(_cells(planned, draws, 200))
            for name in TABLES_MEASURES:
                found += _of_cells(name, drawn, draws, 8)
    check(found, 280)


def _cells(planned: TablesPlan, draws: Draws, number: int) -> Iterator[tuple[PublishedCells, ...]]:
    mechanism, table, source = planned.mechanism, small_table(draws), vector_noise(draws)
    for _ in range(number):
        noisy = mechanism.protect(dict.fromkeys(mechanism.views, table), None, source)
        yield published_cells(planned, consistent_answers(mechanism, noisy, planned.spec.relative_error))


def _of_cells(
    name: str, drawn: Sequence[tuple[PublishedCells, ...]], draws: Draws, number: int
) -> Iterator[Forecasted]:
    read = {
        "trusted_share": tables._trustworthy_share,
        "smallest_trusted_cell": tables._smallest_trustworthy,
        "total_relative_error": tables._total_relative_error,
    }
    assert MEASURES[name].shape is OutputType.CELLS
    measured: list[Measurement] = [each for cells in drawn if (each := read[name](cells)) is not None]
    if len(measured) < len(drawn):  # a gate that may be inconclusive has no forecast
        return
    for _ in range(number):
        yield forecast(rule_of(name, *_limit(measured, draws), Fraction(1)), Fraction(1), 1, measured, draws)
