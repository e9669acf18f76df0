"""Groups of bins: the levels between one value and all bins of a column, for quantiles from a hierarchical histogram.

The noise of all bins below a quantile adds up. Counts of groups of bins, of groups of these and so on leave few numbers
to add up (Hay, Rastogi, Miklau, Suciu 2010). Groups nest with all levels of the column that tables use.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.hierarchy import INVALID_LABEL, Level, coarser_codes

if TYPE_CHECKING:
    from crowdgate.arrays import Integers

BRANCHES = 4
"""The number of bins, or of smaller groups, in a group."""


def bin_groups(finest: Level, used: Sequence[Level]) -> list[Level]:
    """Return the levels coarser than `finest`, finest first: those of the `used` ones with several values, and groups
    of neighbouring values between them. The level's values are intervals in order, then the invalid ones, if any. Of a
    used level with other values than intervals, groups lie within its values, but it is none of them."""
    chain = sorted((each for each in used if 1 < len(each) < len(finest)), key=len)
    found = [level for pair in pairwise([None, *chain, finest]) for level in _between(*pair)]
    kept = (level for level in found if level is not finest and in_order(level))
    return sorted(kept, key=len, reverse=True)


def in_order(level: Level) -> bool:
    """Return whether the codes of a level never fall when the column's values rise: it is made of intervals."""
    return bool((np.diff(level.codes) >= 0).all())


def _between(upper: Level | None, lower: Level | None) -> list[Level]:
    """Return the groups of the values of `lower` in those of `upper` (None: in all), and `lower` itself."""
    assert lower is not None, "only the first of all levels is missing"
    above = _all_values(lower) if upper is None else coarser_codes(lower, upper).astype(np.int64)
    most, width, found = 2 * (int(above.max()) + 1), BRANCHES, [lower]
    while len(lower) >= most * width:
        found.append(_grouped(lower, above, width))
        width *= BRANCHES
    return found


def _all_values(level: Level) -> Integers:
    out = np.zeros(len(level), dtype=np.int64)
    out[-1] = int(level.labels[-1] == INVALID_LABEL)
    return out


def _grouped(lower: Level, above: Integers, width: int) -> Level:
    """Return the level of groups of `width` neighbouring values, of which each lies in one value `above`."""
    starts = np.flatnonzero(np.diff(above, prepend=-1))
    within = np.arange(len(above)) - starts[np.searchsorted(starts, np.arange(len(above)), side="right") - 1]
    firsts = np.flatnonzero(within % width == 0)
    codes = np.searchsorted(firsts, np.arange(len(above)), side="right") - 1
    lasts = [*(firsts[1:] - 1), len(above) - 1]
    labels = tuple(
        lower.labels[a] if a == b else f"{lower.labels[a]} to {lower.labels[b]}"
        for a, b in zip(firsts.tolist(), lasts, strict=True)
    )
    name = f"groups of {width} values of {lower.name}"
    return Level(name, labels, codes[lower.codes].astype(lower.codes.dtype))
