"""Published curves of membership attacks, read at any skew: Francis and Wagner, section 5 and Figure 9."""

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
class PointAtSkew:
    """A point at a skew: the share of its claims that are right, the share of the members that it finds; and the shares
    of all targets, members or not, that are rightly claimed to be members, and that are claimed at all."""

    precision: float
    recall: float
    true_positives: float
    predicted: float


def at_skew(point: RocPoint, skew: Number) -> PointAtSkew:
    """Return the point for `skew` non-members for each member: equation 11."""
    ratio = exact("skew", skew, 0, MOST_SKEW, open_low=True)
    tpr, fpr = probability("tpr", point.tpr), probability("fpr", point.fpr)
    right, claimed = tpr / (1 + ratio), (tpr + ratio * fpr) / (1 + ratio)
    return PointAtSkew(precision(tpr, fpr, ratio), float(tpr), float(right), float(claimed))


def from_balanced_precision(recall: Number, precision: Number) -> RocPoint:
    """Return the rates for a precision measured on as many members as non-members: fpr = recall (1 - p) / p.

    Raises ValueError for a precision of 0, or for one below recall / (1 + recall), which no false positive rate gives.
    """
    hits, right = probability("recall", recall), probability("precision", precision, open_low=True)
    return RocPoint(probability("the false positive rate", hits * (1 - right) / right), hits)


def from_balanced_accuracy(tpr: Number, accuracy: Number) -> RocPoint:
    """Return the rates for an accuracy (tpr + 1 - fpr) / 2 on as many members as non-members.

    Raises ValueError for an accuracy outside tpr / 2 to (1 + tpr) / 2, which no false positive rate gives.
    """
    hits, right = probability("tpr", tpr), probability("accuracy", accuracy)
    return RocPoint(probability("the false positive rate", hits + 1 - 2 * right), hits)


def greatest_recall(points: Sequence[RocPoint], wanted: Number, skew: Number) -> float | None:
    """Return the greatest recall that an attacker reaches with a precision of at least `wanted` at a skew.

    The attacker may mix: use one of several thresholds at random for each target, claim everybody, or claim nobody.
    Mixtures are the convex hull of the measured points with (0, 0) and (1, 1), so nothing between two points is
    assumed. Returns None where no mixture that claims anybody reaches the precision, and 1 up to the base rate.
    """
    least = probability("wanted", wanted, open_low=True, open_high=True)
    ratio = least * exact("skew", skew, 0, MOST_SKEW, open_low=True) / (1 - least)
    if ratio <= 1:
        return 1.0
    hull = _concave_hull(points)
    margins = [tpr - ratio * fpr for fpr, tpr in hull]  # at least 0 where precision is at least `wanted`
    last = max(at for at, margin in enumerate(margins) if margin >= 0)  # the rate tpr / fpr falls along the hull
    if not last:
        return None
    part = margins[last] / (margins[last] - margins[last + 1])
    return float(hull[last][1] + part * (hull[last + 1][1] - hull[last][1]))


def _concave_hull(points: Sequence[RocPoint]) -> list[tuple[Fraction, Fraction]]:
    """Return the vertices (false, true positive rate), from (0, 0) to (1, 1), of the least concave curve on or above
    all points."""
    nobody, everybody = (Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))
    hull = [nobody]
    for fpr, tpr in [*sorted((point.fpr, point.tpr) for point in points), everybody]:
        while len(hull) > 1 and _below(hull[-1], hull[-2], (fpr, tpr)):
            hull.pop()
        if (fpr, tpr) != hull[-1]:
            hull.append((fpr, tpr))
    return hull


def _below(
    middle: tuple[Fraction, Fraction], before: tuple[Fraction, Fraction], after: tuple[Fraction, Fraction]
) -> bool:
    """Return whether a point lies on or below the line between two others."""
    rise, run = after[1] - before[1], after[0] - before[0]
    return (middle[1] - before[1]) * run <= rise * (middle[0] - before[0])
