"""What the table and the sample show, for the curator's eyes only."""

from math import inf

import numpy as np

from crowdgate.candidate import Candidate, Measurement, Shape
from crowdgate.measures.base import Measure, MeasureClass
from crowdgate.policy.policy import GateRule


def _quartile(candidate: Candidate, rule: GateRule) -> Measurement | None:
    number = rule.options.get("quartile")
    if candidate.table is None or number is None or not len(candidate.table):
        return None
    return Measurement.exact(float(np.quantile(candidate.table.counts, int(number) / 4)))


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


ANONYMITY_SET_QUARTILE = Measure(
    "anonymity_set_quartile",
    MeasureClass.CONFIDENTIAL,
    Shape.TABLE,
    "number of rows in a class of the whole table, at the released levels: the quartile over the classes, each of which"
    " counts once (Koot 2012, Tables 3.2 to 3.5)",
    reach=lambda *_: (-inf, inf),
    of_candidate=_quartile,
    options=("quartile",),
    needs=("quartile",),
    why=lambda *_: "the table has no class",
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
