import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.numbers import Number
from crowdgate.accounting.pso import (
    baseline,
    bound,
    bound_in_sample,
    counts_bound,
    most_counts,
    theorem_6_2,
)
from tests.accounting.vectors import Entry, is_rounded_up, of

rows = st.integers(1, 10**7)
weights = st.floats(1e-15, 1)
spent = st.floats(0, 5), st.floats(0, 1e-3)


@of("B")
def test_the_baseline_has_its_reference_values(entry: Entry) -> None:
    assert baseline(entry["inputs"]["n"], entry["inputs"]["w"]) == pytest.approx(
        entry["expected"], rel=1e-12, abs=1e-300
    )


@of("k_anonymity_attack_B(k,1/k)")
def test_the_baseline_of_a_class_of_k_is_what_an_attack_on_k_anonymity_reaches(entry: Entry) -> None:
    k = entry["inputs"]["k"]
    assert baseline(k, 1 / k) == pytest.approx(entry["expected"], rel=1e-12)


@of("counting_attack_success_lower_bound")
def test_the_baseline_gives_the_success_of_the_counting_attack(entry: Entry) -> None:
    n, d = entry["inputs"]["n"], entry["inputs"]["d"]
    assert baseline(n, (2**d // n) / 2**d) == pytest.approx(entry["expected"], rel=1e-10)


@of("counting_attack_success_simulated")
def test_the_baseline_is_what_the_counting_attack_was_seen_to_reach(entry: Entry) -> None:
    n, d = entry["inputs"]["n"], entry["inputs"]["d"]
    assert baseline(n, (2**d // n) / 2**d) == pytest.approx(entry["expected"], abs=entry["tolerance"]["abs"])


@settings(deadline=None, derandomize=True)
@given(n=st.integers(1, 10**6), w=weights)
def test_the_baseline_is_greatest_at_one_nth(n: int, w: float) -> None:
    assert baseline(n, w) <= (1 - 1 / n) ** (n - 1) * (1 + 1e-9)
    assert baseline(n, 1 / n) == pytest.approx((1 - 1 / n) ** (n - 1), rel=1e-9)


@of("theorem_6_2_bound")
def test_theorem_6_2_has_its_reference_values(entry: Entry) -> None:
    i, expected = entry["inputs"], entry["expected"]
    arguments = (i["n"], i["w_max"], i["eps"], i["delta"])
    epsilon, delta = theorem_6_2(*arguments)
    assert is_rounded_up(epsilon, expected["eps_prime"], 1e-10)
    assert is_rounded_up(delta, expected["delta_prime"], 1e-10)
    assert is_rounded_up(bound(*arguments), expected["succ_bound"], 1e-10)


@of("dps_bound_full")
def test_the_bound_has_its_reference_value(entry: Entry) -> None:
    i = entry["inputs"]
    assert is_rounded_up(bound(i["n"], i["w"], i["eps"], i["delta"]), entry["expected"], 1e-12)


@of("dps_bound_sample")
def test_the_bound_in_the_sample_has_its_reference_value(entry: Entry) -> None:
    i = entry["inputs"]
    assert is_rounded_up(bound_in_sample(i["n"], i["w"], i["eps"], i["delta"], i["beta"]), entry["expected"], 1e-12)


@settings(deadline=None, derandomize=True)
@given(n=rows, w=weights, epsilon=spent[0], delta=spent[1], beta=st.floats(0, 1))
def test_the_bounds_are_ordered(n: int, w: float, epsilon: float, delta: float, beta: float) -> None:
    whole = bound(n, w, epsilon, delta)
    assert baseline(n, w) * (1 - 1e-12) <= whole <= 1
    assert bound_in_sample(n, w, epsilon, delta, beta) <= whole * (1 + 1e-12)
    assert bound_in_sample(n, w, epsilon, delta, 1) == whole
    assert bound(n + 1, w, epsilon, delta) >= whole


@settings(deadline=None, derandomize=True)
@given(n=st.integers(2, 10**6), w=st.floats(1e-12, 1e-6), epsilon=spent[0], delta=spent[1])
def test_theorem_6_2_says_the_same_as_the_bound(n: int, w: float, epsilon: float, delta: float) -> None:
    stretched, added = theorem_6_2(n, w, epsilon, delta)
    assert math.exp(stretched) * baseline(n, w) + added == pytest.approx(n * (math.exp(epsilon) * w + delta), rel=1e-9)


@of("max_exact_counts")
def test_the_most_counts_have_their_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    assert most_counts(i["n"], i["w"], i["target"]) == entry["expected"]


@settings(deadline=None, derandomize=True)
@given(n=st.integers(2, 10**6), bits=st.integers(40, 200), target=st.floats(1e-3, 0.9))
def test_the_most_counts_stay_below_the_target_and_one_more_does_not(n: int, bits: int, target: float) -> None:
    w = 2.0**-bits
    counts = most_counts(n, w, target)
    assert counts_bound(n, w, counts) <= target * (1 + 1e-9)
    assert counts_bound(n, w, counts + 1) > target


@settings(deadline=None, derandomize=True)
@given(n=st.integers(1, 12), counts=st.integers(0, 6), bits=st.integers(30, 200))
def test_disjoint_counts_have_as_many_answers_as_there_are_ways_to_share_out_the_rows(
    n: int, counts: int, bits: int
) -> None:
    ways, w = math.comb(n + counts, counts), 2.0**-bits
    assert counts_bound(n, w, counts, disjoint=True) == pytest.approx(min(1, ways * baseline(n, w)), rel=1e-11)
    assert counts_bound(n, w, counts, disjoint=True) <= counts_bound(n, w, counts) * (1 + 1e-12)


def test_the_answers_to_disjoint_counts_are_what_tables_can_have() -> None:
    for n in range(1, 6):
        seen = {tuple(table.count(v) for v in (1, 2)) for table in product((0, 1, 2), repeat=n)}
        assert counts_bound(n, 1e-9, 2, disjoint=True) == pytest.approx(len(seen) * baseline(n, 1e-9), rel=1e-11)


def test_the_bounds_are_clipped_at_one() -> None:
    assert bound(10**6, 1e-9, 10**5, 0) == bound(10**6, 1, 0, 0) == counts_bound(100, 0.01, 400) == 1
    assert bound(10**6, 0, 10**5, "1e-9") == pytest.approx(1e-3)


def test_a_target_below_the_baseline_is_refused() -> None:
    with pytest.raises(ValueError, match="target must be"):
        most_counts(100, 0.01, 0.1)
    with pytest.raises(ValueError, match="w must be"):
        most_counts(100, 0, 0.1)


@pytest.mark.parametrize(
    ("name", "wrong"), [("n", 0), ("n", 1.5), ("w", -0.1), ("w", 1.1), ("epsilon", -1), ("delta", 2)]
)
def test_an_argument_out_of_range_is_refused_by_name(name: str, wrong: Number) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be"):
        bound(**({"n": 10, "w": 0.1, "epsilon": 1, "delta": 0} | {name: wrong}))


def test_a_weight_of_one_has_no_theorem() -> None:
    with pytest.raises(ValueError, match="w_max must be"):
        theorem_6_2(10, 1, 1, 0)
