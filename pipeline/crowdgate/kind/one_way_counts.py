"""Published counts of the values of one attribute: unbiased estimates with the covariance of their noise."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from crowdgate.arrays import Floats


@dataclass(frozen=True, eq=False)
class OneWayCounts:
    """Counts of people or rows by the value of one attribute, at its finest level.

    `width` returns, for a probability that an interval misses, half of its width in standard errors: it holds for every
    weighted sum of the counts. `make_covariance` computes `covariance`, which is large for many values.
    """

    attribute: str
    estimates: Floats
    make_covariance: Callable[[], Floats]
    width: Callable[[float], Fraction]

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the estimates' noise, or a larger one (as a quadratic form)."""
        return self.make_covariance()
