"""The three sums over a confidential table's cells that determine its KL distance and collision quantity, with noise.

With c people in a cell, of M cells: n = sum c, A = sum c ln c, B = sum c^2, and

    KL to uniform = ln M - ln n + A / n  (nats),   collision quantity = (M B / n^2 - 1) / 2.

Sensitivity. One row more changes one cell from c to c + 1. Let N be a public bound on the rows.

- n changes by 1.
- c ln c is convex, so it changes most at the greatest c: for c + 1 <= N by at most N ln N - (N - 1) ln(N - 1) = ln N +
  (N - 1) ln(1 + 1/(N - 1)) <= 1 + ln N.
- c^2 changes by 2 c + 1 <= 2 N - 1.

Above N both continue linearly, with the slope of the step from N - 1 to N. So the sensitivities hold for each table,
also if the bound is violated: then the figures are wrong, but the guarantee holds. A person of m rows is m rows one
after another, in any cells, and each changes the sums as stated: at most m times as much.

Grid. Each cell's term is a whole number of steps, rounded down: floor(s g(c)), s a power of two. If g changes by x,
then floor(s g) changes by at most ceil(s x), and by at most one more if s g itself has an error below a half before
rounding down. ln is computed to 60 digits, correctly rounded: the error of s g is below 1e-20. Each sum is clamped to
2^62, which moves no two tables further apart.

Confidence limits. The noise of one sum exceeds its quantile q at level alpha/3 with probability at most alpha/3, and is
below -q likewise. So with probability 1 - alpha all of n >= n' - q_n, A <= A' + q_A and B <= B' + q_B hold, and KL,
which falls in n and rises in A, is at most its value at this corner; so is the collision quantity. The lower limits are
those of the opposite corner, with probability 1 - alpha. (The number of rows has two limits of its own, each at level
alpha/3.) Properties of all tables of M cells narrow them, on the same event: the ranges of KL and of the collision
quantity, A >= 0 (so KL >= ln M - ln n), B >= n, and the curves between which KL lies for a collision quantity
(`risk.kl_ranges`). A lower limit is raised by the lower limit of the other figure alone, and an upper one lowered by
the upper one, so each pair stays on its event.

Extreme noise can leave no table between the limits; this has probability at most 2 alpha, since then one of the two
events failed. It is unknown which, so the limits of such a draw are the range of all tables with this number of rows.

This coverage is for all draws. An entry is withheld if the lower limit of the number of rows is below 1,000 people, by
the noise that its limits use. Among published entries the coverage is lower near this threshold: a table of fewer rows
is published with probability at most alpha/3, and then this limit is always too high. A table whose rows exceed the
threshold by 2 q_n is published except with probability alpha/3, so each pair of its published limits fails with
probability at most alpha / (1 - alpha/3): .0509.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from math import ceil, log

from crowdgate.accounting.numbers import whole
from crowdgate.interval import Interval
from crowdgate.limits import MOST_PEOPLE, MOST_ROWS_EACH
from crowdgate.noise import CountNoise, laplace_quantile
from crowdgate.risk.kl_ranges import greatest_collision, least_collision, least_kl, most_collision, most_kl

PARTS = 3
"""Number of sums, each of which costs an equal share of epsilon."""
ALPHA = 0.05
FINEST = 1 << 16
"""Number of steps of a nat, or of a square."""
GREATEST = 1 << 60
"""Largest sum, in steps, of a table with as many rows as the bound allows."""
LIMIT = 1 << 62
_DIGITS = Context(prec=60)
OUTWARDS = 1e-12
"""A relative distance far above the rounding errors of a few operations, by which limits are moved outwards."""


@dataclass(frozen=True)
class CellSums:
    """Sums over a table's cells, of c rows each: n = sum c in rows, A = sum c ln c and B = sum c^2 in steps of a grid.
    Exact, or with noise."""

    rows: int
    logs: int
    squares: int


@dataclass(frozen=True)
class NoisyFigures:
    """Published figures of a table: a noisy number of rows with its limits, KL in nats and the collision quantity."""

    rows: Interval
    kl: Interval
    collision: Interval


@dataclass(frozen=True)
class SumGrid:
    """The grid to which the cells' terms c ln c and c^2 are rounded, for tables of at most `people` persons (or rows)
    with at most `rows_each` rows of each."""

    people: int
    rows_each: int = 1

    def __post_init__(self) -> None:
        whole("people", self.people, 1, MOST_PEOPLE)
        whole("rows_each", self.rows_each, 1, MOST_ROWS_EACH)

    @property
    def rows(self) -> int:
        """The public bound on the number of rows, N."""
        return self.people * self.rows_each

    @cached_property
    def log_steps(self) -> int:
        """Number of steps of the grid in one nat of A = sum c ln c."""
        most = ceil(self.rows * log(self.rows)) + 1
        return min(FINEST, 1 << ((GREATEST // most).bit_length() - 1))

    @cached_property
    def square_steps(self) -> Fraction:
        """Number of steps of the grid in 1 of B = sum c^2; below 1 for large tables."""
        over = (self.rows**2).bit_length() - GREATEST.bit_length() + 1
        return Fraction(FINEST) if over <= -16 else Fraction(2) ** -over

    @property
    def sensitivities(self) -> CellSums:
        """The largest change of n (in rows), of A and of B (in steps of the grid) by one person."""
        log_step = ceil(Decimal(self.log_steps) * (1 + _DIGITS.ln(Decimal(self.rows)))) + 1
        square_step = ceil(self.square_steps * (2 * self.rows - 1))
        each = self.rows_each
        return CellSums(each, each * log_step, each * square_step)

    def sums(self, counts: Iterable[tuple[int, int]]) -> CellSums:
        """Return the sums over cells, given as pairs of a number of rows and the number of cells with it."""
        held = list(counts)
        totals = (
            sum(cells * count for count, cells in held),
            sum(cells * self._log_term(count) for count, cells in held),
            sum(cells * self._square_term(count) for count, cells in held),
        )
        return CellSums(*(min(total, LIMIT) for total in totals))

    def _log_term(self, count: int) -> int:
        inside, over = min(count, self.rows), max(0, count - self.rows)
        value = _log_value(inside)
        if over:
            value = _DIGITS.add(value, _DIGITS.multiply(over, _DIGITS.subtract(value, _log_value(self.rows - 1))))
        return int(_DIGITS.multiply(self.log_steps, value).to_integral_value(ROUND_FLOOR))

    def _square_term(self, count: int) -> int:
        inside, over = min(count, self.rows), max(0, count - self.rows)
        value = self.square_steps * (inside**2 + over * (2 * self.rows - 1))
        return value.numerator // value.denominator


def noisy_sums(grid: SumGrid, sums: CellSums, epsilon: Fraction, noise: CountNoise) -> CellSums:
    """Return the three sums n, A and B with discrete Laplace noise, epsilon/3 for each: epsilon in total."""
    step, each = grid.sensitivities, epsilon / PARTS
    return CellSums(
        noise(sums.rows, step.rows, each),
        noise(sums.logs, step.logs, each),
        noise(sums.squares, step.squares, each),
    )


def rows_interval(grid: SumGrid, noisy: CellSums, epsilon: Fraction, alpha: float = ALPHA) -> Interval:
    """Return the noisy number of rows with its limits, each at one-sided level alpha/3, between 0 and the bound."""
    reach = laplace_quantile(grid.sensitivities.rows, epsilon / PARTS, alpha / PARTS)
    value, low, high = (min(max(noisy.rows + by, 0), grid.rows) for by in (0, -reach, reach))
    return Interval(value, low, high)


def noisy_figures(grid: SumGrid, cells: int, noisy: CellSums, epsilon: Fraction, alpha: float = ALPHA) -> NoisyFigures:
    """Return the figures of a table of `cells` cells from its noisy sums, with joint one-sided limits at level
    alpha: the upper ones of KL and of the collision quantity, and the lower ones.

    The limits are valid if the bound on rows is. Raises ValueError for noisy sums that do not exclude an empty table.
    """
    rows = rows_interval(grid, noisy, epsilon, alpha)
    if rows.low < 1:
        raise ValueError("the lower confidence limit of the number of rows must be at least 1")
    occupied = min(cells, rows.high)  # each of them was rounded down by less than a step
    logs, squares = _sum_limits(grid, noisy, epsilon, occupied, alpha)
    kl, collision = consistent(cells, _kl_interval(cells, rows, logs), _collision_interval(cells, rows, squares))
    if rows.low < rows.high and kl.low < kl.high and collision.low < collision.high:
        return NoisyFigures(rows, kl, collision)
    return NoisyFigures(rows, *_limits_of_any_table(cells, rows, kl.value, collision.value))


def _limits_of_any_table(cells: int, rows: Interval, kl: float, collision: float) -> tuple[Interval, Interval]:
    """Return both figures with the limits of all tables with this number of rows: for draws that contradict
    themselves."""
    first = Interval(kl, _least_kl_of(cells, rows), log(cells))
    return consistent(cells, first, Interval(collision, _least_collision_of(cells, rows), greatest_collision(cells)))


def _sum_limits(
    grid: SumGrid, noisy: CellSums, epsilon: Fraction, occupied: float, alpha: float
) -> tuple[Interval, Interval]:
    """Return A = sum c ln c in nats and B = sum c^2, over cells of c rows, each with its limits."""
    step, each = grid.sensitivities, epsilon / PARTS
    of_logs, of_squares = (laplace_quantile(size, each, alpha / PARTS) for size in (step.logs, step.squares))
    logs = Interval(*((noisy.logs + by) / grid.log_steps for by in (0, -of_logs, of_logs + occupied)))
    steps = float(grid.square_steps)
    return logs, Interval(*((noisy.squares + by) / steps for by in (0, -of_squares, of_squares + occupied)))


def _kl_interval(cells: int, rows: Interval, logs: Interval) -> Interval:
    top = log(cells)

    def at(count: float, sum_of_logs: float) -> float:
        return top - log(count) + sum_of_logs / count

    wide = OUTWARDS * (1 + top)
    low = _clamped(at(rows.high, max(logs.low, 0.0)) - wide, _least_kl_of(cells, rows), top)
    high = _clamped(at(rows.low, max(logs.high, 0.0)) + wide, low, top)
    return Interval(_clamped(at(max(rows.value, 1), logs.value), low, high), low, high)


def _collision_interval(cells: int, rows: Interval, squares: Interval) -> Interval:
    top = (cells - 1) / 2

    def at(count: float, sum_of_squares: float) -> float:
        return (cells * (sum_of_squares / count / count) - 1) / 2

    wide = OUTWARDS * (1 + top)
    low = _clamped(at(rows.high, squares.low) - wide, _least_collision_of(cells, rows), top)
    high = _clamped(at(rows.low, squares.high) + wide, low, top)
    return Interval(_clamped(at(max(rows.value, 1), squares.value), low, high), low, high)


def _least_kl_of(cells: int, rows: Interval) -> float:
    top = log(cells)
    return max(0.0, top - log(rows.high) - OUTWARDS * (1 + top))


def _least_collision_of(cells: int, rows: Interval) -> float:
    return max(0.0, (cells / rows.high - 1) / 2 - OUTWARDS * (1 + greatest_collision(cells)))


def consistent(cells: int, kl: Interval, collision: Interval) -> tuple[Interval, Interval]:
    """Return both figures, clamped so that a table can have them and each pair of limits (`risk.kl_ranges`): the lower
    limit of one raises that of the other, the upper limit lowers it. If no table has figures between the limits, the
    upper ones are raised."""
    top, most = log(cells), greatest_collision(cells)
    wide = OUTWARDS * (1 + top)
    kl_low = min(max(kl.low, least_kl(min(collision.low, most), cells) - wide), top)
    low = _raised_collision(min(collision.low, most), min(kl.low, top), cells)
    kl_high = max(min(kl.high, most_kl(min(collision.high, most), cells) + wide, top), kl_low)
    high = max(_lowered_collision(min(collision.high, most), min(kl.high, top), cells), low)
    value = _clamped(kl.value, kl_low, kl_high)
    quantity = _lowered_collision(_raised_collision(min(collision.value, most), value, cells), value, cells)
    return Interval(value, kl_low, kl_high), Interval(_clamped(quantity, low, high), low, high)


def _raised_collision(collision: float, kl: float, cells: int) -> float:
    """Return a lower bound on the collision quantity of a table with this KL."""
    if most_kl(collision, cells) >= kl:
        return collision
    return max(collision, least_collision(kl, cells) * (1 - OUTWARDS) - OUTWARDS)


def _lowered_collision(collision: float, kl: float, cells: int) -> float:
    """Return an upper bound on the collision quantity of a table with this KL."""
    if least_kl(collision, cells) <= kl:
        return collision
    return min(collision, most_collision(kl, cells) * (1 + OUTWARDS) + OUTWARDS)


def _clamped(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _log_value(count: int) -> Decimal:
    return _DIGITS.multiply(count, _DIGITS.ln(Decimal(count))) if count else Decimal(0)
