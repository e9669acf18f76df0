"""The expected number of singleton classes among a stated number of people, from public margins alone."""

import numpy as np
import numpy.typing as npt

from crowdgate.candidate import Measurement, Range, Shape, Static
from crowdgate.limits import MOST_CLASSES
from crowdgate.measures.base import Measure, MeasureClass
from crowdgate.policy.policy import GateRule
from crowdgate.risk.singletons import Bins, expected

ROUNDING = 1e-9
"""Float64 products and sums of positive terms stay far below this relative error (measured: 1e-12)."""


def _expected_singletons(static: Static, rule: GateRule) -> Measurement | None:
    """Exact for people who fall into classes independently with the product of the public margins (Koot 2012, 5.1)."""
    shares = [_margin(static, name) for name in rule.over or static.levels]
    probabilities = np.ones(1)
    for share in shares:
        if share is None or probabilities.size * share.size > MOST_CLASSES:
            return None
        probabilities = np.outer(probabilities, share).ravel()
    people = int(rule.options.get("people", static.people))
    distinct, bins = np.unique(probabilities, return_counts=True)
    value = expected(Bins(distinct, bins.astype(np.float64)), people)
    return Measurement(value, value * (1 - ROUNDING), value * (1 + ROUNDING))


def _margin(static: Static, name: str) -> npt.NDArray[np.float64] | None:
    """Share of each level code in the public margin, or None when the contract has no margin."""
    known = static.margins(name)
    if known is None:
        return None
    counts = np.asarray(known, dtype=np.float64)
    shares: npt.NDArray[np.float64] = counts[counts > 0] / counts.sum()
    return shares


def _reach(static: Static, rule: GateRule) -> Range:
    measured = _expected_singletons(static, rule)
    return (0, static.cells) if measured is None else (measured.lower, measured.upper)


EXPECTED_SINGLETONS = Measure(
    "expected_singletons",
    MeasureClass.STATIC,
    Shape.ROWS,
    "expected number of classes that hold exactly one of `people` persons, if attributes were independent with the"
    " contract's public margins",
    reach=_reach,
    of_static=_expected_singletons,
    options=("people",),
    over=True,
)
