"""The delta that Li, Qardaji and Su proved for Bernoulli sampling and strongly safe k-anonymisation.

N. Li, W. Qardaji, D. Su, On sampling, anonymization, and differential privacy, ASIACCS 2012, Theorem 5: for epsilon >=
-ln(1 - beta), delta = max over n >= ceil(k / gamma - 1) of P(Bin(n, beta) > gamma n). It is an upper bound on
`exact_delta`: it counts the whole probability of the outputs whose ratio exceeds e^epsilon.
"""

import math
from typing import Literal

from crowdgate.accounting.binomial import log_chernoff, log_tail
from crowdgate.accounting.numbers import Number, down, epsilon_of, exp_up, log_rest, probability, raised, up, whole
from crowdgate.accounting.safe_k_exact import gamma_of, slack
from crowdgate.limits import GREATEST_K

_PRECONDITION_SLACK = 1e-14
_KNIFE_EDGE = 1e-12
_MOST_BLOCKS = 500


def theorem5_least_epsilon(beta: Number) -> float:
    """Return -ln(1 - beta), rounded up: the least epsilon for which Theorem 5 holds. beta in [0, 1)."""
    return raised(-log_rest(probability("beta", beta, open_high=True)))


def theorem5_greatest_beta(epsilon: Number) -> float:
    """Return 1 - e^-epsilon, rounded down: the greatest sampling rate for which Theorem 5 holds."""
    return -math.expm1(-down(epsilon_of(epsilon))) * (1 - 1e-15)


def theorem5_delta(k: Number, beta: Number, epsilon: Number) -> float:
    """Return Theorem 5's delta, rounded up by `slack`; 0 < beta < 1.

    The probability of J > gamma n jumps where gamma n is a whole number; within a relative 1e-12 of one the larger side
    is taken, so that no rounding loses an atom. Raises ValueError also for epsilon < -ln(1 - beta).
    """
    log = log_theorem5(*theorem5_arguments(k, beta, epsilon))
    return min(1.0, exp_up(log))


def chernoff_delta(k: Number, beta: Number, epsilon: Number, form: Literal["paper", "kl"] = "paper") -> float:
    """Return a closed form above `theorem5_delta`, rounded up, with n = ceil(k / gamma - 1).

    "kl" is exp(-n KL(gamma || beta)); "paper" the larger exp(-n (gamma ln(gamma / beta) - (gamma - beta))).
    """
    if form not in ("paper", "kl"):
        raise ValueError(f"form must be 'paper' or 'kl', not {form!r}")
    least, b, eps = theorem5_arguments(k, beta, epsilon)
    share = gamma_of(eps, b)
    n = max(least, math.ceil(least / share * (1 - _KNIFE_EDGE) - 1))
    kl = log_chernoff(n, share, b)
    log = kl if form == "kl" else -n * (share * math.log(share / b) - (share - b))
    return min(1.0, exp_up(log + slack(n, log)))


def theorem5_arguments(k: Number, beta: Number, epsilon: Number) -> tuple[int, float, float]:
    """Return (k, beta, epsilon), the latter two as floats on the safe side. Raises ValueError if the theorem does not
    apply."""
    least = whole("k", k, 1, GREATEST_K)
    b = up(probability("beta", beta, open_low=True, open_high=True))
    eps = down(epsilon_of(epsilon))
    if b >= 1 or eps < -math.log1p(-b) * (1 - _PRECONDITION_SLACK):
        raise ValueError(f"epsilon must be at least -ln(1 - beta) for Theorem 5 (beta {b:.6g}), not {eps:.6g}")
    return least, b, eps


def log_theorem5(k: int, b: float, eps: float) -> float:
    """Return ln of `theorem5_delta` of arguments that are already checked and rounded."""
    log = log_greatest_tail(k, b, gamma_of(eps, b))
    return min(0.0, log + slack(k, log))


def log_theorem5_up_to(k: int, b: float, eps: float) -> float:
    """Return ln of the greatest `theorem5_delta` at any rate from 0 to b.

    Theorem 5's delta is not monotone in beta: it falls wherever l / gamma passes a whole number, l being the block that
    holds the maximum. The greatest value of a block below b is at b or at the last such place.
    """
    log, share = log_theorem5(k, b, eps), gamma_of(eps, b)
    for threshold in range(k, k + _MOST_BLOCKS):
        n = max(threshold, math.ceil(threshold / share * (1 + _KNIFE_EDGE)) - 1)
        earlier = -math.expm1(math.log((n + 1 - threshold) / (n + 1)) + eps)
        peak = log_tail(threshold, n + 1, earlier, 1 - earlier) if 0 < earlier < b else -math.inf
        log = max(log, peak + slack(k, peak) if peak > -math.inf else peak)
        if log >= log_chernoff(n + 1, share, b):
            return log
    return log


def log_greatest_tail(k: int, b: float, share: float) -> float:
    """Return ln of the supremum over n of P(Bin(n, b) >= max(k, floor(share n) + 1)), or a bound above it.

    Between two n at which the threshold steps up to l the probability grows with n, so that only the last n of each
    block l = k, k + 1, ... counts. The first block need not hold the maximum. The search ends once the Chernoff bound,
    which holds for all larger n, is below the greatest value so far; after 500 blocks the bound itself is returned.
    """
    greatest = -math.inf
    if share <= b:
        return 0.0
    for threshold in range(k, k + _MOST_BLOCKS):
        n = max(threshold, math.ceil(threshold / share * (1 + _KNIFE_EDGE)) - 1)
        greatest = max(greatest, log_tail(threshold, n, b, 1 - b))
        beyond = log_chernoff(n + 1, share, b)
        if greatest >= beyond:
            return greatest
    return beyond
