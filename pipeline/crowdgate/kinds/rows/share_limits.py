"""Limits of shares in the full table: intervals that hold together, from noisy margins and released rows.

The estimate of each cell of a margin has a normal or nearly normal error, whose standard error is known. Intervals of
`width_together` standard errors hold for all cells of all margins together in 95 of 100 releases (Bonferroni). The
full table also has at least the released rows of each cell. From this box follow limits of any share, mean or ratio
(`ratio_limits`), and they hold together too, however many are asked.

The table of shares has limits for each cell of each margin of one or two columns. They are those of the cell beside
the rest of its row, of its column, and of the table: a table of 2 x 2 cells, whose box the margins give.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product

import numpy as np

from crowdgate.accounting.discrete_laws import Law
from crowdgate.accounting.noise_sums import MISS, width
from crowdgate.arrays import Floats, Integers
from crowdgate.kinds.rows.candidate import PublishedMargin, ShareLimits
from crowdgate.risk.ratio_limits import MarginBoxes

PARTS = 100_000
"""Limits of shares are whole multiples of 1 / PARTS, rounded outwards."""


def width_together(laws: Sequence[Law], cells: int) -> Fraction:
    """Return the number of standard errors around estimates that holds for all `cells` cells of margins together with
    95 % probability; `laws` are the distributions of the margins' noise."""
    return width(laws, cells, MISS / cells)


@dataclass(frozen=True, eq=False)
class MarginBox:
    """Limits of all cells of a margin that hold together, as an array with an axis for each column."""

    levels: Mapping[str, str]
    lower: Floats
    upper: Floats


def margin_box(margin: PublishedMargin, shape: Sequence[int], rows: Integers, together: Fraction) -> MarginBox:
    """Return the limits of a margin's cells: `together` standard errors around the estimates, and at least the released
    `rows`."""
    half = float(together) * margin.error
    lower = np.maximum(margin.unbiased - half, rows)
    upper = np.maximum(margin.unbiased + half, lower)
    return MarginBox(margin.levels, lower.reshape(shape), upper.reshape(shape))


def share_limits(boxes: Sequence[MarginBox]) -> tuple[ShareLimits, ...]:
    """Return the limits of the share of each cell of each margin of one or two columns, in the order of `boxes`."""
    known = {frozenset(each.levels.items()): each for each in boxes}
    return tuple(_limits(each, known) for each in boxes if 0 < len(each.levels) <= 2)


def _limits(of: MarginBox, known: Mapping[frozenset[tuple[str, str]], MarginBox]) -> ShareLimits:
    """Return the limits for one margin: 0 and 1 if the total may be 0, or the margins contradict each other."""
    cells, total = of.lower.size, known[frozenset()]
    unknown = ShareLimits(np.zeros(cells, np.int64), np.full(cells, PARTS, np.int64))
    least = np.full(cells, float(total.lower.item()))
    if not total.lower.item() > 0:
        return unknown
    boxes = _beside_the_rest(of, known)
    own, every = np.eye(boxes.sums.shape[1])[0], np.ones(boxes.sums.shape[1])
    most, rest = boxes.greatest(own, every, least), boxes.greatest(every - own, every, least)
    if most is None or rest is None:
        return unknown
    low, high = np.floor((1 - rest) * PARTS), np.ceil(most * PARTS)
    return ShareLimits(np.clip(low, 0, PARTS).astype(np.int64), np.clip(high, 0, PARTS).astype(np.int64))


def _beside_the_rest(of: MarginBox, known: Mapping[frozenset[tuple[str, str]], MarginBox]) -> MarginBoxes:
    """Return for each cell of a margin the box of a table with two values of each column: the cell's own, and the
    rest."""
    axes = list(of.levels.items())
    lines, lower, upper = list[Floats](), list[Floats](), list[Floats]()
    for held in product((False, True), repeat=len(axes)):
        box = known.get(frozenset(axis for axis, own in zip(axes, held, strict=True) if own))
        if box is None:
            continue
        for own in product((0, 1), repeat=sum(held)):
            lines.append(_sum_of(held, own))
            for limits, side in ((lower, box.lower), (upper, box.upper)):
                limits.append(_spread(_own_or_rest(_ordered(side, box, of), own), held, of.lower.shape))
    return MarginBoxes(np.stack(lines), np.stack(lower, axis=1), np.stack(upper, axis=1))


def _ordered(side: Floats, box: MarginBox, of: MarginBox) -> Floats:
    """Return limits with the axes of a box in the order in which a margin has them."""
    names = list(box.levels)
    return np.transpose(side, [names.index(name) for name in of.levels if name in box.levels])


def _sum_of(held: Sequence[bool], own: Sequence[int]) -> Floats:
    """Return the cells of a table with two values of each column that have the values `own` in the columns `held`."""
    at = iter(own)
    axes = [np.eye(2)[next(at)] if each else np.ones(2) for each in held]
    return np.asarray(reduce(np.multiply.outer, axes)).reshape(-1)


def _own_or_rest(limits: Floats, own: Sequence[int]) -> Floats:
    """Return for each cell the sum over its own value of an axis (0), or over all other values (1)."""
    for axis, rest in enumerate(own):
        limits = limits.sum(axis=axis, keepdims=True) - limits if rest else limits
    return np.maximum(limits, 0)


def _spread(limits: Floats, held: Sequence[bool], shape: Sequence[int]) -> Floats:
    """Return limits that depend on the axes `held` for each cell of a table."""
    whole = limits.reshape([size if own else 1 for size, own in zip(shape, held, strict=True)])
    return np.broadcast_to(whole, shape).reshape(-1)


def shares_of(rows: Integers, weighted: Integers) -> Iterator[int | None]:
    """Yield the share of the weighted rows that each cell has, in 1 / `PARTS`; None without rows. `weighted` are sums
    of weights in units."""
    whole = int(weighted.sum())
    for count in weighted.tolist():
        yield round(Fraction(PARTS * count, whole)) if whole and rows.any() else None
