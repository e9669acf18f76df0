"""The expected kept share equals enumeration."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.risk.kept_share import expected_kept_share


def by_enumeration(shares: list[Fraction], people: int, k: int, beta: Fraction) -> Fraction:
    """Every way to place people in classes, then every sample of each class."""
    kept = Fraction(0)
    for places in product(range(len(shares)), repeat=people):
        chance = Fraction(1)
        for place in places:
            chance *= shares[place]
        for place in range(len(shares)):
            size = places.count(place)
            for j in range(k, size + 1):
                kept += chance * comb(size, j) * beta**j * (1 - beta) ** (size - j) * j
    return kept / (people * beta)


@settings(max_examples=40, deadline=None)
@given(
    weights=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    people=st.integers(1, 5),
    k=st.integers(1, 4),
    beta=st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)]),
)
def test_the_expected_kept_share_equals_enumeration(weights: list[int], people: int, k: int, beta: Fraction) -> None:
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    found = expected_kept_share(np.array([float(share) for share in shares]), people, k, beta)
    # bdtrc is good to about 1e-14; the sums here have at most three positive terms
    assert found == pytest.approx(float(by_enumeration(shares, people, k, beta)), rel=1e-12, abs=1e-15)


def test_fewer_people_than_k_keep_nothing() -> None:
    assert expected_kept_share(np.array([1.0]), 4, 5, "0.5") == 0
