"""Delta of two weaker variants: one sampling decision for several rows of a person, and published sample sizes."""

import math

import numpy as np

from crowdgate.accounting.binomial import log_mass
from crowdgate.accounting.numbers import Number, down, epsilon_of, probability, raised, up, whole

MOST_ROWS, MOST_OUTCOMES = 1000, 10**8
_GREATEST_EXPONENT = 700.0
_UNDERFLOW = MOST_OUTCOMES * math.nextafter(0.0, 1.0)


def person_coin_delta(k: Number, beta: Number, epsilon: Number, m: Number, n: Number) -> float:
    """Return delta if one decision samples all `m` rows of a person, in m classes of equal size, at most `n` rows each.

    The other rows are sampled independently. The m counts move together, and delta can exceed m times that of one row:
    therefore a person has one row, or each row is sampled independently with the guarantee of a group. By enumeration
    of the (n - k + 2)^m outcomes of each size up to n. Rounded up. Raises ValueError for n above 1000 or if the
    outcomes, (n - k + 2)^(m + 1) in total, are more than a hundred million.
    """
    least, rows, classes = whole("k", k, 1), whole("n", n, 1, MOST_ROWS), whole("m", m, 1, 64)
    b, eps = up(probability("beta", beta)), down(epsilon_of(epsilon))
    if rows < least or b == 0:
        return 0.0
    if (rows - least + 2) ** (classes + 1) > MOST_OUTCOMES:
        raise ValueError(f"n and m must have (n - k + 2)^(m + 1) <= {MOST_OUTCOMES}, not n = {rows}, m = {classes}")
    return min(b, max(_person_sampling(size, least, b, eps, classes) for size in range(least, rows + 1)))


def delta_sizes_published(k: Number, beta: Number, epsilon: Number) -> float:
    """Return delta if the size of the sample, or the number of suppressed rows, is published too: beta, for each k.

    A lone row, when all others are published, reveals whether it was sampled. Sampling a fixed number of rows is
    equivalent.
    """
    whole("k", k, 1)
    epsilon_of(epsilon)
    return up(probability("beta", beta))


def _person_sampling(n: int, k: int, b: float, eps: float, m: int) -> float:
    others = np.exp([log_mass(j, n - 1 - j, b, 1 - b) for j in range(n)])
    without = _product(np.concatenate([[others[:k].sum()], others[k:], [0.0]]), m)
    with_row = _product(np.concatenate([[others[: k - 1].sum()], others[k - 1 :]]), m)
    growth = math.exp(min(eps, _GREATEST_EXPONENT))  # a smaller epsilon has a greater delta
    ahead, back = math.expm1(min(eps, _GREATEST_EXPONENT)) + b, 1.0 if b == 1 else -math.expm1(math.log1p(-b) + eps)
    with np.errstate(under="ignore"):
        forward = np.maximum(b * with_row - ahead * without, 0).sum()
        reverse = np.maximum(back * without - growth * b * with_row, 0).sum() if back > 0 else 0.0
    return raised(float(max(forward, reverse)) + _UNDERFLOW, 1e-11)


def _product(law: np.ndarray, m: int) -> np.ndarray:
    joint = law
    with np.errstate(under="ignore"):
        for _ in range(m - 1):
            joint = np.multiply.outer(joint, law).ravel()
    return joint
