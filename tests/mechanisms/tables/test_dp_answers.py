"""Published answers: exact intervals before consistency, means, quantiles and suppression."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.discrete_laws import DiscreteLaplace
from crowdgate.arrays import Integers
from crowdgate.mechanisms.tables.accuracy import consistent_cells
from crowdgate.mechanisms.tables.answers import QuantileAnswer, TableAnswer, consistent_answers, raw_answers
from crowdgate.mechanisms.tables.dp_tables import DpTables
from crowdgate.mechanisms.tables.quantiles import quantile_bins, quantile_limits
from crowdgate.mechanisms.tables.workload import ContingencyTable, Mean, Quantiles, Sum
from crowdgate.noise import NoiseSource
from tests.examples import examples
from tests.mechanisms.tables.tables import cells_of, counted, disagreement, plan

ITEMS = (
    ContingencyTable(),
    ContingencyTable({"sex": "exact"}),
    ContingencyTable({"sex": "exact", "town": "grouped"}),
    ContingencyTable({"town": "exact"}),
    Sum("hours"),
    Mean("hours"),
    Mean("pay", {"sex": "exact"}),
    Quantiles("hours", "ones", by={"sex": "exact"}),
)
SILENT = NoiseSource(lambda values, *_: values, lambda values, *_: values)
TENTH = Fraction(1, 10)
Answers = tuple[TableAnswer | QuantileAnswer, ...]


def people(count: int = 3000) -> np.ndarray:
    random = np.random.default_rng(4)
    columns = (random.integers(0, size, count) for size in (2, 4, 11, 12))
    return np.column_stack(list(columns))


def answers(
    read: Callable[[DpTables, Sequence[Integers], Fraction], Answers],
    source: NoiseSource = SILENT,
    epsilon: str = "5",
    **how: Any,
) -> tuple[DpTables, tuple[Integers, ...], Answers]:
    mechanism = plan(ITEMS, epsilon, **how)
    noisy = mechanism.protect(counted(mechanism, people().tolist()), None, source)
    return mechanism, noisy, read(mechanism, noisy, TENTH)


def test_without_noise_every_answer_is_the_truth() -> None:
    rows = people()
    _, _, found = answers(consistent_answers)
    hours = -1 + rows[:, 2] / 2
    assert cells_of(found[0]).value == 3000
    assert cells_of(found[1]).value.tolist() == np.bincount(rows[:, 0]).tolist()
    assert cells_of(found[4]).value == pytest.approx(hours.sum())
    assert cells_of(found[5]).value == pytest.approx(hours.mean())
    quantiles = found[7]
    assert isinstance(quantiles, QuantileAnswer)
    for sex in range(2):
        valid = rows[(rows[:, 0] == sex) & (rows[:, 3] < 11)]
        assert cells_of(found[6]).value[sex] == pytest.approx((-1 + valid[:, 3] / 2).mean())
        bins = np.sort(np.floor(hours[rows[:, 0] == sex])).astype(int) + 1
        assert quantiles.bins[sex].tolist() == [bins[math.ceil(len(bins) * p) - 1] for p in (0.25, 0.5, 0.75)]


def test_consistent_answers_add_up_and_raw_ones_do_not() -> None:
    mechanism, noisy, found = answers(consistent_answers, source=_opendp(), epsilon="0.5")
    axes = [linear.levels for linear in mechanism.queries[:4]]
    assert disagreement(axes, noisy[:4]) > 0
    totals = {float(cells_of(found[i]).value.sum()) for i in range(4)}
    assert len(totals) == 1
    assert all((cells_of(found[i]).value >= 0).all() for i in range(4))
    raw = raw_answers(mechanism, noisy, TENTH)
    assert (cells_of(raw[1]).value == noisy[1]).all()
    for i in range(4):
        assert (cells_of(found[i]).error <= cells_of(raw[i]).error * (1 + 1e-9)).all()


def _opendp() -> NoiseSource:
    from crowdgate.noise import OPENDP

    return OPENDP


def test_raw_intervals_are_those_of_the_law_and_ends_hold_the_truth_as_often_as_it_says() -> None:
    mechanism, _, found = answers(raw_answers, epsilon="1")
    for i in (0, 1, 2, 3, 4):
        law, cells = mechanism.laws[i], cells_of(found[i])
        unit = 0.5 if i == 4 else 1
        q = law.half_width()
        assert cells.upper - cells.value == pytest.approx(q * unit)
        assert cells.value - cells.lower == pytest.approx(q * unit)
        assert cells.error == pytest.approx(math.sqrt(law.variance) * unit)
        assert math.fsum(law.mass(x) for x in range(-q, q + 1)) >= 0.95
        assert math.fsum(law.mass(x) for x in range(-q + 1, q)) < 0.95


def test_trust_and_suppression_come_from_noisy_numbers_alone() -> None:
    _, _, found = answers(raw_answers, source=NoiseSource(lambda v, *_: v * 0 + 7, lambda v, *_: v * 0 + 7))
    for answer in found[:4]:
        cells = cells_of(answer)
        assert (cells.trustworthy == (cells.error <= 0.7)).all()
        assert np.isnan(cells.suppressed().value[~cells.trustworthy]).all()
        assert (cells.suppressed().value[cells.trustworthy] == 7).all()


def test_a_sample_is_scaled_up_and_its_coins_are_in_the_error() -> None:
    mechanism = plan((ContingencyTable({"sex": "exact"}), Sum("hours")), "5", beta=Fraction(1, 4))
    heads = np.random.default_rng(3)
    noisy = mechanism.protect(counted(mechanism, people().tolist()), lambda sizes: heads.binomial(sizes, 0.25), SILENT)
    table, total = map(cells_of, raw_answers(mechanism, noisy, TENTH))
    assert (table.value == 4 * noisy[0]).all()
    noise = mechanism.laws[0].variance
    assert table.error == pytest.approx(4 * np.sqrt(noise + 0.75 * noisy[0]))
    assert np.isinf(total.error), "rows of either sign: the sampled sum does not bound its own error"
    assert np.abs(table.value - np.bincount(people()[:, 0])).max() < 5 * table.error.max()


def test_a_mean_over_nobody_is_not_stated() -> None:
    mechanism = plan([Mean("hours")])
    (mean,) = map(cells_of, raw_answers(mechanism, (np.array(5), np.array(0)), TENTH))
    assert np.isnan(mean.value)
    assert not mean.trustworthy


def test_a_mean_stays_within_its_bounds() -> None:
    mechanism = plan([Mean("hours")])
    (mean,) = map(cells_of, raw_answers(mechanism, (np.array(50_000), np.array(3000)), TENTH))
    assert mean.value == mean.upper == 4


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(counts=st.lists(st.integers(-3, 40), min_size=1, max_size=12), share=st.integers(1, 19))
def test_a_quantile_is_the_first_bin_that_reaches_its_share(counts: list[int], share: int) -> None:
    p = Fraction(share, 20)
    found = quantile_bins(np.array(counts, dtype=float), p)
    positive = [max(0, count) for count in counts]
    if not sum(positive):
        assert found == -1
        return
    reached = [i for i in range(len(counts)) if sum(positive[: i + 1]) >= p * sum(positive)]
    assert found == reached[0] or sum(positive[: found + 1]) == pytest.approx(float(p * sum(positive)))


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(counts=st.lists(st.integers(-3, 40), min_size=1, max_size=8), share=st.integers(1, 19), scale=st.integers(1, 20))
def test_the_limits_of_a_quantile_are_the_bins_that_no_balance_refutes(
    counts: list[int], share: int, scale: int
) -> None:
    p, law = Fraction(share, 20), DiscreteLaplace(Fraction(scale, 4))
    low, high = quantile_limits(np.array(counts), p, law, Fraction(1))
    bins = len(counts)
    balance = [float((1 - p) * sum(counts[: j + 1]) - p * sum(counts[j + 1 :])) for j in range(bins)]
    weights = [math.sqrt((1 - p) ** 2 * (j + 1) + p**2 * (bins - j - 1)) for j in range(bins)]
    half = [law.continuous_half_width() * weight + 1 for weight in weights]
    able = [j for j in range(bins) if balance[j] >= -half[j] - 1e-9]
    below = [j for j in range(bins) if balance[j] < half[j]]
    assert low == (able[0] if able else bins - 1)
    assert high == min(bins - 1, below[-1] + 1 if below else 0)


def test_limits_hold_where_the_coins_of_a_sample_decide() -> None:
    """100 and 100 rows in two bins: half of them are in the first one. 2,000 samples at one half, hardly any noise: at
    most one in 20 fails (false alarm at .05 exactly: 1e-9 at 150); without the sampling variance every second does."""
    random = np.random.default_rng(6)
    drawn = random.binomial(100, 0.5, (2000, 2)) + (
        random.geometric(0.99, (2000, 2)) - random.geometric(0.99, (2000, 2))
    )
    low, _ = quantile_limits(drawn, Fraction(1, 2), DiscreteLaplace(Fraction(1, 5)), Fraction(1, 2))
    assert (low > 0).sum() < 150


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(y=st.floats(-40, 400), variance=st.floats(0.5, 300), beta=st.sampled_from(["1", "1/2", "1/20"]))
def test_the_interval_of_a_count_holds_what_its_estimate_does_not_refute(y: float, variance: float, beta: str) -> None:
    """All n from 0 on with |y - beta n| at most `width` standard deviations of y, more if y is below 0; and the value,
    wherever it is."""
    rate, width = Fraction(beta), Fraction(11, 5)
    one = np.array([1.0])
    cells = consistent_cells(np.array([7]), np.array([y]), np.array([variance]), one, width, rate, TENTH)
    n = np.linspace(0, 2 * float(cells.upper[0]) + 10, 2001)
    kept = np.abs(y - float(rate) * n) <= float(width) * np.sqrt(variance + float(rate * (1 - rate)) * n)
    inside = (cells.lower <= n + 1e-9) & (n - 1e-9 <= cells.upper)
    assert not (kept & ~inside).any()
    assert cells.lower[0] <= cells.value[0] == 7 / rate <= cells.upper[0]
    if y >= 0 and kept.any():
        step = n[1]
        assert cells.lower[0] >= min(n[kept].min() - step, 7 / rate)
        assert cells.upper[0] <= max(n[kept].max() + step, 7 / rate)
