"""Statistical power of a fixed number of trials of an attack: exact binomial probabilities, no normal approximation.

An audit passes a limit if the upper limit of the exact one-sided interval (`intervals.clopper_pearson`) is at most this
limit, and refutes a rate if the lower one is above it. Both depend on a least or greatest number of successes.
"""

import math
from collections.abc import Iterable
from fractions import Fraction

from crowdgate.accounting.binomial import log_tail
from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.accounting.numbers import Number, exp_up, probability, up, whole
from crowdgate.accounting.safe_k_exact import slack


def passing_successes(limit: Number, trials: Number, alpha: Number) -> int | None:
    """Return the greatest number of successes whose upper confidence limit of level `alpha` is at most `limit`; None if
    there is none."""
    bound, rows = probability("limit", limit), whole("trials", trials, 0)
    passing, failing = -1, rows + 1
    while failing - passing > 1:
        middle = (passing + failing) // 2
        fits = Fraction(clopper_pearson(middle, rows, alpha)[1]) <= bound
        passing, failing = (middle, failing) if fits else (passing, middle)
    return passing if passing >= 0 else None


def refuting_successes(rate: Number, trials: Number, alpha: Number) -> int | None:
    """Return the least number of successes whose lower confidence limit of level `alpha` is above `rate`; None if there
    is none."""
    bound, rows = probability("rate", rate), whole("trials", trials, 0)
    silent, refuting = -1, rows + 1
    while refuting - silent > 1:
        middle = (silent + refuting) // 2
        above = Fraction(clopper_pearson(middle, rows, alpha)[0]) > bound
        silent, refuting = (silent, middle) if above else (middle, refuting)
    return refuting if refuting <= rows else None


def chance_to_pass(limit: Number, rate: Number, trials: Number, alpha: Number) -> float:
    """Return the probability that an attack of success `rate` passes the limit: P(Bin(trials, rate) <= s), rounded
    down.

    s is the greatest number of successes that passes. 0 if none does: there are too few trials for the limit.
    """
    true, rows = probability("rate", rate), whole("trials", trials, 0)
    passing = passing_successes(limit, rows, alpha)
    return 0.0 if passing is None else _at_least(rows - passing, rows, 1 - true)


def chance_to_refute(limit: Number, rate: Number, trials: Number, alpha: Number) -> float:
    """Return the probability that an attack of success `rate` is found above the limit: P(Bin(trials, rate) >= s),
    rounded down.

    s is the least number of successes whose lower confidence limit is above the limit. 0 if there is none.
    """
    true, rows = probability("rate", rate), whole("trials", trials, 0)
    refuting = refuting_successes(limit, rows, alpha)
    return 0.0 if refuting is None else _at_least(refuting, rows, true)


def detectable_excess(baseline: Number, trials: Number, alpha: Number, power: Number) -> float | None:
    """Return the least excess over the baseline that is detected with probability `power`, rounded up; None if there is
    none.

    At a true rate of baseline + excess or more, the lower confidence limit of level `alpha` is above the baseline with
    at least this probability: the rate at which s - 1 successes or fewer have probability 1 - power, s the least number
    that refutes.
    """
    low, sure = probability("baseline", baseline), probability("power", power, open_low=True, open_high=True)
    refuting = refuting_successes(low, trials, alpha)
    if refuting is None:
        return None
    return up(max(Fraction(0), Fraction(clopper_pearson(refuting - 1, trials, 1 - sure)[1]) - low))


def binomial_p(successes: Number, trials: Number, rate: Number) -> float:
    """Return P(Bin(trials, rate) >= successes), rounded up: the exact one-sided p-value of a rate of at most `rate`."""
    rows = whole("trials", trials, 0)
    s = whole("successes", successes, 0, rows)
    log = _beyond(s, rows, probability("rate", rate))
    return min(1.0, exp_up(log + slack(min(s, rows - s), log)))


def holm(p_values: Iterable[Number]) -> tuple[float, ...]:
    """Return adjusted p-values in the given order, rounded up (S. Holm, Scandinavian Journal of Statistics 6, 1979).

    Rejecting each hypothesis whose adjusted value is at most alpha rejects any true one with probability at most alpha,
    however the tests depend on each other.
    """
    exact = [probability("p_values", value) for value in p_values]
    adjusted, greatest = [0.0] * len(exact), Fraction(0)
    for rank, at in enumerate(sorted(range(len(exact)), key=exact.__getitem__)):
        greatest = max(greatest, min(Fraction(1), (len(exact) - rank) * exact[at]))
        adjusted[at] = up(greatest)
    return tuple(adjusted)


def _beyond(s: int, trials: int, rate: Fraction) -> float:
    """Return ln P(Bin(trials, rate) >= s)."""
    return log_tail(s, trials, float(rate), float(1 - rate))


def _at_least(s: int, trials: int, rate: Fraction) -> float:
    """Return P(Bin(trials, rate) >= s), rounded down."""
    log = _beyond(s, trials, rate)
    return math.exp(log - slack(min(s, trials - s), log)) if s > 0 and log > -math.inf else float(s <= 0)
