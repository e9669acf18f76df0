"""Number of trials that an audit needs. One-sided exact binomial tests; the number of trials is fixed beforehand."""

import math
from collections.abc import Callable

import numpy as np

from crowdgate.accounting.numbers import Number, down, log_rest, probability, raised, whole
from crowdgate.arrays import Bools, Floats
from crowdgate.system import lazy_libraries

_MOST_TRIALS = 10**12
_MOST_SUCCESSES = 1 << 15
_FIRST_CHUNK, _LARGEST_CHUNK = 64, 4096
_ROUNDED = 1e-13
"""Relative rounding error of a tail. A level that is reached only within it does not count as kept."""


def trials_to_certify(limit: Number, alpha: Number) -> int:
    """Return the least T with (1 - limit)^T <= alpha: no success in T trials proves, at level `alpha`, a rate below
    `limit`."""
    bound = probability("limit", limit, open_low=True)
    level = probability("alpha", alpha, open_low=True, open_high=True)
    if bound == 1:
        return 1
    ratio = math.log(down(level)) / log_rest(bound)
    trials = max(1, round(ratio))
    if abs(ratio - trials) > 1e-9 * trials or trials > 1000:
        return whole("trials", math.ceil(raised(ratio)), 1)
    return trials if (1 - bound) ** trials <= level else trials + 1


def trials_to_refute(limit: Number, true_rate: Number, alpha: Number, power: Number) -> tuple[int, int]:
    """Return (T, s): the first T at which s successes refute a rate of `limit` at level `alpha` and have probability
    `power`.

    s is the least number of successes with P(Bin(T, limit) >= s) <= alpha. true_rate > limit. A slightly greater T may
    have less power. Raises ValueError also if the rates are so close that more than 32,768 successes are needed.
    """
    low, high, level, sure = _rates(limit, true_rate, alpha, power)
    if not high > low:
        raise ValueError(f"true_rate must be a number in (limit, 1] = ({low:.6g}, 1], not {high:.6g}")

    def feasible(s: Floats) -> tuple[Floats, Floats]:
        last = _first(s, lambda trials: lazy_libraries.special.betainc(s, trials - s + 1, low) > level) - 1
        return _first(s, lambda trials: lazy_libraries.special.betainc(s, trials - s + 1, high) >= sure), last

    return _search(feasible, 1)


def trials_to_pass(limit: Number, true_rate: Number, alpha: Number, power: Number) -> int:
    """Return the first T at which, with probability `power`, the upper limit of level `alpha` is at most `limit`.

    true_rate < limit. Raises ValueError also if the rates are so close that more than 32,768 successes are expected.
    """
    low, true, level, sure = _rates_to_pass(limit, true_rate, alpha, power)

    def feasible(s: Floats) -> tuple[Floats, Floats]:
        return _passing_from(s, low, level), _likely_until(s, true, sure)

    return _search(feasible, 0)[0]


def trials_to_keep_passing(limit: Number, true_rate: Number, alpha: Number, power: Number) -> int:
    """Return a number of trials from which on the upper limit of level `alpha` is at most `limit` with probability
    `power`.

    The probability falls while the greatest passing number of successes s is constant, and jumps up where s grows. So
    it is the last T of an s: the least s with `power` there. `trials_to_pass` is the first T, after which the
    probability can fall. true_rate < limit. Raises ValueError as `trials_to_pass` does.
    """
    low, true, level, sure = _rates_to_pass(limit, true_rate, alpha, power)

    def feasible(s: Floats) -> tuple[Floats, Floats]:
        return _passing_from(s + 1, low, level) - 1, _likely_until(s, true, sure)

    return _search(feasible, 0)[0]


def _rates_to_pass(limit: Number, true_rate: Number, alpha: Number, power: Number) -> tuple[float, float, float, float]:
    low, true, level, sure = _rates(limit, true_rate, alpha, power)
    if not true < low:
        raise ValueError(f"true_rate must be a number in [0, limit) = [0, {low:.6g}), not {true:.6g}")
    return low, true, level, sure


def _passing_from(s: Floats, limit: float, level: float) -> Floats:
    """Return for each number s of successes the first number of trials in which they pass: P(Bin(trials, limit) <= s)
    <= level."""
    return _first(s + 1, lambda trials: lazy_libraries.special.betaincc(s + 1, trials - s, limit) <= level)


def _likely_until(s: Floats, rate: float, sure: float) -> Floats:
    """Return for each number s of successes the last number of trials with P(Bin(trials, rate) <= s) >= sure."""
    return _first(s + 1, lambda trials: lazy_libraries.special.betaincc(s + 1, trials - s, rate) < sure) - 1


def _rates(limit: Number, true_rate: Number, alpha: Number, power: Number) -> tuple[float, float, float, float]:
    rates = probability("limit", limit), probability("true_rate", true_rate)
    errors = (
        probability(name, value, open_low=True, open_high=True) for name, value in (("alpha", alpha), ("power", power))
    )
    low, true, level, sure = (float(number) for number in (*rates, *errors))
    return low, true, level * (1 - _ROUNDED), sure


def _search(feasible: Callable[[Floats], tuple[Floats, Floats]], start: int) -> tuple[int, int]:
    """Return the first suitable number of trials and its number s of successes, searched from s = `start` on.
    `feasible` gives the first and the last suitable number of trials of each s; both grow with s."""
    size = _FIRST_CHUNK
    while start < _MOST_SUCCESSES:
        s = np.arange(start, start + size, dtype=float)
        first, last = feasible(s)
        suits = np.flatnonzero((first <= last) & (first < _MOST_TRIALS))
        if suits.size:
            return int(first[suits[0]]), int(s[suits[0]])
        start, size = start + size, min(2 * size, _LARGEST_CHUNK)
    raise ValueError(f"true_rate must differ more from limit: more than {_MOST_SUCCESSES} successes would be needed")


def _first(least: Floats, reached: Callable[[Floats], Bools]) -> Floats:
    """Return for each element of `least` the least whole number of trials, from it on, for which `reached` is true;
    10^12 if there is none."""
    low, high = least - 1, np.full_like(least, _MOST_TRIALS)
    while np.any(high - low > 1):
        middle = np.maximum(
            np.floor((low + high) / 2), least
        )  # a finished element does not change: middle is its high or its low
        done = reached(middle)
        low, high = np.where(done, low, middle), np.where(done, middle, high)
    return high
