"""How much of a table sampling and suppression leave, expected from public figures alone."""

import numpy as np
import numpy.typing as npt

from crowdgate.accounting.numbers import Number, probability, up, whole


def expected_kept_share(shares: npt.NDArray[np.float64], people: Number, k: Number, beta: Number) -> float:
    """Expected share of the sampled rows that stay when classes below k are suppressed, between 0 and 1.

    `shares` are the probabilities of the classes (they add up to 1), into which `people` fall independently. A class of
    probability p has Bin(people, beta p) rows in the sample, so the rows that stay are people beta p P(Bin(people - 1,
    beta p) >= k - 1) in expectation.
    """
    if whole("k", k, 1) == 1:
        return 1.0
    with np.errstate(under="ignore"):
        return float(np.dot(shares, kept_probabilities(shares, people, k, beta)))


def kept_probabilities(
    shares: npt.NDArray[np.float64], people: Number, k: Number, beta: Number
) -> npt.NDArray[np.float64]:
    """For a sampled row of a class of each probability, the probability P(Bin(people - 1, beta p) >= k - 1) to stay."""
    from scipy.special import bdtrc  # takes a quarter of a second to import

    count, least, rate = whole("people", people, 1), whole("k", k, 1), up(probability("beta", beta))
    if least == 1 or count < least:
        return np.full(shares.shape, float(least == 1))
    with np.errstate(under="ignore"):
        return np.asarray(bdtrc(least - 2, count - 1, rate * shares), dtype=np.float64)
