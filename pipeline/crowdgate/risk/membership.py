"""Precision and recall of membership claims, when members are rare.

P. Francis, D. Wagner, section 5. A skew is the number of non-members for each member among the targets: 30 is 1:30.
Rates do not change with it, precision does.
"""

from dataclasses import dataclass
from fractions import Fraction

from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.accounting.numbers import Number, down, exact, probability, up, whole
from crowdgate.accounting.trials import trials_to_certify

SKEWS = (1, 2, 5, 10, 30, 50, 240, 2400)
"""The skews for which each result is reported: balanced, those that section 5 recommends, and those of its Figure 9
with Texas at its own size."""
MOST_SKEW = 10**15

Limits = tuple[float, float]
"""The lower and the upper confidence limit."""


def precision(tpr: Number, fpr: Number, skew: Number) -> float:
    """Return tpr / (tpr + skew fpr), from 0 to 1: Francis and Wagner, equation 11.

    `skew` is the number of non-members for each member among the targets, above 0. Raises ValueError if both rates are
    0: an attack that claims nothing has no precision.
    """
    hits, false = probability("tpr", tpr), probability("fpr", fpr)
    ratio = _skew(skew)
    if hits + false == 0:
        raise ValueError("tpr and fpr must not both be 0")
    return float(hits / (hits + ratio * false))


def recall(true_positives: Number, members: Number) -> float:
    """Return the share of members that are claimed to be members, equations 7 and 9: the true positive rate, at any
    skew."""
    m = whole("members", members, 1)
    return whole("true_positives", true_positives, 0, m) / m


def base_rate(skew: Number) -> float:
    """Return 1 / (1 + skew): the precision of the blind attacker, who claims that all are members and has recall 1."""
    return float(1 / (1 + _skew(skew)))


@dataclass(frozen=True)
class Rates:
    """Confidence limits of the true positive rate, which is the recall, and of the false positive rate."""

    tpr: Limits
    fpr: Limits

    def precision(self, skew: Number) -> Limits:
        """Return the confidence limits of precision at a skew, rounded outwards: the lower one from the least true and
        the greatest false positive rate, the upper one from the opposite limits. 0 and 1 if these limits are both 0."""
        ratio = _skew(skew)
        (least, most), (fewest, greatest) = (
            [probability(name, end) for end in ends] for name, ends in (("tpr", self.tpr), ("fpr", self.fpr))
        )
        low = least / (least + ratio * greatest) if least else Fraction(0)
        high = most / (most + ratio * fewest) if fewest else Fraction(1)
        return down(low), up(high)


def pooled_limits(
    true_positives: Number, members: Number, false_positives: Number, non_members: Number, alpha: Number
) -> Rates:
    """Return exact confidence limits of both rates (Clopper and Pearson, 1934), each wrong with probability at most
    alpha / 2. So the lower limits of precision and recall hold together with probability at least 1 - alpha, and so do
    both upper limits.

    For independent targets. Targets of one release, or of one model, are dependent: they share its noise, and such
    intervals are too narrow for them.
    """
    each = probability("alpha", alpha, open_low=True, open_high=True) / 2
    m, n = whole("members", members, 0), whole("non_members", non_members, 0)
    hits = whole("true_positives", true_positives, 0, m)
    false = whole("false_positives", false_positives, 0, n)
    return Rates(clopper_pearson(hits, m, each), clopper_pearson(false, n, each))


def non_members_needed(precision: Number, recall: Number, skew: Number, alpha: Number) -> int:
    """Return how many non-members, none of them claimed, prove at level alpha that an attack of this recall has more
    than this precision at a skew: the false positive rate must be below recall (1 - precision) / (precision skew).

    Precision and alpha between 0 and 1, recall above 0.
    """
    wanted = probability("precision", precision, open_low=True, open_high=True)
    hits = probability("recall", recall, open_low=True)
    return trials_to_certify(min(Fraction(1), hits * (1 - wanted) / (wanted * _skew(skew))), alpha)


def _skew(skew: Number) -> Fraction:
    return exact("skew", skew, 0, MOST_SKEW, open_low=True)
