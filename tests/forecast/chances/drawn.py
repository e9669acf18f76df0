"""Random policies, populations and runs, with a known distribution of the next measurement."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from scipy import stats

from crowdgate.candidate import Measurement, MechanismFigures
from crowdgate.forecast.chances.from_past_runs import odds_from_past_runs, past_measurements
from crowdgate.gate import Outcome, judge, verdict
from crowdgate.history.past_runs import PastRun
from crowdgate.kind.plan import Plan
from crowdgate.manifest import GateFields
from crowdgate.measures import MEASURES
from crowdgate.measures.charged_counts import published_noisy_measurement
from crowdgate.policy.policy import Charge, GateRule

Draws = np.random.Generator
Measured = Callable[[float], Measurement]
"""A function that returns the measurement of a true value."""
TAIL = 1.6448536269514722


@dataclass(frozen=True)
class Setting:
    """A measure with its simulation.

    It has the spread of its numbers at a level, how one is drawn there, its distribution function, how it is measured,
    and the distance of the judged confidence limit from the number.
    """

    measure: str
    level: float
    spread: float
    draw: Callable[[float], float]
    below: Callable[[float, float], float]
    measured: Measured
    margin: float = 0.0
    whole: bool = True
    beta: Fraction = Fraction(1, 2)
    charge: Fraction | None = None


@dataclass(frozen=True)
class Decision:
    """A forecast with the true probability and the outcome."""

    forecast: float
    truth: float
    passed: bool
    measure: str
    runs: int


def exact(number: float) -> Measurement:
    return Measurement.exact(int(number))


def rows(draws: Draws) -> Setting:
    """Return the setting of released rows of a population without suppression."""
    people, beta = float(np.exp(draws.uniform(3, 12))), Fraction(int(draws.integers(1, 20)), 20)
    rate, spread = float(beta), float(np.sqrt(people * float(beta) * (1 - float(beta))))
    return Setting(
        "released_rows", people * rate, max(spread, 0.5),
        lambda level: draws.binomial(max(1, round(level / rate)), rate),
        lambda level, limit: float(stats.binom.cdf(limit, max(1, round(level / rate)), rate)), exact, beta=beta,
    )  # fmt: skip


def classes(draws: Draws) -> Setting:
    """Return the setting of released classes, or of rows that match a register: counts of rare events."""
    level = float(np.exp(draws.uniform(0, 8)))
    name = str(draws.choice(["released_classes", "register_matches"]))
    return Setting(
        name, level, float(np.sqrt(level)), lambda level: draws.poisson(max(level, 0)),
        lambda level, limit: float(stats.poisson.cdf(limit, max(level, 0))), exact,
    )  # fmt: skip


def charged(draws: Draws) -> Setting:
    """Return the setting of a constant number of singletons, with the noise of its charge."""
    epsilon = Fraction(int(draws.integers(1, 20)), 20)
    rule = GateRule.model_construct(measure="singletons", charge=Charge.model_construct(epsilon=epsilon))
    scale, stay = 1 / float(epsilon), -np.expm1(-float(epsilon))

    def measured(number: float) -> Measurement:
        found = published_noisy_measurement(rule, Fraction(int(number)), 1)
        assert found is not None
        return found

    def draw(level: float) -> float:
        one, other = draws.geometric(stay, 2)
        return round(level) + float(one - other)

    def below(level: float, limit: float) -> float:
        return float(stats.dlaplace.cdf(np.floor(limit) - round(level), float(epsilon)))

    margin = float(measured(0).upper)
    level, spread = float(np.exp(draws.uniform(0, 7))), scale * 2**0.5
    return Setting("singletons", level, spread, draw, below, measured, margin, charge=epsilon)


def distance(draws: Draws) -> Setting:
    """Return the setting of a distance of synthetic rows with Normal noise and limits; not a whole number."""
    level = float(np.exp(draws.uniform(-5, -1)))
    noise = level * float(np.exp(draws.uniform(-4, -0.5)))
    margin = TAIL * noise
    return Setting(
        "synthetic_pair_error", level, noise, lambda level: draws.normal(level, noise),
        lambda level, limit: float(stats.norm.cdf(limit, level, noise)),
        lambda number: Measurement(number, number - margin, number + margin), margin, whole=False,
    )  # fmt: skip


def ratio(draws: Draws) -> Setting:
    """Return the setting of a share of few: its steps are wide, and it may be 0 or 1."""
    of, share = int(draws.integers(20, 2000)), float(draws.beta(0.7, 0.7)) * 0.98 + 0.01
    return Setting(
        "trusted_share", share, float(np.sqrt(share * (1 - share) / of)),
        lambda level: draws.binomial(of, min(1, max(0, level))) / of,
        lambda level, limit: float(stats.binom.cdf(np.floor(limit * of + 1e-9), of, min(1, max(0, level)))),
        lambda number: Measurement.exact(float(number)), whole=False,
    )  # fmt: skip


SETTINGS = (rows, classes, charged, distance, ratio)


def levels(draws: Draws, setting: Setting, runs: int) -> list[float]:
    """Return the levels of successive runs: constant, growing, random, or changed once."""
    size = setting.spread * float(np.exp(draws.uniform(-2, 2)))
    ways = {
        "same": np.zeros(runs),
        "growth": np.arange(runs) * draws.normal(0, size),
        "random": np.cumsum(draws.normal(0, size, runs)),
        "once": (np.arange(runs) >= draws.integers(1, runs)) * draws.normal(0, 2 * size),
    }
    steps = ways[str(draws.choice(["same", *ways]))]
    return [max(setting.level + float(step), 0.0) for step in steps]


def rule_of(draws: Draws, setting: Setting, shown: list[float]) -> GateRule:
    """Return a realistic limit: near the first expected number, or near the last measured one."""
    around = setting.level if draws.random() < 0.5 else shown[-1]
    limit = around + setting.spread * float(np.exp(draws.uniform(-1, 2.5))) * float(draws.logistic() / 1.8)
    side = "at_most" if draws.random() < 0.5 else "at_least"
    limit += setting.margin if side == "at_most" else -setting.margin
    stated = Fraction(round(limit)) if setting.whole else Fraction(repr(round(limit, 6)))
    price = None if setting.charge is None else Charge.model_construct(epsilon=setting.charge)
    limits: dict[str, Any] = {side: stated}
    return GateRule.model_construct(measure=setting.measure, charge=price, severity="block", **limits)


def truth(setting: Setting, rule: GateRule, level: float) -> float:
    """Return the true probability that the judged confidence limit keeps the gate's limit."""
    if rule.at_most is not None:
        return setting.below(level, float(rule.at_most) - setting.margin)
    limit = float(rule.at_least or 0) + setting.margin
    if setting.measure == "trusted_share" or setting.whole:
        step = 0.5 if setting.whole else 1e-7
        return 1 - setting.below(level, float(np.ceil(limit)) - step if setting.whole else limit - step)
    return 1 - setting.below(level, limit)


def past_of(rule: GateRule, measured: list[Measurement]) -> list[PastRun]:
    made = [verdict(rule, MEASURES[rule.measure], each) for each in measured]
    return [PastRun(str(at), False, True, (GateFields.of_verdict(each),)) for at, each in enumerate(made)]


def plan_at(beta: Fraction, k: int = 1) -> Plan:
    """Return the part of a plan that a forecast from past runs reads."""
    protection = SimpleNamespace(figures=MechanismFigures(k, {}, beta))
    contract = SimpleNamespace(unit=SimpleNamespace(rows=1))
    return cast(Plan, SimpleNamespace(protection=protection, bundle=SimpleNamespace(contract=contract)))


def decisions(seed: int, number: int) -> Iterator[Decision]:
    """Yield gates with the real forecast and the real verdict."""
    draws: Any = np.random.default_rng(seed)
    while number:
        setting = SETTINGS[int(draws.integers(len(SETTINGS)))](draws)
        runs = int(draws.choice([2, 3, 3, 4, 6, 9, 12]))
        moved = levels(draws, setting, runs + 1)
        shown = [setting.draw(level) for level in moved]
        rule, measure = rule_of(draws, setting, shown[:-1]), MEASURES[setting.measure]
        plan, past = plan_at(setting.beta), past_of(rule, [setting.measured(each) for each in shown[:-1]])
        odds = odds_from_past_runs(plan, rule, measure, past_measurements(plan, rule, measure, past))
        assert odds is not None
        passed = judge(rule, setting.measured(shown[-1])) is Outcome.PASS
        yield Decision(odds.value, truth(setting, rule, moved[-1]), passed, setting.measure, runs)
        number -= 1
