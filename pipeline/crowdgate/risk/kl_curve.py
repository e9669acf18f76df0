"""Points of the curve of the share of unique people by group size, exactly or with noise that is paid.

At the point of rate q everybody takes part with probability q, so that the group is expected to hold q n of n people.
A participant of a cell of c people is unique with probability (1 - q)^(c - 1). The share is T / n, with T = sum c (1 -
q)^(c - 1) over the cells.

Sensitivity. One row more changes one cell from c to c + 1, and T by (1 - q)^(c - 1) (1 - q (c + 1)) for c > 0, by 1 for
c = 0. Both are at most 1 in size: q (c + 1) (1 - q)^(c - 1) is at most 2 for c = 1, and at most (c + 1) / c (1 - 1 /
c)^(c - 1) < 1 for larger c. No bound on the rows is necessary.
Terms are rounded down to a grid as those of the sums (`risk.kl_sums`), so that a row changes the rounded T by at most a
step more.

Privacy cost. Of an entry's epsilon the three sums get SUMS_SHARE, in equal parts, and the points the rest. Confidence:
the upper limits of the sums fail with probability at most ALPHA / 4, so do the lower ones, and any limit of a point
with probability at most ALPHA / 2. So all limits of an entry with a curve hold jointly with probability 1 - ALPHA.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from crowdgate.interval import Interval
from crowdgate.noise import CountNoise, laplace_quantile
from crowdgate.risk.kl_sums import ALPHA, FINEST, GREATEST, LIMIT, OUTWARDS

RATES = (Fraction(1), Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000))
"""Probability with which everybody takes part, for each point."""
SUMS_SHARE = Fraction(3, 4)
SUMS_ALPHA = ALPHA / 4
_SIDES = 2
_DIGITS = Context(prec=60)


@dataclass(frozen=True)
class UniqueSharePoint:
    """The share of unique people among those who take part, each with probability `rate`, with its limits."""

    rate: Fraction
    share: Interval


def curve_of_cells(counts: Iterable[tuple[int, int]]) -> tuple[UniqueSharePoint, ...]:
    """Return the exact points of a table, given as pairs of a number of rows (at least 1) and the number of cells with
    it."""
    cells = list(counts)
    rows = sum(count * number for count, number in cells)
    shares = (float(sum((number * _term(count, rate) for count, number in cells), Decimal(0)) / rows) for rate in RATES)
    return tuple(UniqueSharePoint(rate, Interval(each, each, each)) for rate, each in zip(RATES, shares, strict=True))


def noisy_curve(
    grid: "CurveGrid",
    counts: Sequence[tuple[int, int]],
    cells: int,
    rows: Interval,
    epsilon: Fraction,
    noise: CountNoise,
) -> tuple[UniqueSharePoint, ...]:
    """Return the points of a table of `cells` cells with discrete Laplace noise of `epsilon` in total, for confidence
    limits of its number of rows."""
    each = epsilon / len(RATES)
    reach = laplace_quantile(grid.sensitivity, each, ALPHA / 2 / (_SIDES * len(RATES)))
    occupied = min(cells, rows.high)  # each of them was rounded down by less than a step
    found = (noise(grid.total(counts, rate), grid.sensitivity, each) for rate in RATES)
    return tuple(
        UniqueSharePoint(rate, _share(Interval(sum_, sum_ - reach, sum_ + reach + occupied), rows, grid.steps))
        for rate, sum_ in zip(RATES, found, strict=True)
    )


def _share(steps: Interval, rows: Interval, each: int) -> Interval:
    low, high = steps.low / each / rows.high * (1 - OUTWARDS), steps.high / each / rows.low * (1 + OUTWARDS)
    low, high = (min(max(share, 0.0), 1.0) for share in (low, high))
    return Interval(min(max(steps.value / each / max(rows.value, 1), low), high), low, high)


@dataclass(frozen=True)
class CurveGrid:
    """The grid to which the cells' terms are rounded, for tables of at most `rows` rows, at most `rows_each` of a
    person."""

    rows: int
    rows_each: int = 1

    @property
    def steps(self) -> int:
        """Number of steps of the grid in one person."""
        return min(FINEST, 1 << ((GREATEST // self.rows).bit_length() - 1))

    @property
    def sensitivity(self) -> int:
        """The largest change of the sum at any rate by one person, in steps."""
        return self.rows_each * (self.steps + 1)

    def total(self, counts: Sequence[tuple[int, int]], rate: Fraction) -> int:
        """Return the sum at a rate in steps, over cells given as pairs of a number of rows and the number of cells."""
        return min(sum(number * self._steps(count, rate) for count, number in counts), LIMIT)

    def _steps(self, count: int, rate: Fraction) -> int:
        return int(_DIGITS.multiply(self.steps, _term(count, rate)).to_integral_value(ROUND_FLOOR))


def _term(count: int, rate: Fraction) -> Decimal:
    """Return c (1 - q)^(c - 1) for a cell of c people, correctly rounded to about 60 digits."""
    if count < 2:
        return Decimal(count)
    stay = _DIGITS.divide(Decimal((1 - rate).numerator), Decimal((1 - rate).denominator))
    return _DIGITS.multiply(count, _DIGITS.power(stay, count - 1)) if stay else Decimal(0)
