"""Gates hold a release if past runs exclude that they pass: rarely by mistake, and often if they can't pass."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from crowdgate.forecast.chances.from_past_runs import PastMeasurements, past_measurements
from crowdgate.forecast.chances.hold import LEVEL, excluded
from crowdgate.measures import MEASURES
from crowdgate.policy.policy import GateRule
from tests.forecast.chances import drawn

CHANCE = 0.2


def held(name: str, ends: list[int], half: Fraction = Fraction(0), **limit: Any) -> bool:
    rule = GateRule.model_validate({"measure": name, **{side: str(number) for side, number in limit.items()}})
    found = PastMeasurements(tuple(map(Fraction, ends)), half, 0, 0, 0)
    return excluded(drawn.plan_at(Fraction(1, 2)), rule, MEASURES[name], found, CHANCE, LEVEL)


def test_a_limit_far_from_one_count_of_classes_holds_and_a_near_one_does_not() -> None:
    assert held("released_classes", [253], at_least=400)
    assert not held("released_classes", [253], at_least=260)
    assert not held("released_classes", [253], at_most=100)  # its variance is not bounded from above by a small mean
    assert not held("released_rows", [253], at_least=400)  # one run shows nothing about suppression
    assert not held("released_classes", [420], at_least=400)
    assert not held("released_classes", [253, 410], at_least=400)


def test_a_run_that_was_not_measured_excludes_nothing() -> None:
    found = PastMeasurements((Fraction(253),), Fraction(0), 0, 1, 0)
    rule = GateRule.model_validate({"measure": "released_classes", "at_least": "400"})
    assert not excluded(drawn.plan_at(Fraction(1, 2)), rule, MEASURES["released_classes"], found, CHANCE, LEVEL)


@pytest.mark.thorough
@pytest.mark.parametrize("chances", [0.2, 0.5])
def test_counts_of_events_of_any_probability_hold_at_most_at_the_level(chances: float) -> None:
    """One run of a number of independent events with random probabilities; the limit is the greatest that is reached
    with at least this probability. 4,000 draws: more than LEVEL by 4 standard errors has probability below 1e-4."""
    draws = np.random.default_rng(7)
    wrong = 0
    for _ in range(4000):
        events = draws.beta(draws.uniform(0.1, 3), draws.uniform(0.1, 3), int(draws.integers(5, 300)))
        many = np.sort((draws.random((200, len(events))) < events).sum(axis=1))
        limit = int(many[int(200 * (1 - chances))])
        wrong += limit > 0 and held(
            "released_classes", [int((draws.random(len(events)) < events).sum())], at_least=limit
        )
    assert wrong / 4000 <= LEVEL + 4 * (LEVEL / 4000) ** 0.5


@pytest.mark.thorough
@pytest.mark.parametrize("runs", [2, 12, *(pytest.param(runs, marks=pytest.mark.soak) for runs in (3, 6))])
def test_several_runs_hold_at_most_at_the_level(runs: int) -> None:
    """Normal measurements around a level where the next one passes with probability CHANCE. 1,500 draws: more than
    LEVEL by 4 standard errors has probability below 1e-4."""
    draws, spread = np.random.default_rng(runs), 1e4
    limit = round(1e6 - stats.norm.ppf(1 - CHANCE) * spread)
    shown = draws.normal(1e6, spread, (1500, runs)).round().astype(int).tolist()
    wrong = sum(held("released_rows", ends, at_most=limit) for ends in shown)
    assert wrong / 1500 <= LEVEL + 4 * (LEVEL / 1500) ** 0.5


def random_gates(seed: int, number: int) -> Iterator[tuple[bool, float, int]]:
    """Yield for random gates and runs, whose levels stay or move, whether the gate holds, the true probability that it
    passes next, and the number of past runs."""
    draws: Any = np.random.default_rng(seed)
    for _ in range(number):
        setting = drawn.SETTINGS[int(draws.integers(len(drawn.SETTINGS)))](draws)
        runs = int(draws.choice([1, 1, 2, 3, 4, 6, 9, 12]))
        moved = drawn.levels(draws, setting, runs + 1)
        shown = [setting.draw(level) for level in moved[:-1]]
        rule, measure = drawn.rule_of(draws, setting, shown), MEASURES[setting.measure]
        past = drawn.past_of(rule, [setting.measured(each) for each in shown])
        plan = drawn.plan_at(setting.beta)
        found = past_measurements(plan, rule, measure, past)
        yield excluded(plan, rule, measure, found, CHANCE, LEVEL), drawn.truth(setting, rule, moved[-1]), runs


@pytest.mark.thorough
def test_false_holds_are_rare_and_hopeless_gates_are_held() -> None:
    """3,000 gates, about half of which pass with a probability of .5 or more: at most 1 in 100 of these may be held. If
    1 in 200 were, 25 or more would have probability below 1e-5; about 1 in 1,000 were in other draws. Of the gates that
    pass with a probability below .01 after two runs or more, a quarter must be held (a third were: few runs say little
    of a spread that nothing else bounds)."""
    seen: Counter[str] = Counter()
    for holds, truth, runs in random_gates(20300101, 3000):
        kind = "likely" if truth >= 0.5 else "hopeless" if truth < 0.01 and runs > 1 else "other"
        seen[kind] += 1
        seen[f"{kind} held"] += holds
    assert seen["likely"] > 1000
    assert seen["likely held"] <= seen["likely"] / 100
    assert seen["hopeless held"] >= seen["hopeless"] / 4
