"""The number of people who are unique in a population of which the table is a random sample: an interval by all laws of
a family that fit, and three models with a rule to choose, for comparison.

The models read a table as its number of classes of each size. A model that does not fit gives a reason instead of a
number. Docstrings state where ARX, which has the same three models, differs.
"""

from dataclasses import dataclass

from crowdgate.accounting.numbers import Number, probability
from crowdgate.arrays import Integers
from crowdgate.risk.class_sizes import ClassSizes
from crowdgate.risk.population_uniques.classes import PopulationEstimate
from crowdgate.risk.population_uniques.interval import UniquesInterval, uniques_interval
from crowdgate.risk.population_uniques.pitman import pitman
from crowdgate.risk.population_uniques.snb import snb
from crowdgate.risk.population_uniques.zayatz import zayatz

__all__ = [
    "ClassSizes",
    "PopulationEstimate",
    "PopulationUniques",
    "UniquesInterval",
    "pitman",
    "population_uniques",
    "snb",
    "zayatz",
]

SMALL_FRACTION = 0.1
"""Largest fraction at which the rule chooses Pitman's model."""


@dataclass(frozen=True)
class PopulationUniques:
    """The interval (None: nobody is in the sample), the population's expected size, the estimates of three models, and
    the estimate chosen by the rule of F. K. Dankar, K. El Emam, A. Neisa, T. Roffey (Estimating the re-identification
    risk of clinical data sets, 2012)."""

    people: float
    interval: UniquesInterval | None
    estimates: tuple[PopulationEstimate, ...]
    chosen: PopulationEstimate


def population_uniques(counts: Integers, fraction: Number) -> PopulationUniques:
    """Return estimates for a population of which this sample is the share `fraction` (above 0, at most 1).

    The rule: for a fraction of at most .1 Pitman's model, and Zayatz's if that fails; above, the smaller one of SNB and
    Zayatz.
    """
    classes, share = ClassSizes.of(counts), float(probability("fraction", fraction, open_low=True))
    made = tuple(model(classes, share) for model in (pitman, zayatz, snb))
    interval = uniques_interval(classes, share)
    return PopulationUniques(classes.people / share, interval, made, _choose_by_rule(made, share))


def _choose_by_rule(made: tuple[PopulationEstimate, ...], fraction: float) -> PopulationEstimate:
    by_pitman, by_zayatz, by_snb = made
    if fraction <= SMALL_FRACTION:
        return by_pitman if by_pitman.uniques is not None else by_zayatz
    known = [each for each in (by_snb, by_zayatz) if each.uniques is not None]
    return min(known, key=lambda each: each.uniques or 0.0, default=by_zayatz)
