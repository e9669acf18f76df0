"""Expected retention of a table under sampling and suppression, from public figures alone."""

from dataclasses import dataclass

import numpy as np

from crowdgate.accounting.numbers import Number, probability, up, whole
from crowdgate.arrays import Floats
from crowdgate.system import lazy_libraries


def expected_retained_share(shares: Floats, people: Number, k: Number, beta: Number) -> float:
    """Return the expected share of the sampled rows that are retained when classes below k are suppressed, between 0
    and 1.

    `shares` are the probabilities of the classes (they add up to 1), into which `people` fall independently. A class of
    probability p has Bin(people, beta p) rows in the sample, so the expected number of retained rows is people beta p
    P(Bin(people - 1, beta p) >= k - 1).
    """
    if whole("k", k, 1) == 1:
        return 1.0
    with np.errstate(under="ignore"):
        return float(np.dot(shares, retention_probabilities(shares, people, k, beta)))


def retention_probabilities(shares: Floats, people: Number, k: Number, beta: Number) -> Floats:
    """Return for a sampled row of a class of each probability the retention probability P(Bin(people - 1, beta p) >= k
    - 1)."""
    count, least, rate = whole("people", people, 1), whole("k", k, 1), up(probability("beta", beta))
    if least == 1 or count < least:
        return np.full(shares.shape, float(least == 1))
    with np.errstate(under="ignore"):
        return np.asarray(lazy_libraries.special.bdtrc(least - 2, count - 1, rate * shares), dtype=np.float64)


def estimate_moments(means: Floats, k: Number, beta: Number) -> tuple[Floats, Floats]:
    """Return mean and variance of the estimate's error for classes of N ~ Poisson(mean) people; the mean is the missing
    number of people.

    The estimate is J 1(J >= k) / beta with J ~ Bin(N, beta), its error the estimate minus N. Classes are independent,
    so both add up over the classes of a cell. J and the number N - J of unsampled people are independent Poisson
    numbers of means m = beta mean and mean - m; E[J; J >= k] = m P(J >= k - 1) and E[J (J - 1); J >= k] = m^2 P(J >= k
    - 2).
    """
    least, rate = whole("k", k, 1), up(probability("beta", beta, open_low=True))
    m = rate * np.asarray(means, dtype=np.float64)
    with np.errstate(under="ignore"):
        above, further = (
            np.ones_like(m) if least <= n else lazy_libraries.special.pdtrc(least - n - 1, m) for n in (1, 2)
        )
    first, second = m * above, m * m * further + m * above  # E[J; J >= k] and E[J^2; J >= k]
    gain = 1 / rate - 1  # contribution of a sampled person to the error if the class is retained; otherwise -1
    mean = first * gain - (m - first)
    square = second * gain**2 + (m * m + m - second)
    return np.asarray(means - first / rate), np.asarray(np.maximum(square - mean**2, 0) + (means - m))


@dataclass(frozen=True, eq=False)
class SampledRetention:
    """Retention of classes with known numbers of people, over the sampling alone: the share of retained sampled rows,
    the number of retained classes, each with its standard deviation, and for each class the mean of people missing from
    the estimate J 1(J >= k) / beta, and the estimate's variance."""

    share: float
    share_deviation: float
    classes: float
    classes_deviation: float
    missing: Floats
    variance: Floats


def sampled_retention(counts: Floats, k: Number, beta: Number) -> SampledRetention:
    """Return the retention of classes of these sizes when J ~ Bin(count, beta) of each are sampled, and classes below k
    are suppressed.

    E[J; J >= k] = n beta P(Bin(n - 1, beta) >= k - 1) and E[J (J - 1); J >= k] = n (n - 1) beta^2 P(Bin(n - 2, beta) >=
    k - 2). The share is a ratio of expectations, its deviation that of the linearised ratio.
    """
    least, rate = whole("k", k, 1), up(probability("beta", beta, open_low=True))
    n = np.rint(np.asarray(counts, dtype=np.float64))
    one, two = (_binomial_tail(least - down, n - down, rate) for down in (1, 2))
    first = n * rate * one
    second = n * np.maximum(n - 1, 0) * rate**2 * two + first
    sampled = rate * float(n.sum())
    share = float(first.sum()) / sampled if sampled else 1.0
    whole_square = n * rate * (1 - rate) + (n * rate) ** 2
    spread = second * (1 - 2 * share) + share**2 * whole_square - np.square(first - share * n * rate)
    deviation = float(np.sqrt(max(spread.sum(), 0.0))) / sampled if sampled else 0.0
    variance = np.maximum(second - first**2, 0.0) / rate**2
    stays = _binomial_tail(least, n, rate)
    classes, classes_deviation = float(stays.sum()), float(np.sqrt((stays * (1 - stays)).sum()))
    return SampledRetention(share, deviation, classes, classes_deviation, n - first / rate, variance)


def _binomial_tail(least: int, n: Floats, rate: float) -> Floats:
    """Return P(Bin(n, rate) >= least)."""
    if least <= 0:
        return np.ones_like(n)
    enough = n >= least
    return np.where(
        enough, lazy_libraries.special.bdtrc(least - 1, np.where(enough, n, least).astype(np.int64), rate), 0.0
    )
