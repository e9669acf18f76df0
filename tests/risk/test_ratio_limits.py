"""Limits of ratios over a box of margins: compared with the closed form for one column, and with true tables."""

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from crowdgate.arrays import Floats
from crowdgate.risk.ratio_limits import MarginBoxes
from tests.examples import examples

NEAR = 1e-6
"""The solver keeps its constraints to 1e-7; limits are shares."""


def one_column(counts: Floats, half: float) -> MarginBoxes:
    """Return the box around the total and the cells of one column, `half` on either side."""
    sums = np.vstack([np.ones(len(counts)), np.eye(len(counts))])
    true = sums @ counts
    return MarginBoxes(sums, np.maximum(true - half, 0)[None], (true + half)[None])


def greatest_share(box: MarginBoxes) -> float:
    """Return the greatest share of the first cell: it is as large, and all others are as small, as the box allows."""
    (least, *low), (most, first, *_) = box.lower[0], box.upper[0]
    rest = sum(low[1:])
    own = min(first, most - rest)
    return float(own / (own + max(rest, least - own)))


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 5000), min_size=2, max_size=8), st.integers(1, 300))
def test_the_limit_of_a_share_of_one_column_is_the_closed_form(counts: list[int], half: int) -> None:
    box = one_column(np.array([*counts, 400.0]), half)
    own, every = np.eye(len(counts) + 1)[0], np.ones(len(counts) + 1)
    found = box.greatest(own, every, box.lower[:, 0])
    assert found is not None
    assert greatest_share(box) <= found[0] <= greatest_share(box) + NEAR


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(
    st.lists(st.integers(0, 200), min_size=6, max_size=6), st.lists(st.integers(-9, 9), min_size=6, max_size=6),
    st.lists(st.integers(0, 1), min_size=6, max_size=6), st.integers(1, 60),
)  # fmt: skip
def test_a_true_ratio_is_within_its_limits(counts: list[int], part: list[int], whole: list[int], half: int) -> None:
    """The ratio of any two sums over a table of 2 x 3 cells whose margins are in the box; a wrong sign of a multiplier
    or an objective that is not bounded from above is seen here."""
    true = np.array(counts) + 10.0
    table = np.arange(6).reshape(2, 3)
    sums = np.array([np.isin(np.arange(6), each) for each in (table, *table, *table.T, *table.reshape(-1, 1))], float)
    box = MarginBoxes(sums, np.maximum(sums @ true - half, 0)[None], (sums @ true + half)[None])
    gain, people = np.array(part, float), np.array([*whole[:-1], 1], float)
    least = np.array([float(people @ box.lower[0, -6:])])
    if least[0] <= 0:
        return
    most, fewest = box.greatest(gain, people, least), box.greatest(-gain, people, least)
    assert most is not None
    assert fewest is not None
    assert -fewest[0] <= gain @ true / (people @ true) <= most[0]


def test_tables_that_are_solved_together_have_the_limits_that_each_has_alone() -> None:
    counts = np.random.default_rng(7).integers(1, 900, (1100, 4)).astype(float)
    boxes = [one_column(each, 20) for each in counts]
    every = np.ones(4)
    together = MarginBoxes(
        boxes[0].sums, *(np.vstack([getattr(b, side) for b in boxes]) for side in ("lower", "upper"))
    )
    found = together.greatest(every - np.eye(4)[2], every, together.lower[:, 0])
    assert found is not None
    for at in (0, 499, 500, 1099):
        alone = boxes[at].greatest(every - np.eye(4)[2], every, boxes[at].lower[:, 0])
        assert found[at] == pytest.approx(alone, abs=NEAR)


def test_boxes_that_no_counts_meet_have_no_limits() -> None:
    sums = np.vstack([np.ones(2), np.eye(2)])
    box = MarginBoxes(sums, np.array([[100.0, 70, 70]]), np.array([[110.0, 80, 80]]))
    assert box.greatest(np.eye(2)[0], np.ones(2), box.lower[:, 0]) is None


def test_multipliers_of_a_solver_that_stops_too_early_give_wider_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    box = one_column(np.array([300.0, 500, 200]), 30)
    own, every = np.eye(3)[0], np.ones(3)

    def stopped(*problem: object, **options: object) -> object:
        solved = linprog(*problem, **options)  # type: ignore[call-overload]
        solved.ineqlin.marginals *= 0.8
        solved.eqlin.marginals *= 1.1
        return solved

    monkeypatch.setattr(scipy.optimize, "linprog", stopped)
    found = box.greatest(own, every, box.lower[:, 0])
    assert found is not None
    assert found[0] > greatest_share(box) + NEAR
