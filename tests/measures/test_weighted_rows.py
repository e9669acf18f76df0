"""Measures of weighted rows: identities against enumeration, figures against hand-made margins, and coverage."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from crowdgate.candidate import Candidate, Measurement, WeightedCells, WeightedRows
from crowdgate.histogram import Histogram
from crowdgate.measures import MEASURES
from crowdgate.measures.weighted_rows import _released_people, effective_rows, represented_share, unfit_columns
from crowdgate.policy.policy import GateRule
from tests.examples import examples
from tests.measures.test_measures import gate, static


def cells(
    columns: tuple[str, ...], rows: list[int], weighted: list[float], estimate: list[float], half: float = 5
) -> WeightedCells:
    """Return a margin whose intervals reach `half` to both sides, and not below 0."""
    stated = np.array(estimate, dtype=np.float64)
    return WeightedCells(columns, np.array(rows), np.array(weighted, dtype=np.float64), stated, stated,
                         np.full(len(rows), half / 2), np.maximum(stated - half, 0), stated + half)  # fmt: skip


# 100 people: 60 of x = 0, 30 of x = 1, none of whom has a row, and 10 of x = 2. Rows of 40 and 10 people.
MARGINS = (
    cells((), [25], [72], [100]),
    cells(("x",), [20, 0, 5], [62, 0, 10], [60, 30, 10]),
    cells(("y",), [25, 0], [72, 0], [98, 2]),
    cells(("x", "y"), [20, 0, 0, 0, 5, 0], [62, 0, 0, 0, 10, 0], [58, 0, 30, 1, 10, 1]),
)
ROWS = Histogram(("x", "y"), (3, 2), (np.array([0, 2]), np.array([0, 0])), np.array([20, 5]))


def measured(
    name: str,
    margins: tuple[WeightedCells, ...] = MARGINS,
    rows: Histogram = ROWS,
    options: dict[str, str] | None = None,
) -> Measurement | None:
    measure = MEASURES[name].of_candidate
    assert measure is not None
    weighted = WeightedRows(np.full(len(rows), 10_000, dtype=np.int64), margins)
    rule = GateRule.model_validate({"measure": name, "at_most": "1", "with": options or {}})
    return measure(Candidate(static=static(), rows=rows, weighted=weighted), rule)


def test_met_cells_are_counted_in_tables_of_one_and_two_columns_and_an_absent_cell_counts_as_0() -> None:
    # met: x 0 and 2; y 1; of pairs all but the 30 people of (1, 0)
    assert measured("margins_met") == Measurement.exact(Fraction(8, 11))


@pytest.mark.parametrize(
    ("options", "number"),
    [({}, 1), ({"size": "25"}, 1), ({"size": "26"}, 0), ({"ways": "2"}, 2)],
)
def test_absent_values_are_those_that_the_margins_are_sure_of(options: dict[str, str], number: int) -> None:
    """The 2 people of y = 1 may be nobody. At least 25.0 people are at least 25, and above 25 - 1 at least 25."""
    found = measured("absent_values", options=options)
    assert found == Measurement.exact(number)


def test_the_greatest_share_error_is_that_of_the_margin_farthest_away() -> None:
    found = measured("worst_share_error")
    assert found is not None
    assert found.value == pytest.approx(0.3)  # x = 1: 0 of 72, and 30 of 100
    assert float(found.lower) == pytest.approx(25 / 105)
    assert float(found.upper) == pytest.approx(35 / 95)


def test_columns_that_rows_misstate_are_named() -> None:
    """x has an absent value of 30 people of 100. y is right, until its share is surely off by more than .05."""
    assert unfit_columns(WeightedRows(ROWS.counts, MARGINS)) == ("x",)
    wrong = cells(("y",), [15, 10], [50, 22], [98, 2])
    assert unfit_columns(WeightedRows(ROWS.counts, (MARGINS[0], wrong))) == ("y",)
    near = cells(("y",), [15, 10], [64, 8], [98, 2])
    assert unfit_columns(WeightedRows(ROWS.counts, (MARGINS[0], near))) == ()


def test_nothing_is_measured_without_margins_or_rows_and_a_noisy_total_hides_shares() -> None:
    none = Candidate(static=static(), rows=ROWS)
    for name in ("margins_met", "represented_share", "absent_values", "effective_rows", "worst_share_error"):
        measure = MEASURES[name].of_candidate
        assert measure is not None
        assert measure(none, gate(name)) is None
    noisy = (cells((), [25], [72], [100], half=200), *MARGINS[1:])
    assert (measured("represented_share", noisy), measured("worst_share_error", noisy)) == (None, None)
    empty = (cells((), [0], [0], [100]), cells(("x",), [0, 0, 0], [0, 0, 0], [60, 30, 10]))
    assert measured("worst_share_error", empty) is None
    nobody = Histogram(("x", "y"), (3, 2), (np.zeros(0, dtype=np.int64),) * 2, np.zeros(0, dtype=np.int64))
    assert measured("represented_share", empty, nobody) == Measurement.exact(0)
    assert measured("effective_rows", empty, nobody) == Measurement.exact(0)


@pytest.mark.parametrize("k", range(1, 6))
@pytest.mark.parametrize("beta", [0.125, 0.5, 0.75])
def test_the_estimate_of_released_people_is_unbiased_and_so_is_its_variance(k: int, beta: float) -> None:
    """Enumerated over the binomial sample of one class; classes are independent, so sums are unbiased too. Sums of 13
    products of float64 numbers below 1,000 are exact to 1e-10."""
    for people in range(13):
        error, square, stated = 0.0, 0.0, 0.0
        for rows in range(people + 1):
            chance = comb(people, rows) * beta**rows * (1 - beta) ** (people - rows)
            found, variance = _released_people(np.array([rows] if rows >= k else [], dtype=np.int64), beta, k)
            off = found - (people if rows >= k else 0)
            error, square, stated = error + chance * off, square + chance * off**2, stated + chance * variance
        assert error == pytest.approx(0, abs=1e-10)
        assert stated == pytest.approx(square, abs=1e-10)


@pytest.mark.thorough
def test_the_interval_of_the_represented_share_holds_the_true_share() -> None:
    """Each limit has a one-sided level of 95 %. N is 4,000 releases of 400 classes around k: then a limit fails in
    more than 6.1 % of them with probability 1e-3 (3.1 standard errors of .0034). Rows divided by beta, without the
    correction, fail in half of them, so they are refused with near certainty."""
    draws, beta, k, error = np.random.default_rng(37), 0.3, 8, 60.0
    table = draws.negative_binomial(1, 1 / 30, 400)
    above, below = 0, 0
    for _ in range(examples(4000)):
        sample = draws.binomial(table, beta)
        truth = table[sample >= k].sum() / table.sum()
        stated = np.array([table.sum() + draws.normal(0, error)])
        total = WeightedCells((), stated, stated, stated, stated, np.array([error]), stated, stated)
        found = represented_share(sample[sample >= k], WeightedRows(table, (total,)), beta, k)
        assert found is not None
        above, below = above + (truth > found.upper), below + (truth < found.lower)
    allowed = 0.05 + 3.1 * (0.05 * 0.95 / examples(4000)) ** 0.5
    assert max(above, below) <= allowed * examples(4000)


@pytest.mark.parametrize("classes", [5, 12, 20, 100])
@pytest.mark.parametrize("weight", [14_286, 17_000, 33_333])
def test_equal_weights_tell_as_much_as_all_rows(classes: int, weight: int) -> None:
    """Sums of floats give one row less for some of these, and for others on another processor."""
    assert effective_rows(np.full(classes, 13), np.full(classes, weight)) == 13 * classes


def test_unequal_weights_tell_as_much_as_fewer_rows() -> None:
    assert effective_rows(np.array([10, 10]), np.array([10_000, 30_000])) == 16
