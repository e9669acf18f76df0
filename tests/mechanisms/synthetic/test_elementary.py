"""Exponentials and logarithms: right, and the same bits on every processor."""

import hashlib
from math import exp as true_exp
from math import inf, isnan, nan
from math import log as true_log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.mechanisms.synthetic.domain import Floats
from crowdgate.mechanisms.synthetic.elementary import exp, log

GRID: Floats = np.linspace(-650, 0, 20_001, dtype=np.float64)[:-1] ** 3 / 650**2
"""-650 to 0."""
DIGESTS = ("d4bd139959a1e37f", "182641db44283a90")


def exponentials(*numbers: float) -> list[float]:
    held = np.array(numbers)
    exp(held)
    return [float(each) for each in held]


@given(st.lists(st.floats(-700, 0), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_exponentials_are_near_the_truth(numbers: list[float]) -> None:
    assert exponentials(*numbers) == pytest.approx([true_exp(each) for each in numbers], rel=1e-12, abs=0)


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_logarithms_are_near_the_truth(numbers: list[float]) -> None:
    assert log(np.array(numbers)).tolist() == pytest.approx(list(map(true_log, numbers)), rel=1e-15, abs=1e-15)


def test_what_cannot_occur_has_exactly_no_weight_and_what_is_no_number_stays_none() -> None:
    assert exponentials(0.0, -700.5, -1e9, -3e9, -inf) == [1, 0, 0, 0, 0]
    one, other = exponentials(nan, -1.0)
    assert isnan(one)
    assert other == pytest.approx(true_exp(-1))
    assert np.isnan(log(np.array([nan, inf]))).all()


def test_every_processor_has_the_same_bits() -> None:
    """Whoever sees this fail on a machine can't make released rows again there."""
    weights = GRID.copy()
    exp(weights)
    found = tuple(hashlib.sha256(each.tobytes()).hexdigest()[:16] for each in (weights, log(weights)))
    assert found == DIGESTS
