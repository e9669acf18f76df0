"""What sampling by secret coins does to a guarantee."""

import math

from crowdgate.accounting.numbers import Number, epsilon_of, probability, raised, up


def amplify(epsilon: Number, delta: Number, beta: Number) -> tuple[float, float]:
    """(ln(1 + beta (e^epsilon - 1)), beta delta): the guarantee when rows are first sampled at rate `beta`.

    Add or remove one row, in both directions; independent Bernoulli coins that stay secret. A mechanism that is already
    guaranteed at rate b1 has the guarantee at a smaller rate b2 with beta = b2 / b1. Rounded up.
    """
    eps, exact_beta = up(epsilon_of(epsilon)), probability("beta", beta)
    spent = up(probability("delta", delta) * exact_beta)
    return raised(sampled(eps, up(exact_beta))), spent


def sampled(eps: float, b: float) -> float:
    """ln(1 + b (e^eps - 1))."""
    if b == 0:
        return 0.0
    return eps + math.log(b + (1 - b) * math.exp(-eps)) if eps > 1 else math.log1p(b * math.expm1(eps))
