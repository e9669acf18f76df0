"""Confidence limits for means of bounded numbers, from independent repetitions of any distribution.

A bettor bets, repetition after repetition, against a claimed limit. If the claim is true the bettor gains nothing on
average, so that the capital, which begins at 1, ends at 1/alpha or more with probability at most alpha (Markov). The
limit is the least claim that is not refuted this way. The capital is split over several constant bets, so that the
order of the repetitions does not matter (I. Waudby-Smith, A. Ramdas, Estimating means of bounded random variables by
betting, JRSS B 86, 2024, section 4).

Only the bounds of the distribution are assumed: for 300 repetitions that all agree a limit is still about 5/300 away,
since a case that never occurred may have probability 5/300.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from crowdgate.accounting.numbers import Number, down, exp_up, probability
from crowdgate.arrays import Floats

Shares = Sequence[float] | Floats

BETS = np.array([0.01, 0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95])
"""Shares of the capital that are at stake."""
EVEN = Fraction(1, len(BETS))
"""Share of the capital on the largest bet if it is split evenly over all bets."""
_ROUNDED = 1e-9
"""Bound on the rounding error of a logarithm of capital: each of up to 10^6 factors has a relative error of 1e-16, and
there are a few operations more."""
_NINE_DECIMALS = 1e-8
"""Tolerance for shares reported with nine decimals: three of them, each rounded."""
_NEAR_ENOUGH = 1e-12
_FARTHEST = 2.0**60


def _log_capital(gains: Floats, times: Floats | float = 1.0, on_largest: Fraction = EVEN) -> float:
    """Return ln of the capital left of 1: the weighted mean over all bets of the product of 1 + bet gain, rounded down.
    Gains >= -1. Each gain occurs so many times. `on_largest` is the share of the capital on the largest bet; the
    others have equal shares of the rest."""
    logs = (np.log1p(BETS[:, None] * gains[None, :]) * times).sum(axis=1)
    top = float(logs.max())
    return top + math.log(float((np.exp(logs - top) * capital_split(on_largest)).sum())) - _ROUNDED


@cache
def capital_split(on_largest: Fraction) -> Floats:
    """Return the share of the capital on each bet: `on_largest` on the largest one, equal shares of the rest on the
    others."""
    others = len(BETS) - 1
    return np.array([float((1 - on_largest) / others)] * others + [float(on_largest)])


def _p_value(gains: Floats) -> float:
    """Return 1/capital for the capital that bets on these gains leave of 1, rounded up: an upper bound on the
    probability of this capital if the mean gain is not above 0."""
    return min(1.0, exp_up(-_log_capital(gains)))


def mean_limits(values: Shares, alpha: Number) -> tuple[float, float]:
    """Return (lower, upper) confidence limits of the mean of independent, identically distributed numbers from 0 to 1,
    each wrong with probability at most `alpha` (one-sided). No values give (0, 1)."""
    x = _shares("values", values)
    least = _least(alpha)
    lower = _last(lambda m: _log_capital(x / m - 1) >= least, 1.0, 0.0)
    upper = _last(lambda m: _log_capital((1 - x) / (1 - m) - 1) >= least, 0.0, 1.0)
    return lower, upper


def mean_p(values: Shares, least: float) -> float:
    """Return the p-value of a mean that is not above 0, for independent, identically distributed numbers that are at
    least `least`, below 0."""
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or not least < 0 or not (x >= least * (1 + _ROUNDED)).all():
        raise ValueError("values must be numbers of at least `least`, which is below 0")
    return _p_value(x / (-least * (1 + 2 * _ROUNDED)))


def ratio_limits(
    part: Shares, whole: Shares, alpha: Number, most: float = 1.0, on_largest: Fraction = EVEN
) -> tuple[float, float]:
    """Return (lower, upper) confidence limits of E part / E whole, for identically distributed pairs with 0 <= part <=
    whole <= most. The largest bet has the share `on_largest` of the capital."""
    a, p = _within(part, whole, most)
    least = _least(alpha)

    def refuted(gains: Floats) -> bool:
        return _log_capital(gains, on_largest=on_largest) >= least

    lower = _last(lambda c: refuted((a - c * p) / (c * most)), 1.0, 0.0)
    upper = _last(lambda c: refuted((c * p - a) / ((1 - c) * most)), 0.0, 1.0)
    return lower, upper


def improvement_limits(
    attack: Shares,
    base: Shares,
    predicted: Shares,
    alpha: Number,
    most: float = 1.0,
    wrong: float = 1.0,
    on_largest: Fraction = EVEN,
) -> tuple[float, float]:
    """Return (lower, upper) confidence limits of (E attack - E base) / (E predicted - E base), for identically
    distributed triples with attack and base from 0 to predicted <= most: the precision improvement of paired
    predictions. `wrong`, above 0, is a known upper bound of predicted - base: the share of all targets on which the
    base is wrong. The largest bet has the share `on_largest` of the capital.

    The improvement lies in (-infinity, 1]; -infinity if the data do not exclude it.
    """
    a, b, p = _paired(attack, base, predicted, most, wrong)
    least, greatest = _least(alpha), min(most, wrong)

    def refuted(gains: Floats) -> bool:
        return _log_capital(gains, on_largest=on_largest) >= least

    lower = _last(lambda c: refuted(_above(a, b, p, c) / most), 1.0, -_FARTHEST)
    upper = _last(lambda c: refuted(_below(a, b, p, c, greatest)), -_FARTHEST, 1.0 - _NEAR_ENOUGH)
    return (-math.inf if lower == -_FARTHEST else lower), (upper if upper < 1.0 - 2 * _NEAR_ENOUGH else 1.0)


@dataclass(frozen=True)
class PairedGuesses:
    """Numbers of people, of a sample, by the guesses of an attack and a baseline about the same people: only the attack
    is right, only the baseline is, neither is. A fraction is a mean over releases."""

    attack: float
    base: float
    neither: float

    def kinds(self, c: float) -> tuple[Floats, Floats]:
        """Return what each kind of person adds to attack - base - c (guessed - base), and the number of people."""
        return np.array([1 - c, -1.0, -c]), np.array([self.attack, self.base, self.neither])


@dataclass(frozen=True)
class SeparateGuesses:
    """Numbers of people, of a sample: for whom each of an attack and a baseline guesses, for whom the attack is right,
    and for whom the baseline is. They guess for as many, as if for different people: if both are right about the same
    people, the limits are too wide."""

    guessed: float
    attack: float
    base: float

    def kinds(self, c: float) -> tuple[Floats, Floats]:
        """Return as `PairedGuesses` does. As both guess for as many, a multiple of the difference of these numbers is
        subtracted: that with which the values of each have mean 0. The multiple is of the same numbers, so that limits
        from these values hold up to an error of second order (a test measures their coverage)."""
        level = (self.base + c * (self.guessed - self.base)) / self.guessed
        values = np.array([1 - level, -level, level - 1, level - c])
        return values, np.array([self.attack, self.guessed - self.attack, self.base, self.guessed - self.base])


def people_improvement_limits(people: PairedGuesses | SeparateGuesses, alpha: Number) -> tuple[float, float]:
    """Return (lower, upper) confidence limits of the precision improvement for people like those of a sample, taken for
    independent and identically distributed; (-infinity, 1) if the sample does not exclude it."""
    least = _least(alpha)

    def refuted(c: float, sign: float) -> bool:
        values, times = people.kinds(c)
        gains = sign * values
        return _log_capital(gains / max(1.0, -float(gains.min()) * (1 + 2 * _ROUNDED)), times) >= least

    lower = _last(lambda c: refuted(c, 1.0), 1.0, -_FARTHEST)
    upper = _last(lambda c: refuted(c, -1.0), -_FARTHEST, 1.0 - _NEAR_ENOUGH)
    return (-math.inf if lower == -_FARTHEST else lower), (upper if upper < 1.0 - 2 * _NEAR_ENOUGH else 1.0)


def difference_limits(
    attack: Shares,
    base: Shares,
    predicted: Shares,
    alpha: Number,
    most: float = 1.0,
    on_largest: Fraction = EVEN,
) -> tuple[float, float]:
    """Return (lower, upper) confidence limits of (E attack - E base) / E predicted, for identically distributed triples
    with attack and base from 0 to predicted <= most: the difference of both precisions, in [-1, 1]. The largest bet has
    the share `on_largest` of the capital."""
    a, b, p = _paired(attack, base, predicted, most, 1.0)
    lower, upper = ratio_limits((a - b + p) / 2, p, alpha, most, on_largest)
    return 2 * lower - 1, 2 * upper - 1


def improvement_p(attack: Shares, base: Shares, predicted: Shares, most: float = 1.0) -> float:
    """Return the p-value of no improvement: that the attack is not right more often than the base."""
    a, b, p = _paired(attack, base, predicted, most, 1.0)
    return _p_value(_above(a, b, p, 0.0) / most)


def _paired(
    attack: Shares, base: Shares, predicted: Shares, most: float, wrong: float
) -> tuple[Floats, Floats, Floats]:
    a, p = _within(attack, predicted, most)
    b, _ = _within(base, predicted, most)
    if not 0 < wrong <= 1 or not (p - b <= wrong + _NINE_DECIMALS).all():
        raise ValueError("wrong must be a number in (0, 1], and at least predicted - base")
    return a, b, p


def _below(attack: Floats, base: Floats, predicted: Floats, improvement: float, greatest: float) -> Floats:
    """Return how far each triple is below an improvement under 1, in units of the farthest that it can be above."""
    return -_above(attack, base, predicted, improvement) / ((1 - improvement) * greatest * (1 + 2 * _ROUNDED))


def _above(attack: Floats, base: Floats, predicted: Floats, improvement: float) -> Floats:
    """Return how far each triple is above an improvement: attack - base - improvement (predicted - base)."""
    return attack - base - improvement * (predicted - base)


def _least(alpha: Number) -> float:
    return -math.log(down(probability("alpha", alpha, open_low=True, open_high=True)))


def _shares(name: str, values: Shares, most: float = 1.0) -> Floats:
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or not ((x >= 0) & (x <= most)).all():
        raise ValueError(f"{name} must be numbers in [0, {most:g}]")
    return x


def _within(part: Shares, whole: Shares, most: float) -> tuple[Floats, Floats]:
    a, p = _shares("part", part, most), _shares("whole", whole, most)
    if a.shape != p.shape or not (a <= p).all():
        raise ValueError("a part must not be more than the whole")
    return a, p


def _last(refuted: Callable[[float], bool], bad: float, good: float) -> float:
    """Return nearly the last refuted number on the way from `good` to `bad`; `good` if none is refuted."""
    found, end = good, bad
    while abs(end - found) > _NEAR_ENOUGH * max(abs(end), abs(found), 1e-3):
        middle = (found + end) / 2
        if middle in (found, end):
            break
        found, end = (middle, end) if refuted(middle) else (found, middle)
    return found
