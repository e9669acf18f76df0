"""Probability that a harmless mechanism passes an audit of singling out, and the number of trials that makes it large.

A harmless mechanism discloses nothing: every attacker's true success is its baseline, at every weight. The probability
is that of the whole decision. Three events make the mechanism fail. An attacker's upper limit exceeds the baseline by
more than the audit's limit; a lower limit does at another weight (at the level of all other weights together); or a
control raises a false alarm. The probabilities of these events are exact binomial tails; they are added up (union
bound), since all attackers see the same tables. Controls that must hold raise a false alarm with probability at most
`levels.ALPHA`, all together. Controls that must be caught have trials of their own, and are assumed to be caught.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from crowdgate.accounting.audit_power import chance_to_pass, chance_to_refute
from crowdgate.accounting.trials import trials_to_keep_passing
from crowdgate.audit.common.levels import ALPHA, POWER
from crowdgate.limits import MOST_TRIALS

Baselines = tuple[float, ...]
"""An attacker's success without access to the release: at the judged weight, and at the other weights."""


def chance_of_harmless(attackers: Sequence[Baselines], limit: Fraction, trials: int, alpha: Fraction) -> float:
    """Return a lower bound of the probability that a harmless mechanism passes a singling-out audit with so many trials
    at level `alpha`. `limit` is the greatest excess over the baseline that passes."""
    others = sum(len(each) - 1 for each in attackers)
    failing = sum(
        number * _failing(each, limit, trials, alpha, others) for each, number in Counter(attackers).items()
    )  # fmt: skip
    return max(0.0, 1 - float(ALPHA) - failing)


def trials_needed(attackers: Sequence[Baselines], limit: Fraction, alpha: Fraction) -> int | None:
    """Return the number of trials with which a harmless mechanism passes the audit with probability POWER. None if no
    number that a policy can state suffices, because the limit is 0 or too small.

    The search starts at the number that each attacker needs to fail with at most an equal share of 1 - POWER -
    levels.ALPHA. It grows by a twentieth until the whole decision has POWER; the other weights hardly ever need that.
    """
    each = 1 - (1 - POWER - ALPHA) / len(attackers)
    try:
        trials = max(_trials_for_one_attacker(baselines[0], limit, alpha, each) for baselines in set(attackers))
    except ValueError:
        return None
    while chance_of_harmless(attackers, limit, trials, alpha) < POWER:
        trials += max(1, trials // 20)
    return trials if trials <= MOST_TRIALS else None


def _trials_for_one_attacker(baseline: float, limit: Fraction, alpha: Fraction, power: Fraction) -> int:
    """Return the number of trials with which an attacker as good as its baseline passes, with probability `power`, at
    the judged weight. Raises ValueError if no number suffices."""
    allowed = Fraction(baseline) + limit
    return 1 if allowed >= 1 else trials_to_keep_passing(allowed, baseline, alpha, power)


def _failing(baselines: Baselines, limit: Fraction, trials: int, alpha: Fraction, others: int) -> float:
    """Return an upper bound of the probability that one attacker makes a harmless mechanism fail. `others` is the
    number of tests at other weights, over all attackers."""
    judged, *rest = baselines
    exceeding = 1 - chance_to_pass(_allowed(judged, limit), min(1.0, judged), trials, alpha)
    return exceeding + sum(
        chance_to_refute(_allowed(each, limit), min(1.0, each), trials, alpha / others) for each in rest
    )  # fmt: skip


def _allowed(baseline: float, limit: Fraction) -> Fraction:
    return min(Fraction(1), Fraction(baseline) + limit)
