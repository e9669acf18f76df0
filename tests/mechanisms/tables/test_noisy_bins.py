"""Counts of bins from all tables of a release: at the finest level of each, weighted by precision."""

from fractions import Fraction

import numpy as np

from crowdgate.domain import categories, numbers
from crowdgate.hierarchy import Level, by_width, hierarchy
from crowdgate.mechanisms.tables.noisy_bins import noisy_bins

_DOMAIN = numbers(Fraction(0), Fraction(7), Fraction(1), "a codebook")
_PLACES = categories(["a", "b"], "a codebook")


def _levels() -> dict[str, Level]:
    named = [(name, by_width(_DOMAIN, Fraction(width))) for name, width in (("twos", 2), ("fours", 4))]
    return {level.name: level for level in hierarchy(_DOMAIN, named, invalid_level=False).levels}


def _place() -> Level:
    return hierarchy(_PLACES, [], invalid_level=False).levels[0]


def test_finer_tables_are_summed_equal_ones_weighted_and_coarser_ones_kept_as_groups() -> None:
    x, place = _levels(), _place()
    axes = [{"x": x["twos"], "place": place}, {"x": x["exact"], "place": place}, {"x": x["fours"], "place": place}]
    tables = [np.full((len(each["x"]), 2), at) for at, each in zip((10, 8, 3), axes, strict=True)]
    found = noisy_bins(axes, tables, [4.0, 2.0, 5.0], 0, "x")
    assert [each.shape for each in found.levels] == [(2, 4), (2, 2)]
    assert np.allclose(found.levels[0], (10 + 16) / 2)  # sums of two of 8, also of variance 4
    assert np.allclose(found.variances[0], 2.0)
    assert np.allclose(found.levels[1], 3.0)
    assert np.allclose(found.variances[1], 5.0)
    assert found.parents[0].tolist() == [0, 0, 1, 1]


def test_tables_without_the_attributes_of_the_groups_are_left_out() -> None:
    x, place = _levels(), _place()
    axes = [{"x": x["twos"], "place": place}, {"x": x["fours"]}, {"place": place}]
    tables = [np.ones([len(level) for level in each.values()], dtype=np.int64) for each in axes]
    found = noisy_bins(axes, tables, [1.0, 1.0, 1.0], 0, "x")
    assert [each.shape for each in found.levels] == [(2, 4)]
