"""Zayatz's model: class sizes have equal frequencies in population and sample."""

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.risk.class_sizes import ClassSizes
from crowdgate.risk.population_uniques.classes import PopulationEstimate, trivial_estimate

PART = 1 << 16
NOTHING = -100.0
"""The logarithm of a factor below which a trillion people contribute less than the last digit of one."""


def zayatz(classes: ClassSizes, fraction: float) -> PopulationEstimate:
    """Return the estimate of L. Zayatz, Estimation of the number of unique population elements using a sample (1991).

    The model assumes that class sizes are as frequent in the population as in the sample. So a sample unique is a
    population unique with probability c_1 h(1) / (the sum of c_j h(j)), where h(j) is the probability that one of j
    people is sampled. This share of the sample uniques, divided by the fraction, is the estimate.
    """
    known = trivial_estimate("Zayatz", classes, fraction)
    if known is not None:
        return known
    with np.errstate(under="ignore"):
        alone = classes.counts * _one_sampled(classes, round(classes.people / fraction))
    share = float(alone[0] / alone.sum())
    return PopulationEstimate("Zayatz", classes.of_size(1) * share / fraction, parameters=(("share", share),))


def _one_sampled(classes: ClassSizes, people: int) -> Floats:
    """Return for each size j the probability that of j among `people` people exactly one is in the sample of n:
    hypergeometric, j n/N times the product over i < j - 1 of 1 - (n - 1)/(N - 1 - i). The product is computed part by
    part, until it is negligible."""
    sampled, factors = classes.people, classes.sizes.astype(np.int64) - 1
    logs, before = np.full(len(factors), -np.inf), 0.0
    for first in range(0, int(factors[-1]) + 1, PART):
        i = np.arange(min(PART, int(factors[-1]) - first))
        left = np.maximum(float(people - 1 - first) - i, sampled - 1)  # at most all others are in the sample
        with np.errstate(divide="ignore"):
            sums = before + np.cumsum(np.concatenate([[0.0], np.log1p(-(sampled - 1) / left)]))
        low, high = np.searchsorted(factors, (first, first + PART))
        logs[low:high] = sums[factors[low:high] - first]
        before = float(sums[-1])
        if before < NOTHING:
            break
    return np.asarray(classes.sizes * (sampled / people) * np.exp(logs))
