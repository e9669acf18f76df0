"""Releases of tables that stay as they are, drawn without writing: class sizes sampled and suppressed, charged counts
with noise, and noisy cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.candidate import Candidate, Measurement, Static
from crowdgate.forecast.chances.from_past_runs import odds_from_past_runs, past_measurements, stated_limit
from crowdgate.gate import Outcome, judge
from crowdgate.histogram import Histogram
from crowdgate.kind.drawing import count_noise
from crowdgate.measures import MEASURES
from crowdgate.policy.policy import Charge, GateRule
from tests.forecast.chances.drawn import past_of, plan_at
from tests.risk.shared_tables import class_counts

Draws = np.random.Generator
Policy = tuple[Fraction, int, Fraction]
"""Sampling rate, k, and the charge of a gate."""
RUNS = (2, 4, 10, 20, 40)
GENERATED = ("zipf", "mixed")
FOUR = ("adult", "compas", *GENERATED)
RELEASES = 2000
"""Releases of each policy and table, for the true probability: its standard error is at most .011."""
ROWS = ("released_rows", "released_classes", "smallest_class")
CHARGED = ("singletons", "j_tons", "classes_below", "singleton_share", "share_in_classes_below")
MEASURED = (*ROWS, *CHARGED)
POLICIES: tuple[Policy, ...] = tuple(
    (Fraction(beta, 10), k, Fraction(epsilon, 20))
    for beta, k, epsilon in [
        (1, 5, 1), (1, 10, 4), (2, 10, 2), (2, 20, 10), (3, 29, 1), (3, 40, 6), (5, 20, 3), (5, 60, 20), (7, 40, 2),
        (9, 30, 40),
    ]
)  # fmt: skip


@dataclass(frozen=True)
class Forecasted:
    """A forecast of a gate with the true probability that the gate passes, and its number of past runs."""

    measure: str
    runs: int
    value: float
    low: float
    high: float
    truth: float
    passed: bool
    releases: int

    @property
    def covered(self) -> bool:
        """True if the limits hold the true probability, within two standard errors of the simulated truth."""
        room: float = 2 * (self.truth * (1 - self.truth) / self.releases) ** 0.5 + 1e-4
        return self.low - room <= self.truth <= self.high + room


@cache
def class_sizes(name: str) -> Integers:
    """Return the number of people in each class of a table. Skips the test if the file of a real one is not at hand."""
    if name == "zipf":
        return np.maximum(1, (20_000 / np.arange(1, 400) ** 1.2).astype(np.int64))
    if name == "mixed":
        return np.ceil(np.exp(np.random.default_rng(41).normal(4, 1.5, 150))).astype(np.int64)
    return class_counts(name)


def rule_of(name: str, limit: Fraction, side: str, epsilon: Fraction) -> GateRule:
    measure = MEASURES[name]
    options = {option: "2" for option in measure.options if option == "size"}
    charge = Charge.model_construct(epsilon=epsilon) if name in CHARGED else None
    made = GateRule.model_validate({"measure": name, side: str(float(limit)), **({"with": options} if options else {})})
    return made.model_copy(update={"charge": charge})


def measured(name: str, sizes: Any, beta: Fraction, k: int, rule: GateRule, draws: Draws, number: int) -> list[Any]:
    """Return the measurements of so many releases."""
    static: Any = Static.__new__(Static)
    for field, value in (("least_class", k), ("rows_per_unit", 1)):
        object.__setattr__(static, field, value)
    measure = MEASURES[name].of_candidate
    assert measure is not None
    if name in CHARGED:
        table = _histogram(sizes)
        whole = Candidate(static=static, table=table, noise=count_noise(draws))
        return [measure(whole, rule) for _ in range(number)]
    released = draws.binomial(sizes, float(beta), (number, len(sizes)))
    return [measure(Candidate(static=static, rows=_histogram(each[each >= k])), rule) for each in released]


def _histogram(counts: Any) -> Histogram:
    return Histogram(("class",), (len(counts) + 1,), (np.arange(len(counts)),), counts)


def forecasts(
    seed: int, tables: Sequence[str], policies: Sequence[Policy], each: int, releases: int = RELEASES
) -> Iterator[Forecasted]:
    """Yield for each table, policy and measure so many forecasts at limits near the middle."""
    draws = np.random.default_rng(seed)
    for table in tables:
        for beta, k, epsilon in policies:
            for name in MEASURED:
                share = _share(name, class_sizes(table), epsilon, draws) if MEASURES[name].excess else None
                rule = rule_of(name, share or Fraction(1), "at_most", epsilon)
                drawn = measured(name, class_sizes(table), beta, k, rule, draws, releases)
                for _ in range(each):
                    limited = rule if share else rule_of(name, *_limit(drawn, draws), epsilon)
                    yield forecast(limited, beta, k, drawn, draws)


def _share(name: str, sizes: Any, epsilon: Fraction, draws: Draws) -> Fraction:
    """Return a share of rows that noise meets about half the time."""
    most = 1 if name == "singleton_share" else 2
    scale = most / float(epsilon)
    near = float(sizes[sizes <= most].sum()) + scale * (2.3 + draws.normal(0, 1.5))
    return Fraction(f"{min(0.99, max(0.0001, near / float(sizes.sum()))):.4f}")


def _limit(drawn: Sequence[Measurement], draws: Draws) -> tuple[Fraction, str]:
    """Return a limit between the judged numbers of releases, or a little outside of them, and its side."""
    side = "at_most" if draws.random() < 0.5 else "at_least"
    ends = _judged(drawn, side)
    limit = float(np.quantile(ends, draws.uniform(0, 1))) + draws.normal(0, 0.5) * float(ends.std())
    whole = all(end.is_integer() for end in ends[:20].tolist())
    return Fraction(f"{max(0.0, limit):.{0 if whole else 6}f}"), side


def _judged(drawn: Sequence[Measurement], side: str) -> Any:
    """Return the confidence limits by which a gate with a limit on this side is judged."""
    return np.array([float(each.upper if side == "at_most" else each.lower) for each in drawn])


def forecast(rule: GateRule, beta: Fraction, k: int, drawn: Sequence[Measurement], draws: Draws) -> Forecasted:
    """Return the forecast from some of the drawn releases, with the share of all of them that pass."""
    measure, plan = MEASURES[rule.measure], plan_at(beta, k)
    runs = int(draws.choice([1, *RUNS] if rule.charge else RUNS))
    chosen = draws.choice(len(drawn), runs + 1, replace=False).tolist()
    past = past_of(rule, [drawn[at] for at in chosen[:-1]])
    odds = odds_from_past_runs(plan, rule, measure, past_measurements(plan, rule, measure, past))
    assert odds is not None
    ends, limit = _judged(drawn, "at_least" if rule.at_most is None else "at_most"), float(stated_limit(rule))
    truth = float(np.mean(ends <= limit if rule.at_most is not None else ends >= limit))
    passed = judge(rule, drawn[chosen[-1]]) is Outcome.PASS
    return Forecasted(rule.measure, runs, odds.value, odds.low, odds.high, truth, passed, len(drawn))
