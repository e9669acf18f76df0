"""What the input and the sample show: charged for through noise, or for the curator's eyes only."""

from fractions import Fraction
from math import inf

import numpy as np

from crowdgate.candidate import Candidate, Measurement, Shape, Static
from crowdgate.measures.base import Measure, MeasureClass
from crowdgate.measures.charged import drawn, told
from crowdgate.policy.policy import GateRule

SENSITIVITY = 1
"""One row added or removed changes the number of classes of exactly one row by at most 1; m rows by at most m."""


def _singletons(candidate: Candidate, rule: GateRule) -> Measurement | None:
    if candidate.table is None:
        return None
    count = int(np.count_nonzero(candidate.table.counts == 1))
    return drawn(candidate, rule, count, _sensitivity(candidate.static))


def _of_noisy(static: Static, rule: GateRule, noisy: Fraction) -> Measurement | None:
    return told(rule, noisy, _sensitivity(static))


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
