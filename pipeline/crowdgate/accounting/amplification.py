"""Amplification of a guarantee by secret sampling (Li, Qardaji, Su 2012; add or remove one row).

A is (e, d)-differentially private, b = beta, t a row, and S any set of outputs. Write s for the sample of all other
rows, M0 = E P(A(s) in S) for the probability of S when t is not sampled, M1 = E P(A(s + t) in S) for when it is; the
sampling of the others does not depend on that of t. With t in the table S has probability M = (1 - b) M0 + b M1,
without it M0. For each s, P(A(s + t) in S) <= e^e P(A(s) in S) + d and vice versa; averaged over s, this holds for M1
and M0.

1. From without to with. M1 <= e^e M0 + d, so M <= (1 + b (e^e - 1)) M0 + b d.
2. From with to without. M1 >= e^-e (M0 - d), so M >= q M0 - b e^-e d with q = 1 - b + b e^-e, and M0 <= M / q + b e^-e
   d / q. Here 1 / q <= 1 + b (e^e - 1), because q (1 - b + b e^e) = 1 + b (1 - b) (e^e + e^-e - 2) >= 1; and e^-e / q
   <= 1, because q - e^-e = (1 - b) (1 - e^-e) >= 0. So M0 <= (1 + b (e^e - 1)) M + b d.

Both are the guarantee of `amplify`, which rises with epsilon and with beta: these are rounded upwards, then the result
by more than its own error. Enumerated for any mechanism of three outcomes on tables of three rows in
tests/accounting/test_small_formulas.py.
"""

import math
from fractions import Fraction

from crowdgate.accounting.numbers import Number, epsilon_of, probability, raised, up

_LAST_BITS = 1 + Fraction(6, 10**16)
_GREATEST = 700.0
"""Epsilon up to which e^epsilon is a float."""
_SMALL = 1e-290
"""Well above 2e-308, below which floats have fewer digits."""


def amplify(epsilon: Number, delta: Number, beta: Number) -> tuple[float, float]:
    """Return (ln(1 + beta (e^epsilon - 1)), beta delta): the guarantee when rows are first sampled at rate `beta`.

    Add or remove one row, in both directions; independent Bernoulli sampling with secret randomness. A mechanism that
    is already guaranteed at rate b1 has the guarantee at a smaller rate b2 with beta = b2 / b1. Rounded up.
    """
    spent = up(probability("delta", delta) * probability("beta", beta))
    return raised(_unrounded(epsilon, beta)), spent


def amplified_again(epsilon: Number, beta: Number) -> Fraction:
    """Return the epsilon of `amplify` for verification on another machine: not below the truth, and at most the value
    of `amplify` on any machine whose exponential and logarithm are accurate to their last bit (up to epsilon 700).

    `amplified` is then within 5.6e-16 of the truth: one last bit each, and half of one for the product. `amplify`
    leaves 2e-15. A product of so few digits that its rounding is larger is exact instead, and bounds the logarithm. In
    `amplify` that rounding is at most half a last bit, and `raised` adds a whole one.
    """
    eps, rate = up(epsilon_of(epsilon)), up(probability("beta", beta))
    if eps <= _GREATEST and rate * math.expm1(eps) < _SMALL:
        return Fraction(rate) * Fraction(math.expm1(eps)) * _LAST_BITS
    return Fraction(_unrounded(epsilon, beta)) * _LAST_BITS


def _unrounded(epsilon: Number, beta: Number) -> float:
    """Return ln(1 + beta (e^epsilon - 1)), the epsilon of sampling at rate beta, before it is rounded up; above 0 if
    both arguments are."""
    eps, rate = up(epsilon_of(epsilon)), up(probability("beta", beta))
    return max(amplified(eps, rate), math.nextafter(0.0, 1.0) if eps and rate else 0.0)


def amplified(eps: float, b: float) -> float:
    """Return ln(1 + b (e^eps - 1)), with a relative error of at most 2e-15; above eps 700 not below it, and within
    1e-12.

    The condition number of ln(1 + x) is at most 1, so its relative error is that of x: three roundings.
    """
    if b == 0:
        return 0.0
    if eps <= _GREATEST:
        return math.log1p(b * math.expm1(eps))
    # half a last bit of each of two numbers whose difference is x: below 3e-13, and below 1e-14 x where x is above 40
    x = eps + math.log(b)
    return x * (1 + 1e-14) if x > 40 else math.log1p(math.exp(x)) * (1 + 1e-12)
