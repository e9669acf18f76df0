"""Published counts of the values of one attribute: unbiased estimates with the covariance of their noise."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from crowdgate.arrays import Floats


@dataclass(frozen=True, eq=False)
class OneWayCounts:
    """Counts of people or rows by the value of one attribute, at its finest level.

    `covariance` is that of the estimates' noise, or larger (as a quadratic form). `width` returns, for a probability
    that an interval misses, half of its width in standard errors: it holds for every weighted sum of the counts.
    """

    attribute: str
    labels: tuple[str, ...]
    estimates: Floats
    covariance: Floats
    width: Callable[[float], Fraction]
