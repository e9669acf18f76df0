"""Confidence interval of a ratio of two sums with noise (Fieller 1954).

The estimate of top - r bottom is unbiased for 0 at the true ratio r. So all r at which it is within `width` of its
standard errors from 0 contain the true ratio with the probability for which `width` holds. They are the solutions of a
quadratic inequality: an interval, if the bottom differs from 0 by more than `width` of its standard errors.
"""

from math import inf, sqrt


def ratio_interval(
    top: float, bottom: float, variances: tuple[float, float], covariance: float, width: float
) -> tuple[float, float]:
    """Return the confidence interval of the ratio of two quantities with these estimates, `variances` (of the top, of
    the bottom) and covariance; (-inf, inf) if the bottom can be 0."""
    square = bottom**2 - width**2 * variances[1]
    if square <= 0:
        return -inf, inf
    middle = top * bottom - width**2 * covariance
    last = top**2 - width**2 * variances[0]
    root = sqrt(max(middle**2 - square * last, 0.0))
    return (middle - root) / square, (middle + root) / square
