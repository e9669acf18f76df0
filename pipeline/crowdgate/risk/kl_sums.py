"""The three sums over a confidential table's cells that its KL distance and collision quantity are made of, drawn
with noise.

With c people in a cell, of M cells: n = sum c, A = sum c ln c, B = sum c^2, and

    KL to uniform = ln M - ln n + A / n  (nats),    collision quantity = (M B / n^2 - 1) / 2.

Sensitivity. One row more moves one cell from c to c + 1. Let N be a public bound on the rows.

- n moves by 1.
- c ln c is convex, so it moves most at the greatest c: for c + 1 <= N by at most N ln N - (N - 1) ln(N - 1)
  = ln N + (N - 1) ln(1 + 1/(N - 1)) <= 1 + ln N.
- c^2 moves by 2 c + 1 <= 2 N - 1.

Above N both go on in a straight line, with the slope of the step from N - 1 to N. So the sensitivities hold for every
table, also where the bound is broken: then the figures are wrong, and the guarantee is not. A person of m rows is m
rows one after another, wherever they lie, and each moves the sums as said: m times as much, at most.

Grid. Each cell's term is a whole number of steps, rounded down: floor(s g(c)), s a power of two. If g moves by x, then
floor(s g) moves by at most ceil(s x), and by one more at most where s g is itself off by less than a half before it is
rounded down. ln is worked out in 60 digits, correctly rounded: s g is off by less than 1e-20. Each sum is limited to
2^62, which moves no two tables further apart.

Ends. The noise of one sum is above its quantile q at level alpha/3 with probability alpha/3 at most, and below -q
likewise: so with probability 1 - alpha all of n >= n' - q_n, A <= A' + q_A and B <= B' + q_B hold, and KL, which falls
in n and rises in A, is at most its value at that corner; so is the collision quantity. The lower ends are the other
corner's, with probability 1 - alpha. (The number of rows has two ends of its own, each at level alpha/3.) What every
table of M cells keeps narrows them, on the same event: KL and the collision quantity in their ranges, A >= 0 (so
KL >= ln M - ln n), B >= n, and the curves between which KL lies for a collision quantity (`risk.kl_ranges`): a lower
end is raised by the lower end of the other alone, and an upper one lowered by the upper one, so each pair stays on its
event.

Noise that is far off can leave no table between the ends; that has probability 2 alpha at most, since then one of the
two events failed. Nobody can say which, so such a draw's ends are all that a table of so many rows can have.

That is of all draws. An entry is withheld where the lower end of the number of rows is below 1,000 people, by the noise
that its ends are made of. Of what is published the ends hold less often near that limit: of a table of fewer rows it is
published with probability alpha/3 at most, and then that end is always too high. A table whose rows exceed the limit by
2 q_n is published but for alpha/3, so of its published ends each pair fails with probability alpha / (1 - alpha/3) at
most: .0509.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from math import ceil, log

from crowdgate.accounting.numbers import whole
from crowdgate.limits import MOST_PEOPLE, MOST_ROWS_EACH
from crowdgate.noise import CountNoise, laplace_quantile
from crowdgate.risk.kl_ranges import greatest_collision, least_collision, least_kl, most_collision, most_kl

PARTS = 3
"""Sums, each of which takes the same share of epsilon."""
ALPHA = 0.05
FINEST = 1 << 16
"""Steps of a nat, or of a square."""
GREATEST = 1 << 60
"""What a table of as many rows as the bound allows comes to, in steps."""
LIMIT = 1 << 62
_DIGITS = Context(prec=60)
_OUTWARDS = 1e-12


@dataclass(frozen=True)
class Interval:
    """A figure and its ends."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class CellSums:
    """n in rows, A and B in steps of a grid: as they are, or with noise."""

    rows: int
    logs: int
    squares: int


@dataclass(frozen=True)
class NoisyFigures:
    """What may be said of a table: a noisy number of rows with its ends, KL in nats and the collision quantity."""

    rows: Interval
    kl: Interval
    collision: Interval


@dataclass(frozen=True)
class SumGrid:
    """The grid for tables of at most `people` persons (or rows) with at most `rows_each` rows of each."""

    people: int
    rows_each: int = 1

    def __post_init__(self) -> None:
        whole("people", self.people, 1, MOST_PEOPLE)
        whole("rows_each", self.rows_each, 1, MOST_ROWS_EACH)

    @property
    def rows(self) -> int:
        """N: the public bound on rows."""
        return self.people * self.rows_each

    @cached_property
    def log_steps(self) -> int:
        """Steps of a nat."""
        most = ceil(self.rows * log(self.rows)) + 1
        return min(FINEST, 1 << ((GREATEST // most).bit_length() - 1))

    @cached_property
    def square_steps(self) -> Fraction:
        """Steps of a square; below 1 for large tables."""
        over = (self.rows**2).bit_length() - GREATEST.bit_length() + 1
        return Fraction(FINEST) if over <= -16 else Fraction(2) ** -over

    @property
    def sensitivities(self) -> CellSums:
        """How far one person moves each sum, at most, in its steps."""
        log_step = ceil(Decimal(self.log_steps) * (1 + _DIGITS.ln(Decimal(self.rows)))) + 1
        square_step = ceil(self.square_steps * (2 * self.rows - 1))
        each = self.rows_each
        return CellSums(each, each * log_step, each * square_step)

    def sums(self, counts: Iterable[tuple[int, int]]) -> CellSums:
        """The sums over cells: pairs of a number of rows and how many cells have it."""
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
    """The sums with discrete Laplace noise, epsilon/3 for each: epsilon in all."""
    step, each = grid.sensitivities, epsilon / PARTS
    return CellSums(
        noise(sums.rows, step.rows, each),
        noise(sums.logs, step.logs, each),
        noise(sums.squares, step.squares, each),
    )


def rows_interval(grid: SumGrid, noisy: CellSums, epsilon: Fraction) -> Interval:
    """The noisy number of rows with its ends, each at one-sided level .05/3, between 0 and the bound."""
    reach = laplace_quantile(grid.sensitivities.rows, epsilon / PARTS, ALPHA / PARTS)
    value, low, high = (min(max(noisy.rows + by, 0), grid.rows) for by in (0, -reach, reach))
    return Interval(value, low, high)


def noisy_figures(grid: SumGrid, cells: int, noisy: CellSums, epsilon: Fraction) -> NoisyFigures:
    """The figures of a table of so many cells by its noisy sums, with ends that hold jointly at one-sided 95 %: the
    upper ones of KL and of the collision quantity, and the lower ones.

    They hold where the bound on rows does. Raises ValueError for noisy sums that leave room for an empty table.
    """
    rows = rows_interval(grid, noisy, epsilon)
    if rows.low < 1:
        raise ValueError("the lower end of the noisy number of rows must be at least 1")
    occupied = min(cells, rows.high)  # each of them was rounded down by less than a step
    logs, squares = _sum_limits(grid, noisy, epsilon, occupied)
    kl, collision = consistent(cells, _kl_interval(cells, rows, logs), _collision_interval(cells, rows, squares))
    if rows.low < rows.high and kl.low < kl.high and collision.low < collision.high:
        return NoisyFigures(rows, kl, collision)
    return NoisyFigures(rows, *_limits_of_any_table(cells, rows, kl.value, collision.value))


def _limits_of_any_table(cells: int, rows: Interval, kl: float, collision: float) -> tuple[Interval, Interval]:
    """Both figures with the ends that every table of so many rows keeps: what a draw tells that contradicts itself."""
    first = Interval(kl, _least_kl_of(cells, rows), log(cells))
    return consistent(cells, first, Interval(collision, _least_collision_of(cells, rows), greatest_collision(cells)))


def _sum_limits(grid: SumGrid, noisy: CellSums, epsilon: Fraction, occupied: float) -> tuple[Interval, Interval]:
    """A in nats and B in squares."""
    step, each = grid.sensitivities, epsilon / PARTS
    of_logs, of_squares = (laplace_quantile(size, each, ALPHA / PARTS) for size in (step.logs, step.squares))
    logs = Interval(*((noisy.logs + by) / grid.log_steps for by in (0, -of_logs, of_logs + occupied)))
    steps = float(grid.square_steps)
    return logs, Interval(*((noisy.squares + by) / steps for by in (0, -of_squares, of_squares + occupied)))


def _kl_interval(cells: int, rows: Interval, logs: Interval) -> Interval:
    top = log(cells)

    def at(count: float, sum_of_logs: float) -> float:
        return top - log(count) + sum_of_logs / count

    wide = _OUTWARDS * (1 + top)
    low = _clamped(at(rows.high, max(logs.low, 0.0)) - wide, _least_kl_of(cells, rows), top)
    high = _clamped(at(rows.low, max(logs.high, 0.0)) + wide, low, top)
    return Interval(_clamped(at(max(rows.value, 1), logs.value), low, high), low, high)


def _collision_interval(cells: int, rows: Interval, squares: Interval) -> Interval:
    top = (cells - 1) / 2

    def at(count: float, sum_of_squares: float) -> float:
        return (cells * (sum_of_squares / count / count) - 1) / 2

    wide = _OUTWARDS * (1 + top)
    low = _clamped(at(rows.high, squares.low) - wide, _least_collision_of(cells, rows), top)
    high = _clamped(at(rows.low, squares.high) + wide, low, top)
    return Interval(_clamped(at(max(rows.value, 1), squares.value), low, high), low, high)


def _least_kl_of(cells: int, rows: Interval) -> float:
    top = log(cells)
    return max(0.0, top - log(rows.high) - _OUTWARDS * (1 + top))


def _least_collision_of(cells: int, rows: Interval) -> float:
    return max(0.0, (cells / rows.high - 1) / 2 - _OUTWARDS * (1 + greatest_collision(cells)))


def consistent(cells: int, kl: Interval, collision: Interval) -> tuple[Interval, Interval]:
    """Both, where the figures and each pair of ends are such that a table can have them (`risk.kl_ranges`): the lower
    end of one raises that of the other, the upper end lowers it. Where no table has figures between the ends, the upper
    ones are raised."""
    top, most = log(cells), greatest_collision(cells)
    wide = _OUTWARDS * (1 + top)
    kl_low = min(max(kl.low, least_kl(min(collision.low, most), cells) - wide), top)
    low = _raised_collision(min(collision.low, most), min(kl.low, top), cells)
    kl_high = max(min(kl.high, most_kl(min(collision.high, most), cells) + wide, top), kl_low)
    high = max(_lowered_collision(min(collision.high, most), min(kl.high, top), cells), low)
    value = _clamped(kl.value, kl_low, kl_high)
    quantity = _lowered_collision(_raised_collision(min(collision.value, most), value, cells), value, cells)
    return Interval(value, kl_low, kl_high), Interval(_clamped(quantity, low, high), low, high)


def _raised_collision(collision: float, kl: float, cells: int) -> float:
    """At least what a table of this KL can have."""
    if most_kl(collision, cells) >= kl:
        return collision
    return max(collision, least_collision(kl, cells) * (1 - _OUTWARDS) - _OUTWARDS)


def _lowered_collision(collision: float, kl: float, cells: int) -> float:
    """At most what a table of this KL can have."""
    if least_kl(collision, cells) <= kl:
        return collision
    return min(collision, most_collision(kl, cells) * (1 + _OUTWARDS) + _OUTWARDS)


def _clamped(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _log_value(count: int) -> Decimal:
    return _DIGITS.multiply(count, _DIGITS.ln(Decimal(count))) if count else Decimal(0)
