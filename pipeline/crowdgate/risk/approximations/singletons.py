"""Chapter 5: mean, variance and distribution of the number S of singletons."""

import math
from collections.abc import Sequence

import numpy as np

from crowdgate.accounting.numbers import Number, exact, whole
from crowdgate.arrays import Floats
from crowdgate.risk import singletons
from crowdgate.risk.approximations import inputs
from crowdgate.risk.bins import Bins


def ES_exact(p: Sequence[Number], k: Number) -> float:
    """Expected singletons among k people in bins of probabilities p: k sum p (1 - p)^(k - 1) (5.2, Proposition 5.1)."""
    return singletons.expected(Bins.of(p), k)


def ES_homogeneous(k: Number, N: Number) -> float:
    """Expected singletons among k people in N equally likely bins: k (1 - 1/N)^(k - 1) (5.1)."""
    return singletons.expected(Bins.uniform(N), k)


def VarS_exact(p: Sequence[Number], k: Number) -> float:
    """Variance of the number of singletons among k people in bins of probabilities p: Proposition 5.9, with F (F - 1)
    for the F^2 that (5.7) prints."""
    return singletons.variance(Bins.of(p), k)


def VarS_homogeneous(N: Number, k: Number) -> float:
    """Variance of the number of singletons among k people in N equally likely bins (section 5.3.1): k q^(k-1) + k (k -
    1) (1 - 1/N) (1 - 2/N)^(k-2) - k^2 q^(2k-2), q = 1 - 1/N. (Printed: 2k - 4.)

    The last two terms are computed together, as k^2 q^(2k-2) ((1 - 1/k) / q (1 - 1/(N-1)^2)^(k-2) - 1).
    """
    people, bins = inputs.people(k), inputs.bins(N)
    if people < 2 or bins == 1:
        return 0.0
    mean = people * math.exp((people - 1) * math.log1p(-1 / bins))
    if bins == 2:
        return mean - mean**2 + (people == 2)  # (1 - 2/N)^(k-2) is 0^(k-2)
    log = math.log1p(-1 / people) - math.log1p(-1 / bins) + (people - 2) * math.log1p(-1 / (bins - 1) ** 2)
    return mean + mean**2 * math.expm1(log)


def S_distribution(p: Sequence[Number], k: Number) -> list[float]:
    """Probabilities P(S = j) for j = 0 .. k, with S the number of singletons among k people in bins of probabilities p
    (section 5.4.2)."""
    people = inputs.people(k)
    law = [float(mass) for mass in singletons.distribution(Bins.of(p), people)][: people + 1]
    return law + [0.0] * (people + 1 - len(law))


def P_S0(p: Sequence[Number], k: Number) -> float:
    """Probability of no singletons among k people in bins of probabilities p, exact (section 5.4.3). The thesis sums
    over all ways to divide k people among the groups."""
    return singletons.probability_none(Bins.of(p), k)


def logP_S0(alpha: Sequence[Number], F: Sequence[Number], N: Number, k: Number) -> float:
    """Natural logarithm of the probability of no singletons among k people, exact, for F bins of probability alpha / N
    each."""
    return singletons.log_probability_none(inputs.grouped(list(zip(alpha, F, strict=True)), N), k)


def P_S0_poissonised(p: Sequence[Number], k: Number) -> float:
    """Probability of no singletons, for a Poisson number of people of mean k in bins of probabilities p (section 5.4.3,
    its last formula in closed form): the product of 1 - mu e^-mu over bins, mu = k p.

    First order only: the absence of singletons says much about the number of people, which a Poisson number leaves
    free. ln P(S = 0) for N = 10^6, k = 10^4 and alpha = 1/2, 1, 2 is -26226, by this formula -9931.
    """
    bins = Bins.of(p)
    mu = inputs.people(k) * bins.probabilities
    with np.errstate(under="ignore"):
        return math.exp(math.fsum(bins.counts * np.log1p(-mu * np.exp(-mu))))


def ES_limit(alpha: Sequence[Number], f: Sequence[Number], a: Number) -> float:
    """Limit of E S / N, the expected singletons for each bin, with a people for each bin and shares f of the bins at
    probability alpha / N: a sum alpha f e^(-alpha a) (Proposition 5.2)."""
    likelier, share = inputs.shares(alpha, f)
    return math.fsum(share * _singleton_term(likelier, inputs.ratio(a)))


def ES_kl(k: Number, N: Number, kappa: Number) -> float:
    """Expected singletons among k people in N bins, by kappa, a distance to the uniform distribution: k e^(-k/N) (1 +
    (k/N) (k/N - 2) kappa) (5.3, 5.4).

    Falls with kappa for k < 2N, rises beyond. Section 5.1 prints half of the correction, and the opposite direction.
    """
    a = inputs.people(k) / inputs.bins(N)
    return inputs.people(k) * math.exp(-a) * (1 + a * (a - 2) * inputs.distance(kappa))


def gamma_j_kl(j: Number, k: Number, N: Number, kappa: Number) -> float:
    """Expected share of N bins that hold exactly j of k people, by kappa, a distance to the uniform distribution (5.5).
    The shares add up to 1 from j = 0 on (printed: from 1)."""
    size, a = whole("j", j, 0), inputs.people(k) / inputs.bins(N)
    return float(_poisson(size, np.array(a))) * _correction(size, a, inputs.distance(kappa))


def phi_j_kl(j: Number, k: Number, N: Number, kappa: Number) -> float:
    """Expected share of k people who are in a bin of exactly j, of N bins, by kappa, a distance to the uniform
    distribution (5.6, 6.2). The shares add up to 1 from j = 1 on."""
    size, a = whole("j", j, 1), inputs.people(k) / inputs.bins(N)
    return float(_poisson(size - 1, np.array(a))) * _correction(size, a, inputs.distance(kappa))


def eta_j_kl(j: Number, k: Number, N: Number, kappa: Number) -> float:
    """Expected number of bins, of N, that hold exactly j of k people, by kappa, a distance to the uniform distribution:
    N times (5.5) (section 6.2.2)."""
    return inputs.bins(N) * gamma_j_kl(j, k, N, kappa)


def VarS_limit_heterogeneous_corrected(alpha: Sequence[Number], f: Sequence[Number], a: Number) -> float:
    """Proposition 5.10: Var S / N tends to sum f p (1 - p) - a (sum f alpha (1 - alpha a) e^(-alpha a))^2, with p =
    alpha a e^(-alpha a). (Printed: a sum alpha f e^(-alpha a) - a^3 (sum alpha^2 f e^(-alpha a))^2.)"""
    (likelier, share), ratio = inputs.shares(alpha, f), inputs.ratio(a)
    p = _singleton_term(likelier, ratio)
    return math.fsum(share * p * (1 - p)) - ratio * math.fsum(share * _slope(likelier, ratio)) ** 2


def VarS_kl_corrected(k: Number, N: Number, kappa: Number) -> float:
    """Section 5.3.2, N times a e^-a (1 + a (a-2) kappa) - a^2 e^-2a (1 + 2 (1 - 4a + 2a^2) kappa) - a (1-a)^2 e^-2a
    (1 + 2a (a-4) kappa), a = k / N: the expansion of Proposition 5.10 as corrected.

    At a = 1 the last term's factor (1 - a) (1 + a (a - 4) kappa) is that of Remark 5.4.
    """
    bins, distance = inputs.bins(N), inputs.distance(kappa)
    a = inputs.people(k) / bins
    once, twice = a * math.exp(-a), math.exp(-2 * a)
    squares = a**2 * twice * (1 + 2 * (1 - 4 * a + 2 * a**2) * distance)
    slope = a * (1 - a) ** 2 * twice * (1 + 2 * a * (a - 4) * distance)
    return bins * (once * (1 + a * (a - 2) * distance) - squares - slope)


FORMULAS = ("exp(-k/N)-C/k", "(1-1/N)^(k-1)-C/k")


def optimal_k(N: Number, C: Number, formula: str = FORMULAS[1]) -> int:
    """Example 5.6: how many people to a postal code, when the cost of a code is that of C singletons.

    The k from 1 to 100 N that maximises `formula`, with N equally likely ages: FORMULAS[0] is the thesis's, which gives
    10 for C = 1 and 38 for C = 10 (N = 95); FORMULAS[1] has the exact mean, which gives 37 for C = 10. The least k if
    several are equal. For other bins see `risk.group_size`.
    """
    if formula not in FORMULAS:
        raise ValueError(f"formula must be one of {', '.join(FORMULAS)}, not {formula!r}")
    bins, cost = whole("N", N, 1, 10**6), float(exact("C", C, 0, 10**15))
    k = np.arange(1, 100 * bins + 1, dtype=np.float64)
    with np.errstate(under="ignore"):
        alone = np.exp(-k / bins) if formula == FORMULAS[0] else (1 - 1 / bins) ** (k - 1)
    return int(np.argmax(alone - cost / k)) + 1


def _singleton_term(alpha: Floats, a: float) -> Floats:
    """Return alpha a e^(-alpha a): the limit of the expected singletons in a bin of probability alpha / N, with a
    people for each bin."""
    return np.asarray(_poisson(1, alpha * a))


def _slope(alpha: Floats, a: float) -> Floats:
    """Return alpha (1 - alpha a) e^(-alpha a): the derivative of `_singleton_term` by a."""
    with np.errstate(under="ignore"):
        return np.asarray(alpha * (1 - alpha * a) * np.exp(-alpha * a))


def _poisson(j: int, mean: Floats) -> Floats:
    from scipy.special import gammaln, xlogy

    with np.errstate(under="ignore"):
        return np.asarray(np.exp(xlogy(j, mean) - mean - gammaln(j + 1)))


def _correction(j: int, a: float, kappa: float) -> float:
    return 1 + (a**2 + j * (j - 1) - 2 * j * a) * kappa
