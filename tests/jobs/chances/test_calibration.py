"""Whether forecast chances come true, over policies, populations and drifts that are drawn (Gneiting, Balabdaoui,
Raftery 2007: calibration; Brier 1950: calibration and sharpness together)."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from crowdgate.gate import Outcome, judge, verdict
from crowdgate.histogram import Histogram
from crowdgate.jobs.chances import history, predictive
from crowdgate.jobs.chances.history import by_history, seen
from crowdgate.jobs.chances.past import Ran
from crowdgate.jobs.plan import plan_policy
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.manifest import GateSaid
from crowdgate.measures import MEASURES
from crowdgate.policy.policy import GateRule
from crowdgate.sampling import KEY_BYTES, SecretKey
from tests.jobs.chances.drawn import Decision, decisions
from tests.workshop import Workshop

DECISIONS = 12_000
BINS = 10
SLACK = 0.02

pytestmark = pytest.mark.statistical


def check(found: Sequence[Decision]) -> None:
    """In every bin of forecasts the share that passed is within SLACK + 3 standard errors of their mean."""
    forecast = np.array([each.forecast for each in found])
    passed = np.array([each.passed for each in found])
    at = np.minimum((forecast * BINS).astype(int), BINS - 1)
    for each in range(BINS):
        inside = at == each
        mean, share, number = forecast[inside].mean(), passed[inside].mean(), inside.sum()
        error = float(np.sqrt(mean * (1 - mean) / number))
        print(f"bin {each}: {number} decisions, forecast {mean:.3f}, passed {share:.3f}")
        assert abs(share - mean) <= SLACK + 3 * error, f"bin {each}"


def brier(found: Sequence[Decision], chances: Sequence[float]) -> float:
    return float(np.mean([(chance - each.passed) ** 2 for chance, each in zip(chances, found, strict=True)]))


def test_what_is_forecast_comes_true_as_often() -> None:
    """N = 12,000, and the same of the true chances. A forecast that is calibrated fails with probability below .03 (ten
    bins, three standard errors, were there no slack). Power: the planted faults below, each found by a quarter as
    many."""
    found = list(decisions(20_301, DECISIONS))
    check(found)
    check([replace(each, forecast=each.truth) for each in found])  # the yardstick itself
    own = brier(found, [each.forecast for each in found])
    best = brier(found, [each.truth for each in found])
    rate = float(np.mean([each.passed for each in found]))
    print(f"Brier score {own:.4f}; of the true chance {best:.4f}; of the base rate {rate * (1 - rate):.4f}")
    assert best < own < best + 0.05 < rate * (1 - rate) - 0.1


def narrow(patch: pytest.MonkeyPatch) -> None:
    made = predictive.next_number

    def half(past: Sequence[float], floor: float) -> predictive.Next:
        law = made(past, floor)
        return predictive.Next(law.means, law.deviations / 2, law.weights)

    patch.setattr(history, "next_number", half)


def middle(patch: pytest.MonkeyPatch) -> None:
    def value(_: GateRule, own: GateSaid) -> object:
        low, high = map(history._figure, (own.low, own.high))
        assert low is not None
        assert high is not None
        return (low + high) / 2, low, high

    patch.setattr(history, "_ends", value)


@pytest.mark.parametrize("plant", [narrow, middle])
def test_a_planted_fault_is_seen(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the spread; the middle judged in place of the unfavourable end. N = 3,000."""
    plant(monkeypatch)
    with pytest.raises(AssertionError, match="bin"):
        check(list(decisions(5, 3000)))


def test_releases_that_are_really_drawn_pass_as_often_as_forecast(workshop: Workshop) -> None:
    """N = 600 decisions on 3,000 releases of small tables, through the kind's own coins and suppression, by four
    earlier ones each; a calibrated forecast fails with probability below .01 (three thirds)."""
    plan, draws = plan_policy(workshop.policy), np.random.default_rng(3)
    randomness = KeyedRandomness(SecretKey(draws.bytes(KEY_BYTES), injected=True))
    foretold, passed = [], []
    for at in range(600):
        measure = MEASURES[("released_rows", "released_classes", "smallest_class")[at % 3]]
        table = small_table(draws)
        drawn = [plan.protection.protect(plan.alone(), {"release": table}, randomness).candidate for _ in range(5)]
        values = [measure.of_candidate(each, GateRule.model_construct()) for each in drawn if measure.of_candidate]
        assert values[0] is not None
        assert values[-1] is not None
        limit = round(float(values[0].value) + draws.normal(0, 1 + float(values[0].value) ** 0.5 / 2))
        side = ("at_most", "at_least")[int(draws.integers(2))]
        rule = GateRule.model_validate({"measure": measure.name, side: str(max(limit, 0))})
        past = [Ran("", False, True, (GateSaid.of_verdict(verdict(rule, measure, each)),)) for each in values[:-1]]
        odds = by_history(plan, rule, measure, seen(plan, rule, measure, past))
        assert odds is not None
        foretold.append(odds.value)
        passed.append(judge(rule, values[-1]) is Outcome.PASS)
    order = np.array_split(np.argsort(foretold), 3)
    for third in order:
        mean, share = np.mean(np.array(foretold)[third]), np.mean(np.array(passed)[third])
        print(f"{len(third)} real decisions: forecast {mean:.3f}, passed {share:.3f}")
        assert abs(share - mean) <= SLACK + 3 * float(np.sqrt(mean * (1 - mean) / len(third)))


def small_table(draws: np.random.Generator) -> Histogram:
    """Some classes of the clinic's, each with few or many people."""
    cells = [(age, ward) for age in range(2) for ward in range(4)]
    counts = np.maximum(np.exp(draws.uniform(0, 5, len(cells))).astype(np.int64), 1)
    codes = tuple(np.array(each, dtype=np.int64) for each in zip(*cells, strict=True))
    return Histogram(("age", "ward"), (2, 4), codes, counts)
