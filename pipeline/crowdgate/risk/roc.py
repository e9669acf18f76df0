"""Published curves of membership attacks, read at any skew: Francis and Wagner, section 5 and Figure 9."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from crowdgate.accounting.numbers import Number, exact, probability
from crowdgate.risk.membership import MOST_SKEW, precision


@dataclass(frozen=True)
class RocPoint:
    """A false and a true positive rate of one attack at one threshold, not both 0."""

    fpr: Fraction
    tpr: Fraction


@dataclass(frozen=True)
class Claim:
    """A point at a skew: how many of its predictions are right, for which share of the members; and the shares of all
    targets, members or not, that are rightly claimed to be members, and that are claimed at all."""

    precision: float
    recall: float
    true_positives: float
    predicted: float


def at_skew(point: RocPoint, skew: Number) -> Claim:
    """The point where there are `skew` non-members for each member: equation 11."""
    ratio = exact("skew", skew, 0, MOST_SKEW, open_low=True)
    tpr, fpr = probability("tpr", point.tpr), probability("fpr", point.fpr)
    right, claimed = tpr / (1 + ratio), (tpr + ratio * fpr) / (1 + ratio)
    return Claim(precision(tpr, fpr, ratio), float(tpr), float(right), float(claimed))


def from_balanced_precision(recall: Number, precision: Number) -> RocPoint:
    """The rates behind a precision measured on as many members as non-members: fpr = recall (1 - p) / p.

    Raises ValueError for a precision of 0, or for one below recall / (1 + recall), which no false positive rate gives.
    """
    hits, right = probability("recall", recall), probability("precision", precision, open_low=True)
    return RocPoint(probability("the false positive rate", hits * (1 - right) / right), hits)


def from_balanced_accuracy(tpr: Number, accuracy: Number) -> RocPoint:
    """The rates behind an accuracy (tpr + 1 - fpr) / 2 on as many members as non-members.

    Raises ValueError for an accuracy outside tpr / 2 to (1 + tpr) / 2, which no false positive rate gives.
    """
    hits, right = probability("tpr", tpr), probability("accuracy", accuracy)
    return RocPoint(probability("the false positive rate", hits + 1 - 2 * right), hits)


def greatest_recall(points: Sequence[RocPoint], wanted: Number, skew: Number) -> float | None:
    """The greatest recall on the curve at which precision is at least `wanted` at a skew, None where it is nowhere.

    Points in order, no rate falling. Between them the logarithm of the true positive rate is taken as linear in that of
    the false one; a point with a rate of 0 has no place there and is left out. Up to the base rate it is 1: everybody
    can be claimed.
    """
    least = probability("wanted", wanted, open_low=True, open_high=True)
    ratio = exact("skew", skew, 0, MOST_SKEW, open_low=True)
    if least * (1 + ratio) <= 1:
        return 1.0
    curve = [point for point in points if point.fpr and point.tpr]
    reached = [at for at, each in enumerate(curve) if each.tpr * (1 - least) >= least * ratio * each.fpr]
    if not reached:
        return None
    last = reached[-1]
    if last + 1 == len(curve):
        return float(curve[last].tpr)
    return _crossing(curve[last], curve[last + 1], math.log((1 - least) / (least * ratio)))


def _crossing(before: RocPoint, after: RocPoint, log_odds: float) -> float:
    """The true positive rate where log(fpr / tpr), which is linear between the points, comes to `log_odds`."""
    low, high = (math.log(each.fpr / each.tpr) for each in (before, after))
    part = min(1.0, max(0.0, (log_odds - low) / (high - low)))
    return float(before.tpr) * math.pow(after.tpr / before.tpr, part)
