"""Findings on a published curve at each skew: its points, and the greatest recall at a required precision."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from crowdgate.anonymity.published_attacks.request import EACH_LIMIT, CurveRequest
from crowdgate.kind.listing import ListingColumn
from crowdgate.number_text import BOUND, LEAST, PEOPLE, Value, exact_text
from crowdgate.risk.membership import Rates, base_rate, non_members_needed
from crowdgate.risk.roc import RocPoint, at_skew, greatest_recall

Row = dict[str, Value]
LEVEL = Fraction(1, 20)
LEAST_PRECISION = Fraction(1, 2)
"""Precision that must be shown for points without a false positive."""
REACHED, MISSED, INCONCLUSIVE = "reached", "not reached", "inconclusive"
MEASURED, ABOVE = "measured", f"above {float(LEAST_PRECISION):g}"

_SHARES = (
    ListingColumn("members_per_hit", "of members, 1 in", PEOPLE, ""),
    ListingColumn("targets_per_hit", "of all targets, 1 in", PEOPLE, ""),
)
VERDICT = ListingColumn("verdict", "verdict")
NEEDED = ListingColumn("needed", "non-members needed", "d", "")
POINTS = (
    ListingColumn("skew", "skew"),
    ListingColumn("fpr", "FPR", ".3g"),
    ListingColumn("recall", "recall", ".3g"),
    ListingColumn("precision", "precision", ".4g", ""),
    *_SHARES,
    ListingColumn("targets_per_claim", "claimed, 1 in", PEOPLE, ""),
)
LIMIT_COLUMNS = (
    ListingColumn("precision_low", "precision from", LEAST),
    ListingColumn("precision_high", "to", BOUND),
    ListingColumn("recall_low", "recall from", LEAST),
    ListingColumn("recall_high", "to", BOUND),
)
GREATEST = (
    ListingColumn("skew", "skew"),
    ListingColumn("base_rate", "claiming everybody", ".4g"),
    ListingColumn("wanted", "precision wanted", ".4g"),
    VERDICT,
    ListingColumn("recall", "greatest recall", ".4g", ""),
    *_SHARES,
)


@dataclass(frozen=True)
class CurveFindings:
    """A curve with the request for its conversion."""

    points: Sequence[RocPoint]
    asked: CurveRequest

    @property
    def without_false_positive(self) -> Sequence[RocPoint]:
        """The points without a false positive."""
        return [point for point in self.points if not self._seen(point)]

    def rows(self) -> Iterator[Row]:
        """Yield every point at every skew. A point without a false positive has no precision: it is above .5 if enough
        non-members were tried, and inconclusive otherwise."""
        targets = self.asked.targets
        ends = [None if targets is None else targets.rates(point) for point in self.points]
        for skew in self.asked.skews:
            for point, rates in zip(self.points, ends, strict=True):
                yield {**self._row(point, skew), **({} if rates is None else _confidence_limits(rates, skew))}

    def _row(self, point: RocPoint, skew: Fraction) -> Row:
        seen, shown = self._seen(point), self._shows_precision(point, LEAST_PRECISION, skew)
        claim = at_skew(point, skew)
        return {
            "skew": skew_text(skew),
            "fpr": float(point.fpr),
            "recall": claim.recall,
            "precision": claim.precision if seen else None,
            **_one_in(claim.recall, skew),
            "targets_per_claim": 1 / claim.predicted,
            "verdict": MEASURED if seen else ABOVE if shown else INCONCLUSIVE,
            "needed": None if shown else self._needed(LEAST_PRECISION, point, skew),
        }

    def greatest(self) -> Iterator[Row]:
        """Yield the greatest recall at every required precision, at every skew."""
        for skew in self.asked.skews:
            for wanted in self.asked.precisions:
                first: Row = {"skew": skew_text(skew), "base_rate": base_rate(skew), "wanted": float(wanted)}
                yield {**first, **self._greatest(wanted, skew)}

    def _greatest(self, wanted: Fraction, skew: Fraction) -> Row:
        found = greatest_recall([point for point in self.points if self._seen(point)], wanted, skew)
        if found is None and self.without_false_positive:
            last = self.without_false_positive[-1]
            if not self._shows_precision(last, wanted, skew):
                needed = self._needed(wanted, last, skew)
                return {"verdict": INCONCLUSIVE, "recall": None, **_one_in(None, skew), "needed": needed}
            found = float(last.tpr)
        verdict = MISSED if found is None else REACHED
        return {"verdict": verdict, "recall": found, **_one_in(found, skew), "needed": None}

    def most_precise(self, skew: Fraction) -> tuple[RocPoint | None, bool]:
        """Return the point of the greatest precision at a skew, and whether it has a false positive: without one only a
        precision of .5 is shown. None where no point shows a precision."""
        told = [point for point in self.points if self._shows_precision(point, LEAST_PRECISION, skew)]

        def shown(point: RocPoint) -> tuple[float, Fraction]:
            return at_skew(point, skew).precision if self._seen(point) else float(LEAST_PRECISION), point.tpr

        best = max(told, key=shown, default=None)
        return best, best is not None and self._seen(best)

    def drawn(self, skew: Fraction) -> Iterator[tuple[float, float]]:
        """Yield recall and precision of the points with a false positive, which can be drawn on logarithmic axes."""
        for point in self.points:
            if point.tpr and self._seen(point):
                yield float(point.tpr), at_skew(point, skew).precision

    def _seen(self, point: RocPoint) -> bool:
        """Return whether there was a false positive."""
        return bool(point.fpr) and (self.asked.targets is None or point.fpr * self.asked.targets.non_members >= 1)

    def _shows_precision(self, point: RocPoint, wanted: Fraction, skew: Fraction) -> bool:
        """Return whether a false positive was seen, or enough non-members were tried for its absence to show a
        precision."""
        if self._seen(point):
            return True
        needed = self._needed(wanted, point, skew)
        return needed is not None and self.asked.targets is not None and self.asked.targets.non_members >= needed

    def _needed(self, wanted: Fraction, point: RocPoint, skew: Fraction) -> int | None:
        """Return the number of non-members, none of them claimed, for which the lower limit of precision is `wanted`.
        It uses the lower limit of recall if the number of members is known, otherwise the recall itself, at level .05.
        None where nobody is found, or where the number would exceed 10^15."""
        targets = self.asked.targets
        try:
            if targets is None:
                return non_members_needed(wanted, point.tpr, skew, LEVEL)
            return non_members_needed(wanted, targets.rates(point).tpr[0], skew, EACH_LIMIT / 2)
        except ValueError:
            return None


def skew_text(skew: Fraction) -> str:
    """Return a skew in the form 1:N."""
    return f"1:{exact_text(skew)}"


def _confidence_limits(rates: Rates, skew: Fraction) -> Row:
    low, high = rates.precision(skew)
    return {"precision_low": low, "precision_high": high, "recall_low": rates.tpr[0], "recall_high": rates.tpr[1]}


def _one_in(recall: float | None, skew: Fraction) -> Row:
    """Return the numbers of members, and of targets, per correct claim."""
    each = 1 / recall if recall else None
    return {"members_per_hit": each, "targets_per_hit": each and each * float(1 + skew)}
