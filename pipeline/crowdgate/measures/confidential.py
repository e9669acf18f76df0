"""What the input and the sample show: charged for through noise, or for the curator's eyes only."""

from math import inf

import numpy as np

from crowdgate.candidate import Candidate, Measurement, Shape, Static
from crowdgate.measures.base import Measure, MeasureClass
from crowdgate.noise import laplace_quantile
from crowdgate.policy.policy import GateRule

SENSITIVITY = 1
"""One row added or removed changes the number of classes of exactly one row by at most 1; m rows by at most m."""
ALPHA = 0.05


def _singletons(candidate: Candidate, rule: GateRule) -> Measurement | None:
    if rule.charge is None or candidate.table is None or candidate.noise is None:
        return None
    count = int(np.count_nonzero(candidate.table.counts == 1))
    noisy = candidate.noise(count, _sensitivity(candidate.static), rule.charge.epsilon)
    return _of_noisy(candidate.static, rule, noisy)


def _of_noisy(static: Static, rule: GateRule, noisy: int) -> Measurement:
    """The noisy count with the ends of the law of its noise. Raises ValueError for a rule without a charge."""
    if rule.charge is None:
        raise ValueError("charge must be stated")
    margin = laplace_quantile(_sensitivity(static), rule.charge.epsilon, ALPHA)
    return Measurement(noisy, noisy - margin, noisy + margin)


def _sensitivity(static: Static) -> int:
    return SENSITIVITY * static.rows_per_unit


def _suppressed_share(candidate: Candidate, _: GateRule) -> Measurement | None:
    if candidate.sample is None or candidate.rows is None:
        return None
    sampled = candidate.sample.rows
    return Measurement.exact(1 - candidate.rows.rows / sampled if sampled else 0)


def _sample_uniques(candidate: Candidate, _: GateRule) -> Measurement | None:
    if candidate.sample is None:
        return None
    counts = candidate.sample.counts
    return Measurement.exact(int(np.count_nonzero(counts == 1)) / int(counts.sum()) if len(counts) else 0)


SINGLETONS = Measure(
    "singletons",
    MeasureClass.CHARGED,
    Shape.TABLE,
    "number of classes with exactly one row in the whole table, at the released levels, with discrete Laplace noise",
    reach=lambda *_: (-inf, inf),
    of_candidate=_singletons,
    of_noisy=_of_noisy,
)
SUPPRESSED_SHARE = Measure(
    "suppressed_share",
    MeasureClass.CONFIDENTIAL,
    Shape.SAMPLE,
    "share of the sampled rows that suppression removes",
    reach=lambda *_: (0, 1),
    of_candidate=_suppressed_share,
)
SAMPLE_UNIQUES = Measure(
    "sample_uniques",
    MeasureClass.CONFIDENTIAL,
    Shape.SAMPLE,
    "share of the sampled rows that are alone in their class",
    reach=lambda *_: (0, 1),
    of_candidate=_sample_uniques,
)
