"""Exponentials, logarithms and sums of products: correct, and bitwise equal on all processors."""

import hashlib
from math import exp as true_exp
from math import inf, isnan, nan
from math import log as true_log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.arrays import Floats
from crowdgate.mechanisms.synthetic.exact_arithmetic import dot, exp, log
from tests.examples import examples
from tests.processors import needs_features, on_a_plain_processor

STEPS: Floats = np.arange(-20_000, 0) / 20_000
GRID: Floats = STEPS * STEPS * STEPS * 650
"""-650 to 0, from divisions and products, as the last bits of powers differ between processors."""
DIGESTS = ("c90d66a05860765b", "cc73d8a69a530f69", "deb82e475ec8cd86")


def exponentials(*numbers: float) -> list[float]:
    held = np.array(numbers)
    exp(held)
    return [float(each) for each in held]


@given(st.lists(st.floats(-700, 0), min_size=1, max_size=20))
@settings(max_examples=examples(50), deadline=None)
def test_exponentials_are_near_the_truth(numbers: list[float]) -> None:
    assert exponentials(*numbers) == pytest.approx([true_exp(each) for each in numbers], rel=1e-12, abs=0)


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=20))
@settings(max_examples=examples(50), deadline=None)
def test_logarithms_are_near_the_truth(numbers: list[float]) -> None:
    assert log(np.array(numbers)).tolist() == pytest.approx(list(map(true_log, numbers)), rel=1e-15, abs=1e-15)


def test_what_cannot_occur_has_exactly_no_weight_and_what_is_no_number_stays_none() -> None:
    assert exponentials(0.0, -700.5, -1e9, -3e9, -inf) == [1, 0, 0, 0, 0]
    one, other = exponentials(nan, -1.0)
    assert isnan(one)
    assert other == pytest.approx(true_exp(-1))
    assert np.isnan(log(np.array([nan, inf]))).all()


@pytest.mark.parametrize("length", [*range(20), 1000, 8191, 8192, 8193, 30_001])
def test_products_are_rounded_and_added_in_a_fixed_order(length: int) -> None:
    """By twos, fours of these from the last to the first, in pieces of 8192: one number after the other."""
    one, other = (np.random.default_rng(seed).normal(size=length) for seed in (1, 2))
    total = 0.0
    for first in range(0, length, 8192):
        products = (one[first : first + 8192] * other[first : first + 8192]).tolist()
        pairs = [[*products[at : at + 2], 0.0][:2] for at in range(0, len(products), 2)]
        fours = len(products) // 8 * 4
        sums = [0.0, 0.0]
        for pair in [*(pairs[at ^ 3] for at in range(fours)), *pairs[fours:]]:
            sums = [a + b for a, b in zip(sums, pair, strict=True)]
        total += sums[0] + sums[1]
    assert dot(one, other) == total


def digests() -> tuple[str, ...]:
    weights = GRID.copy()
    exp(weights)
    found = weights, log(weights), np.array([dot(weights[:size], GRID[:size]) for size in range(0, 20_000, 500)])
    return tuple(hashlib.sha256(each.tobytes()).hexdigest()[:16] for each in found)


def test_every_processor_has_the_same_bits() -> None:
    """A machine on which this fails can't recompute released rows."""
    assert digests() == DIGESTS


@pytest.mark.thorough
@needs_features
def test_a_plain_processor_has_the_same_bits() -> None:
    program = "from tests.mechanisms.synthetic.test_elementary import digests; print(digests())"
    assert on_a_plain_processor(program).strip() == str(digests())
