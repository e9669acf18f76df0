"""Bounds on the share of unique people: every table that has the published figures lies within."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.risk import kl_bounds
from crowdgate.risk.bins import Bins
from crowdgate.risk.class_sizes import ClassSizes
from crowdgate.risk.drawn_groups import expected_singletons
from crowdgate.risk.kl import collision_excess, kl_to_uniform
from crowdgate.risk.kl_bounds import CurvePoint, FigureLimits, PublishedLimits, unique_share_bounds
from tests.examples import examples

RATES = (Fraction(1), Fraction(1, 10), Fraction(1, 1000))


def figures_of(counts: list[int], bins: int, curve: bool) -> PublishedLimits:
    """Return the exact figures of a table."""
    sizes, n = np.array(counts, dtype=float), sum(counts)
    law = Bins.from_counts(sizes, bins - len(counts))
    shares = [float(np.sum(sizes * (1 - float(rate)) ** (sizes - 1)) / n) for rate in RATES]
    points = tuple(CurvePoint(rate, FigureLimits(each, each)) for rate, each in zip(RATES, shares, strict=True))
    kl, collision = kl_to_uniform(law), collision_excess(law)
    exact = FigureLimits(kl, kl), FigureLimits(collision, collision)
    return PublishedLimits(bins, FigureLimits(n, n), *exact, points if curve else ())


def truth(counts: list[int], people: int) -> float:
    return expected_singletons(ClassSizes.of(np.array(counts)), people) / people


def within(counts: list[int], bins: int, people: int, curve: bool) -> bool:
    found = unique_share_bounds(figures_of(counts, bins, curve), people)
    return found is not None and found.low - 1e-9 <= truth(counts, people) <= found.high + 1e-9


sizes = st.one_of(st.integers(1, 6), st.integers(1, 300), st.integers(1, 50_000))


@pytest.mark.thorough
@settings(max_examples=examples(300), deadline=None)
@given(st.lists(sizes, min_size=1, max_size=25), st.integers(0, 10**4), st.floats(0, 1), st.booleans())
def test_the_share_of_any_table_is_within_the_bounds_of_its_figures(
    counts: list[int], empty: int, part: float, curve: bool
) -> None:
    people = max(1, round(sum(counts) ** part))
    assert within(counts, len(counts) + empty, people, curve)


@pytest.mark.thorough
def test_no_table_of_the_same_figures_is_outside() -> None:
    """All tables of 12 people in 6 bins: two with the same KL and collision quantity have the same bounds."""
    for counts in combinations_with_replacement(range(13), 6):
        if sum(counts) == 12:
            occupied = [each for each in counts if each]
            for people in (1, 2, 3, 7, 12):
                assert within(occupied, 6, people, curve=False)


def test_a_curve_narrows_the_bounds() -> None:
    counts = [2500] + [1] * 400 + [3] * 100
    one, other = (unique_share_bounds(figures_of(counts, 3000, curve), 3200) for curve in (False, True))
    assert one is not None
    assert other is not None
    assert one.high - one.low > 0.16
    assert other.high - other.low < 1e-4


def test_what_is_unknown_has_no_bounds() -> None:
    figures = figures_of([5, 5], 4, curve=True)
    assert unique_share_bounds(figures, 11) is None
    impossible = PublishedLimits(
        4, figures.rows, figures.kl, figures.collision, (CurvePoint(RATES[0], FigureLimits(1, 1)),)
    )
    assert unique_share_bounds(impossible, 5) is None


@pytest.mark.parametrize("name", ["SHARE", "CONVEX"])
def test_bounds_without_the_error_of_their_steps_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: sizes between two steps are left out."""
    counts, bins = [12_345] * 20 + [12_399], 21
    assert within(counts, bins, 60, curve=True)
    monkeypatch.setattr(kl_bounds, name, -1e-4)
    assert not within(counts, bins, 60, curve=True)
