import math
from itertools import product

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.safe_k import exact_delta, least_epsilon, same_sample_delta, theorem5_delta
from tests.accounting.enumeration import Law, binomial, divergence
from tests.accounting.vectors import Entry, is_rounded_up, of
from tests.examples import examples


def chasing_choice(groups: int, k: int, beta: float, side_epsilon: float, epsilon: float) -> mp.mpf:
    """Return delta if the scheme is chosen, side_epsilon-DP, on the sample to which it is applied.

    The person can join any of `groups` groups of k - 1 rows; scheme i joins group i, and is the likelier the more of
    group i was sampled. The outcome is the scheme and the published size of the joined group; the other groups stay
    below k.
    """
    beta, epsilon = mp.mpf(beta), mp.mpf(epsilon)
    sizes = binomial(k - 1, beta)
    without: Law = {}
    with_person: Law = {}
    for counts in product(range(k), repeat=groups):
        mass = mp.fprod(sizes[count] for count in counts)
        weights = [mp.exp(-side_epsilon * mp.mpf(k - 1 - count)) for count in counts]
        none = 1 / (1 + mp.fsum(weights))
        for scheme, (count, weight) in enumerate(zip(counts, weights, strict=True)):
            chosen = mass * weight * none
            _add(without, (scheme, -1), chosen)
            _add(with_person, (scheme, -1), chosen * (1 - beta))
            _add(with_person, (scheme, k if count == k - 1 else -1), chosen * beta)
        _add(without, "none", mass * none)
        _add(with_person, "none", mass * none)
    return max(divergence(with_person, without, epsilon), divergence(without, with_person, epsilon))


def _add(law: Law, outcome: object, mass: mp.mpf) -> None:
    law[outcome] = law.get(outcome, 0) + mass


@of("counterexample_exact_delta")
def test_the_published_composition_fails_on_one_sample_and_ours_does_not(entry: Entry) -> None:
    i = entry["inputs"]
    attained = chasing_choice(i["G"], i["k"], i["beta"], i["eps1"], i["eps_total"])
    assert float(attained) == pytest.approx(entry["expected"], rel=1e-4)
    claimed = theorem5_delta(i["k"], i["beta"], i["eps_total"] - i["eps1"])
    assert claimed < attained
    assert same_sample_delta(i["k"], i["beta"], i["eps_total"], i["eps1"], i["G"]) >= attained


@pytest.mark.parametrize(
    ("groups", "k", "beta", "side", "total"), [(6, 3, 0.1, 1, 4), (4, 3, 0.3, 2, 4), (5, 3, 0.5, 1, 3)]
)
def test_no_choice_that_chases_classes_exceeds_the_same_sample_delta(
    groups: int, k: int, beta: float, side: float, total: float
) -> None:
    attained = chasing_choice(groups, k, beta, side, total)
    assert theorem5_delta(k, beta, total - side) < attained <= same_sample_delta(k, beta, total, side, groups)


@of("corrected_union_bound")
def test_the_same_sample_delta_has_its_reference_value(entry: Entry) -> None:
    i = entry["inputs"]
    value = same_sample_delta(i["k"], i["beta"], i["eps_total"], i["eps1"], i["G"])
    assert is_rounded_up(value, entry["expected"])


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(k=st.integers(1, 60), beta=st.floats(0.01, 0.9), side=st.floats(0, 1), above=st.floats(0, 3))
def test_one_sample_is_never_cheaper_than_the_mechanism_alone(k: int, beta: float, side: float, above: float) -> None:
    epsilon = max(-math.log1p(-beta), math.log1p(beta * math.expm1(side))) * (1 + 1e-12) + above
    priced = same_sample_delta(k, beta, epsilon, side, 1)
    assert exact_delta(k, beta, epsilon) * (1 - 1e-9) <= priced <= 1
    assert same_sample_delta(k, beta, epsilon, side, 7) == pytest.approx(min(1, 7 * priced))


def test_a_side_output_dearer_than_the_total_is_refused() -> None:
    with pytest.raises(ValueError, match="epsilon must be at least"):
        same_sample_delta(20, 0.5, 1, 3, 1)
    with pytest.raises(ValueError, match="epsilon must be at least"):
        same_sample_delta(20, 0.5, 0.5, 0, 1)


def test_a_side_output_that_leaves_nothing_gives_no_guarantee() -> None:
    assert same_sample_delta(20, 0.5, 1, 1.2, 1) == 1
    assert same_sample_delta(20, 0, 1, 1, 5) == 0


def test_the_least_epsilon_and_the_price_of_a_side_output_agree_on_their_order() -> None:
    """A side output is never free: at the least epsilon of the mechanism alone its delta is above the target."""
    epsilon = max(least_epsilon(1e-6, 30, 0.1), -math.log1p(-0.1))
    assert same_sample_delta(30, 0.1, epsilon, 0.05, 1) > 1e-6
