"""What sampling by secret coins does to a guarantee (Li, Qardaji, Su 2012; add or remove one row).

With b = beta, M0 the law of the output when the row is not sampled and M1 when it is, e = epsilon, d = delta: the law
with the row is M = (1 - b) M0 + b M1, and without it M0.

* M1 <= e^e M0 + d, so M <= (1 + b (e^e - 1)) M0 + b d.
* M1 >= e^-e (M0 - d), so M0 <= (M + b e^-e d) / (1 - b + b e^-e). As (1 - b + b e^-e) (1 - b + b e^e) >= 1, this is at
  most (1 + b (e^e - 1)) M + b d.
"""

import math

from crowdgate.accounting.numbers import Number, epsilon_of, probability, raised, up


def amplify(epsilon: Number, delta: Number, beta: Number) -> tuple[float, float]:
    """(ln(1 + beta (e^epsilon - 1)), beta delta): the guarantee when rows are first sampled at rate `beta`.

    Add or remove one row, in both directions; independent Bernoulli coins that stay secret. A mechanism that is already
    guaranteed at rate b1 has the guarantee at a smaller rate b2 with beta = b2 / b1. Rounded up.
    """
    eps, exact_beta = up(epsilon_of(epsilon)), probability("beta", beta)
    spent = up(probability("delta", delta) * exact_beta)
    least = math.nextafter(0.0, 1.0) if eps and exact_beta else 0.0
    return raised(max(sampled(eps, up(exact_beta)), least)), spent


def sampled(eps: float, b: float) -> float:
    """ln(1 + b (e^eps - 1)), within a relative 2e-15; above eps 700 not below it, and within 1e-12.

    The condition number of ln(1 + x) is at most 1, so its relative error is that of x: three roundings.
    """
    if b == 0:
        return 0.0
    if eps <= 700:
        return math.log1p(b * math.expm1(eps))
    # half a last bit of each of two numbers whose difference is x: below 3e-13, and below 1e-14 x where x is above 40
    x = eps + math.log(b)
    return x * (1 + 1e-14) if x > 40 else math.log1p(math.exp(x)) * (1 + 1e-12)
