# ruff: noqa: ARG001, ARG005 - all functions of a line take the same arguments
"""All public functions that compute numbers of guarantees: the side of the truth on which each must stay, and its
truth.

A function without a line here fails test_directions.py. `up`: never below (epsilon, delta, k, success of attacks);
`down`: never above (greatest rates, rho, the guarantee of a row); `near`: an estimate or an intermediate value, within
a stated relative distance. A function that returns the greatest or least number with a property is a `Solver`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, Literal

import mpmath as mp
import numpy as np
from hypothesis import strategies as st

from crowdgate import guarantee
from crowdgate.accounting import (
    amplification,
    audit_power,
    bets,
    binomial,
    intervals,
    membership,
    noise_sums,
    numbers,
    person,
    pso,
    pso_baselines,
    pso_curve,
    safe_k,
    safe_k_exact,
    safe_k_same_sample,
    safe_k_theorem5,
    safe_k_variants,
    sensitivity,
    tables_plan,
    trials,
    zcdp,
)
from crowdgate.accounting.discrete_laws import DiscreteGaussian, DiscreteLaplace
from crowdgate.guarantee import Guarantee, Part
from crowdgate.risk import inference, kl_sums, retention, singletons
from crowdgate.risk import membership as attacks
from tests.accounting import truth
from tests.accounting.truth import NEAR, Real, real

Side = Literal["up", "down", "near"]
Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Values:
    """Values of one argument: fixed ones with their extremes, and a strategy for others."""

    fixed: Sequence[Any]
    drawn: st.SearchStrategy[Any]


@dataclass(frozen=True)
class Line:
    """A function. `truth` computes its figures from equal arguments as numbers of mpmath; `defined` states for which
    arguments they exist; `apart` is the largest relative distance of a figure from the truth (None: anywhere on its
    safe side)."""

    call: Callable[..., Any]
    sides: tuple[Side, ...]
    truth: Callable[..., Any]
    values: tuple[Values, ...]
    apart: float | None = 1e-9
    defined: Callable[..., bool] = lambda *_: True


@dataclass(frozen=True)
class Solver:
    """A function whose answer must satisfy `holds(answer, ...)`, while `beyond(answer)`, a better one, must not
    (None if there is none). `limit` is the place of the argument that is the limit: a tie with it may be decided
    either way."""

    call: Callable[..., Any]
    holds: Callable[..., bool]
    beyond: Callable[[Any], Any]
    values: tuple[Values, ...]
    defined: Callable[..., bool] = lambda *_: True
    limit: int | None = None


def grid(line: Line | Solver) -> list[Arguments]:
    """Return all fixed cases."""
    return [case for case in product(*(each.fixed for each in line.values)) if line.defined(*case)]


def drawn(line: Line | Solver) -> st.SearchStrategy[Arguments]:
    """Return a strategy for further cases."""
    return st.tuples(*(each.drawn for each in line.values)).filter(lambda case: line.defined(*case))


def as_real(argument: Any) -> Any:
    """Return an argument for the truth: whole numbers and words unchanged, others exactly."""
    return argument if isinstance(argument, int | str | tuple | type) else real(argument)


def _powers(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda power: 10.0**power)


def _exactly(*texts: str) -> list[Fraction]:
    return [Fraction(text) for text in texts]


def _values(fixed: Sequence[Any], further: st.SearchStrategy[Any]) -> Values:
    return Values(fixed, st.one_of(st.sampled_from(list(fixed)), further))


def _floats(values: Values) -> Values:
    return Values([float(each) for each in values.fixed], values.drawn.map(float))


ALPHA = _values(_exactly("1e-6", "0.001", "0.05", "0.5"), st.fractions(Fraction(1, 10**6), Fraction(1, 2)))
_SHARE = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
SHARES = _values([(), (0.0,), (1.0,) * 30, (0.8,) * 300, (0.0, 1.0) * 20], st.lists(_SHARE, max_size=40).map(tuple))
TRIPLES = _values(
    [((0.5, 1.0, 0.25),), ((1.0, 1.0, 0.5),) * 60, ((0.25, 0.5, 0.5),) * 60, ((0.0, 0.0, 0.0), (0.1, 1.0, 0.9)) * 40],
    st.lists(
        st.tuples(_SHARE, _SHARE, _SHARE).map(lambda x: (min(x[0], x[1]), x[1], min(x[2], x[1]))),
        min_size=1,
        max_size=40,
    ).map(tuple),
)
"""(right, predicted, right by the base), release by release."""


Lines = Sequence[tuple[float, float, float]]


def _at(lines: Lines, column: int) -> list[float]:
    return [line[column] for line in lines]


def betting(found: tuple[float, float], lines: Lines, alpha: Any, *, mean: bool) -> bool:
    """Return whether a bettor against both limits reaches a capital of at least 1/alpha; a limit at the end of its
    range is not bet on. `mean`: for a ratio whose base is 0 and which lies in [0, 1]."""
    lower, upper = found
    exact = [tuple(map(mp.mpf, line)) for line in lines]

    def against(limit: Any, sign: int) -> bool:
        z = [sign * (a - b - limit * (p - b)) for a, p, b in exact]
        scale = (limit if mean else 1) if sign > 0 else 1 - limit
        return bool(truth.capital([each / scale for each in z]) >= (1 - mp.mpf("1e-7")) / alpha)

    low = 0.0 if mean else -math.inf
    return (lower == low or against(mp.mpf(lower), 1)) and (upper >= 1 or against(mp.mpf(upper), -1))


def nearer(found: tuple[float, float]) -> tuple[float, float] | None:
    """Return limits that are slightly closer to each other; None if one is at the end of its range."""
    lower, upper = found
    if lower in (0.0, -math.inf) or upper == 1.0:
        return None
    return lower + 1e-5 * max(1e-3, abs(lower)), upper - 1e-5 * max(1e-3, abs(upper))


ONE_LESS = 1 - Fraction(1, 10**12)
EPSILON = _values(
    [*_exactly("1e-12", "1e-6", "0.001", "0.1", "1", "3", "10", "30", "100", "699.9", "700"), math.log(2)],
    st.one_of(_powers(-12, 2.8), st.fractions(0, 20, max_denominator=10**6).map(lambda e: e or Fraction(1, 10**9))),
)
ANY_EPSILON = _values([Fraction(0), *EPSILON.fixed, *_exactly("1e-300", "700.1", "745", "1e6")], _powers(-12, 6))
DELTA = _values(
    [Fraction(0), *_exactly("1e-300", "1e-30", "1e-9", "0.001", "0.5", "1")],
    st.one_of(_powers(-300, 0), st.fractions(0, 1, max_denominator=10**6)),
)
SMALL_DELTA = _values(_exactly("1e-300", "1e-100", "1e-30", "1e-9", "0.001", "0.5"), _powers(-300, -0.001))
BETA = _values(
    [*_exactly("1e-30", "1e-12", "0.001", "0.1", "1/3", "0.5", "0.9"), 1 - Fraction(1, 10**6), ONE_LESS],
    st.one_of(_powers(-30, -1), st.floats(0.01, 1 - 1e-12), _powers(-12, -1).map(lambda left: 1 - left)),
)
ANY_BETA = _values([*BETA.fixed, Fraction(1)], BETA.drawn)
K = _values([1, 2, 3, 10, 35, 92, 1000, 10**4], st.integers(1, 10**4))
SMALL_K = _values([1, 2, 3, 10, 35, 92], st.integers(1, 300))
M = _values([1, 2, 3, 10, 100, 1000], st.integers(1, 1000))
FEW = _values([1, 2, 3], st.integers(1, 3))
PEOPLE = _values([1, 2, 10, 1000, 300_000, 10**9, 10**15], st.integers(1, 10**15))
ROWS = _values([1, 2, 10, 35, 36, 200, 5000], st.integers(1, 5000))
WEIGHT = _values(
    [Fraction(0), *_exactly("1e-300", "1e-30", "1e-9", "0.001", "0.5"), ONE_LESS],
    st.one_of(_powers(-300, -0.001), st.floats(0, 1, exclude_max=True)),
)
COUNTS = _values([0, 1, 2, 50, 10**4, 10**12], st.integers(0, 10**5))
RHO = _values(_exactly("1e-300", "1e-30", "1e-12", "0.001", "0.5", "10", "1e6"), _powers(-30, 6))
CONFIDENCE = _values([0.95, 0.5, 0.99, 0.999999], st.floats(0.01, 0.9999))
SCALE = _values(_exactly("0.01", "0.5", "1", "20/3", "1000", "1e9", "1e18"), _powers(-2, 12).map(Fraction))
SQUARED = _values(_exactly("1/100", "1/4", "1", "33.39", "2500", "2e8", "1e16"), _powers(-2, 3.3).map(Fraction))
STEPS = _values([0, 1, 2, 10, 100], st.integers(0, 100))
NOISE = Values(["laplace", "gaussian"], st.sampled_from(["laplace", "gaussian"]))
SHARES = Values([(Fraction(1),), (Fraction(1, 3),) * 3, (Fraction(1, 10**6), 1 - Fraction(1, 10**6))],
                st.lists(st.integers(1, 1000), min_size=1, max_size=4).map(
                    lambda parts: tuple(Fraction(part, sum(parts)) for part in parts)))  # fmt: skip
SOME_EPSILONS = _values(_exactly("0.01", "0.1", "1", "700"), EPSILON.drawn)
SOME_DELTAS = _values(_exactly("0", "1e-300", "1e-9"), DELTA.drawn)
SOME_WEIGHTS = _values(_exactly("1e-300", "1e-9", "0.001"), WEIGHT.drawn)
RATE = _values(_exactly("0.001", "0.01497", "0.11", "0.37", "0.99"), st.floats(0.0005, 0.9995))
TRIALS = _values([1, 20, 60, 400], st.integers(1, 300))
LEVEL = _values(_exactly("1e-6", "0.003", "0.05", "0.47"), _powers(-9, -0.2))


def kl_steps(grid: kl_sums.SumGrid) -> tuple[Fraction, Fraction, Fraction]:
    """Return the sensitivities of the three sums in rows, nats and squares."""
    step = grid.sensitivities
    return Fraction(step.rows), Fraction(step.logs, grid.log_steps), step.squares / grid.square_steps


def has_passing(limit: Any, rows: int, alpha: Any) -> bool:
    """Return whether zero successes pass."""
    return rows * math.log1p(-float(limit)) < math.log(float(alpha))


def has_refuting(rate: Any, rows: int, alpha: Any) -> bool:
    """Return whether all successes refute."""
    return rows * math.log(float(rate)) < math.log(float(alpha))


def amplified(eps: Real, beta: Real) -> Real:
    return mp.log1p(beta * mp.expm1(eps))


def success(n: int, w: Real, eps: Real, delta: Real, beta: Real = 1) -> Real:
    return min(mp.mpf(1), n * ((mp.expm1(eps) + beta) * w + delta))


def baseline(n: int, w: Real) -> Real:
    return n * w * (1 - w) ** (n - 1)


def point_of(point: pso_curve.WeightBounds) -> tuple[float, float, float, float]:
    """Return both bounds, and the first relative to the baseline."""
    return point.bound, point.in_sample, point.ratio, point.excess


def curve_at(n: int, w: Real, eps: Real, delta: Real, beta: Real) -> tuple[Real, ...]:
    alone, here = baseline(n, w), success(n, w, eps, delta)
    return here, success(n, w, eps, delta, beta), here / alone, here - alone


def grouped(eps: Real, delta: Real, m: int) -> tuple[Real, Real]:
    factor = mp.expm1(m * eps) / mp.expm1(eps) if eps else mp.mpf(m)
    return m * eps, min(mp.mpf(1), delta * factor)


def shared_share(beta: Real, eps: Real, side: Real) -> Real:
    x = (mp.exp(eps) / (1 - beta) - 1) * mp.exp(-2 * side)
    return x / (1 + x)


def precision(eps: Real, delta: Real, tpr: Real, skew: Real) -> Real:
    return tpr / (tpr + skew * max(mp.mpf(0), tpr - delta) * mp.exp(-eps))


def spend_of(noise: str, spend: Real, inner: Real) -> Real:
    return truth.zcdp_epsilon(spend, inner) if noise == "gaussian" else spend


def within(found: tables_plan.TablesBudget, eps: Real, delta: Real, noise: str, beta: Real) -> bool:
    """Return whether the noise's spend, converted and amplified, is within the budget and the stated guarantee."""
    inner = min(delta / beta, 1 - mp.mpf(10) ** -9) if noise == "gaussian" else mp.mpf(0)
    costs = amplified(spend_of(noise, real(found.spend), inner), beta)
    return bool(
        costs <= real(found.epsilon) * (1 + NEAR) and found.epsilon <= eps and inner * beta <= delta * (1 + NEAR)
    )


def more_spend(found: tables_plan.TablesBudget) -> tables_plan.TablesBudget:
    more = found.spend * (1 + Fraction(1, 10**6))
    return tables_plan.TablesBudget(found.noise, more, found.beta, found.epsilon, found.delta)


NEARLY = 1 - Fraction(1, 10**12)
"""Slack for power, which is reached up to rounding and bounds nothing."""


def refutes(found: tuple[int, int], limit: Real, true: Real, alpha: Real, power: Real) -> bool:
    rows, s = found
    return bool(truth.tail(s, rows, limit) <= alpha * (1 + NEAR) and truth.tail(s, rows, true) >= power * real(NEARLY))


def passes(rows: int, limit: Real, true: Real, alpha: Real, power: Real) -> bool:
    s = int(rows * limit)
    while s >= 0 and truth.below(s, rows, limit) > alpha * (1 + NEAR):
        s -= 1
    return bool(s >= 0 and truth.below(s, rows, true) >= power * real(NEARLY))


def limits_hold(found: tuple[float, float], s: int, n: int, alpha: Real) -> bool:
    low, high = map(real, found)
    above = s == 0 or truth.tail(s, n, low) <= alpha
    return bool(above and (s == n or n == 0 or truth.below(s, n, high) <= alpha))


def rates_hold(found: attacks.Rates, hits: int, members: int, false: int, others: int, alpha: Real) -> bool:
    return limits_hold(found.tpr, hits, members, alpha / 2) and limits_hold(found.fpr, false, others, alpha / 2)


def precision_ends(one: Real, other: Real, first: Real, second: Real, skew: Real) -> tuple[Real, Real]:
    least, most, fewest, greatest = min(one, other), max(one, other), min(first, second), max(first, second)
    return least / (least + skew * greatest), most / (most + skew * fewest)


def shows_precision(found: int, wanted: Real, hits: Real, skew: Real, alpha: Real) -> bool:
    """Return whether this many non-members without a claim refute a false positive rate that permits no more than the
    precision."""
    limit = min(mp.mpf(1), hits * (1 - wanted) / (wanted * skew))
    return bool(limit == 1 or found * mp.log1p(-limit) <= mp.log(alpha * (1 + NEAR)))


def excess_holds(found: float | None, base: Real, rows: int, alpha: Real, power: Real) -> bool:
    """Return whether, at this excess over the baseline, the least refuting number has the power; None is right if
    nothing refutes the baseline."""
    s = truth.refuting(base, rows, alpha)
    if found is None or s is None:
        return found is s
    return bool(truth.tail(s, rows, min(mp.mpf(1), base + real(found))) >= power)


def alone_holds(found: Fraction, kind: type[Any], parameter: Real) -> bool:
    """Return whether this many standard errors contain one noise with 95 % probability."""
    if kind is DiscreteLaplace:
        variance = 2 * mp.exp(-1 / parameter) / mp.expm1(-1 / parameter) ** 2
    else:
        variance = truth.gaussian_variance(parameter)
    q = int(mp.floor(real(found) * mp.sqrt(variance)))
    missed = truth.laplace_tail(parameter, q) if kind is DiscreteLaplace else truth.gaussian_tail(parameter, q)
    return bool(1 - 2 * missed >= real(Fraction(95, 100)))


def covers(tail: Callable[..., Real]) -> Callable[..., bool]:
    return lambda q, parameter, confidence: q >= 0 and 1 - 2 * tail(parameter, q) >= confidence


def replaced(epsilon: Any, delta: Any, beta: Any, rows: int) -> tuple[Fraction, Fraction]:
    parts = (Part("mechanism", Fraction(epsilon), Fraction(delta)), Part("gate", Fraction(1, 7), Fraction(0)))
    found = Guarantee.of(parts).replace_one_form(beta, rows=rows)
    return found.epsilon, found.delta


def replaced_truth(eps: Real, delta: Real, beta: Real, rows: int) -> tuple[Real, Real]:
    """Row by row: each row has the guarantee of `per_row` (rounded down, by 1e-12) and costs -ln(1 - beta) more, m of
    them together."""
    step, each = -mp.log1p(-beta), eps / rows
    granted = mp.mpf(1) if rows == 1 else mp.expm1(each) / mp.expm1(eps) * (1 - mp.mpf("2e-12"))
    share = delta * granted
    return eps + rows * step + 2 * mp.mpf(1) / 7, grouped(each + step, share, rows)[1]


def _part(epsilon: Any, delta: Any) -> Guarantee:
    return Guarantee.of((Part("a", Fraction(epsilon), Fraction(delta)), Part("b", Fraction(1, 3), Fraction(0))))


def _numbers(found: Guarantee) -> tuple[Fraction, Fraction]:
    return found.epsilon, found.delta


def _speaks(k: int, beta: Any, epsilon: Any, *_: Any) -> bool:
    """Return whether Theorem 5 applies."""
    return float(epsilon) >= -math.log1p(-float(beta)) * (1 + 1e-9)


def _shared(k: int, beta: Any, epsilon: Any, side: Any, *_: Any) -> bool:
    rest = float(amplified(real(side), real(beta)))
    return _speaks(k, beta, epsilon) and float(epsilon) > rest * (1 + 1e-9)


MORE = 1 + Fraction(1, 10**8)


LINES: dict[str, Line | Solver] = {
    "accounting.amplification.amplify": Line(
        amplification.amplify, ("up", "up"), lambda e, d, b: (amplified(e, b), d * b),
        (ANY_EPSILON, DELTA, ANY_BETA), 1e-11),
    "accounting.amplification.amplified_again": Line(
        amplification.amplified_again, ("up",), amplified, (ANY_EPSILON, ANY_BETA), 1e-11),
    "accounting.amplification.amplified": Line(
        amplification.amplified, ("near",), amplified, (_floats(ANY_EPSILON), _floats(BETA)), 2e-12),
    "accounting.audit_power.passing_successes": Line(
        audit_power.passing_successes, ("near",), truth.passing, (RATE, TRIALS, LEVEL), 0, has_passing),
    "accounting.audit_power.refuting_successes": Line(
        audit_power.refuting_successes, ("near",), truth.refuting, (RATE, TRIALS, LEVEL), 0, has_refuting),
    "accounting.audit_power.chance_to_pass": Line(
        audit_power.chance_to_pass, ("down",), truth.chance_to_pass, (RATE, RATE, TRIALS, LEVEL), 1e-9),
    "accounting.audit_power.chance_to_refute": Line(
        audit_power.chance_to_refute, ("down",), truth.chance_to_refute, (RATE, RATE, TRIALS, LEVEL), 1e-9),
    "accounting.audit_power.detectable_excess": Solver(
        audit_power.detectable_excess, excess_holds, lambda e: e and e * (1 - 1e-6) - 1e-11,
        (RATE, TRIALS, LEVEL, CONFIDENCE)),  # a difference of rates: that of one trial can be exactly 0
    "accounting.audit_power.binomial_p": Line(
        audit_power.binomial_p, ("up",), truth.tail, (_values([0, 1, 7, 40], st.integers(0, 40)), TRIALS, RATE), 1e-9,
        lambda s, rows, _: s <= rows),
    "accounting.audit_power.holm": Line(
        lambda *p: audit_power.holm(p), ("up",) * 3,
        lambda *p: tuple(truth.holm(p)), (DELTA, SMALL_DELTA, RATE), 1e-15),
    "accounting.binomial.log_mass": Line(
        lambda n, k, p: binomial.log_mass(min(k, n), n - min(k, n), p, 1 - p), ("near",),
        lambda n, k, p: truth.log_mass(min(k, n), n, p), (ROWS, K, _floats(BETA)), 1e-11),
    "accounting.binomial.log_tail": Line(
        lambda k, n, p: binomial.log_tail(k, n, p, 1 - p), ("near",),
        lambda k, n, p: truth.log_tail(k, n, p), (K, ROWS, _floats(BETA)), 1e-11, lambda k, n, p: k <= n),
    "accounting.binomial.log_weighted_tail": Line(
        lambda k, n, p: binomial.log_weighted_tail(k, n - k, p, 1 - p, 0.5, 1.0), ("near",),
        lambda k, n, p: mp.log(truth.upwards(k, n, p, lambda j: j - k + mp.mpf(1) / 2)),
        (K, ROWS, _floats(BETA)), 1e-11, lambda k, n, p: n * p <= k <= n),
    "accounting.binomial.log_chernoff": Line(
        binomial.log_chernoff, ("near",), truth.log_chernoff, (ROWS, _floats(BETA), _floats(BETA)), 1e-11),
    "accounting.discrete_laws.DiscreteLaplace.variance": Line(
        lambda s: DiscreteLaplace(s).variance, ("near",),
        lambda s: 2 * mp.exp(-1 / s) / mp.expm1(-1 / s) ** 2, (SCALE,), 1e-12),
    "accounting.discrete_laws.DiscreteLaplace.mass": Line(
        lambda s, x: DiscreteLaplace(s).mass(x), ("near",),
        lambda s, x: mp.tanh(1 / s / 2) * mp.exp(-x / s), (SCALE, STEPS), 1e-12, lambda s, x: x / s < 700),
    "accounting.discrete_laws.DiscreteLaplace.tail": Line(
        lambda s, x: DiscreteLaplace(s).tail(x), ("near",), truth.laplace_tail, (SCALE, STEPS), 1e-12,
        lambda s, x: x / s < 600),
    "accounting.discrete_laws.DiscreteLaplace.coverage": Line(
        lambda s, x: DiscreteLaplace(s).coverage(x), ("near",), lambda s, x: 1 - 2 * truth.laplace_tail(s, x),
        (SCALE, STEPS), 1e-9, lambda s, x: s < 10**6),
    "accounting.discrete_laws.DiscreteLaplace.half_width": Solver(
        lambda s, c: DiscreteLaplace(s).half_width(c), covers(truth.laplace_tail), lambda q: q - max(1, q >> 28),
        (SCALE, CONFIDENCE)),
    "accounting.discrete_laws.DiscreteLaplace.continuous_half_width": Line(
        lambda s, c: DiscreteLaplace(s).continuous_half_width(c), ("up",), lambda s, c: -s * mp.log1p(-c),
        (SCALE, CONFIDENCE), 1e-12),
    "accounting.discrete_laws.DiscreteGaussian.continuous_half_width": Line(
        lambda s, c: DiscreteGaussian(s).continuous_half_width(c), ("up",),
        lambda s, c: mp.sqrt(2 * s) * mp.erfinv(c), (SQUARED, CONFIDENCE), 1e-12),
    "accounting.discrete_laws.DiscreteGaussian.sigma": Line(
        lambda s: DiscreteGaussian(s).sigma, ("near",), mp.sqrt, (SQUARED,), 1e-15),
    "accounting.discrete_laws.DiscreteGaussian.variance": Line(
        lambda s: DiscreteGaussian(s).variance, ("near",), truth.gaussian_variance, (SQUARED,), 1e-12),
    "accounting.discrete_laws.DiscreteGaussian.mass": Line(
        lambda s, x: DiscreteGaussian(s).mass(x), ("near",),
        lambda s, x: mp.exp(-mp.mpf(x) * x / (2 * s)) / (1 + 2 * truth.gaussian_sum(s, 1)), (SQUARED, STEPS), 1e-12,
        lambda s, x: x * x / s < 1300),
    "accounting.discrete_laws.DiscreteGaussian.tail": Line(
        lambda s, x: DiscreteGaussian(s).tail(x), ("near",), truth.gaussian_tail, (SQUARED, STEPS), 1e-3,
        lambda s, x: x * x / s < 1000),
    "accounting.discrete_laws.DiscreteGaussian.coverage": Line(
        lambda s, x: DiscreteGaussian(s).coverage(x), ("near",), lambda s, x: 1 - 2 * truth.gaussian_tail(s, x),
        (SQUARED, STEPS), 1e-9, lambda s, x: s < 10**4),
    "accounting.discrete_laws.DiscreteGaussian.half_width": Solver(
        lambda s, c: DiscreteGaussian(s).half_width(c), covers(truth.gaussian_tail), lambda q: q - 1 - (q >> 7),
        (SQUARED, CONFIDENCE)),
    "accounting.bets.mean_limits": Solver(
        bets.mean_limits, lambda f, x, a: betting(f, [(each, 1.0, 0.0) for each in x], a, mean=True), nearer,
        (SHARES, ALPHA)),
    "accounting.bets.ratio_limits": Solver(
        lambda x, a: bets.ratio_limits(_at(x, 0), _at(x, 1), a),
        lambda f, x, a: betting(f, [(right, whole, 0.0) for right, whole, _ in x], a, mean=True), nearer,
        (TRIPLES, ALPHA)),
    "accounting.bets.improvement_limits": Solver(
        lambda x, a: bets.improvement_limits(_at(x, 0), _at(x, 2), _at(x, 1), a),
        lambda f, x, a: betting(f, x, a, mean=False), nearer, (TRIPLES, ALPHA)),
    "accounting.bets.difference_limits": Solver(
        lambda x, a: bets.difference_limits(_at(x, 0), _at(x, 2), _at(x, 1), a),
        lambda f, x, a: betting(
            ((f[0] + 1) / 2, (f[1] + 1) / 2), [((r - b + p) / 2, p, 0.0) for r, p, b in x], a, mean=True),
        lambda f: None if f[0] == -1 else nearer(f), (TRIPLES, ALPHA)),
    "accounting.bets.improvement_p": Line(
        lambda x: bets.improvement_p(_at(x, 0), _at(x, 2), _at(x, 1)), ("up",),
        lambda x: min(mp.mpf(1), 1 / truth.capital([mp.mpf(a) - mp.mpf(b) for a, _, b in x])), (TRIPLES,), 1e-8),
    "accounting.intervals.clopper_pearson": Solver(
        intervals.clopper_pearson, limits_hold, lambda f: (f[0] * (1 + 1e-6), f[1] * (1 - 1e-6)),
        (_values([0, 1, 3, 40, 1000], st.integers(0, 1000)), _values([0, 1, 3, 40, 1000, 10**6, 10**12],
         st.integers(1, 10**5)), SMALL_DELTA), lambda s, n, a: s <= n and n),
    "accounting.membership.greatest_precision": Line(
        membership.greatest_precision, ("up",), precision,
        (ANY_EPSILON, DELTA, BETA, _values([0, 1, Fraction(7, 2), 10**15], st.fractions(0, 10**6))), 1e-9,
        lambda e, d, t, s: d < t or s == 0),
    "accounting.membership.least_precision": Line(
        lambda e, d, t, s: membership.least_precision([(e, d), (2 * e, d / 2)], t, s), ("up",),
        lambda e, d, t, s: min(precision(e, d, t, s), precision(2 * e, d / 2, t, s)),
        (_values([0, Fraction(1, 10), 1, 5], st.fractions(0, 40)), DELTA, BETA,
         _values([0, 1, Fraction(7, 2), 10**15], st.fractions(0, 10**6))), 1e-9, lambda e, d, t, s: d < t or s == 0),
    "accounting.noise_sums.log_concave_quantile": Line(
        lambda miss: float(noise_sums.log_concave_quantile(np.array([miss]))[0]), ("up",), truth.cut_exponentials,
        (_values([1e-9, 0.001, 0.01, 0.05, 0.2], _powers(-12, -0.5)),), 1e-2),
    "accounting.noise_sums.width": Solver(
        lambda kind, parameter: noise_sums.width([kind(parameter)], 3), alone_holds, lambda _: None,
        (Values([DiscreteLaplace, DiscreteGaussian], st.sampled_from([DiscreteLaplace, DiscreteGaussian])),
         _values(_exactly("0.5", "1", "20/3", "33.39", "2500"), _powers(-0.5, 3.3).map(Fraction)))),
    "accounting.numbers.up": Line(numbers.up, ("up",), lambda x: x, (DELTA,), 1e-15),
    "accounting.numbers.down": Line(numbers.down, ("down",), lambda x: x, (DELTA,), 1e-15),
    "accounting.numbers.log_rest": Line(numbers.log_rest, ("near",), lambda b: mp.log1p(-b), (BETA,), 1e-15),
    "accounting.numbers.raised": Line(numbers.raised, ("up",), lambda x: x, (_floats(DELTA),), 1e-14),
    "accounting.numbers.exp_up": Line(
        numbers.exp_up, ("up",), mp.exp, (_values([-1e9, -745.2, -700.0, -1e-12, 0.0, 709.0],
                                                  st.floats(-745, 709)),), None),
    "accounting.person.per_row": Line(
        person.per_row, ("down", "down"),
        lambda e, d, m: (e / m, d * mp.expm1(e / m) / mp.expm1(e)), (EPSILON, DELTA, M), None),
    "accounting.pso.baseline": Line(
        pso.baseline, ("near",), baseline, (PEOPLE, WEIGHT), 1e-9, lambda n, w: n * w < 300),
    "accounting.pso.bound": Line(pso.bound, ("up",), success, (PEOPLE, WEIGHT, ANY_EPSILON, DELTA), None),
    "accounting.pso.bound_in_sample": Line(
        pso.bound_in_sample, ("up",), success, (PEOPLE, WEIGHT, EPSILON, DELTA, BETA), 1e-9),
    "accounting.pso.theorem_6_2": Line(
        pso.theorem_6_2, ("up", "up"), lambda n, w, e, d: (e - (n - 1) * mp.log1p(-w), n * d),
        (PEOPLE, WEIGHT, ANY_EPSILON, DELTA), None),
    "accounting.pso.counts_bound": Line(
        lambda n, w, c, apart: pso.counts_bound(n, w, c, disjoint=bool(apart)), ("up",),
        lambda n, w, c, apart: min(mp.mpf(1), truth.answers(n, c, apart) * baseline(n, w)),
        (PEOPLE, WEIGHT, COUNTS, Values([0, 1], st.integers(0, 1))), None),
    "accounting.pso.most_counts": Solver(
        pso.most_counts, lambda c, n, w, t: c == 0 or mp.mpf(n + 1) ** c * baseline(n, w) <= t,
        lambda c: c + 1 + (c >> 40), (PEOPLE, WEIGHT, SMALL_DELTA),
        lambda n, w, t: w > 0 and baseline(n, real(w)) < real(t) * (1 - 1e-6), limit=2),
    "accounting.pso_baselines.best_baseline": Line(
        pso_baselines.best_baseline, ("up",), lambda n, w: baseline(n, min(w, mp.mpf(1) / n)), (PEOPLE, WEIGHT), 1e-9),
    "accounting.pso_baselines.baseline_up_to": Line(
        pso_baselines.baseline_up_to, ("up",),
        lambda n, w: max(baseline(rows, min(w, mp.mpf(1) / rows)) for rows in range(1, n + 1)),
        (_values([1, 2, 3, 40], st.integers(1, 60)), _values([*WEIGHT.fixed, *_exactly("0.1", "0.34", "0.4", "1")],
         WEIGHT.drawn)), 1e-9),
    "accounting.pso_baselines.finite_baseline": Line(
        pso_baselines.finite_baseline, ("up",), truth.finite_baseline,
        (_values([1, 2, 3, 9, 25], st.integers(1, 25)), _values([1, 2, 11, 25], st.integers(1, 25)),
         _values([*_exactly("0", "1e-300", "0.001", "0.04", "1/11", "0.2", "0.61", "1")], st.floats(0, 1))), 1e-12,
        lambda n, everyone, _: n <= everyone),
    "accounting.pso_curve.curve": Line(
        lambda at, n, e, d, b: point_of(pso_curve.curve(n, [(e, d)], b)[at]), ("up",) * 4,
        lambda at, n, e, d, b: curve_at(n, real(pso_curve.SHARES[at]) / n, e, d, b),
        (Values([0, 3, 6], st.integers(0, 6)), PEOPLE, SOME_EPSILONS, SOME_DELTAS, ANY_BETA), None),
    "accounting.safe_k.least_k": Solver(
        safe_k.least_k, lambda k, e, d, b: truth.safe_k_delta(k, b, e) <= d * (1 + NEAR), lambda k: k - 1 or None,
        (_values(EPSILON.fixed, _powers(-1, 2)), _values(_exactly("1e-300", "1e-30", "1e-9", "0.001", "0.5"),
         _powers(-60, -0.1)), BETA), lambda e, d, b: b < 0.8 and (e > 0.05 or (e > 1e-5 and b < 1e-5)), limit=1),
    "accounting.safe_k.greatest_beta": Solver(
        safe_k.greatest_beta, lambda b, e, d, k: truth.safe_k_delta(k, real(b), e) <= d * (1 + NEAR),
        lambda b: min(b * (1 + 1e-8), 1.0), (EPSILON, SMALL_DELTA, SMALL_K)),
    "accounting.safe_k.least_epsilon": Solver(
        safe_k.least_epsilon, lambda e, d, k, b: truth.safe_k_delta(k, b, real(e)) <= d,
        lambda e: e * (1 - 1e-8) or None, (SMALL_DELTA, SMALL_K, BETA),
        lambda d, k, b: b**k < d * (1 - Fraction(1, 100))),
    "accounting.safe_k_exact.gamma": Line(
        safe_k_exact.gamma, ("near",), lambda e, b: truth.share(e, b), (ANY_EPSILON, ANY_BETA), 1e-13),
    "accounting.safe_k_exact.gamma_of": Line(
        safe_k_exact.gamma_of, ("near",), truth.share, (_floats(ANY_EPSILON), _floats(ANY_BETA)), 1e-13),
    "accounting.safe_k_exact.exact_delta": Line(
        safe_k_exact.exact_delta, ("up",), truth.safe_k_delta, (K, ANY_BETA, EPSILON), None),
    "accounting.safe_k_exact.delta_of": Line(
        safe_k_exact.delta_of, ("up",), truth.safe_k_delta, (SMALL_K, _floats(ANY_BETA), _floats(EPSILON)), None),
    "accounting.safe_k_exact.log_exact_delta": Line(
        safe_k_exact.log_exact_delta, ("up",), lambda *a: mp.log(truth.safe_k_delta(*a)), (K, ANY_BETA, EPSILON), None),
    "accounting.safe_k_exact.log_delta": Line(
        safe_k_exact.log_delta, ("up",), lambda *a: mp.log(truth.safe_k_delta(*a)),
        (SMALL_K, _floats(ANY_BETA), _floats(EPSILON)), None),
    "accounting.safe_k_exact.delta_at": Line(
        safe_k_exact.delta_at, ("up", "up"), lambda n, *a: (truth.forward(n, *a), truth.reverse(n, *a)),
        (ROWS, SMALL_K, BETA, EPSILON), None),
    "accounting.safe_k_exact.log_binomial_tail": Line(
        safe_k_exact.log_binomial_tail, ("near",), truth.log_tail, (K, ROWS, BETA), 1e-11,
        lambda t, n, p: t <= n),
    "accounting.safe_k_same_sample.same_sample_delta": Line(
        safe_k_same_sample.same_sample_delta, ("up",),
        lambda k, b, e, s, many: min(mp.mpf(1), many * truth.greatest_tail(k, b, shared_share(b, e, s))),
        (SMALL_K, BETA, EPSILON, EPSILON, _values([1, 36, 10**6], st.integers(1, 10**4))), None, _shared),
    "accounting.safe_k_theorem5.theorem5_least_epsilon": Line(
        safe_k_theorem5.theorem5_least_epsilon, ("up",), lambda b: -mp.log1p(-b), (BETA,), 1e-14),
    "accounting.safe_k_theorem5.theorem5_greatest_beta": Line(
        safe_k_theorem5.theorem5_greatest_beta, ("down",), lambda e: -mp.expm1(-e), (ANY_EPSILON,), 1e-14),
    "accounting.safe_k_theorem5.theorem5_delta": Line(
        safe_k_theorem5.theorem5_delta, ("up",), lambda k, b, e: truth.greatest_tail(k, b, truth.share(e, b)),
        (SMALL_K, BETA, EPSILON), None, _speaks),
    "accounting.safe_k_theorem5.chernoff_delta": Line(
        safe_k_theorem5.chernoff_delta, ("up",), lambda k, b, e, _: truth.greatest_tail(k, b, truth.share(e, b)),
        (SMALL_K, BETA, EPSILON, Values(["paper", "kl"], st.sampled_from(["paper", "kl"]))), None, _speaks),
    "accounting.safe_k_theorem5.theorem5_arguments": Line(
        lambda k, b, e: safe_k_theorem5.theorem5_arguments(k, b, e)[1:], ("up", "down"), lambda k, b, e: (b, e),
        (SMALL_K, BETA, EPSILON), 1e-15, _speaks),
    "accounting.safe_k_theorem5.log_theorem5": Line(
        safe_k_theorem5.log_theorem5, ("up",), lambda k, b, e: mp.log(truth.greatest_tail(k, b, truth.share(e, b))),
        (SMALL_K, _floats(BETA), _floats(EPSILON)), None, _speaks),
    "accounting.safe_k_theorem5.log_theorem5_up_to": Line(
        safe_k_theorem5.log_theorem5_up_to, ("up",),
        lambda k, b, e: max(mp.log(truth.greatest_tail(k, x * b, truth.share(e, x * b), 3)) for x in (1, real("0.97"))),
        (SMALL_K, _floats(BETA), _floats(EPSILON)), None, _speaks),
    "accounting.safe_k_theorem5.log_greatest_tail": Line(
        lambda k, b, part: (1 - 1e-12) * safe_k_theorem5.log_greatest_tail(k, b, part) + 1e-12, ("up",),
        lambda *a: mp.log(truth.greatest_tail(*a)), (SMALL_K, _floats(BETA), _floats(BETA)), None),
    "accounting.safe_k_variants.person_coin_delta": Line(
        safe_k_variants.person_coin_delta, ("up",),
        lambda k, b, e, m, n: max((truth.coin_delta(size, k, b, e, m) for size in range(k, n + 1)), default=mp.mpf(0)),
        (_values([1, 2, 5], st.integers(1, 6)), BETA, EPSILON, FEW, _values([1, 5, 6], st.integers(1, 6))), None),
    "accounting.safe_k_variants.delta_sizes_published": Line(
        safe_k_variants.delta_sizes_published, ("up",), lambda k, b, e: b, (K, ANY_BETA, ANY_EPSILON), 1e-15),
    "accounting.sensitivity.expected_kept_rows": Line(
        sensitivity.expected_kept_rows, ("up",), truth.kept_step, (K, ANY_BETA), 1e-9),
    "accounting.tables_plan.Query.sensitivity": Line(
        lambda c, m: tables_plan.Query("q", 1, c).sensitivity(m), ("up",), lambda c, m: mp.mpf(c) * m, (M, M), 1e-15),
    "accounting.tables_plan.split_budget": Line(
        lambda e, noise, c: float(sum(tables_plan.split_budget(
            [tables_plan.Query(str(i), i * c) for i in (1, 2, 7)], Fraction(e), noise, "least-variance"))),
        ("near",), lambda e, noise, c: e, (EPSILON, NOISE, M), 1e-15),
    "accounting.tables_plan.law_of": Line(
        lambda c, e, m, noise: _parameter(tables_plan.law_of(tables_plan.Query("q", 1, c), Fraction(e), m, noise)),
        ("up",),
        lambda c, e, m, noise: c * m / e if noise == "laplace" else (mp.mpf(c) * m) ** 2 / (2 * e),
        (M, EPSILON, M, NOISE), 1e-15),
    "accounting.tables_plan.tables_budget": Solver(
        tables_plan.tables_budget, within, more_spend, (EPSILON, SMALL_DELTA, NOISE, ANY_BETA),
        lambda e, d, noise, b: 0 < e <= 700 and (noise == "laplace" or e > 1e-3)),
    "accounting.tables_plan.stated_guarantee": Line(
        partial(tables_plan.stated_guarantee, again=True), ("up", "up"),  # the less of two
        lambda noise, spend, inner, b: (amplified(spend_of(noise, spend, inner), b), inner * b),
        (NOISE, RHO, SMALL_DELTA, ANY_BETA), None, lambda noise, rho, d, b: rho < 10**5),
    "accounting.trials.trials_to_certify": Solver(
        trials.trials_to_certify, lambda t, limit, a: t * mp.log1p(-limit) <= mp.log(a * (1 + NEAR)),
        lambda t: t - 1 - (t >> 40) or None, (WEIGHT, SMALL_DELTA), lambda w, d: 1e-12 < w < 1),
    "accounting.trials.trials_to_refute": Solver(
        trials.trials_to_refute, refutes, lambda _: None,
        (_values(_exactly("0.001", "0.1", "0.5"), st.floats(0.001, 0.5)), _values(_exactly("0.6", "0.9", "1"),
         st.floats(0.6, 1)), _values(_exactly("1e-9", "0.05", "0.5"), _powers(-9, -0.3)), CONFIDENCE)),
    "accounting.trials.trials_to_pass": Solver(
        trials.trials_to_pass, passes, lambda _: None,
        (_values(_exactly("0.1", "0.5", "0.9"), st.floats(0.1, 0.9)), _values(_exactly("0", "1e-9", "0.03"),
         st.floats(0, 0.08)), _values(_exactly("1e-9", "0.05", "0.5"), _powers(-9, -0.3)), CONFIDENCE)),
    "accounting.trials.trials_to_keep_passing": Solver(
        trials.trials_to_keep_passing, passes, lambda _: None,
        (_values(_exactly("0.1", "0.5", "0.9"), st.floats(0.1, 0.9)), _values(_exactly("0", "1e-9", "0.03"),
         st.floats(0, 0.08)), _values(_exactly("1e-9", "0.05", "0.5"), _powers(-9, -0.3)), CONFIDENCE)),
    "accounting.zcdp.squared_sigma": Line(
        zcdp.squared_sigma, ("up",), lambda m, rho: m * m / (2 * rho), (M, RHO), 1e-15),
    "accounting.zcdp.zcdp_epsilon": Line(
        zcdp.zcdp_epsilon, ("up",), truth.zcdp_epsilon, (RHO, SMALL_DELTA), None),
    "accounting.zcdp.greatest_rho": Solver(
        zcdp.greatest_rho, lambda r, e, d: truth.zcdp_epsilon(real(r), d) <= e, lambda r: r * MORE,
        (EPSILON, SMALL_DELTA), lambda e, d: e > 1e-3),
    # guarantees
    "guarantee.replace_one": Line(
        guarantee.replace_one, ("up", "up"), lambda e, d, b: (e - mp.log1p(-b), d), (ANY_EPSILON, DELTA, BETA), None),
    "guarantee.group": Line(guarantee.group, ("up", "up"), grouped, (EPSILON, DELTA, M), None),
    "guarantee.Guarantee.of": Line(
        lambda e, d: _numbers(_part(e, d)), ("up", "up"), lambda e, d: (e + mp.mpf(1) / 3, d), (EPSILON, DELTA), 1e-15),
    "guarantee.Guarantee.factor": Line(
        lambda e: float(_part(e, 0).factor or 0), ("up",), lambda e: mp.exp(e + mp.mpf(1) / 3), (EPSILON,), 1e-12,
        lambda e: e < 299),
    "guarantee.Guarantee.replace_one_form": Line(
        replaced, ("up", "up"), replaced_truth, (EPSILON, DELTA, BETA, M), None, lambda e, d, b, m: e < 700),
    # estimates: no bound is printed of them, they stay near
    "risk.inference.precision_improvement": Line(
        inference.precision_improvement, ("near",), lambda a, b: (a - b) / (1 - b), (DELTA, BETA), 1e-15),
    "risk.retention.expected_retained_share": Line(
        lambda shares, n, k, b: retention.expected_retained_share(np.array(shares, dtype=float), n, k, b), ("near",),
        lambda shares, n, k, b: mp.fsum(real(p) * truth.tail(k - 1, n - 1, b * real(p)) for p in shares),
        (SHARES, ROWS, FEW, ANY_BETA), 1e-9),
    "risk.retention.retention_probabilities": Line(
        lambda shares, n, k, b: tuple(retention.retention_probabilities(np.array(shares[:1], dtype=float), n, k, b)),
        ("near",), lambda shares, n, k, b: (truth.tail(k - 1, n - 1, b * real(shares[0])),),
        (SHARES, ROWS, FEW, ANY_BETA), 1e-9),
    "risk.kl_sums.SumGrid.sensitivities": Line(
        lambda n, m: kl_steps(kl_sums.SumGrid(n, m)), ("up", "up", "up"), truth.kl_steps, (K, M), 0.02),
    "risk.membership.precision": Line(
        attacks.precision, ("near",), lambda t, f, s: t / (t + s * f), (BETA, DELTA, PEOPLE), 1e-15),
    "risk.membership.recall": Line(
        lambda t, m: attacks.recall(min(t, m), m), ("near",), lambda t, m: mp.mpf(min(t, m)) / m, (ROWS, ROWS), 1e-15),
    "risk.membership.base_rate": Line(attacks.base_rate, ("near",), lambda s: 1 / (1 + s), (PEOPLE,), 1e-15),
    "risk.membership.Rates.precision": Line(
        lambda t, more, f, other, s: attacks.Rates(tuple(sorted((t, more))), tuple(sorted((f, other)))).precision(s),
        ("down", "up"), precision_ends, (*[_floats(BETA)] * 2, *[_floats(DELTA)] * 2, PEOPLE), 1e-15),
    "risk.membership.pooled_limits": Solver(
        attacks.pooled_limits, rates_hold, lambda _: None,
        (_values([0, 1, 3, 40], st.integers(0, 40)), _values([40, 1000, 10**6], st.integers(40, 10**4)),
         _values([0, 1, 40], st.integers(0, 40)), _values([40, 10**4], st.integers(40, 10**5)), SMALL_DELTA)),
    "risk.membership.non_members_needed": Solver(
        attacks.non_members_needed, shows_precision, lambda t: t - 1 - (t >> 40) or None,
        (_values(_exactly("0.01", "0.5", "0.95"), st.floats(0.001, 0.999)), _values(_exactly("0.0003", "0.1", "1"),
         _powers(-6, 0)), _values([1, 30, 240, 2400], st.integers(1, 10**4)), SMALL_DELTA)),
    "risk.singletons.expected": Line(
        lambda shares, n: singletons.expected(singletons.Bins.of(shares), n), ("near",),
        lambda shares, n: truth.singletons([real(p) for p in shares], n), (SHARES, ROWS), 1e-9,
        lambda shares, n: min(shares) * n < 300),
}  # fmt: skip


def _parameter(law: Any) -> Fraction:
    found: Fraction = law.scale if isinstance(law, DiscreteLaplace) else law.squared_sigma
    return found


ELSEWHERE = {
    "risk.ratio_limits.MarginBoxes.greatest": "tests/risk/test_ratio_limits.py, beside closed forms and true ratios",
    "accounting.bets.mean_p": "tests/accounting/test_bets.py, by enumeration",
    "accounting.bets.people_improvement_limits": "tests/accounting/test_bets.py, by coverage",
    "accounting.bets.PairedGuesses.kinds": "tests/accounting/test_bets.py, by the coverage of its limits",
    "accounting.bets.SeparateGuesses.kinds": "tests/accounting/test_bets.py, by the coverage of its limits",
    "accounting.binomial.log_masses": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.class_laws.SampledClass.deltas": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.class_laws.SampledClass.knots": "tests/accounting/test_joint.py",
    "accounting.class_laws.SampledClass.renyi": "tests/accounting/test_renyi_parts.py, in 60 digits",
    "accounting.class_laws.SampledClass.slack": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.class_laws.SampledClass.supremum": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.canaries.canary_p": "tests/accounting/test_canaries.py, beside the bound of the paper",
    "accounting.canaries.epsilon_limit": "tests/accounting/test_canaries.py, by its error rate",
    "accounting.residual_noise.residual_change": "tests/accounting/test_residual_noise.py, by enumeration",
    "accounting.residual_noise.residual_factor": "tests/accounting/test_residual_noise.py, by enumeration",
    "accounting.residual_noise.residual_scale": "tests/accounting/test_residual_noise.py, by enumeration",
    "accounting.class_laws.SampledClass.worst_pair": "tests/accounting/test_joint.py, beside the worst class",
    "accounting.dominating_pairs.DominatingPair.delta": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.dominating_pairs.DominatingPair.slack": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.dominating_pairs.DominatingPair.swapped": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.dominating_pairs.both_sides": "tests/accounting/test_joint.py",
    "accounting.dominating_pairs.coarser": "tests/accounting/test_joint.py, beside the finer pair",
    "accounting.dominating_pairs.composed": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.dominating_pairs.from_curve": "tests/accounting/test_joint.py, as part of worst pairs",
    "accounting.dominating_pairs.intervals": "tests/accounting/test_joint.py, as part of the exponential mechanism",
    "accounting.dominating_pairs.lowered": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.joint.JointLaw.delta": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.joint.JointLaw.direction": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.joint.least_epsilon": "tests/accounting/test_joint.py, by figures",
    "accounting.joint.least_between": "tests/accounting/test_joint.py, as part of least_epsilon",
    "accounting.joint.replaced": "tests/accounting/test_joint.py, by enumeration of two classes",
    "accounting.joint_points.stated_points": "tests/accounting/test_noise_laws.py, beside the curve",
    "accounting.joint_points.stated_replacements": "tests/accounting/test_noise_laws.py, beside the curve",
    "accounting.joint_points.target_delta": "tests/accounting/test_noise_laws.py, beside the budget that it plans",
    "accounting.noise_laws.NoiseLaw.is_known": "a condition of the laws; tests/accounting/test_noise_laws.py",
    "accounting.noise_laws.NoiseLaw.name": "a name; tests/accounting/test_noise_laws.py",
    "accounting.noise_laws.NoiseLaw.joint": "tests/accounting/test_noise_laws.py, in 60 digits",
    "accounting.noise_laws.NoiseLaw.pair": "tests/accounting/test_noise_laws.py, in 60 digits",
    "accounting.noise_laws.NoiseLaw.replaced": "tests/mechanisms/tables/test_joint_release.py, by enumeration",
    "accounting.noise_laws.NoiseLaw.scaled": "tests/accounting/test_noise_laws.py, as part of greatest_factor",
    "accounting.noise_laws.greatest_factor": "tests/mechanisms/tables/test_joint_release.py, by enumeration",
    "accounting.part_laws.bounded_range": "tests/accounting/test_joint.py, at all its losses",
    "accounting.part_laws.discrete_gaussian": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.part_laws.gaussians": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.part_laws.laplace": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.part_laws.opaque": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.part_laws.pure": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.part_laws.sampled": "tests/accounting/test_joint_digits.py, in 60 digits",
    "accounting.lifetime.Lifetime.delta": "tests/accounting/test_lifetime.py",
    "accounting.lifetime.Lifetime.keeps": "tests/accounting/test_lifetime.py",
    "accounting.lifetime.Lifetime.used": "tests/accounting/test_lifetime.py",
    "accounting.lifetime.Lifetime.planned": "tests/accounting/test_lifetime.py",
    "accounting.lifetime.Lifetime.points": "tests/accounting/test_lifetime.py",
    "accounting.joint.partitions": "tests/accounting/test_joint.py",
    "accounting.renyi.Divergences.rounded": "tests/accounting/test_renyi.py",
    "accounting.release_series.ReleaseSeries.delta": "tests/accounting/test_series.py, by enumeration",
    "accounting.release_series.ReleaseSeries.epsilon": "tests/accounting/test_series.py, beside its delta",
    "accounting.renyi.Divergences.times": "an exact product; tests/accounting/test_renyi.py",
    "accounting.renyi.Divergences.zero": "tests/accounting/test_renyi.py",
    "accounting.renyi.delta_at": "tests/accounting/test_renyi.py",
    "accounting.renyi.greatest_amount": "tests/accounting/test_renyi.py",
    "accounting.renyi.largest": "tests/accounting/test_renyi.py",
    "accounting.renyi.log_conversion": "tests/accounting/test_renyi.py",
    "accounting.renyi_filter.Filter.allows": "tests/accounting/test_renyi_filter.py",
    "accounting.renyi_filter.Filter.delta": "tests/accounting/test_renyi_filter.py",
    "accounting.renyi_filter.Filter.left": "tests/accounting/test_renyi_filter.py",
    "accounting.renyi_filter.Filter.part": "tests/accounting/test_renyi_filter.py",
    "accounting.renyi_filter.Filter.planned": "tests/accounting/test_renyi_filter.py",
    "accounting.renyi_filter.default_orders": "tests/accounting/test_renyi_filter.py",
    "accounting.renyi_parts.class_cost": "tests/accounting/test_renyi_parts.py, in 60 digits",
    "accounting.renyi_parts.cut_class_cost": "tests/accounting/test_renyi_parts.py, in 60 digits",
    "accounting.renyi_parts.greatest_loss": "tests/accounting/test_renyi_parts.py, in 60 digits",
    "accounting.renyi_parts.law_cost": "tests/accounting/test_renyi_parts.py, in 60 digits",
    "accounting.renyi_parts.opaque_cost": "tests/accounting/test_renyi_parts.py, in 60 digits",
    "accounting.renyi_parts.pair_cost": "tests/accounting/test_renyi_parts.py, in 60 digits",
    "accounting.renyi_parts.zcdp_cost": "tests/accounting/test_renyi_parts.py, in 60 digits",
    "accounting.membership.true_positive_lines": "tests/accounting/test_membership_lines.py, by enumeration",
    "guarantee.Guarantee.points": "stated points; tests/kinds/test_shares.py",
    "guarantee.JointCost.stated": "stated points; tests/measures/test_measures.py",
    "guarantee.JointCost.replaced": "stated points; tests/kinds/test_shares.py",
    "guarantee.JointCost.replacements": "stated points; tests/kinds/test_shares.py",
    "guarantee.replace_one_guarantee": "the smaller of two forms; tests/test_guarantee.py",
    "risk.products.product": "an estimate; tests/risk/test_products.py, beside every combination",
    "risk.retention.estimate_moments": "an estimate; tests/risk/test_kept_share.py",
    "risk.retention.sampled_retention": "an estimate; tests/risk/test_kept_share.py",
    "risk.kl_ranges.greatest_collision": "a limit up to rounding; tests/risk/test_kl_ranges.py",
    "risk.kl_ranges.least_collision": "a limit up to rounding; tests/risk/test_kl_ranges.py",
    "risk.kl_ranges.least_kl": "a limit up to rounding; tests/risk/test_kl_ranges.py",
    "risk.kl_ranges.least_of_rows": "a limit up to rounding; tests/risk/test_kl_ranges.py",
    "risk.kl_ranges.most_collision": "a limit up to rounding; tests/risk/test_kl_ranges.py",
    "risk.kl_ranges.alike_but_one": "an extreme law; tests/risk/test_kl_ranges.py, by the two curves",
    "risk.kl_ranges.largest_above": "an extreme law; tests/risk/test_kl_ranges.py, by the two curves",
    "risk.kl_ranges.most_kl": "a limit up to rounding; tests/risk/test_kl_ranges.py",
    "risk.kl_sums.SumGrid.rows": "a product; tests/risk/test_kl_sums.py",
    "risk.kl_sums.SumGrid.sums": "tests/risk/test_kl_sums.py, over all small tables",
    "risk.kl_sums.consistent": "an estimate with ends; tests/risk/test_kl_sums.py",
    "risk.kl_sums.noisy_figures": "an estimate with ends; tests/risk/test_kl_sums.py, by simulation",
    "risk.kl_sums.noisy_sums": "a draw; tests/risk/test_kl_sums.py",
    "risk.kl_sums.rows_interval": "an estimate with ends; tests/risk/test_kl_sums.py, by simulation",
    "risk.singletons.all_unique_within": "an estimate with its error; tests/risk/test_saddle.py",
    "risk.singletons.distribution": "an estimate; tests/risk/test_occupancy.py",
    "risk.singletons.log_probability_all_unique": "an estimate; tests/risk/test_saddle.py",
    "risk.singletons.log_probability_none": "an estimate; tests/risk/test_saddle.py",
    "risk.singletons.none_within": "an estimate with its error; tests/risk/test_saddle.py",
    "risk.singletons.probability_all_unique": "an estimate; tests/risk/test_saddle.py",
    "risk.singletons.probability_none": "an estimate; tests/risk/test_saddle.py",
    "risk.singletons.variance": "an estimate; tests/risk/test_occupancy.py",
    "accounting.discrete_laws.DiscreteGaussian.delta": "test_zcdp.py, beside the sum of its masses",
    "accounting.numbers.epsilon_of": "exact; test_numbers.py",
    "accounting.numbers.exact": "exact; test_numbers.py",
    "accounting.numbers.probability": "exact; test_numbers.py",
    "accounting.numbers.whole": "exact; test_numbers.py",
    "accounting.pso_curve.WeightBounds.excess": "with `curve` above",
    "accounting.pso_curve.stated_bounds": "tests/manifest/test_words.py",
    "accounting.pso_curve.WeightBounds.ratio": "with `curve` above",
    "accounting.safe_k_exact.slack": "what is added so that the deltas above stay on their side",
    "accounting.tables_plan.share_faults": "words; test_tables_plan.py",
    "guarantee.Guarantee.words": "text made by `decimal`; tests/test_guarantee.py",
    "risk.margins_only.share_bounds": "bounds over all joint laws; tests/risk/test_margins_only.py",
    "risk.margins_only.singletons_bounds": "bounds over all joint laws; tests/risk/test_margins_only.py",
}
"""Public functions without a side, and where they are tested."""

ESTIMATES = {
    "risk.class_sizes": "tests/risk/test_drawn_groups.py",
    "risk.drawn_groups": "tests/risk/test_drawn_groups.py",
    "risk.classes_of_rows": "tests/risk/test_classes_of_rows.py",
    "risk.approximations": "tests/risk/test_koot.py",
    "risk.anonymity_sets": "tests/risk/test_anonymity_sets.py",
    "risk.bins": "tests/risk/test_singletons.py",
    "risk.correlated": "tests/risk/test_widths.py",
    "risk.degrees": "tests/risk/test_kl.py",
    "risk.group_size": "tests/risk/test_group_size.py",
    "risk.kl_bounds": "tests/risk/test_kl_bounds.py",
    "risk.kl_curve": "tests/risk/test_kl_curve.py",
    "risk.groups": "tests/risk/test_occupancy.py",
    "risk.joint": "tests/risk/test_joint.py",
    "risk.kl": "tests/risk/test_kl.py",
    "risk.linkage": "tests/risk/test_linkage.py",
    "risk.minimal_uniques": "tests/risk/test_minimal_uniques.py",
    "risk.nearest": "tests/risk/test_nearest.py",
    "risk.occupancy": "tests/risk/test_occupancy.py",
    "risk.population_uniques": "tests/risk/test_population_uniques.py",
    "risk.prediction": "tests/risk/test_occupancy.py",
    "risk.roc": "tests/risk/test_membership.py",
    "risk.saddle": "tests/risk/test_saddle.py",
    "risk.set_sizes": "tests/risk/test_anonymity_sets.py",
    "risk.widths": "tests/risk/test_widths.py",
    "risk.zeta": "tests/risk/test_zeta.py",
}
"""Modules whose numbers have no safe side, only a stated error, and where they are tested."""
