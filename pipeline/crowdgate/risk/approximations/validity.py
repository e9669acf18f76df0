"""Ranges in which approximations may be used.

An approximation may be used if its arguments meet its entry in RULES. Then its error is at most the bound below,
whatever distribution its arguments leave open:

- probabilities of uniqueness and of no singletons: LOGARITHM_ERROR in their logarithm. If the arguments determine the
  distribution, this is the difference from the exact value. For `uniqueness_kl_corrected`, `_extremes` has the greatest
  and least value over all distributions.
- means by interval widths: 0.05 for each person. By Bonferroni's inequalities the truth lies between two sums over
  intervals, and by Hoelder's inequality sum F^m is at most Delta^(m - 1) int f^m. For a density with nothing known but
  its powers sum F^m may be 0, and then the whole correction is wrong. A known density leaves less open: by Wirtinger's
  inequality Delta int f^2 exceeds sum F^2 by at most Delta^3 / pi^2 int f'^2.
- expansions in kappa: SINGLETON_ERROR for the share of singletons, if kappa is the Kullback-Leibler distance of a
  distribution without strong outliers (its section 7.5), or the excess of collisions of any distribution;
  GROUP_SHARE_ERROR for the share in groups of 2 and more; BIN_ERROR for the share of bins that hold j; VARIANCE_ERROR
  for the variance for each person. The bounds on shares come from linear programmes over all distributions with this
  distance, that on the variance from random and extreme ones. The Kullback-Leibler distance alone does not reveal
  outliers (section 7.5), and the bounds do not cover distributions with strong ones. The relative error of small shares
  can be large.

Formulas that are exact have no rule, nor do limits in N, which have errors of about 1 / N.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from crowdgate.accounting.numbers import Number
from crowdgate.risk.approximations import inputs, intervals, singletons, uniqueness
from crowdgate.risk.approximations.inputs import Groups
from crowdgate.risk.bins import Bins
from crowdgate.risk.kl_ranges import alike_but_one, largest_above
from crowdgate.risk.saddle import LogProbability
from crowdgate.risk.singletons import all_unique_within, none_within


class ExpansionError(NamedTuple):
    """Largest error of an expansion, with either distance as kappa."""

    kl: float
    collisions: float


SINGLETON_ERROR, BIN_ERROR = ExpansionError(0.08, 0.13), ExpansionError(0.03, 0.115)
GROUP_SHARE_ERROR, VARIANCE_ERROR, LOGARITHM_ERROR = 0.05, 0.06, 0.1


class ValidityTerm(NamedTuple):
    """A function of the arguments that must be at most `most`."""

    text: str
    value: float
    most: float


GREATEST_KAPPA = 0.25
"""Nats. From 1/4 on (5.4) has maxima other than its own (Remark 5.4 as corrected)."""


def validity(approximation: Callable[..., float], **arguments: Any) -> str | None:
    """Return why the approximation may not be used with these arguments, with the necessary ranges; None if it may be
    used. Arguments by the names of its parameters. Raises ValueError where its formula is not defined."""
    approximation(**arguments)
    rule = RULES.get(approximation)
    terms = rule(**arguments) if rule else []
    broken = [f"{text} must be at most {most}, not {value:.3g}" for text, value, most in terms if not value <= most]
    return "; ".join(broken) or None


def checked(approximation: Callable[..., float], **arguments: Any) -> float:
    """Return the approximation's value. Raises ValueError, naming arguments and their range, if it may not be used."""
    why = validity(approximation, **arguments)
    if why is not None:
        raise ValueError(f"{approximation.__name__} does not hold here: {why}")
    return approximation(**arguments)


def _few_people(k: Number, N: Number) -> list[ValidityTerm]:
    """Return the validity terms of `pi_u_exponential`. ln(1 - i/N) = -i/N - i^2 / (2 N^2) - ..., summed over i < k: the
    omitted terms have the signs of these two."""
    people, bins = inputs.people(k), inputs.bins(N)
    return [
        ValidityTerm("k^3 / (6 N^2)", people**3 / (6 * bins**2), 0.1),
        ValidityTerm("k / (2 N)", people / (2 * bins), 0.1),
    ]


def _few_poisson_people(k: Number, N: Number) -> list[ValidityTerm]:
    people, bins = inputs.people(k), inputs.bins(N)
    return [
        ValidityTerm("k^3 / (2 N^2)", people**3 / (2 * bins**2), 0.1),
        ValidityTerm("k / (2 N)", people / (2 * bins), 0.1),
    ]


def _unique_of(approximation: Callable[..., float]) -> Callable[..., list[ValidityTerm]]:
    def rule(groups: Groups, N: Number, k: Number, **more: Any) -> list[ValidityTerm]:
        return [_log_difference(approximation(groups, N, k, **more), all_unique_within(inputs.grouped(groups, N), k))]

    return rule


def _poissonised(p: Sequence[Number], k: Number) -> list[ValidityTerm]:
    return [_log_difference(singletons.P_S0_poissonised(p, k), none_within(Bins.of(p), k))]


def _log_difference(found: float, exact: LogProbability) -> ValidityTerm:
    distance = abs(math.log(found) - exact.value) + exact.error if found > 0 else math.inf
    return ValidityTerm("the difference of its logarithm from the exact one", distance, LOGARITHM_ERROR)


LIKE_KAPPA = (0.8, 4 / 3)
"""The excess of collisions is from 4/5 to 4/3 of the Kullback-Leibler distance, without strong outliers: those make the
two differ by more than a quarter of the excess."""


def _corrected_uniqueness(k: Number, N: Number, kappa: Number) -> list[ValidityTerm]:
    people, bins, distance = inputs.people(k), inputs.bins(N), inputs.distance(kappa)
    said = uniqueness.log_pi_u(people, bins) - distance * people**2 / bins
    least, greatest = (_extremes(people, bins, distance * like) for like in reversed(LIKE_KAPPA))
    apart = 0.0 if people > bins else max(greatest[1] - said, said - least[0])  # 0 is exact for more people than bins
    text = "the greatest difference of its logarithm, over laws with collisions like kappa,"
    return [ValidityTerm("kappa", distance, GREATEST_KAPPA), ValidityTerm(text, apart, LOGARITHM_ERROR)]


def _extremes(k: int, N: int, chi: float) -> tuple[float, float]:
    """Return the least and greatest logarithm of the probability that all of k people are unique, over all
    distributions of N bins with sum p^2 = (1 + 2 chi) / N.

    For three of the p with fixed sum and sum of squares, k! e_k(p) is linear in their product, with a non-negative
    factor. So at the maximum two of any three are equal and the third is not less: one bin is likelier, all others are
    equal. At the minimum, two of any three above 0 are equal and the third is not more: some bins are empty, and of the
    others one is less likely, the rest equal.
    """
    if not chi <= (N - 1) / 2:
        return -math.inf, math.nan
    fewer, rest = alike_but_one(chi, N)
    return _log_unique_one_differs(k, fewer, rest), _log_unique_one_differs(k, N - 1, (1 + largest_above(chi, N)) / N)


def _log_unique_one_differs(k: int, N: int, p: float) -> float:
    """Return ln P(k people are in different bins), for N bins of which one has probability p and all others are equally
    likely."""
    if k < 2:
        return 0.0
    alone = (1 - p) * (N + 1 - k) / N + k * p if k <= N + 1 and N > 0 else 0.0
    if not (alone > 0 and p < 1):
        return -math.inf
    return uniqueness.log_pi_u(k - 1, N) + (k - 1) * math.log1p(-p) + math.log(alone)


def _shares(j: Number, k: Number, N: Number, kappa: Number) -> list[ValidityTerm]:
    size, people, bins, distance = float(j), inputs.people(k), inputs.bins(N), inputs.distance(kappa)
    a = people / bins
    terms = (a * a + 2 * size * a + size * (size - 1)) * distance
    return [
        ValidityTerm("kappa", distance, GREATEST_KAPPA),
        ValidityTerm("((k/N)^2 + 2 j k/N + j (j - 1)) kappa", terms, 0.4),
        ValidityTerm("1 / N", 1 / bins, 0.05),
        ValidityTerm("j (j - 1) / (2 k)", size * (size - 1) / (2 * max(people, 1)), 0.1),
    ]


def _mean(k: Number, N: Number, kappa: Number) -> list[ValidityTerm]:
    return _shares(1, k, N, kappa)


def _variance(k: Number, N: Number, kappa: Number) -> list[ValidityTerm]:
    return _shares(2, k, N, kappa)


def _linear(k: Number, Delta: Number, f2: Number) -> list[ValidityTerm]:
    """Return the validity terms of formulas linear in Delta: the mean lies between the formula and k."""
    crowd = _tuples(k, 1) * inputs.positive("Delta", Delta) * inputs.positive("f2", f2)
    return [ValidityTerm("(k - 1) Delta int f^2", crowd, 0.05)]


def _quadratic(k: Number, Delta: Number, f2: Number, f3: Number) -> list[ValidityTerm]:
    """Return the validity terms of formulas quadratic in Delta: the mean lies between ES_linear and k; twice the second
    term counts, for groups of 2."""
    second = 2 * _tuples(k, 2) * inputs.positive("Delta", Delta) ** 2 * inputs.positive("f3", f3)
    return [*_linear(k, Delta, f2), ValidityTerm("(k - 1) (k - 2) Delta^2 int f^3", second, 0.05)]


def _uniform(k: Number, A: Number, Delta: Number) -> list[ValidityTerm]:
    people = max(1, inputs.people(k))
    apart = intervals.ES_uniform_quadratic(k, A, Delta) - intervals.ES_uniform_width(k, A, Delta)
    return [ValidityTerm("its difference from ES_uniform_width, for each person,", abs(apart) / people, 0.05)]


class SmoothDensity(NamedTuple):
    """A density on intervals: Delta^(m - 1) int f^m for m = 2, 3, 4, Delta times its greatest value, and Delta^2 int
    f'^2 / int f^2 (for rectangles, the sum of both directions')."""

    second: float
    third: float
    fourth: float = 0.0
    peak: float = 0.0
    slope: float = 0.0

    def lost(self) -> float:
        """Return an upper bound on Delta int f^2 - sum F^2, with f the density and F the probabilities of the
        intervals."""
        return self.second * self.slope / math.pi**2


def _smooth_linear(k: Number, density: SmoothDensity) -> list[ValidityTerm]:
    apart = _tuples(k, 1) * density.lost() + _tuples(k, 2) * density.third
    return [ValidityTerm("(k - 1) Delta^3 / pi^2 int f'^2 + (k - 1) (k - 2) Delta^2 / 2 int f^3", apart, 0.05)]


def _smooth_quadratic(k: Number, density: SmoothDensity) -> list[ValidityTerm]:
    """Return the validity terms of quadratic formulas for a smooth density. Delta^2 int f^3 exceeds sum F^3 by at most
    3 Delta max f times the excess of the second power."""
    first, second = _tuples(k, 1) * density.lost(), _tuples(k, 2) * 3 * density.peak * density.lost()
    return [
        ValidityTerm("(k - 1) Delta^3 / pi^2 int f'^2", first, 0.05),
        ValidityTerm(
            "(k - 1) (k - 2) (3 Delta^4 / (2 pi^2) max f int f'^2 + (k - 3) Delta^3 / 6 int f^4)",
            second + _tuples(k, 3) * density.fourth,
            0.05,
        ),
    ]


def _tuples(k: Number, m: int) -> int:
    """Return C(k - 1, m): the number of sets of m of the other people."""
    return math.comb(max(0, inputs.people(k) - 1), m)


def _exponential(k: Number, lam: Number, Delta: Number) -> list[ValidityTerm]:
    x = inputs.positive("lam", lam) * inputs.positive("Delta", Delta)
    return _smooth_quadratic(k, SmoothDensity(x / 2, x**2 / 3, x**3 / 4, x, x**2))


def _normal(sigma: Number, Delta: Number) -> SmoothDensity:
    x = inputs.positive("Delta", Delta) / inputs.positive("sigma", sigma)
    second, third, fourth = (x ** (m - 1) * intervals.normal_power(m, 1) for m in (2, 3, 4))
    return SmoothDensity(second, third, fourth, x / math.sqrt(2 * math.pi), x**2 / 2)


def _normal_linear(sigma: Number, Delta: Number, k: Number) -> list[ValidityTerm]:
    return _smooth_linear(k, _normal(sigma, Delta))


def _normal_quadratic(sigma: Number, Delta: Number, k: Number) -> list[ValidityTerm]:
    return _smooth_quadratic(k, _normal(sigma, Delta))


def _bivariate(sx: Number, sy: Number, rho: Number, dx: Number, dy: Number, k: Number) -> list[ValidityTerm]:
    """Return the validity terms of the linear formula for a bivariate Normal density f, by int f_x^2 = int f^2 / (2
    sx^2 (1 - rho^2))."""
    x, y = (inputs.positive("dx", dx) / float(sx), inputs.positive("dy", dy) / float(sy))
    second, third = ((x * y) ** (m - 1) * intervals.bivariate_normal_power(m, 1, 1, rho) for m in (2, 3))
    slope = (x**2 + y**2) / (2 * (1 - float(rho) ** 2))
    (apart,) = _smooth_linear(k, SmoothDensity(second, third, slope=slope))
    text = "(k - 1) (int (dx f_x)^2 + int (dy f_y)^2) dx dy / pi^2 + (k - 1) (k - 2) (dx dy)^2 / 2 int f^3"
    return [apart._replace(text=text)]


RULES: Mapping[Callable[..., float], Callable[..., list[ValidityTerm]]] = {
    uniqueness.pi_u_exponential: _few_people,
    uniqueness.pi_u_poisson: _few_poisson_people,
    uniqueness.uniqueness_poisson: _unique_of(uniqueness.uniqueness_poisson),
    uniqueness.uniqueness_collision: _unique_of(uniqueness.uniqueness_collision),
    uniqueness.uniqueness_kl: _unique_of(uniqueness.uniqueness_kl),
    uniqueness.uniqueness_kl_corrected: _corrected_uniqueness,
    singletons.ES_kl: _mean,
    singletons.gamma_j_kl: _shares,
    singletons.phi_j_kl: _shares,
    singletons.eta_j_kl: _shares,
    singletons.VarS_kl_corrected: _variance,
    singletons.P_S0_poissonised: _poissonised,
    intervals.ES_linear: _linear,
    intervals.ES_quadratic: _quadratic,
    intervals.phi_j_quadratic: lambda j, k, Delta, f2, f3: _quadratic(k, Delta, f2, f3),  # noqa: ARG005
    intervals.ES_uniform_quadratic: _uniform,
    intervals.ES_exponential_quadratic_corrected: _exponential,
    intervals.ES_normal_linear: _normal_linear,
    intervals.ES_normal_quadratic: _normal_quadratic,
    intervals.ES_bivariate_normal_linear: _bivariate,
}
"""The rule for the arguments of each approximation."""
