import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.numbers import Number
from crowdgate.risk import degrees
from crowdgate.risk.bins import Bins
from crowdgate.risk.kl import collision_excess, groups_needed, kl_to_uniform
from tests.examples import examples
from tests.oracles.koot import outliers

weights = st.lists(st.integers(0, 20), min_size=1, max_size=12).filter(any)


def shares(parts: list[int]) -> list[Fraction]:
    return [Fraction(part, sum(parts)) for part in parts]


@settings(max_examples=examples(60), deadline=None)
@given(weights)
def test_both_distances_are_their_sums_over_all_bins(parts: list[int]) -> None:
    p, N = shares(parts), len(parts)
    bins = Bins.of(p)
    divergence = math.fsum(float(each) * math.log(each * N) for each in p if each)
    assert kl_to_uniform(bins) == pytest.approx(divergence, abs=1e-12)
    assert collision_excess(bins) == pytest.approx(float((N * sum(each**2 for each in p) - 1) / 2), abs=1e-12)
    greatest = min(math.log(N), math.log1p(2 * collision_excess(bins)))  # Jensen: kappa <= ln sum N p^2
    assert 0 <= kl_to_uniform(bins) <= greatest + 1e-12


def test_the_distances_agree_to_the_second_order_only() -> None:
    for beta in (0.1, 0.01):
        bins = Bins.of([(1 - beta) / 2, (1 + beta) / 2])
        assert collision_excess(bins) == pytest.approx(beta**2 / 2, rel=1e-9)
        assert kl_to_uniform(bins) == pytest.approx(beta**2 / 2 + beta**4 / 12, rel=1e-5)
    half_empty = Bins.of([1, 0])
    assert kl_to_uniform(half_empty) == pytest.approx(math.log(2))
    assert collision_excess(half_empty) == 0.5


def test_strong_outliers_are_told() -> None:
    assert outliers(Bins.uniform(95)) is None
    assert outliers(Bins.grouped([0.5, 1.5], [50, 50])) is None
    assert "far likelier or far less likely" in str(outliers(Bins.grouped([0.1, 1.9], [50, 50])))
    assert outliers(Bins.from_counts(np.ones(80), empty=15)) is not None  # ages without people
    assert outliers(Bins.grouped([50, Fraction(950, 999)], [1, 999])) is not None  # one that many have


@pytest.mark.parametrize(("share", "groups", "hits"), [("0.01", 38_031, 385), ("0.5", 385, 385), (1, 1, 385)])
def test_how_many_groups_a_claim_needs(share: str, groups: int, hits: int) -> None:
    assert groups_needed(share) == (groups, hits)
    assert groups_needed(share, "0.2").hits == 97


def test_impossible_claims_are_refused() -> None:
    for arguments in ((0,), (1.5,), ("0.01", 0), ("0.01", "0.1", 1)):
        with pytest.raises(ValueError, match=r"share must|relative must|confidence must"):
            groups_needed(*arguments)


def test_the_example_of_section_2_2() -> None:
    """N = 10, one candidate given 1/2: H = 2.58 bits, d = 0.77."""
    bins = Bins.of([Fraction(1, 2)] + [Fraction(1, 18)] * 9)
    assert degrees.shannon_entropy(bins) == pytest.approx(2.58, abs=0.005)
    assert degrees.degree_of_anonymity(bins) == pytest.approx(0.778, abs=5e-4)  # printed 0.77
    assert degrees.min_entropy(bins) == 1
    assert degrees.bits_at(bins, 0.5) == 0
    assert degrees.bits_at(bins, 0.9) == math.log2(9)
    assert degrees.bits_at(bins, 1) == degrees.max_entropy(bins) == pytest.approx(math.log2(10))


@settings(max_examples=examples(60), deadline=None)
@given(weights)
def test_entropies_are_ordered(parts: list[int]) -> None:
    bins = Bins.of(shares(parts))
    orders: list[Number] = [0, Fraction(1, 2), 1, 2, 50, 10**5]
    found = [degrees.renyi_entropy(bins, order) for order in orders]
    assert all(after <= before + 1e-9 for before, after in pairwise(found))
    assert degrees.max_entropy(bins) >= found[0] - 1e-12
    assert found[-1] == pytest.approx(degrees.min_entropy(bins), abs=1e-3)
    assert found[3] == pytest.approx(-math.log2(sum(float(p) ** 2 for p in shares(parts))), abs=1e-9)
    bits = [degrees.bits_at(bins, share) for share in ("0.01", "0.5", "0.9", 1)]
    assert bits == sorted(bits)
    assert bits[-1] == pytest.approx(found[0], abs=1e-9)


@pytest.mark.parametrize(
    ("probabilities", "degree"),
    [
        (["0.25"] * 4, "beyond suspicion"),
        (["0.1", "0.3", "0.6"], "beyond suspicion"),
        (["0.4", "0.3", "0.3"], "probable innocence"),
        (["0.5", "0.5"], "beyond suspicion"),
        (["0.5", "0.4", "0.1"], "probable innocence"),
        (["0.51", "0.49"], "possible innocence"),
        (["0.999", "0.001"], "possible innocence"),
        ([1, 0], "exposed"),
        ([1], "exposed"),
    ],
)
def test_reiter_and_rubins_degrees(probabilities: list[Number], degree: str) -> None:
    assert degrees.degree(Bins.of(probabilities), probabilities[0]) == degree


def test_what_is_no_trivial_probability_is_for_the_reader_to_say() -> None:
    bins = Bins.of(["0.999", "0.001"])
    assert degrees.degree(bins, "0.999", nontrivial="0.01") == "exposed"
    with pytest.raises(ValueError, match="own must"):
        degrees.degree(bins, 2)
