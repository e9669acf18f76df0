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
"""Precision that is tested for points without a false positive, whose own precision can't be measured."""
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
    """A published curve of a membership attack (`points`, each a false positive rate and a recall), and the requested
    skews and required precisions (`asked`)."""

    points: Sequence[RocPoint]
    asked: CurveRequest

    @property
    def without_false_positive(self) -> Sequence[RocPoint]:
        """Points of the curve without a false positive: their rate is 0, or less than one of the tried non-members."""
        return [point for point in self.points if not self._seen(point)]

    def rows(self) -> Iterator[Row]:
        """Yield one row for each point of the curve at each skew (non-members per member): recall, precision and
        verdict. A point without a false positive has no precision; its verdict is "above 0.5" if enough non-members
        were tried, otherwise "inconclusive"."""
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
        """Yield one row for each skew and required precision: the greatest recall of a point that reaches this
        precision at this skew."""
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
        """Return the point with the greatest precision at a skew (non-members per member), and True if it has a false
        positive. A point without one counts with precision .5. Return (None, False) where no point shows a
        precision."""
        told = [point for point in self.points if self._shows_precision(point, LEAST_PRECISION, skew)]

        def shown(point: RocPoint) -> tuple[float, Fraction]:
            return at_skew(point, skew).precision if self._seen(point) else float(LEAST_PRECISION), point.tpr

        best = max(told, key=shown, default=None)
        return best, best is not None and self._seen(best)

    def drawn(self, skew: Fraction) -> Iterator[tuple[float, float]]:
        """Yield (recall, precision at the skew) of each point with a false positive and a recall above 0: no other
        point has a place on logarithmic axes."""
        for point in self.points:
            if point.tpr and self._seen(point):
                yield float(point.tpr), at_skew(point, skew).precision

    def _seen(self, point: RocPoint) -> bool:
        """Return True if the point has a false positive: its rate is above 0, and at least one of the tried non-members
        if their number is known."""
        return bool(point.fpr) and (self.asked.targets is None or point.fpr * self.asked.targets.non_members >= 1)

    def _shows_precision(self, point: RocPoint, wanted: Fraction, skew: Fraction) -> bool:
        """Return True if the point has a false positive, or if enough non-members were tried for its absence to show
        the precision `wanted` at this skew."""
        if self._seen(point):
            return True
        needed = self._needed(wanted, point, skew)
        return needed is not None and self.asked.targets is not None and self.asked.targets.non_members >= needed

    def _needed(self, wanted: Fraction, point: RocPoint, skew: Fraction) -> int | None:
        """Return the least number of non-members, none of them claimed to be a member, for which the point's lower
        confidence limit of precision is `wanted`. Recall enters by its lower limit if the number of members is known,
        otherwise as it is (error probability .05). None if nobody is found, or if the number would exceed 10^15."""
        targets = self.asked.targets
        try:
            if targets is None:
                return non_members_needed(wanted, point.tpr, skew, LEVEL)
            return non_members_needed(wanted, targets.rates(point).tpr[0], skew, EACH_LIMIT / 2)
        except ValueError:
            return None


def skew_text(skew: Fraction) -> str:
    """Return a skew, N non-members per member, as the text 1:N."""
    return f"1:{exact_text(skew)}"


def _confidence_limits(rates: Rates, skew: Fraction) -> Row:
    low, high = rates.precision(skew)
    return {"precision_low": low, "precision_high": high, "recall_low": rates.tpr[0], "recall_high": rates.tpr[1]}


def _one_in(recall: float | None, skew: Fraction) -> Row:
    """Return two cells of a row: the numbers of members, and of all targets, per correct claim of membership."""
    each = 1 / recall if recall else None
    return {"members_per_hit": each, "targets_per_hit": each and each * float(1 + skew)}
