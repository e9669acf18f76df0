"""Where approximations may be used.

An expansion may be used where what it leaves out is small. RULES says for each what that is: for probabilities of
uniqueness the next terms of their logarithm, at most 0.1; for means by interval widths the next term for each person,
at most 0.05 (the terms alternate, as Bonferroni's inequalities do); for expansions in kappa the size of their own
terms, at most 0.4, with which the share of people in groups of 1, 2, 3 was off by at most a tenth for thousands of
drawn laws without strong outliers. Those are told by the bins (`risk.kl.outliers`): a distance alone does not tell
(section 7.5).

Formulas that are exact have no rule, nor have limits in N, which are off by about 1 / N.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from crowdgate.accounting.numbers import Number
from crowdgate.risk.approximations import inputs, intervals, singletons, uniqueness
from crowdgate.risk.approximations.inputs import Groups
from crowdgate.risk.bins import Bins
from crowdgate.risk.kl import collision_excess, kl_to_uniform


class Term(NamedTuple):
    """Something of the arguments that must be at most `most`."""

    text: str
    value: float
    most: float


GREATEST_KAPPA = 0.25
"""Nats. From 1/4 on (5.4) has other maxima than its own (Remark 5.4 as corrected)."""


def validity(approximation: Callable[..., float], **arguments: Any) -> str | None:
    """Why the approximation is not to be used with these arguments: which, and in what range they must be. None where
    it may be used. Arguments by the names of its parameters. ValueError where its formula is not defined."""
    approximation(**arguments)
    rule = RULES.get(approximation)
    terms = rule(**arguments) if rule else []
    broken = [f"{text} must be at most {most}, not {value:.3g}" for text, value, most in terms if not value <= most]
    return "; ".join(broken) or None


def checked(approximation: Callable[..., float], **arguments: Any) -> float:
    """The approximation's value. ValueError, naming arguments and their range, where it may not be used."""
    why = validity(approximation, **arguments)
    if why is not None:
        raise ValueError(f"{approximation.__name__} does not hold here: {why}")
    return approximation(**arguments)


def _few(k: Number, N: Number) -> list[Term]:
    people, bins = inputs.people(k), inputs.bins(N)
    return [Term("k^3 / (6 N^2)", people**3 / (6 * bins**2), 0.1), Term("k / (2 N)", people / (2 * bins), 0.1)]


def _few_of_poisson(k: Number, N: Number) -> list[Term]:
    people, bins = inputs.people(k), inputs.bins(N)
    return [Term("k^3 / (2 N^2)", people**3 / (2 * bins**2), 0.1), Term("k / (2 N)", people / (2 * bins), 0.1)]


def _grouped_poisson(groups: Groups, N: Number, k: Number) -> list[Term]:
    people, (square, _) = inputs.people(k), _powers(inputs.grouped(groups, N))
    return [
        Term("k^3 (sum p^2)^2 / 2", people**3 * square**2 / 2, 0.1),
        Term("k sum p^2 / 2", people * square / 2, 0.1),
    ]


def _grouped(groups: Groups, N: Number, k: Number) -> list[Term]:
    people, (square, cube) = inputs.people(k), _powers(inputs.grouped(groups, N))
    return [
        Term("k^3 sum p^3 / 3", people**3 * cube / 3, 0.1),
        Term("k sum p^2 / 2", people * square / 2, 0.1),
    ]


def _grouped_kl(groups: Groups, N: Number, k: Number, kappa: Number | None = None) -> list[Term]:
    bins, people = inputs.grouped(groups, N), inputs.people(k)
    distance = kl_to_uniform(bins) if kappa is None else inputs.distance(kappa)
    apart = abs(distance - collision_excess(bins)) * people**2 / bins.cells
    return [*_grouped(groups, N, k), Term("|kappa - chi| k^2 / N", apart, 0.1)]


def _corrected_uniqueness(k: Number, N: Number, kappa: Number) -> list[Term]:
    people, bins, distance = inputs.people(k), inputs.bins(N), inputs.distance(kappa)
    return [
        Term("kappa", distance, GREATEST_KAPPA),
        Term("kappa k / N", distance * people / bins, 0.1),
        Term("2 kappa^2 k^3 / N^2", 2 * distance**2 * people**3 / bins**2, 0.1),
    ]


def _shares(j: Number, k: Number, N: Number, kappa: Number) -> list[Term]:
    size, a, distance = float(j), inputs.people(k) / inputs.bins(N), inputs.distance(kappa)
    terms = (a * a + 2 * size * a + size * (size - 1)) * distance
    return [
        Term("kappa", distance, GREATEST_KAPPA),
        Term("((k/N)^2 + 2 j k/N + j (j - 1)) kappa", terms, 0.4),
    ]


def _mean(k: Number, N: Number, kappa: Number) -> list[Term]:
    return _shares(1, k, N, kappa)


def _variance(k: Number, N: Number, kappa: Number) -> list[Term]:
    return _shares(2, k, N, kappa)


def _poissonised(p: Sequence[Number], k: Number) -> list[Term]:
    """A Poisson number of people has the variance k: to the second order it adds k P'' / 2 to P."""
    bins, people = Bins.of(p), inputs.people(k)
    mu = people * bins.probabilities
    fall, p1, p2 = np.exp(-mu), bins.probabilities, bins.probabilities**2
    first = -(1 - mu) * fall / (1 - mu * fall)  # of ln(1 - mu e^-mu)
    second = (2 - mu) * fall / (1 - mu * fall) - first**2
    curve = float(bins.counts @ (p1 * first)) ** 2 + float(bins.counts @ (p2 * second))
    return [Term("|k P'' / (2 P)|", abs(people * curve / 2), 0.1)]


def _linear(k: Number, Delta: Number, f2: Number) -> list[Term]:
    crowd = (inputs.people(k) - 1) * inputs.positive("Delta", Delta) * inputs.positive("f2", f2)
    return [Term("((k - 1) Delta int f^2)^2 / 2", crowd**2 / 2, 0.05)]


def _quadratic(k: Number, Delta: Number, f3: Number) -> list[Term]:
    crowd = (inputs.people(k) - 1) * inputs.positive("Delta", Delta) * inputs.positive("f3", f3) ** 0.5
    return [Term("((k - 1) Delta)^3 (int f^3)^(3/2) / 6", crowd**3 / 6, 0.05)]


def _uniform(k: Number, A: Number, Delta: Number) -> list[Term]:
    length = inputs.positive("A", A)
    return _quadratic(k, Delta, 1 / length**2)


def _exponential(k: Number, lam: Number, Delta: Number) -> list[Term]:
    rate = inputs.positive("lam", lam)
    return [*_quadratic(k, Delta, rate**2 / 3), Term("lam Delta", rate * float(Delta), 1)]


def _normal_linear(sigma: Number, Delta: Number, k: Number) -> list[Term]:
    return [*_linear(k, Delta, intervals.normal_power(2, sigma)), Term("Delta / sigma", float(Delta) / float(sigma), 1)]


def _normal_quadratic(sigma: Number, Delta: Number, k: Number) -> list[Term]:
    return [
        *_quadratic(k, Delta, intervals.normal_power(3, sigma)),
        Term("Delta / sigma", float(Delta) / float(sigma), 1),
    ]


def _bivariate(sx: Number, sy: Number, rho: Number, dx: Number, dy: Number, k: Number) -> list[Term]:
    area = inputs.positive("dx", dx) * inputs.positive("dy", dy)
    rest = (1 - float(rho) ** 2) ** 0.5
    return [
        *_linear(k, area, intervals.bivariate_normal_power(2, sx, sy, rho)),
        Term("dx / (sx sqrt(1 - rho^2))", float(dx) / (float(sx) * rest), 1),
        Term("dy / (sy sqrt(1 - rho^2))", float(dy) / (float(sy) * rest), 1),
    ]


def _powers(bins: Bins) -> tuple[float, float]:
    """sum p^2 and sum p^3."""
    p, counts = bins.probabilities, bins.counts
    return float(counts @ p**2), float(counts @ p**3)


RULES: Mapping[Callable[..., float], Callable[..., list[Term]]] = {
    uniqueness.pi_u_exponential: _few,
    uniqueness.pi_u_poisson: _few_of_poisson,
    uniqueness.uniqueness_poisson: _grouped_poisson,
    uniqueness.uniqueness_collision: _grouped,
    uniqueness.uniqueness_kl: _grouped_kl,
    uniqueness.uniqueness_kl_corrected: _corrected_uniqueness,
    singletons.ES_kl: _mean,
    singletons.gamma_j_kl: _shares,
    singletons.phi_j_kl: _shares,
    singletons.eta_j_kl: _shares,
    singletons.VarS_kl_corrected: _variance,
    singletons.P_S0_poissonised: _poissonised,
    intervals.ES_linear: _linear,
    intervals.ES_quadratic: lambda k, Delta, f2, f3: _quadratic(k, Delta, f3),  # noqa: ARG005
    intervals.phi_j_quadratic: lambda j, k, Delta, f2, f3: _quadratic(k, Delta, f3),  # noqa: ARG005
    intervals.ES_uniform_quadratic: _uniform,
    intervals.ES_exponential_quadratic_corrected: _exponential,
    intervals.ES_normal_linear: _normal_linear,
    intervals.ES_normal_quadratic: _normal_quadratic,
    intervals.ES_bivariate_normal_linear: _bivariate,
}
"""What each approximation asks of its arguments."""
