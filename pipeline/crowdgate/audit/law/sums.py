"""Sums of the Normal scores of one family of numbers, over fresh releases: all that the audit's tests read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import numpy as np
from pydantic import Field

from crowdgate.arrays import Floats
from crowdgate.audit.common.record import Count, RecordModel
from crowdgate.audit.law.scores import FARTHEST

NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class ScoreSums(RecordModel):
    """Sums over the scores z of one `family` of numbers.

    `numbers` is their count, `squares` the sum of z^2, `weighted` the sum of w z with the standard deviation w of each
    number's stated distribution, `weights` the sum of w^2, and `farthest` the greatest |z|. `pairs` are pairs of
    releases with scores z and y; `products` is the sum of (z y) / |y|. `rows` are the rows of classes that are never
    suppressed, of which `taken` are sampled, and `rate` is their stated sampling rate (None: no sample).
    """

    family: str
    numbers: Count
    squares: NonNegative
    weighted: Finite
    weights: NonNegative
    farthest: Annotated[float, Field(ge=0, le=FARTHEST)]
    pairs: Count = 0
    products: Finite = 0.0
    rows: Count = 0
    taken: Count = 0
    rate: Annotated[float, Field(gt=0, le=1)] | None = None

    @classmethod
    def of(cls, family: str, score: Floats, scale: Floats) -> ScoreSums:
        """Return the sums of these scores, whose numbers have the stated standard deviations `scale`."""
        return cls(
            family=family, numbers=len(score), squares=float(np.square(score).sum()),
            weighted=float((scale * score).sum()), weights=float(np.square(scale).sum()),
            farthest=float(np.abs(score).max(initial=0.0)),
        )  # fmt: skip

    def with_pair(self, one: Floats, other: Floats) -> ScoreSums:
        """Return the sums with one more pair of releases, whose scores of the same numbers are `one` and `other`."""
        length = float(np.sqrt(np.square(other).sum()))
        if len(one) != len(other) or not length:
            return self
        product = float((one * other).sum()) / length
        return self.model_copy(update={"pairs": self.pairs + 1, "products": self.products + product})


def added(every: Iterable[ScoreSums]) -> tuple[ScoreSums, ...]:
    """Return the sums by family, added up, in the order of their first appearance."""
    found: dict[str, ScoreSums] = {}
    for each in every:
        found[each.family] = _added(found[each.family], each) if each.family in found else each
    return tuple(found.values())


def _added(one: ScoreSums, other: ScoreSums) -> ScoreSums:
    names = ("numbers", "squares", "weighted", "weights", "pairs", "products", "rows", "taken")
    summed = {name: getattr(one, name) + getattr(other, name) for name in names}
    return one.model_copy(update={**summed, "farthest": max(one.farthest, other.farthest)})
