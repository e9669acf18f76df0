"""Zayatz's model: the population has classes of the sizes of the sample's, as often."""

import numpy as np

from crowdgate.risk.population_uniques.classes import Classes, Estimate, Floats, plain


def zayatz(classes: Classes, fraction: float) -> Estimate:
    """L. Zayatz, Estimation of the number of unique population elements using a sample (1991).

    The population is taken to have classes of the sizes of the sample's, as often. So a sample unique is a population
    unique with probability c_1 h(1) / (the sum of c_j h(j)), where h(j) is the probability that one of j people is
    sampled; that share of the sample uniques, divided by the fraction, is the estimate.
    """
    known = plain("Zayatz", classes, fraction)
    if known is not None:
        return known
    with np.errstate(under="ignore"):
        alone = classes.counts * _one_sampled(classes, round(classes.people / fraction))
    share = float(alone[0] / alone.sum())
    return Estimate("Zayatz", classes.of_size(1) * share / fraction, parameters=(("share", share),))


def _one_sampled(classes: Classes, people: int) -> Floats:
    """For each size j the probability that of j among so many people exactly one is in the sample of n: hypergeometric,
    j n/N times the product over i < j - 1 of 1 - (n - 1)/(N - 1 - i)."""
    most, sampled = int(classes.sizes[-1]), classes.people
    with np.errstate(divide="ignore"):
        left = np.maximum(people - 1 - np.arange(most - 1), sampled - 1)  # nobody is left out where few others are
        others = np.cumsum(np.log1p(-(sampled - 1) / left))
    logs = np.concatenate([[0.0], others])[classes.sizes.astype(np.int64) - 1]
    return np.asarray(classes.sizes * (sampled / people) * np.exp(logs))
