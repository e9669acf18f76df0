"""estimates.csv: tables of one and two columns, with shares of the full table and their limits."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.errors import VerificationFailed
from crowdgate.histogram import Histogram
from crowdgate.kinds.rows.candidate import CalibratedMargins, PublishedMargin, PublishedRows, ShareLimits
from crowdgate.kinds.rows.margins import labels_of, line_numbers, margin_boxes, margin_fit
from crowdgate.kinds.rows.share_limits import PARTS, share_limits, shares_of
from crowdgate.publish.dictionary import read_lines

ESTIMATES = "estimates.csv"
ONE_WAY_COLUMNS = (
    "column", "level", "label", "estimate", "standard_error", "lower", "upper", "rows", "weighted", "residual",
)  # fmt: skip
"""The columns of earlier releases, which had tables of one column only."""
COLUMNS = (*ONE_WAY_COLUMNS, "column_2", "level_2", "label_2", "share", "share_lower", "share_upper", "use")
ROWS, TABLES = "rows", "tables"
"""The two sources of a share: the weighted rows, or tables."""
DIGITS = len(str(PARTS)) - 1


def one_way(held: PublishedRows) -> Iterator[list[object]]:
    """Yield a line for each cell of each margin of one column: column, level, label, estimate, standard error, limits,
    released rows, sum of weights, residual. Estimates are persons or rows of the full table."""
    for margin in _margins(held):
        if len(margin.levels) == 1:
            yield from ([*cell, *numbers] for cell, numbers in _lines(held, margin))


def with_shares(held: PublishedRows, shares: Sequence[ShareLimits]) -> Iterator[list[object]]:
    """Yield a line for each cell of each margin of one or two columns: as in `one_way`, then the second column, the
    share of the weighted rows, limits of the share in the full table, and what to use for it."""
    listed = (each for each in _margins(held) if _is_listed(each))
    for margin, limits in zip(listed, shares, strict=True):
        found = margin_fit(held, margin)
        own = zip(shares_of(found.rows, found.weighted), limits.lower.tolist(), limits.upper.tolist(), strict=True)
        for (cell, numbers), share in zip(_lines(held, margin), own, strict=True):
            further = cell[3:] or ["", "", ""]
            yield [*cell[:3], *numbers, *further, *map(_share_text, share), use_of(*share)]


def use_of(share: int | None, lower: int, upper: int) -> str:
    """Return what to use for a share: the rows, unless the interval is wider than half the share or does not hold
    it."""
    return ROWS if share is not None and 2 * (upper - lower) <= share and lower <= share <= upper else TABLES


def limits_of(rows: Histogram, weighting: CalibratedMargins) -> tuple[ShareLimits, ...]:
    """Return the limits of the share of each cell of each margin of one or two columns."""
    return share_limits(margin_boxes(rows, weighting))


def read_shares(path: Path, rows: Histogram, weighting: CalibratedMargins) -> tuple[ShareLimits, ...]:
    """Return the limits of shares in a release's file. Raises VerificationFailed if one differs from the limit that
    rows and margins give by more than a unit: solvers on two machines agree to less than a unit before rounding."""
    lines = [dict(zip(COLUMNS, line, strict=True)) for line in read_lines(path, COLUMNS)]
    found, start = [], 0
    for due in limits_of(rows, weighting):
        part = lines[start : start + len(due.lower)]
        found.append(ShareLimits(*(_units(part, name) for name in ("share_lower", "share_upper"))))
        start += len(due.lower)
        if not (_is_near(found[-1].lower, due.lower) and _is_near(found[-1].upper, due.upper)):
            raise VerificationFailed(f"{path.name}: limits of a share differ from those that rows and margins give")
    return tuple(found)


def _units(lines: Sequence[Mapping[str, str]], name: str) -> Integers:
    try:
        return np.array([round(PARTS * float(line[name])) for line in lines], dtype=np.int64)
    except (ValueError, OverflowError):
        raise VerificationFailed(f"{ESTIMATES}: a limit of a share is no number") from None


def _is_near(found: Integers, due: Integers) -> bool:
    held = len(found) == len(due) and bool(((found >= 0) & (found <= PARTS)).all())
    return held and bool((np.abs(found - due) <= 1).all())


def _lines(held: PublishedRows, margin: PublishedMargin) -> Iterator[tuple[list[object], list[object]]]:
    """Yield for each cell of a margin its columns, levels and labels, and its numbers."""
    labels = labels_of(held)
    cells = product(*([(*axis, label) for label in labels[axis]] for axis in margin.levels.items()))
    for cell, numbers in zip(cells, line_numbers(held, margin), strict=True):
        yield [word for axis in cell for word in axis], numbers


def _margins(held: PublishedRows) -> tuple[PublishedMargin, ...]:
    assert held.weighting is not None, "margins were bought"
    return held.weighting.margins


def _is_listed(margin: PublishedMargin) -> bool:
    return 0 < len(margin.levels) <= 2


def _share_text(units: int | None) -> str:
    return "" if units is None else f"{units // PARTS}.{units % PARTS:0{DIGITS}}"
