"""Calibration of forecast probabilities, over random policies, populations and drifts.

Sources: Gneiting, Balabdaoui, Raftery (2007) for calibration; Brier (1950) for calibration and sharpness together.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import isfinite, nan

import numpy as np
import numpy.typing as npt
import pytest

from crowdgate.candidate import Candidate
from crowdgate.forecast.chances import from_past_runs, laws, next_value
from crowdgate.forecast.chances.from_past_runs import odds_from_past_runs, past_measurements
from crowdgate.gate import Outcome, judge, verdict
from crowdgate.histogram import Histogram
from crowdgate.history.past_runs import PastRun
from crowdgate.kind.plan import Plan
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.manifest import GateFields
from crowdgate.measures import MEASURES, Measure
from crowdgate.planning.plan import plan_policy
from crowdgate.policy.policy import GateRule
from crowdgate.sampling import KEY_BYTES, SecretKey
from tests.forecast.chances.drawn import Decision, decisions
from tests.workshop import Workshop

DECISIONS, FAULTY = 4_000, 1_000
BINS = 10

pytestmark = pytest.mark.statistical


def check(found: Sequence[Decision]) -> None:
    """Check that in every bin the share that passed is within 3 standard errors of the mean forecast."""
    forecast = np.array([each.forecast for each in found])
    passed = np.array([each.passed for each in found])
    at = np.minimum((forecast * BINS).astype(int), BINS - 1)
    for each in range(BINS):
        inside = at == each
        mean, share, number = forecast[inside].mean(), passed[inside].mean(), inside.sum()
        error = float(np.sqrt(mean * (1 - mean) / number))
        print(f"bin {each}: {number} decisions, forecast {mean:.3f}, passed {share:.3f}")
        assert abs(share - mean) <= 3 * error, f"bin {each}"


def brier(found: Sequence[Decision], chances: Sequence[float]) -> float:
    return float(np.mean([(chance - each.passed) ** 2 for chance, each in zip(chances, found, strict=True)]))


@pytest.mark.thorough
@pytest.mark.parametrize("number", [DECISIONS, pytest.param(3 * DECISIONS, marks=pytest.mark.soak)])
def test_what_is_forecast_comes_true_as_often(number: int) -> None:
    """N = 4,000 forecasts, and as many of the true probabilities; 12,000 under `soak`.

    A calibrated forecast fails with probability below .03 (ten bins, three standard errors). Power: each planted fault
    below is detected with a quarter as many.
    """
    found = list(decisions(20_301, number))
    check(found)
    check([replace(each, forecast=each.truth) for each in found])  # the yardstick itself
    own = brier(found, [each.forecast for each in found])
    best = brier(found, [each.truth for each in found])
    rate = float(np.mean([each.passed for each in found]))
    print(f"Brier score {own:.4f}; of the true chance {best:.4f}; of the base rate {rate * (1 - rate):.4f}")
    assert best < own < best + 0.05 < rate * (1 - rate) - 0.1


def narrow(patch: pytest.MonkeyPatch) -> None:
    made, spread, scale = next_value.predictive_distribution, laws.spread_law, from_past_runs._noise_scale

    def half(past: Sequence[float], floor: float, unchanged: float | None = None) -> next_value.PredictiveDistribution:
        law = made(past, floor, unchanged)
        return next_value.PredictiveDistribution(law.means, law.deviations / 2, law.weights)

    def half_spread(beyond: Sequence[float], least: float) -> laws.SpreadLaw:
        law = spread(beyond, least)
        return laws.SpreadLaw(law.runs, law.mean, law.deviations / 2, law.weights)

    patch.setattr(from_past_runs, "predictive_distribution", half)
    patch.setattr(from_past_runs, "spread_law", half_spread)
    patch.setattr(from_past_runs, "_noise_scale", lambda *of: scale(*of) / 2)


def middle(patch: pytest.MonkeyPatch) -> None:
    def value(_: GateRule, own: GateFields) -> object:
        low, high = map(from_past_runs._figure, (own.low, own.high))
        assert low is not None
        assert high is not None
        return (low + high) / 2, low, high

    patch.setattr(from_past_runs, "_confidence_limits", value)


@pytest.mark.thorough
@pytest.mark.parametrize("plant", [narrow, middle])
def test_a_planted_fault_is_seen(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """The faults are half of the spread, and the median judged in place of the unfavourable limit. N = 1,000; 700 found
    both in each of five seeds."""
    plant(monkeypatch)
    with pytest.raises(AssertionError, match="bin"):
        check(list(decisions(5, FAULTY)))


TABLES = """\
    kind: dp_tables
    levels: {age: 50 years, ward: exact}
    tables: [{total: true, share: 0.2}, {all: 1}, {all: 2}]
    relative_error: 0.1
  gates:
    - {measure: total_relative_error, at_most: 0.5}
  publish: {to: releases, formats: [csv]}
"""
ROWS_MEASURES = ("released_rows", "released_classes", "smallest_class")
TABLES_MEASURES = ("trusted_share", "smallest_trusted_cell", "total_relative_error")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("measures", "number"), [(ROWS_MEASURES, 300), pytest.param(TABLES_MEASURES, 200, marks=pytest.mark.soak)]
)
def test_releases_that_are_really_drawn_pass_as_often_as_forecast(
    measures: tuple[str, ...], number: int, workshop: Workshop
) -> None:
    """For each measure, N decisions are forecast from four earlier releases of small tables, made by the kind's own
    mechanism.

    A calibrated forecast fails with probability below .03 (three measures of three thirds).
    """
    if measures == TABLES_MEASURES:
        text = workshop.policy.read_text(encoding="utf-8")
        workshop.policy.write_text(text[: text.index("    kind: safe_k")] + TABLES, encoding="utf-8")
    plan, draws = plan_policy(workshop.policy), np.random.default_rng(3)
    found: dict[str, list[tuple[float, bool]]] = {name: [] for name in measures}
    for _ in range(number):
        drawn = released(plan, draws)
        for name in measures:
            found[name] += decided(plan, MEASURES[name], drawn, draws)
    for name, ends in found.items():
        assert len(ends) > 0.9 * number
        hold_in_thirds(name, np.array(ends, dtype=np.float64))


def hold_in_thirds(name: str, ends: npt.NDArray[np.float64]) -> None:
    """Check forecasts (first column) against outcomes in thirds; hardly any forecast near 0 or 1 may be wrong."""
    foretold, passed = ends[np.argsort(ends[:, 0], kind="stable")].T
    for sure, came in zip(np.array_split(foretold, 3), np.array_split(passed, 3), strict=True):
        mean, share = sure.mean(), came.mean()
        print(f"{name}: {len(sure)} real decisions: forecast {mean:.3f}, passed {share:.3f}")
        assert abs(share - mean) <= 3 * float(np.sqrt(mean * (1 - mean) / len(sure))), name
    surprises = int((abs(foretold - passed) > 0.999).sum())
    assert surprises <= 1, f"{name}: {surprises} of {len(ends)} were forecast as sure and came otherwise"


def released(plan: Plan, draws: np.random.Generator) -> list[Candidate]:
    """Return five releases of a table that is constant, or changes a little between them."""
    randomness, table = KeyedRandomness(SecretKey(draws.bytes(KEY_BYTES), injected=True)), small_table(draws)
    step, made = int(draws.choice([0, 0, 3])), []
    protection = plan.protection
    for _ in range(5):
        views = dict.fromkeys(protection.views, table)
        made.append(protection.kind.protect(protection.mechanism, plan.first_release_facts(), views, randomness))
        moved = table.counts + draws.integers(-step, step + 1, len(table.counts))
        table = Histogram(table.names, table.sizes, table.codes, np.maximum(moved, 1))
    return made


def decided(
    plan: Plan, measure: Measure, drawn: Sequence[Candidate], draws: np.random.Generator
) -> Iterator[tuple[float, bool]]:
    """Return the forecast from all but the last release, and the outcome of the last, at a limit near the first."""
    assert measure.of_candidate is not None
    values = [measure.of_candidate(each, GateRule.model_construct()) for each in drawn]
    figures = [nan if each is None else float(each.value) for each in values]
    if not all(map(isfinite, figures)):
        return
    limit = figures[0] + draws.normal(0, 1.5) * max(float(np.std(figures)), 0.02 * figures[0])
    side = ("at_most", "at_least")[int(draws.integers(2))]
    rule = GateRule.model_validate({"measure": measure.name, side: f"{max(limit, 0):.9f}"})
    past = [PastRun("", False, True, (GateFields.of_verdict(verdict(rule, measure, each)),)) for each in values[:-1]]
    odds = odds_from_past_runs(plan, rule, measure, past_measurements(plan, rule, measure, past))
    assert odds is not None
    yield odds.value, judge(rule, values[-1]) is Outcome.PASS


def small_table(draws: np.random.Generator) -> Histogram:
    """Return a table of some classes of the clinic's, each with few or many people."""
    cells = [(age, ward) for age in range(2) for ward in range(4)]
    counts = np.maximum(np.exp(draws.uniform(0, 5, len(cells))).astype(np.int64), 1)
    codes = tuple(np.array(each, dtype=np.int64) for each in zip(*cells, strict=True))
    return Histogram(("age", "ward"), (2, 4), codes, counts)
