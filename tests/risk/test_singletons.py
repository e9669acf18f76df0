import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.risk.singletons import Bins, expected
from tests.accounting.vectors import Entry, of
from tests.examples import examples

weights = st.lists(st.integers(0, 6), min_size=1, max_size=5).filter(any)


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(weights=weights, people=st.integers(0, 4))
def test_the_expected_singletons_are_the_mean_over_all_ways_to_fall(weights: list[int], people: int) -> None:
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    mean = Fraction(0)
    for fall in product(range(len(shares)), repeat=people):
        alone = sum(fall.count(bin_) == 1 for bin_ in fall)
        mean += alone * math.prod((shares[bin_] for bin_ in fall), start=Fraction(1))
    assert expected(Bins.of(shares), people) == pytest.approx(float(mean), rel=1e-13, abs=1e-15)


@of("ES_exact", "risk.json")
def test_the_expected_singletons_have_their_reference_values(entry: Entry) -> None:
    bins = Bins.of([Fraction(p) for p in entry["inputs"]["p"]])
    assert expected(bins, entry["inputs"]["k"]) == pytest.approx(entry["expected"], rel=1e-13)


def test_uniform_grouped_and_listed_bins_are_the_same_bins() -> None:
    grouped = Bins.grouped([Fraction(1, 2), 1, 2], [40, 20, 20])
    listed = Bins.of([Fraction(1, 160)] * 40 + [Fraction(1, 80)] * 20 + [Fraction(1, 40)] * 20)
    assert (
        expected(grouped, 40) == pytest.approx(expected(listed, 40), rel=1e-14) == pytest.approx(21.425825, abs=0.073)
    )
    assert expected(Bins.uniform(365), 365) == pytest.approx(134.46023023448166, rel=1e-13)
    assert expected(Bins.grouped([1], [365]), 365) == expected(Bins.uniform(365), 365)


def test_many_people_and_many_bins_keep_their_digits() -> None:
    assert expected(Bins.uniform(10**12), 10**12) == pytest.approx(10**12 / math.e, rel=1e-11)
    assert expected(Bins.uniform(10), 10**6) == 0
    assert expected(Bins.uniform(10**15), 2) == pytest.approx(2, rel=1e-14)


def test_one_person_is_always_alone_and_two_in_one_bin_never() -> None:
    assert expected(Bins.uniform(1), 1) == 1
    assert expected(Bins.uniform(1), 2) == 0
    assert expected(Bins.uniform(7), 0) == 0
    assert expected(Bins.of([1, 0, 0]), 1) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bins.of([]), "add up to 1"),
        (lambda: Bins.of([0.5, 0.4]), "add up to 1"),
        (lambda: Bins.of([1.5, -0.5]), "probabilities must be"),
        (lambda: Bins.of([float("nan")]), "probabilities must be"),
        (lambda: Bins.grouped([1], [2, 3]), "equally long"),
        (lambda: Bins.grouped([2], [10]), "add up to 1"),
        (lambda: Bins.grouped([1], [0]), "add up to 1"),
        (lambda: Bins.uniform(0), "n must be"),
        (lambda: expected(Bins.uniform(5), -1), "k must be"),
        (lambda: expected(Bins.uniform(5), True), "k must be"),
    ],
)
def test_what_is_no_distribution_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
