"""Bounds of the figures that assume independence: the least and the greatest under any relation of the attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.limits import MOST_VALUES
from crowdgate.risk.margins_only import share_bounds, singletons_bounds

if TYPE_CHECKING:
    from crowdgate.arrays import Floats
    from crowdgate.kind.prior import ExpectedRange
    from crowdgate.risk.bins import Bins

SMALL = 5
"""Greatest set size for which bounds are computed, in addition to the bounds for unique people."""
BOUND_NAMES = ("low", "high", "small_low", "small_high")


def bounds_from_range(found: ExpectedRange | None) -> Mapping[str, float]:
    """Return the least and the greatest expected number of singletons in a range as `low` and `high`; nothing without a
    range."""
    return {} if found is None else {"low": found.low, "high": found.high}


def bounds_from_margins(margins: Sequence[Floats] | None, people: int) -> Mapping[str, float]:
    """Return the least and the greatest expected number of singletons, and share of people in sets of at most SMALL,
    under any joint distribution with these margins, and in any table with them. Empty for a single margin, which leaves
    no choice, and for unknown ones."""
    if margins is None or len(margins) < 2:
        return {}
    tables = [list(each / each.sum()) for each in margins]
    alone, small = singletons_bounds(tables, people), share_bounds(tables, people, SMALL)
    high = max(alone.high, _most_in_table(margins, people))
    return {"low": alone.low, "high": high, "small_low": small.low, "small_high": small.high}


def _most_in_table(margins: Sequence[Floats], people: int) -> float:
    """Return the greatest number of unique people in a table of `people` with these margins: the people with a value
    are in no more classes than the other attributes have combinations."""
    sizes = [int(np.count_nonzero(each)) for each in margins]
    cells = prod(sizes)
    return min(
        float(np.minimum(people * each / each.sum(), cells / size).sum())
        for each, size in zip(margins, sizes, strict=True)
    )


def margin_of(bins: Bins) -> Floats | None:
    """Return the probability of each bin, empty ones included, as one array; None for more bins than a domain may have
    values."""
    if bins.cells > MOST_VALUES:
        return None
    held = np.repeat(bins.probabilities, np.round(bins.counts).astype(np.int64))
    return np.asarray(np.concatenate([held, np.zeros(round(bins.empty))]))
