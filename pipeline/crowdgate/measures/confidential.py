"""Measures of the table and the sample, for the custodian only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crowdgate.candidate import Candidate, Measurement, OutputType
from crowdgate.measures.base import NOT_NEGATIVE, SHARE, Aspect, BetterSide, Measure, MeasureClass, unbounded

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


def _population_uniques(candidate: Candidate, _: GateRule) -> Measurement | None:
    if candidate.sample is None:
        return None
    from crowdgate.risk.population_uniques import population_uniques

    found = population_uniques(candidate.sample.counts, candidate.static.beta).chosen.uniques
    return None if found is None else Measurement.exact(found)


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
    summary="number of rows that are alone in their class in the population of which the sample is a part, as the model"
    " estimates that the rule of Dankar and others (2012) takes: Pitman, Zayatz or SNB; inconclusive where none fits",
    sentence="It estimates from the sample how many rows are like no other in the whole population. It is an estimate"
    " by a model, which\nmay not fit.",
    reads=MeasureClass.CONFIDENTIAL,
    shape=OutputType.SAMPLE,
    aspect=Aspect.SINGLING_OUT,
    better=BetterSide.SMALLER,
    accumulates=False,
    range=NOT_NEGATIVE,
    reach=unbounded,
    of_candidate=_population_uniques,
    steady=False,
    why=lambda *_: "no model fits the sample, or nobody is in it",
)
