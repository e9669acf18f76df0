"""The numbers of accounting in 50 digits and more, from their formulas, without code of the library."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import mpmath as mp

Real = Any
"""A number of mpmath, which has no types."""

DIGITS = 90
"""Working precision: forty digits may cancel, as for 10^30 rows and a rate of 1e-30."""
NEAR = mp.mpf(10) ** -50


def real(number: object) -> Real:
    """Return a number exactly: int, float, Fraction or decimal text."""
    exact = Fraction(number)  # type: ignore[call-overload]
    return mp.mpf(exact.numerator) / exact.denominator


def log_mass(t: int, n: int, p: Real) -> Real:
    """Return ln P(Bin(n, p) = t)."""
    ways = mp.loggamma(n + 1) - mp.loggamma(t + 1) - mp.loggamma(n - t + 1)
    return ways + (t * mp.log(p) if t else 0) + ((n - t) * mp.log1p(-p) if n > t else 0)


def upwards(t: int, n: int, p: Real, weight: Callable[[int], Real]) -> Real:
    """Return the sum over j >= t of P(Bin(n, p) = j) weight(j), for t where masses fall."""
    return _summed(t, n, mp.exp(log_mass(t, n, p)), p / (1 - p), weight)


def downwards(s: int, n: int, p: Real, weight: Callable[[int], Real]) -> Real:
    """Return the sum over j <= s of P(Bin(n, p) = j) weight(j), for s where masses fall towards 0."""
    return upwards(n - s, n, 1 - p, lambda lost: weight(n - lost))


def _once(_: int) -> Real:
    return mp.mpf(1)


def _summed(t: int, n: int, mass: Real, odds: Real, weight: Callable[[int], Real]) -> Real:
    total, j = mp.mpf(0), t
    while j <= n:
        term = mass * weight(j)
        total += term
        if 0 < term < total * NEAR / 1000:
            break
        mass *= odds * (n - j) / (j + 1)
        j += 1
    return total


def log_tail(t: int, n: int, p: Real) -> Real:
    """Return ln P(Bin(n, p) >= t), also if that is nearly 1."""
    if 0 < t <= n * p and p < 1:
        return mp.log1p(-downwards(t - 1, n, p, _once))
    return mp.log(tail(t, n, p))


def tail(t: int, n: int, p: Real) -> Real:
    """Return P(Bin(n, p) >= t)."""
    if t <= 0 or t > n or p == 0 or p == 1:
        return mp.mpf(t <= 0 or (t <= n and p == 1))
    if t > n * p:
        return upwards(t, n, p, _once)
    return 1 - downwards(t - 1, n, p, _once)


def share(eps: Real, b: Real) -> Real:
    """Return gamma."""
    return 1 - (1 - b) * mp.exp(-eps)


def forward(n: int, k: int, b: Real, eps: Real) -> Real:
    """Return the sum over sampled sizes j >= k of (P(j with) - e^eps P(j without))+, for a class of n rows against n -
    1."""
    if n < k:
        return mp.mpf(0)
    left = n * (1 - b) * mp.exp(-eps)  # n (1 - gamma): j - gamma n is left - (n - j)
    t = max(k, min(n - int(mp.ceil(left)) + 1, n))
    return upwards(t, n, b, lambda j: left - (n - j)) / left


def reverse(n: int, k: int, b: Real, eps: Real) -> Real:
    """Return the sum of (P(j without) - e^eps P(j with))+; sizes below k are one output."""
    if n < k:
        return mp.mpf(0)
    c = 1 - (1 - b) * mp.exp(eps)
    if c * n >= k - 1:
        s = max(k, int(mp.ceil(c * n))) - 1
        return downwards(s, n, b, lambda j: c * n - j) / (n * (1 - b))
    hidden = b * mp.exp(log_mass(k - 1, n - 1, b)) - mp.expm1(eps) * below(k - 1, n, b)
    return max(mp.mpf(0), hidden)


def safe_k_delta(k: int, b: Real, eps: Real) -> Real:
    """Return the greatest divergence over the class sizes where it can be, and their neighbours."""
    if b in (0, 1):
        return b
    sizes = [max(k, int(mp.ceil((k - 1) / share(eps, b))))]
    c = 1 - (1 - b) * mp.exp(eps)
    if c > 0:
        sizes.append(max(k, int(mp.ceil((k - 1) / c))))
    near = {max(k, size + step) for size in sizes for step in (-1, 0, 1)}
    return max(max(forward(n, k, b, eps), reverse(n, k, b, eps) if c > 0 else 0) for n in near)


def greatest_tail(k: int, b: Real, part: Real, blocks: int = 8) -> Real:
    """Return max over n in the first blocks of P(Bin(n, b) >= max(k, floor(part n) + 1)): at most the supremum."""
    if part <= b:
        return mp.mpf(1)
    return max(tail(least, max(least, int(mp.ceil(least / part)) - 1), b) for least in range(k, k + blocks))


def coin_delta(n: int, k: int, b: Real, eps: Real, m: int) -> Real:
    """Return the delta of one sampling decision for m rows in m classes of n: both directions, the outcomes
    enumerated."""
    law = [mp.exp(log_mass(j, n - 1, b)) for j in range(n)]
    without = [mp.fsum(law[:k]), *law[k:], mp.mpf(0)]
    present = [mp.fsum(law[: k - 1]), *law[k - 1 :]]
    ahead = back = mp.mpf(0)
    for absent, there in _products(without, present, m):
        mixed = (1 - b) * absent + b * there
        ahead += max(mp.mpf(0), mixed - mp.exp(eps) * absent)
        back += max(mp.mpf(0), absent - mp.exp(eps) * mixed)
    return max(ahead, back)


def _products(one: list[Real], other: list[Real], m: int) -> Iterator[tuple[Real, Real]]:
    if m == 0:
        yield mp.mpf(1), mp.mpf(1)
        return
    for a, b in _products(one, other, m - 1):
        for x, y in zip(one, other, strict=True):
            yield a * x, b * y


def kept_step(k: int, b: Real) -> Real:
    """Return the greatest step of E[J; J >= k] from one class size to the next."""
    if b in (0, 1) or k == 1:
        return b * k
    first = max(k - 1, int(mp.ceil(k / b)) - 2)
    sizes = {max(k - 1, first + step) for step in (-1, 0, 1)}
    return max(b * (tail(k, n, b) + k * mp.exp(log_mass(k - 1, n, b))) for n in sizes)


def zcdp_log_delta(rho: Real, eps: Real, t: Real) -> Real:
    """Return ln delta at order 1 + t (Canonne, Kamath, Steinke 2020, Proposition 12)."""
    return t * ((1 + t) * rho - eps) + t * mp.log(t) - (1 + t) * mp.log1p(t)


def zcdp_delta(rho: Real, eps: Real) -> Real:
    """Return the least delta over orders: where the derivative (1 + 2t) rho - eps + ln(t / (1 + t)) is 0."""
    t = mp.exp(_crossing(lambda s: (1 + 2 * mp.exp(s)) * rho - eps - mp.log1p(mp.exp(-s))))
    return min(mp.mpf(1), mp.exp(zcdp_log_delta(rho, eps, t)))


def zcdp_epsilon(rho: Real, delta: Real) -> Real:
    """Return the least over orders of ((1 + t) rho + (ln(1 / delta) + t ln t - (1 + t) ln(1 + t)) / t), not below 0."""
    log = -mp.log(delta)
    t = mp.exp(_crossing(lambda s: rho * mp.exp(2 * s) + mp.log1p(mp.exp(s)) - log))
    return max(mp.mpf(0), (1 + t) * rho + (log + t * mp.log(t) - (1 + t) * mp.log1p(t)) / t)


def _crossing(rising: Callable[[Real], Real]) -> Real:
    """Return the zero, near enough: at a minimum an error of 1e-30 in place is one of 1e-60 in value."""
    low, high = mp.mpf(-1500), mp.mpf(1500)
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    found: Real = mp.findroot(rising, (low, high), solver="illinois", tol=mp.mpf(10) ** -70, verify=False)
    return found


def gaussian_sum(squared: Real, start: int) -> Real:
    """Return the sum over x >= start of e^(-x^2 / (2 sigma^2)): term by term, or by Euler and Maclaurin for large
    sigma."""
    first = mp.exp(-mp.mpf(start) * start / (2 * squared))
    if squared < 10**5:
        total, term, shrink, each = mp.mpf(0), first, mp.exp(-(2 * start + 1) / (2 * squared)), mp.exp(-1 / squared)
        while term > NEAR * total / 1000:
            total, term, shrink = total + term, term * shrink, shrink * each
        return total
    sigma = mp.sqrt(squared)
    z, root = start / sigma, mp.sqrt(2)
    whole = sigma * mp.sqrt(mp.pi / 2) * mp.erfc(z / root)
    odd = (
        mp.bernoulli(2 * j) / mp.factorial(2 * j) * mp.hermite(2 * j - 1, z / root) / (sigma * root) ** (2 * j - 1)
        for j in range(1, 13)
    )
    return whole + first / 2 + first * mp.fsum(odd)


def gaussian_tail(squared: Real, q: int) -> Real:
    """Return P(noise > q) of the discrete Gaussian."""
    return gaussian_sum(squared, q + 1) / (2 * gaussian_sum(squared, 1) + 1)


def laplace_tail(scale: Real, q: int) -> Real:
    """Return P(noise > q) of the discrete Laplace distribution."""
    a = mp.exp(-1 / scale)
    return a ** (q + 1) / (1 + a) if q >= 0 else 1 - a**-q / (1 + a)


def singletons(shares: list[Real], people: int) -> Real:
    """Return the expected number of people alone in their bin."""
    return mp.fsum(people * p * (1 - p) ** (people - 1) for p in shares) if people else mp.mpf(0)


def below(s: int, n: int, p: Real) -> Real:
    """Return P(Bin(n, p) <= s)."""
    return tail(n - s, n, 1 - p)


def log_chernoff(n: int, part: Real, p: Real) -> Real:
    """Return -n KL(part || p) for part > p, else 0."""
    if part <= p:
        return mp.mpf(0)
    return -n * (part * mp.log(part / p) + (1 - part) * mp.log((1 - part) / (1 - p)))


def gaussian_variance(squared: Real) -> Real:
    """Return the sum of x^2 mass(x); sigma^2 to sixty digits for large sigma (Poisson summation)."""
    if squared > 10**4:
        return squared
    reach = int(40 * mp.sqrt(squared)) + 3
    masses = [mp.exp(-mp.mpf(x) * x / (2 * squared)) for x in range(1, reach)]
    return 2 * mp.fsum(x * x * mass for x, mass in enumerate(masses, 1)) / (1 + 2 * mp.fsum(masses))


def cut_exponentials(miss: Real) -> Real:
    """Return the greatest x / (root of the mean square) with P(X > x) = miss, of exponential distributions that are cut
    off: a lower bound for symmetric distributions with a log-concave density."""
    return max(_of_cut(miss, mp.mpf(11) ** at / mp.mpf(10) ** (at + 1)) for at in range(-30, 70))


def _of_cut(miss: Real, end: Real) -> Real:
    """Return this ratio for rate 1 on [0, end]."""
    whole = -mp.expm1(-end)
    x = -mp.log(miss * whole + mp.exp(-end))
    square = (2 - mp.exp(-end) * (end * end + 2 * end + 2)) / whole
    return x / mp.sqrt(square)


def passing(limit: Real, rows: int, alpha: Real) -> int | None:
    """Return the greatest s with P(Bin(rows, limit) <= s) <= alpha."""
    s, total = -1, mp.mpf(0)
    while s < rows and (total := total + mp.exp(log_mass(s + 1, rows, limit))) <= alpha:
        s += 1
    return s if s >= 0 else None


def refuting(rate: Real, rows: int, alpha: Real) -> int | None:
    """Return the least s with P(Bin(rows, rate) >= s) <= alpha."""
    failing = passing(1 - rate, rows, alpha)
    return None if failing is None else rows - failing


def chance_to_pass(limit: Real, rate: Real, rows: int, alpha: Real) -> Real:
    s = passing(limit, rows, alpha)
    return mp.mpf(0) if s is None else below(s, rows, rate)


def chance_to_refute(limit: Real, rate: Real, rows: int, alpha: Real) -> Real:
    s = refuting(limit, rows, alpha)
    return mp.mpf(0) if s is None else tail(s, rows, rate)


def holm(p_values: tuple[Real, ...]) -> Iterator[Real]:
    """Yield for each p-value the greatest, over those not above it, of p times the number of those not below that
    one."""
    for mine in p_values:
        steps = (sum(other >= p for other in p_values) * p for p in p_values if p <= mine)
        yield min(mp.mpf(1), max(steps))


def finite_baseline(n: int, everyone: int, w: Real) -> Real:
    """Return the success of the best distribution of the number m of matching rows with a mean of at most w N: a
    mixture of two numbers."""
    ways = mp.binomial(everyone, n)
    alone = [m * mp.binomial(everyone - m, n - 1) / ways for m in range(everyone + 1)]
    mean = w * everyone
    best = max(value for m, value in enumerate(alone) if m <= mean)
    for low in range(int(mp.floor(mean)) + 1):
        for high in range(low + 1, everyone + 1):
            if high > mean:
                best = max(best, ((high - mean) * alone[low] + (mean - low) * alone[high]) / (high - low))
    return best


def answers(n: int, counts: int, disjoint: int) -> Real:
    """Return the number of answers to exact counts of n rows."""
    if not disjoint:
        return mp.mpf(n + 1) ** counts
    return mp.exp(mp.loggamma(n + counts + 1) - mp.loggamma(n + 1) - mp.loggamma(counts + 1))


def kl_steps(people: int, rows_each: int) -> tuple[Real, Real, Real]:
    """Return the largest changes of n, sum c ln c and sum c^2 of a table of at most N = people m rows by a person of m
    rows."""
    rows = mp.mpf(people * rows_each)
    return mp.mpf(rows_each), rows_each * (1 + mp.log(rows)), rows_each * (2 * rows - 1)


def capital(gains: Sequence[Any]) -> Any:
    """Return the capital left of 1, split over the bets of accounting/bets.py: the mean of the products of 1 + bet
    gain."""
    bets = [mp.mpf(bet) for bet in ("0.01", "0.03", "0.1", "0.2", "0.4", "0.6", "0.8", "0.95")]
    return sum(mp.fprod(1 + bet * gain for gain in gains) for bet in bets) / len(bets)
