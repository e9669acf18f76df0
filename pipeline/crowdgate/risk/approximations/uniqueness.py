"""Chapter 4: the probability that all k people are in different bins."""

import math
from collections.abc import Sequence

import numpy as np

from crowdgate.accounting.numbers import Number
from crowdgate.risk.approximations import inputs
from crowdgate.risk.approximations.inputs import Groups
from crowdgate.risk.kl import collision_excess
from crowdgate.risk.singletons import log_probability_all_unique, probability_all_unique


def pi_u(k: Number, N: Number) -> float:
    """Probability that k people are in different bins, of N equally likely ones: N! / ((N - k)! N^k), with a relative
    error of at most 1e-12; 0 for k > N (section 4.2)."""
    return math.exp(log_pi_u(k, N))


def log_pi_u(k: Number, N: Number) -> float:
    """Natural logarithm of `pi_u`, with a relative error of at most 1e-12: -inf for k > N.

    A sum up to 10^4 people; beyond, by Stirling's formula, -N (x + (1 - x) ln(1 - x)) - ln(1 - x) / 2 + (1/N - 1/(N -
    k)) / 12, x = k / N. For small x, where the first term cancels, its series is used; for x above 1/2 the factorials
    themselves do not cancel.
    """
    people, bins = inputs.people(k), inputs.bins(N)
    x = people / bins
    if x > 1:
        return -math.inf
    if people <= 10**4:
        return math.fsum(np.log1p(-np.arange(people) / bins))
    if x > 0.5:
        return math.lgamma(bins + 1) - math.lgamma(bins - people + 1) - people * math.log(bins)
    lost = sum(x**m / (m * (m - 1)) for m in range(2, 13)) if x < 0.01 else x + (1 - x) * math.log1p(-x)
    return -bins * lost - math.log1p(-x) / 2 + (1 / bins - 1 / (bins - people)) / 12


def pi_u_exponential(k: Number, N: Number) -> float:
    """Approximate probability that k people are in different bins, of N equally likely ones: exp(-k^2 / (2N)), the
    limit for k = a sqrt N (4.1, 4.2). Omits k / (2N) - k^3 / (6 N^2) in the exponent: 42 % too high at k = 29, N =
    95."""
    return math.exp(-(inputs.people(k) ** 2) / (2 * inputs.bins(N)))


def pi_u_poisson(k: Number, N: Number) -> float:
    """Probability that all are in different bins, for N equally likely bins and a Poisson number of people of mean k:
    e^-k (1 + k / N)^N (section 4.3.1)."""
    people, bins = inputs.people(k), inputs.bins(N)
    return math.exp(bins * math.log1p(people / bins) - people)


def uniqueness_exact(groups: Groups, N: Number, k: Number) -> float:
    """Probability that all k people are in different bins: k! e_k(p), with e_k the elementary symmetric polynomial of
    the bins' probabilities p. Exact, where (4.3) approximates."""
    return probability_all_unique(inputs.grouped(groups, N), inputs.people(k))


def logP_unique(alpha: Sequence[Number], F: Sequence[Number], N: Number, k: Number) -> float:
    """Natural logarithm of the probability that all k people are in different bins, exact, for F bins of probability
    alpha / N each."""
    groups = list(zip(alpha, F, strict=True))
    return log_probability_all_unique(inputs.grouped(groups, N), inputs.people(k))


def uniqueness_poisson(groups: Groups, N: Number, k: Number) -> float:
    """Probability that all are in different bins, for a Poisson number of people of mean k: the product of (1 + mu)
    e^-mu over bins, mu = k p (4.3, first line in closed form)."""
    bins = inputs.grouped(groups, N)
    mu = inputs.people(k) * bins.probabilities
    return math.exp(math.fsum(bins.counts * (np.log1p(mu) - mu)))


def uniqueness_collision(groups: Groups, N: Number, k: Number) -> float:
    """(4.3), second line: exp(-k^2 / (2 N^2) sum alpha^2 F) = exp(-(1/2 + chi) k^2 / N).

    chi = (sum f alpha^2 - 1) / 2. Section 4.3.2 prints it as 1/2 sum (alpha^2 f - 1), which subtracts 1 for each group.
    """
    return uniqueness_kl(groups, N, k, kappa=collision_excess(inputs.grouped(groups, N)))


def uniqueness_kl(groups: Groups, N: Number, k: Number, kappa: Number | None = None) -> float:
    """Section 4.3.2: exp(-(1/2 + kappa) k^2 / N), the approximation for the uniform distribution to the power 1 + 2
    kappa.

    kappa is by default the Kullback-Leibler distance of the groups. The thesis says "to the power kappa".
    """
    from crowdgate.risk.kl import kl_to_uniform

    bins = inputs.grouped(groups, N)
    distance = kl_to_uniform(bins) if kappa is None else inputs.distance(kappa)
    return math.exp(-(0.5 + distance) * inputs.people(k) ** 2 / bins.cells)


def uniqueness_kl_corrected(k: Number, N: Number, kappa: Number) -> float:
    """Approximate probability that k people are in different bins, of N, by kappa, a distance to the uniform
    distribution: pi_u(k, N) exp(-kappa k^2 / N) (section 4.3.2), as section 4.4.1 uses it. (There, "without correction
    by e^-kappa" lacks the k^2 / N.)"""
    return pi_u(k, N) * math.exp(-inputs.distance(kappa) * inputs.people(k) ** 2 / inputs.bins(N))
