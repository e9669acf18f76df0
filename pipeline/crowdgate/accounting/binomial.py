"""Binomial probabilities that stay accurate where others underflow: logarithms of positive sums.

The mass function is Loader's saddle-point form (C. Loader, Fast and accurate computation of binomial probabilities,
2000): the two deviances are computed from t - n p itself, so that a billion trials cost no digits. Sums run outward
from their largest term by ratios of neighbours; the omitted terms are bounded by a geometric series, which is added.
"""

import math

import numpy as np

from crowdgate.arrays import Floats, Integers

_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
_FIRST_CHUNK = 64
_LARGEST_CHUNK = 1 << 16
_NEGLIGIBLE = 1e-16


def log_mass(t: int, rest: int, p: float, q: float) -> float:
    """Return ln P(Bin(t + rest, p) = t); q = 1 - p is a separate argument so that neither loses digits."""
    if p <= 0 or q <= 0:
        return 0.0 if (rest if q <= 0 else t) == 0 else -math.inf
    if rest == 0:
        return t * _log(p, q)
    if t == 0:
        return rest * _log(q, p)
    n = t + rest
    apart = t - n * p if p <= 0.5 else n * q - rest
    deviances = _deviance(t, n * p, apart) + _deviance(rest, n * q, -apart)
    errors = _stirling_error(n) - _stirling_error(t) - _stirling_error(rest)
    return errors - deviances - _HALF_LOG_TAU + 0.5 * (math.log(n / t) - math.log(rest))


def log_masses(t: Integers, rest: Integers, p: float) -> Floats:
    """Return ln P(Bin(t + rest, p) = t) for each pair of `t` and `rest`, 0 < p < 1.

    The absolute error is below 1e-12 + 4e-15 (t + rest).
    """
    n, both = t + rest, (t > 0) & (rest > 0)
    found: Floats = np.where(t > 0, t * math.log(p), rest * math.log1p(-p)).astype(np.float64)
    t, rest, n = t[both], rest[both], n[both]
    apart = np.asarray(t - n * p if p <= 0.5 else n * (1 - p) - rest, dtype=np.float64)
    deviances = _deviances(t, np.multiply(n, p), apart) + _deviances(rest, np.multiply(n, 1 - p), -apart)
    errors = _stirling_errors(n) - _stirling_errors(t) - _stirling_errors(rest)
    found[both] = errors - deviances - _HALF_LOG_TAU + 0.5 * (np.log(n / t) - np.log(rest))
    return found


def log_weighted_tail(t: int, rest: int, p: float, q: float, weight: float, step: float) -> float:
    """Return ln of the sum over i >= 0 of P(Bin(t + rest, p) = t + i) (weight + i step).

    For t at or above the mean, weight >= 0 and step 0 or 1. An upper bound except for rounding: the remainder is
    included.
    """
    mass = log_mass(t, rest, p, q)
    if mass == -math.inf:
        return -math.inf
    total = _weighted_sum(t, rest, p / q if q > 0 else 0.0, weight, step)
    return mass + math.log(total) if total > 0 else -math.inf


def log_tail(t: int, n: int, p: float, q: float) -> float:
    """Return ln P(Bin(n, p) >= t)."""
    if t <= 0 or t > n:
        return 0.0 if t <= 0 else -math.inf
    if t > n * p:
        return min(0.0, log_weighted_tail(t, n - t, p, q, 1.0, 0.0))
    below = log_weighted_tail(n - t + 1, t - 1, q, p, 1.0, 0.0)
    return math.log1p(-math.exp(below))


def log_chernoff(n: int, share: float, p: float) -> float:
    """Return -n KL(share || p): ln of a bound on P(Bin(n, p) >= n share) for share >= p, which also holds for all
    larger n."""
    if share <= p:
        return 0.0
    if share >= 1:
        return n * math.log(p)
    apart = n * (share - p)
    return -(_deviance(n * share, n * p, apart) + _deviance(n * (1 - share), n * (1 - p), -apart))


def _weighted_sum(t: int, rest: int, odds: float, weight: float, step: float) -> float:
    """Return the sum over i >= 0 of (weight + i step) P(X = t + i) / P(X = t), X being binomial with t + rest trials
    and these odds p / (1 - p)."""
    total, mass, done, chunk = weight, 1.0, 0, _FIRST_CHUNK
    while done < rest:
        i = np.arange(done, min(done + chunk, rest), dtype=float)
        with np.errstate(under="ignore"):
            masses = mass * np.cumprod((rest - i) * odds / (t + 1.0 + i))
            total += float(np.sum(masses * (weight + step * (i + 1))))  # not a dot product: BLAS would start threads
        done += len(i)
        mass = float(masses[-1])
        ratio = (rest - done) * odds / (t + 1.0 + done)
        left = _remainder(mass, ratio, weight + step * done, step)
        if left <= _NEGLIGIBLE * total:
            return total + left
        chunk = min(2 * chunk, _LARGEST_CHUNK)
    return total


def _remainder(mass: float, ratio: float, weight: float, step: float) -> float:
    """Return an upper bound on the sum of the terms after one of this mass and weight, if each mass is at most `ratio`
    times the one before; infinite for a ratio of 1 or more."""
    if ratio >= 1:
        return math.inf
    return mass * (weight * ratio / (1 - ratio) + step * ratio / (1 - ratio) ** 2)


def _log(p: float, q: float) -> float:
    return math.log(p) if p <= 0.5 else math.log1p(-q)


def _stirling_error(count: int) -> float:
    """Return ln count! minus Stirling's formula, (count + 1/2) ln count - count + ln(2 pi) / 2."""
    x = float(count)
    if x < 16:
        return math.lgamma(x + 1) - (x + 0.5) * math.log(x) + x - _HALF_LOG_TAU
    z = 1 / (x * x) if x < 1e150 else 0.0
    return (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z / 1188)))) / x


_FEW_STIRLING = np.array([_stirling_error(count) for count in range(1, 16)])


def _stirling_errors(counts: Integers) -> Floats:
    x = np.maximum(counts, 16).astype(float)
    z = 1 / (x * x)
    series = (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z / 1188)))) / x
    return np.asarray(np.where(counts < 16, _FEW_STIRLING[np.minimum(counts, 15) - 1], series))


def _deviances(x: Integers, mean: Floats, apart: Floats) -> Floats:
    """Return x ln(x / mean) + mean - x for each x, where apart = x - mean is known more exactly than the difference."""
    near = np.abs(apart) <= 0.1 * (x + mean)
    logs = np.where(near, -np.log1p(-np.where(near, apart, 0.0) / x), np.log(x / mean))
    return np.asarray(x * logs - apart)


def _deviance(x: float, mean: float, apart: float) -> float:
    """Return x ln(x / mean) + mean - x, where apart = x - mean is known more exactly than the difference of floats."""
    if abs(apart) > 0.1 * (x + mean):
        ratio = x / mean
        return x * (math.log(ratio) if ratio < math.inf else math.log(x) - math.log(mean)) - apart
    v = apart / (x + mean)
    total, term, j = apart * v, 2 * x * v, 1
    while True:
        term *= v * v
        following = total + term / (2 * j + 1)
        if following == total:
            return total
        total, j = following, j + 1
