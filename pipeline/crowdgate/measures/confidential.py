"""Measures of the table and the sample, for the custodian only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crowdgate.candidate import Candidate, Measurement, OutputType
from crowdgate.measures.base import NOT_NEGATIVE, SHARE, Aspect, BetterSide, Measure, MeasureClass, unbounded
from crowdgate.measures.unique_people import Limits, figure

if TYPE_CHECKING:
    from crowdgate.policy.policy import GateRule


def _quartile(candidate: Candidate, rule: GateRule) -> Measurement | None:
    number = rule.options.get("quartile")
    if candidate.table is None or number is None or not len(candidate.table):
        return None
    from crowdgate.risk.anonymity_sets import quartile

    return Measurement.exact(quartile(np.sort(candidate.table.counts), int(number)))


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


def _population_uniques(candidate: Candidate, rule: GateRule) -> Measurement | None:
    """Return the interval at its upper limit; None where it is too wide, unless the gate's limit is outside of it."""
    if candidate.sample is None:
        return None
    from crowdgate.risk.population_uniques import population_uniques
    from crowdgate.risk.population_uniques.interval import WIDEST

    found = population_uniques(candidate.sample.counts, candidate.static.beta).interval
    return None if found is None else figure(Limits(found.low, found.high), rule, WIDEST)


ANONYMITY_SET_QUARTILE = Measure(
    name="anonymity_set_quartile",
    summary=(
        "number of rows in a class of the whole table, at the released levels: quartile 1, 2 (the median) or 3 over"
        " the classes. Each class counts once (Koot 2012, Tables 3.2 to 3.5). Inconclusive for an empty table"
    ),
    sentence=(
        "It measures the size of the groups of rows that are alike, in the whole table at the released levels. It"
        " takes\nquartile {quartile} over the groups (1: a quarter are at most so large, 2: half, 3: three"
        " quarters)."
    ),
    reads=MeasureClass.CONFIDENTIAL,
    shape=OutputType.TABLE,
    aspect=Aspect.SINGLING_OUT,
    better=BetterSide.LARGER,
    accumulates=False,
    range=NOT_NEGATIVE,
    reach=unbounded,
    of_candidate=_quartile,
    steady=False,
    options=("quartile",),
    needs=("quartile",),
    why=lambda *_: "the table has no class",
)
SUPPRESSED_SHARE = Measure(
    name="suppressed_share",
    summary="share of the sampled rows that suppression removes",
    sentence="It takes the share of the sampled rows that are left out because too few are alike. Who knew it would"
    " know how many there\nare, and then the promise would not hold: so it is never published.",
    reads=MeasureClass.CONFIDENTIAL,
    shape=OutputType.SAMPLE,
    aspect=Aspect.USEFULNESS,
    better=BetterSide.SMALLER,
    accumulates=False,
    range=SHARE,
    reach=lambda *_: SHARE,
    of_candidate=_suppressed_share,
    steady=False,
)
SAMPLE_UNIQUES = Measure(
    name="sample_uniques",
    summary="share of the sampled rows that are alone in their class",
    sentence="It takes the share of the sampled rows that are like no other row of the sample, before such rows are"
    " left out.",
    reads=MeasureClass.CONFIDENTIAL,
    shape=OutputType.SAMPLE,
    aspect=Aspect.SINGLING_OUT,
    better=BetterSide.SMALLER,
    accumulates=False,
    range=SHARE,
    reach=lambda *_: SHARE,
    of_candidate=_sample_uniques,
    steady=False,
)
POPULATION_UNIQUES = Measure(
    name="population_uniques",
    summary="number of rows that are unique in the population of which the sample is a part: the upper 95 % confidence"
    " limit by mixtures of geometric class sizes. Inconclusive if the gate's limit is inside a wide interval",
    sentence="It estimates from the sample how many rows are like no other in the whole population. A small sample does"
    " not tell that number,\nand then the gate does not pass.",
    reads=MeasureClass.CONFIDENTIAL,
    shape=OutputType.SAMPLE,
    aspect=Aspect.SINGLING_OUT,
    better=BetterSide.SMALLER,
    accumulates=False,
    range=NOT_NEGATIVE,
    reach=unbounded,
    of_candidate=_population_uniques,
    steady=False,
    why=lambda *_: "the sample does not tell this number, or nobody is in it",
)
