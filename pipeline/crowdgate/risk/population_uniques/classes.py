"""A sample by its classes, and a model's estimate for the population that it is a sample of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from crowdgate.arrays import Floats
from crowdgate.risk.class_sizes import ClassSizes


@dataclass(frozen=True)
class PopulationEstimate:
    """A model's estimate: the number of people who are unique in the population, or None with the reason.

    `parameters` are the fitted ones.
    """

    model: str
    uniques: float | None
    reason: str = ""
    parameters: tuple[tuple[str, float], ...] = ()


def trivial_estimate(model: str, classes: ClassSizes, fraction: float) -> PopulationEstimate | None:
    """Return the estimate if it needs no model: for an empty table, one without uniques, or a whole population; else
    None."""
    if not classes.people:
        return PopulationEstimate(model, None, "there is nobody in the sample")
    unique = classes.of_size(1)
    if not unique:
        return PopulationEstimate(model, 0.0, "nobody is unique in the sample")
    return PopulationEstimate(model, unique, "the sample is the population") if fraction == 1 else None


def roots(function: Callable[[float], float], places: Floats) -> Iterator[float]:
    """Yield the zeros of a function between neighbouring places at which its sign differs."""
    from scipy.optimize import brentq

    values = [function(float(place)) for place in places]
    for (low, at_low), (high, at_high) in pairwise(zip(places.tolist(), values, strict=True)):
        if isfinite(at_low) and isfinite(at_high) and (at_low > 0) != (at_high > 0):
            yield float(brentq(function, low, high, xtol=1e-12))
