"""Privacy cost of a workload: sensitivities by brute force, exact splits, and sampling that amplifies once."""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement, product
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting import amplification, zcdp
from crowdgate.accounting.amplification import amplify
from crowdgate.accounting.discrete_laws import DiscreteGaussian, DiscreteLaplace
from crowdgate.accounting.tables_plan import (
    NoiseKind,
    Query,
    Split,
    law_of,
    split_budget,
    stated_guarantee,
    tables_budget,
)
from crowdgate.accounting.zcdp import zcdp_epsilon
from tests.examples import examples

queries = st.lists(
    st.builds(Query, st.text(max_size=3), st.integers(1, 5000), st.integers(1, 90)), min_size=1, max_size=6
)
totals = st.fractions(Fraction(1, 1000), 10)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_sensitivities_are_the_greatest_changes_that_rows_of_one_person_make(rows: int) -> None:
    """Two tables of 2 and 3 cells and a sum over {-1, 0, 2}: all ways to place `rows` rows, enumerated."""
    worst_l1, worst_l2 = 0, 0
    kinds = [(a, b, v) for a, b, v in product(range(2), range(3), (-1, 0, 2))]
    for count in range(rows + 1):
        for chosen in combinations_with_replacement(kinds, count):
            cells = [sum(a == i for a, _, _ in chosen) for i in range(2)]
            cells += [sum(b == i for _, b, _ in chosen) for i in range(3)] + [sum(v for *_, v in chosen)]
            worst_l1 = max(worst_l1, sum(map(abs, cells)))
            worst_l2 = max(worst_l2, sum(cell**2 for cell in cells))
    workload = [Query("a", 2), Query("b", 3), Query("sum", 1, 2)]
    assert sum(query.sensitivity(rows) for query in workload) == worst_l1
    assert sum(query.sensitivity(rows) ** 2 for query in workload) == worst_l2


@pytest.mark.thorough
@settings(deadline=None, derandomize=True)
@given(queries=queries, total=totals, noise=st.sampled_from(["laplace", "gaussian"]))
@pytest.mark.parametrize("how", ["equal", "least-variance"])
def test_the_parts_add_up_to_the_total_exactly(
    how: Split, queries: list[Query], total: Fraction, noise: NoiseKind
) -> None:
    assert sum(split_budget(queries, total, noise, how)) == total


@pytest.mark.thorough
@settings(deadline=None, derandomize=True)
@given(queries=queries, total=totals, tilt=st.floats(0.5, 2), noise=st.sampled_from(["laplace", "gaussian"]))
def test_no_other_split_has_a_smaller_sum_of_variances(
    queries: list[Query], total: Fraction, tilt: float, noise: NoiseKind
) -> None:
    power = 2 if noise == "laplace" else 1

    def error(parts: Sequence[Fraction | float]) -> float:
        return sum(q.cells / float(part) ** power for q, part in zip(queries, parts, strict=True))

    best = error(split_budget(queries, total, noise, "least-variance"))
    tilted = [float(part) * tilt**i for i, part in enumerate(split_budget(queries, total, noise, "least-variance"))]
    others = [part * float(total) / sum(tilted) for part in tilted]
    assert best <= error(others) * (1 + 1e-6)
    assert best <= error(split_budget(queries, total, noise, "equal")) * (1 + 1e-6)


def test_stated_shares_are_kept_and_the_rest_is_split() -> None:
    workload = [Query("a", 1, share=Fraction(1, 3)), Query("b", 1), Query("c", 1)]
    assert split_budget(workload, Fraction(3), "laplace", "equal") == (Fraction(1), Fraction(1), Fraction(1))


@pytest.mark.parametrize(
    ("shares", "words"),
    [((0, None), "share 0"), (("2/3", "2/3"), "add up to 4/3"), ((1, None), "no budget left"), ((-1, 1), "share -1")],
)
def test_shares_that_do_not_fit_are_refused(shares: tuple[int | str | None, ...], words: str) -> None:
    workload = [Query(str(i), 1, 1, None if s is None else Fraction(s)) for i, s in enumerate(shares)]
    with pytest.raises(ValueError, match=words):
        split_budget(workload, Fraction(1), "laplace", "equal")


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("beta", ["1", "0.5", "0.01"])
@pytest.mark.parametrize("epsilon", ["0.01", "1", "8"])
def test_the_budget_is_used_up_and_not_exceeded(noise: NoiseKind, beta: str, epsilon: str) -> None:
    found = tables_budget(epsilon, "1e-6", noise, beta)
    assert Fraction(epsilon) * Fraction(1 - 1e-9) <= found.epsilon <= Fraction(epsilon)
    assert found.delta == (0 if noise == "laplace" else Fraction("1e-6"))


def test_zcdp_is_converted_before_it_is_amplified_and_amplified_once() -> None:
    """Scaling rho by beta, or amplifying twice, would allow more noise budget: both exceed the stated epsilon."""
    found = tables_budget(1, "1e-6", "gaussian", "0.1")
    inner = zcdp_epsilon(found.spend, "1e-5")
    assert float(found.epsilon) == pytest.approx(math.log1p(0.1 * math.expm1(inner)), rel=1e-12)
    twice = tables_budget(found.epsilon, "1e-6", "gaussian", "0.01")
    assert twice.spend > found.spend
    assert stated_guarantee("gaussian", twice.spend, "1e-5", Fraction(1, 10))[0] > found.epsilon
    assert amplify(*amplify(inner, "1e-5", "0.1"), "0.1")[0] < found.epsilon / 5


class LastBitUp(ModuleType):
    """`math` of another machine: logarithms and exponentials that are greater by their last bit."""

    def __getattr__(self, name: str) -> Any:
        own = getattr(math, name)
        moved = name in ("exp", "expm1", "log", "log1p")
        return (lambda number: math.nextafter(own(number), math.inf)) if moved else own


@settings(deadline=None, derandomize=True, max_examples=examples(60))
@given(
    epsilon=st.decimals("0.01", 10, places=3), beta=st.decimals("0.01", 1, places=2),
    delta=st.sampled_from(["1e-5", "1e-9"]), noise=st.sampled_from(["laplace", "gaussian"]),
)  # fmt: skip
def test_another_machine_confirms_what_a_budget_was_made_for(
    epsilon: Decimal, beta: Decimal, delta: str, noise: NoiseKind
) -> None:
    made = tables_budget(str(epsilon), delta, noise, str(beta))
    numbers = noise, made.spend, min(Fraction(delta) / made.beta, 1 - Fraction(1, 10**9)), made.beta
    assert stated_guarantee(*numbers, again=True)[0] <= stated_guarantee(*numbers)[0]
    with pytest.MonkeyPatch.context() as machine:
        for room in (amplification, zcdp):
            machine.setattr(room, "math", LastBitUp("math"))
        assert stated_guarantee(*numbers, again=True)[0] <= Fraction(str(epsilon))


def test_gaussian_noise_without_delta_is_refused() -> None:
    with pytest.raises(ValueError, match="delta must"):
        tables_budget(1, 0, "gaussian")


def test_noise_scales_with_what_a_person_can_add() -> None:
    laplace = law_of(Query("a", 1), Fraction(1, 2), 3, "laplace")
    gaussian = law_of(Query("s", 1, 90), Fraction(1, 2), 1, "gaussian")
    assert isinstance(laplace, DiscreteLaplace)
    assert laplace.scale == 6
    assert isinstance(gaussian, DiscreteGaussian)
    assert gaussian.squared_sigma == 8100
