import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.safe_k import delta_at, delta_sizes_published, exact_delta, person_coin_delta
from tests.accounting.enumeration import binomial, divergence, suppressed, together
from tests.accounting.vectors import Entry, is_rounded_up, of
from tests.examples import examples


@of("person_level_sampling_delta")
def test_a_coin_for_several_rows_has_its_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    largest = {"others" in i and "n<=11" in i["others"]: 11, "others" in i and "n<=59" in i["others"]: 59}.get(
        True, i.get("n")
    )
    value = person_coin_delta(i["k"], i["beta"], i["eps"], i["m"], largest)
    assert is_rounded_up(value, entry["expected"], 1e-8)


@settings(max_examples=examples(15), deadline=None, derandomize=True)
@given(
    k=st.integers(1, 3), m=st.integers(1, 2), beta=st.floats(0.05, 0.95), epsilon=st.floats(0, 2), n=st.integers(1, 5)
)
def test_a_coin_for_several_rows_is_the_divergence_of_their_classes_together(
    k: int, m: int, beta: float, epsilon: float, n: int
) -> None:
    b, largest = mp.mpf(beta), 0
    for size in range(1, n + 1):
        others = binomial(size - 1, b)
        absent = suppressed(others, k)
        present = suppressed({j + 1: mass for j, mass in others.items()}, k)
        without, with_rows = together(*[absent] * m), together(*[present] * m)
        mixed = {o: (1 - b) * without.get(o, 0) + b * with_rows.get(o, 0) for o in without.keys() | with_rows.keys()}
        largest = max(largest, divergence(mixed, without, epsilon), divergence(without, mixed, epsilon))
    assert float(largest) == pytest.approx(person_coin_delta(k, beta, epsilon, m, n), rel=1e-9, abs=1e-15)


def test_one_row_with_one_coin_is_the_mechanism_itself() -> None:
    assert person_coin_delta(4, 0.1, 1, 1, 5) == pytest.approx(max(delta_at(5, 4, 0.1, 1)), rel=1e-10)


def test_a_shared_coin_is_worse_than_as_many_single_rows() -> None:
    assert person_coin_delta(10, 0.1, 0.3, 2, 59) > 2 * exact_delta(10, 0.1, 0.3)


def test_too_many_outcomes_are_refused() -> None:
    with pytest.raises(ValueError, match="n and m must have"):
        person_coin_delta(2, 0.1, 1, 10, 100)


@of("delta_if_sample_size_or_suppressed_count_published")
def test_published_sizes_leave_delta_at_beta(entry: Entry) -> None:
    i = entry["inputs"]
    assert delta_sizes_published(i["k"], i["beta"], i["eps"]) == pytest.approx(entry["expected"], rel=1e-12)


def test_a_lone_row_and_a_published_number_of_suppressed_rows_attain_beta() -> None:
    beta = mp.mpf("0.05")
    assert abs(divergence(binomial(1, beta), binomial(0, beta), 1) - beta) < 1e-15
    assert delta_sizes_published(10**6, "0.05", 100) == 0.05
