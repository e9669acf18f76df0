"""Lower confidence limits of epsilon from guesses about canaries (Steinke, Nasr, Jagielski 2023, Theorem 5.2).

Each of M canaries is a privacy unit that is in the table with probability one half, independently. An attacker reads
one release, or several of fresh tables, and guesses for m canaries of its choice whether they are in. If the mechanism
is (epsilon, delta)-differentially private for adding or removing a unit, then

    P(right >= r) <= P(B >= r) + 2 M delta max_i P(r - i <= B < r) / i,  B ~ Bin(m, 1 / (1 + e^-epsilon)).

Every rounding goes to the safe side:

- e^epsilon is rounded up. A mechanism of a smaller epsilon also keeps a greater one, so that the bound holds there too.
- Masses of B are products of at most m ratios, outwards from the mode. A ratio and its product have at most four
  roundings, and a sum at most m. So the quotient of two sums is within 10 m + 10 roundings; 12 (m + 10) are added.
- What is too small for a float is less than 1e-290 in all, as the mode has mass 1 before the division.
"""

import math
from functools import lru_cache

import numpy as np

from crowdgate.accounting.numbers import Number, exp_up, probability, up, whole
from crowdgate.arrays import Floats

MOST_EPSILON = 40.0
"""Greatest limit that is searched."""
_STEP = 1e-4
"""Precision of the limit."""
_LOST = 1e-290
"""More than all masses together that are too small for a float."""


def canary_p(right: Number, guesses: Number, canaries: Number, epsilon: float, delta: Number) -> float:
    """Return the p-value of (epsilon, delta)-differential privacy, rounded up: the greatest probability of at least
    `right` right guesses among `guesses`, of `canaries` canaries in all. Raises ValueError for numbers out of range."""
    m = whole("guesses", guesses, 0)
    r, total = whole("right", right, 0, m), whole("canaries", canaries, m)
    lost, odds = up(probability("delta", delta)), exp_up(epsilon)
    if r == 0 or odds == math.inf:
        return 1.0
    masses = _masses(m, odds)
    below = masses[r - 1 :: -1]
    most = float((np.cumsum(below) / np.arange(1, r + 1)).max()) if lost else 0.0
    found = (float(masses[r:].sum()) + 2 * total * lost * most) / float(masses.sum())
    return min(1.0, (found + _LOST) * (1 + 12 * (m + 10) * 2.0**-53))


def epsilon_limit(right: Number, guesses: Number, canaries: Number, delta: Number, alpha: Number) -> float:
    """Return the lower confidence limit of epsilon at this delta, rounded down: every smaller epsilon has a p-value of
    at most `alpha`. 0 if nothing is refuted."""
    level, low, high = probability("alpha", alpha), 0.0, MOST_EPSILON
    if canary_p(right, guesses, canaries, low, delta) > level:
        return 0.0
    while high - low > _STEP:
        middle = (low + high) / 2
        refuted = canary_p(right, guesses, canaries, middle, delta) <= level
        low, high = (middle, high) if refuted else (low, middle)
    return low


def _masses(m: int, odds: float) -> Floats:
    """Return the masses of Bin(m, odds / (1 + odds)) at 0, ..., m, as multiples of the mass at the mode."""
    ratios = _ratios(m)
    mode = min(m, int((m + 1) * (odds / (1 + odds))))
    above = np.cumprod(ratios[mode:] * odds)
    below = np.cumprod(1 / (ratios[:mode][::-1] * odds))
    return np.concatenate([below[::-1], [1.0], above])


@lru_cache(maxsize=4)
def _ratios(m: int) -> Floats:
    """Return (m - v) / (v + 1) for v = 0, ..., m - 1: the ratios of successive binomial coefficients."""
    v = np.arange(m, dtype=np.float64)
    return np.asarray((m - v) / (v + 1))
