"""Chapter 6: numbers rounded to intervals of width Delta, and pairs of numbers."""

import math

from crowdgate.accounting.numbers import Number, exact, whole
from crowdgate.risk import singletons, widths
from crowdgate.risk.approximations import inputs


def ES_uniform_width(k: Number, A: Number, Delta: Number) -> float:
    """Expected singletons among k people uniform on [0, A], in intervals of width Delta (section 6.3.1): k (1 - Delta /
    A)^(k - 1); the last interval is the rest of A, if less."""
    return singletons.expected(widths.uniform(A, Delta), k)


def ES_uniform_quadratic(k: Number, A: Number, Delta: Number) -> float:
    """Expected singletons among k people uniform on [0, A], to the second order in the interval width Delta (6.3): k (1
    - (k-1) Delta / A + (k-1) (k-2) / 2 Delta^2 / A^2)."""
    length = inputs.positive("A", A)
    return ES_quadratic(k, Delta, 1 / length, 1 / length**2)


def ES_exponential_exact(k: Number, lam: Number, Delta: Number) -> float:
    """Section 6.3.1: k sum_j C(k-1, j) (-1)^j (1 - L)^(j+1) / (1 - L^(j+1)), L = e^(-lam Delta).

    This finite sum alternates; it is used where its terms fall, (k - 1) (1 - L) <= 1. Elsewhere the sum over intervals
    k sum_i (1 - F_i)^(k-1) F_i, F_i = L^i (1 - L), is used.
    """
    people, step = inputs.people(k), inputs.positive("lam", lam) * inputs.positive("Delta", Delta)
    first = -math.expm1(-step)
    if (people - 1) * first > 1:
        return singletons.expected(widths.exponential(lam, Delta), people)
    terms, binomial = [], 1.0
    for j in range(people):
        terms.append(binomial * (first / -math.expm1(-(j + 1) * step)))
        binomial *= -(people - 1 - j) / (j + 1) * first
        if abs(binomial) < 1e-18:
            break
    return people * math.fsum(terms)


def ES_exponential_quadratic_corrected(k: Number, lam: Number, Delta: Number) -> float:
    """Expected singletons among k people, exponential with rate lam, to the second order in the interval width Delta
    (section 6.3.1): k (1 - (k-1) Delta lam / 2 + (k-1) (k-2) Delta^2 lam^2 / 6). (Printed: k and k^2.)"""
    rate = inputs.positive("lam", lam)
    return ES_quadratic(k, Delta, rate / 2, rate**2 / 3)


def ES_linear(k: Number, Delta: Number, f2: Number) -> float:
    """Expected singletons among k people of any density f, to the first order in the interval width Delta (section
    6.3.1): k - Delta k (k-1) int f^2; `f2` is int f^2.

    The thesis adds k/2 Delta int f', and to the next order k (k-1) int f f' and k/6 int f''. As sum F_i is 1, these
    terms vanish.
    """
    people, width = inputs.people(k), inputs.positive("Delta", Delta)
    return people - width * people * (people - 1) * inputs.positive("f2", f2)


def ES_quadratic(k: Number, Delta: Number, f2: Number, f3: Number) -> float:
    """Expected singletons among k people of any density f without jumps, to the second order in the interval width
    Delta (section 6.3.1): ES_linear + Delta^2 k (k-1) (k-2) / 2 int f^3; `f3` is int f^3. Not clipped: it can leave [0,
    k]."""
    people, width = inputs.people(k), inputs.positive("Delta", Delta)
    more = people * (people - 1) * (people - 2) / 2 * inputs.positive("f3", f3)
    return ES_linear(k, Delta, f2) + width**2 * more


def phi_j_quadratic(j: Number, k: Number, Delta: Number, f2: Number, f3: Number) -> float:
    """Expected share of k people who are in an interval of exactly j = 1, 2 or 3, to the second order in the interval
    width Delta (section 6.3.1); `f2`, `f3` are int f^2, int f^3 of the density f. The three shares add up to 1."""
    people, width = inputs.people(k, 1), inputs.positive("Delta", Delta)
    first = width * (people - 1) * inputs.positive("f2", f2)
    second = width**2 * (people - 1) * (people - 2) / 2 * inputs.positive("f3", f3)
    return (1 - first + second, first - 2 * second, second)[whole("j", j, 1, 3) - 1]


def normal_power(m: Number, sigma: Number) -> float:
    """Lemma 6.1: int f^m = m^(-1/2) (sqrt(2 pi) sigma)^(1-m), for the Normal density f of standard deviation sigma."""
    power, scale = whole("m", m, 1, 100), inputs.positive("sigma", sigma)
    return 1 / math.sqrt(power) / (math.sqrt(2 * math.pi) * scale) ** (power - 1)


def ES_normal_binned_exact(sigma: Number, mu: Number, Delta: Number, k: Number) -> float:
    """Expected singletons among k people, Normal with mean mu and standard deviation sigma, in intervals [i Delta,
    (i+1) Delta) (section 6.2.1): the sum over intervals."""
    return singletons.expected(widths.normal(mu, sigma, Delta, k), k)


def ES_normal_linear(sigma: Number, Delta: Number, k: Number) -> float:
    """Expected singletons among k people, Normal with standard deviation sigma, to the first order in the interval
    width Delta (section 6.3.2): k - Delta k (k-1) / (2 sigma sqrt(pi))."""
    return ES_linear(k, Delta, normal_power(2, sigma))


def ES_normal_quadratic(sigma: Number, Delta: Number, k: Number) -> float:
    """Expected singletons among k people, Normal with standard deviation sigma, to the second order in the interval
    width Delta (section 6.3.1): ES_normal_linear + Delta^2 k (k-1) (k-2) / (4 sqrt(3) pi sigma^2). Not clipped."""
    return ES_quadratic(k, Delta, normal_power(2, sigma), normal_power(3, sigma))


def VarS_slope(k: Number, f2: Number) -> float:
    """Remark 6.2: Var S / Delta, with S the singletons among k people and `f2` = int f^2 of their density, tends to 2 k
    (k-1) int f^2 as the interval width Delta falls to 0. (Printed: 2 k^2 - 3 k.)"""
    people = inputs.people(k)
    return 2 * people * (people - 1) * inputs.positive("f2", f2)


def VarS_slope_normal(sigma: Number, k: Number) -> float:
    """Remark 6.2 as corrected, Normal with standard deviation sigma: Var S / Delta, S the singletons among k people,
    tends to k (k-1) / (sigma sqrt(pi)) as the interval width Delta falls to 0."""
    return VarS_slope(k, normal_power(2, sigma))


def bivariate_normal_power(m: Number, sx: Number, sy: Number, rho: Number) -> float:
    """Lemma 6.3: int f^m = 1/m (2 pi sx sy sqrt(1 - rho^2))^(1-m), f bivariate Normal with correlation rho."""
    power, correlation = whole("m", m, 1, 100), exact("rho", rho, -1, 1, open_low=True, open_high=True)
    spread = inputs.positive("sx", sx) * inputs.positive("sy", sy) * math.sqrt(1 - correlation**2)
    return 1 / power / (2 * math.pi * spread) ** (power - 1)


def ES_bivariate_normal_linear(sx: Number, sy: Number, rho: Number, dx: Number, dy: Number, k: Number) -> float:
    """Expected singletons among k people, bivariate Normal with standard deviations sx, sy and correlation rho, in
    rectangles dx by dy, to the first order: k - dx dy k (k-1) / (4 pi sx sy sqrt(1 - rho^2)) (6.4, section 6.4.1)."""
    area = inputs.positive("dx", dx) * inputs.positive("dy", dy)
    return ES_linear(k, area, bivariate_normal_power(2, sx, sy, rho))
