"""Bounds on unique people from an entry, by the basis of its figures."""

from fractions import Fraction

import numpy as np
import pytest

from crowdgate.anonymity.kl.unique_share import CONTRADICTORY, LARGER, published_limits, unique_share_range
from crowdgate.risk.bins import Bins
from crowdgate.risk.kl import collision_excess, kl_to_uniform
from crowdgate.risk.kl_bounds import FigureLimits
from crowdgate.risk.kl_sums import CellSums, SumGrid, rows_interval
from crowdgate.risk.singletons import expected
from tests.kl_repository.shelves import entry, said


def test_rows_through_noise_have_the_limits_of_their_noise() -> None:
    found = published_limits(entry(said("charged"))).rows
    stated = rows_interval(SumGrid(300_000), CellSums(5000, 0, 0), Fraction(1, 10))
    assert (found.low, found.high) == (stated.low, stated.high)
    assert stated.low < 5000 < stated.high


@pytest.mark.parametrize("people", [2, 40, 1000])
def test_bounds_of_a_release_hold_for_a_group_that_is_drawn_from_its_law(people: int) -> None:
    """The model's counts are no whole numbers: 40 bins that hold shares of 5,000 people."""
    law = Bins.from_counts(1.37 ** (np.arange(40) % 9))
    kl, collision = kl_to_uniform(law), collision_excess(law)
    figures = {
        name: {"value": each, "low": each, "high": each} for name, each in (("kl", kl), ("collision", collision))
    }
    found = unique_share_range(entry({**said("release"), **figures}), people)
    assert isinstance(found, FigureLimits)
    assert found.low <= expected(law, people) / people <= found.high


def test_what_is_unknown_has_its_reason() -> None:
    assert unique_share_range(entry(said("release")), 5001) == LARGER
    assert unique_share_range(entry(said("charged")), 5001) == LARGER
    share = {"value": 1.0, "low": 1.0, "high": 1.0}
    curve = {"rows": {"low": 5000, "high": 5000}, "points": [{"rate": "1", "share": share}]}
    assert unique_share_range(entry({**said("charged"), "curve": curve}), 40) == CONTRADICTORY
