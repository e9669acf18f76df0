"""What the table and the sample show, for the curator's eyes only."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.candidate import Candidate, Measurement, OutputType
from crowdgate.measures.base import Aspect, Measure, MeasureClass

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
    "anonymity_set_quartile",
    MeasureClass.CONFIDENTIAL,
    OutputType.TABLE,
    "number of rows in a class of the whole table, at the released levels: the quartile over the classes, each of which"
    " counts once (Koot 2012, Tables 3.2 to 3.5)",
    reach=lambda *_: (-inf, inf),
    aspect=Aspect.SINGLING_OUT,
    of_candidate=_quartile,
    options=("quartile",),
    needs=("quartile",),
    why=lambda *_: "the table has no class",
)
SUPPRESSED_SHARE = Measure(
    "suppressed_share",
    MeasureClass.CONFIDENTIAL,
    OutputType.SAMPLE,
    "share of the sampled rows that suppression removes",
    reach=lambda *_: (0, 1),
    aspect=Aspect.USE,
    of_candidate=_suppressed_share,
)
SAMPLE_UNIQUES = Measure(
    "sample_uniques",
    MeasureClass.CONFIDENTIAL,
    OutputType.SAMPLE,
    "share of the sampled rows that are alone in their class",
    reach=lambda *_: (0, 1),
    aspect=Aspect.SINGLING_OUT,
    of_candidate=_sample_uniques,
)
POPULATION_UNIQUES = Measure(
    "population_uniques",
    MeasureClass.CONFIDENTIAL,
    OutputType.SAMPLE,
    "number of rows that are alone in their class in the population of which the sample is a part, as the model"
    " estimates that the rule of Dankar and others (2012) takes: Pitman, Zayatz or SNB",
    reach=lambda *_: (-inf, inf),
    aspect=Aspect.SINGLING_OUT,
    of_candidate=_population_uniques,
    why=lambda *_: "no model fits the sample, or nobody is in it",
)
