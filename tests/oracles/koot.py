"""Limits and corrections of M. Koot's thesis (2012) that no command calls: the library's formulas tend to them."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from crowdgate.accounting.numbers import Number, exact, whole
from crowdgate.risk.approximations import inputs
from crowdgate.risk.approximations.densities import Density, _at, _integral, _singleton_density
from crowdgate.risk.approximations.singletons import VarS_limit_heterogeneous_corrected, _poisson, _slope
from crowdgate.risk.bins import Bins
from crowdgate.risk.kl import _entropy_terms, _relative, collision_excess


def ES_limit_density(density: Density, a: Number) -> float:
    """Proposition 5.7: E S / N tends to a int phi e^(-phi a). `density` is not negative and integrates to 1."""
    return _integral(lambda x: _singleton_density(_at(density, x), inputs.ratio(a)), density)


def ES_peak_corrected(N: Number, kappa: Number) -> float:
    """Remark 5.4: (5.4) is greatest at k = N, where it is N (1 - kappa) / e (printed: N / e), for kappa < 1/4.

    The derivative has the factors (1 - a) and 1 + a (a - 4) kappa, and the second has zeros of its own from kappa = 1/4
    on (the thesis says 2/3); from 1/3 on a = 1 is no maximum at all. Raises ValueError from 1/4 on.
    """
    distance = float(exact("kappa", kappa, 0, Fraction(1, 4), open_high=True))
    return inputs.bins(N) * (1 - distance) / math.e


def gamma_j_limit(j: Number, alpha: Sequence[Number], f: Sequence[Number], a: Number) -> float:
    """Section 5.2.2: the share of bins with j people tends to sum f e^(-alpha a) (alpha a)^j / j!."""
    likelier, share = inputs.shares(alpha, f)
    return math.fsum(share * _poisson(whole("j", j, 0), likelier * inputs.ratio(a)))


def phi_j_limit(j: Number, alpha: Sequence[Number], f: Sequence[Number], a: Number) -> float:
    """Remark 5.3: the share of people in groups of j tends to sum f alpha e^(-alpha a) (alpha a)^(j-1) / (j-1)!."""
    likelier, share = inputs.shares(alpha, f)
    return math.fsum(share * likelier * _poisson(whole("j", j, 1) - 1, likelier * inputs.ratio(a)))


def VarS_limit_homogeneous_corrected(a: Number) -> float:
    """Section 5.3.1: Var S / N tends to a e^-a - a e^-2a (1 - a + a^2). (Printed: a e^-a (1 - a^2 e^-a).)"""
    return VarS_limit_heterogeneous_corrected([1], [1], a)


def CovS_limit_corrected(alpha: tuple[Number, Number], f: tuple[Number, Number], a: Number) -> float:
    """Lemma 4.1: Cov(S_i, S_j) / N tends to -a ai fi aj fj (1 - a ai) (1 - a aj) e^(-(ai + aj) a), for two groups.

    The thesis prints -a^3 ai^2 fi aj^2 fj e^(-(ai + aj) a): there k - 1 and k - 2 were taken for k. (The lemma that it
    cites by this number, on (1 + a / sqrt N)^N, is not printed at all.)
    """
    ratio = inputs.ratio(a)
    slopes = [
        float(exact("f", share, 0, 1)) * _slope(np.array(float(exact("alpha", each, 0, 10**15))), ratio)
        for each, share in zip(alpha, f, strict=True)
    ]
    return -ratio * float(slopes[0] * slopes[1])


def uniqueness_limit(alpha: Sequence[Number], f: Sequence[Number], a: Number) -> float:
    """Section 4.3.1: exp(-a^2 / 2 sum alpha^2 f), the limit for k = a sqrt N and N to infinity."""
    likelier, share = inputs.shares(alpha, f)
    return math.exp(-(inputs.ratio(a) ** 2) / 2 * float(share @ likelier**2))


def outliers(bins: Bins) -> str | None:
    """Return why expansions around the uniform law are invalid for these bins; None if they are valid.

    Section 7.5: "our approximations become inaccurate in presence of strong outliers", as with ages from 80 to 94. The
    expansions assume that the terms of kappa and chi are equal: an outlier is strong if they are not. The limit is a
    mean difference of a quarter of chi: alpha = 1 +- 0.5 differs by 0.18 of it, 1 +- 0.9 by 0.43, an empty bin by all.
    """
    alpha, share = _relative(bins)
    apart = np.abs(_entropy_terms(alpha) - (alpha - 1) ** 2 / 2)
    difference = math.fsum([*(share * apart), bins.empty / bins.cells / 2])
    if difference <= collision_excess(bins) / 4 + 1e-12:
        return None
    return (
        "some bins are far likelier or far less likely than the average bin: the Kullback-Leibler distance and the "
        "excess of collisions, which approximations take to be equal, differ by more than a quarter"
    )
