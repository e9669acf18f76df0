"""Public knowledge of a population: fits, their bases, and their ranges."""

from dataclasses import replace

import numpy as np
import pytest

from crowdgate.arrays import Floats
from crowdgate.contracts.contract import Attribute, Role
from crowdgate.domain import categories
from crowdgate.hierarchy import Level, hierarchy
from crowdgate.kind.forecast import Basis
from crowdgate.kind.prior import CountsAtLevels, Prior, coarsened

TRUE = np.array([[[40.0, 5.0], [10.0, 20.0], [3.0, 2.0]], [[4.0, 30.0], [16.0, 1.0], [9.0, 60.0]]])


def attribute(name: str, values: int, margins: Floats) -> Attribute:
    own = categories([f"{name}{at}" for at in range(values)], "a test")
    ladder = hierarchy(own, [("2 groups", [str(at // 2) for at in range(values)])], invalid_level=False)
    return Attribute(name, Role.QUASI_IDENTIFIER, "", own, ladder, margins=tuple(int(each) for each in margins))


ATTRIBUTES = {
    name: attribute(name, size, TRUE.sum(axis=tuple(other for other in range(3) if other != at)))
    for at, (name, size) in enumerate(zip("abc", TRUE.shape, strict=True))
}
BARE = Prior(200, ATTRIBUTES)
EXACT: dict[str, Level] = {name: BARE.levels(name)[0] for name in "abc"}


def table(*names: str, variance: float = 0.0, coarse: tuple[str, ...] = ()) -> CountsAtLevels:
    axes = {name: BARE.levels(name)[1 if name in coarse else 0] for name in names}
    counts = coarsened(TRUE, EXACT, axes)
    return CountsAtLevels(axes, counts, np.full(counts.shape, variance))


PAIRS = (table("a", "b"), table("a", "c"), table("b", "c"))


def test_sums_at_coarser_levels_in_another_order_are_those_of_every_cell() -> None:
    coarse = {"c": EXACT["c"], "b": BARE.levels("b")[1]}
    expected = np.zeros((2, 2))
    for a, b, c in np.ndindex(TRUE.shape):
        expected[c, b // 2] += TRUE[a, b, c]
    assert (coarsened(TRUE, EXACT, coarse) == expected).all()


@pytest.mark.parametrize(
    ("tables", "basis"),
    [
        ((), Basis.MARGINS),
        ((table("a", "b"),), Basis.PARTLY),
        ((table("a"), table("b"), table("c")), Basis.PARTLY),
        ((table("a", "b"), table("a", "c"), table("b", "c", coarse=("b",))), Basis.COARSER),
        (PAIRS, Basis.RELATED),
        ((table("a", "b", "c"),), Basis.COUNTED),
        ((table("a", "b", "c", variance=4.0),), Basis.RELATED),
    ],
)
def test_an_expectation_says_what_it_rests_on(tables: tuple[CountsAtLevels, ...], basis: Basis) -> None:
    found = replace(BARE, tables=tables).joint(EXACT)
    assert found is not None
    assert found.basis is basis
    assert found.people.sum() == pytest.approx(200, rel=0.05)


def test_every_basis_with_a_range_of_its_own_has_its_factors() -> None:
    from crowdgate.kind.prior import UNTOLD, WIDER

    assert set(UNTOLD) == set(WIDER) == {Basis.RELATED, Basis.COARSER}


def test_without_two_way_counts_the_range_is_what_is_possible() -> None:
    for tables in ((), (table("a", "b"),)):
        found = replace(BARE, tables=tables).joint(EXACT)
        assert found is not None
        around = found.range_of(lambda people: float(people[0, 0, 0] / people.sum()), lambda _: 0.01, 1.0)
        assert (around.low, around.high) == (0.0, 1.0)


def test_a_range_holds_a_share_of_the_way_to_independence_and_grows_with_the_noise() -> None:
    def corner(people: Floats) -> float:
        return float(people[0, 0, 0])

    halves = []
    for variance in (0.0, 25.0, 400.0):
        noisy = tuple(replace(each, variance=np.full(each.counts.shape, variance)) for each in PAIRS)
        found = replace(BARE, tables=noisy).joint(EXACT)
        assert found is not None
        around = found.range_of(corner, lambda _: 0.0, 200.0)
        assert around.low <= around.value <= around.high
        halves.append((around.high - around.low) / 2)
        again = replace(BARE, tables=noisy).joint(EXACT)
        assert again is not None
        assert again.range_of(corner, lambda _: 0.0, 200.0) == around
    independent = 200 * np.prod([TRUE.sum(axis=(1, 2))[0], TRUE.sum(axis=(0, 2))[0], TRUE.sum(axis=(0, 1))[0]]) / 200**3
    exact = replace(BARE, tables=PAIRS).joint(EXACT)
    assert exact is not None
    assert halves[0] == pytest.approx(0.25 * abs(corner(exact.people) - independent), rel=0.02)
    assert halves[0] < halves[1] < halves[2]


def test_attributes_without_margins_and_counts_are_unknown() -> None:
    bare = {**ATTRIBUTES, "b": replace(ATTRIBUTES["b"], margins=None)}
    assert Prior(200, bare).joint(EXACT) is None
    assert replace(Prior(200, bare), tables=(table("a", "c"),)).joint(EXACT) is None
    assert replace(Prior(200, bare), tables=(table("a", "b", coarse=("b",)),)).joint(EXACT) is None
    assert replace(Prior(200, bare), tables=PAIRS).joint(EXACT) is not None


def test_of_equal_tables_the_one_with_less_noise_is_taken() -> None:
    wrong = replace(table("a", "b", variance=100.0), counts=np.full((2, 3), 33.0))
    found = replace(BARE, tables=(wrong, *PAIRS)).joint(EXACT)
    assert found is not None
    assert found.people.sum(axis=2) == pytest.approx(TRUE.sum(axis=2), abs=0.05)
