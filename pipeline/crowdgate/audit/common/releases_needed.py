"""Number of releases with which confidence limits by betting (accounting/bets.py) let a harmless mechanism pass.

An upper limit excludes what is at stake if the weighted mean over all bets b of the product of 1 - b + b V over the
releases is 1/alpha or more. V is what a release leaves of the attacker's failures, in parts of what the limit would
leave: its mean is 1 where the limit is just reached, and above 1 (`growth`) of a harmless mechanism. The weighted mean
is at least the product at one bet, times the share of the capital on it. Its logarithm is a sum over releases; its mean
and variance are those of a Taylor series of second order in V, and the sum is taken for normal (central limit theorem).
So the number is an approximation, and tests/audit/test_enough.py measures the probability by playing.
"""

import math
from fractions import Fraction
from statistics import NormalDist

from crowdgate.accounting.bets import BETS, EVEN, capital_split
from crowdgate.audit.common.levels import POWER
from crowdgate.limits import MOST_RELEASES

CLAIMS = Fraction(5, 100)
"""Upper bound of the probability that an audit refutes a harmless mechanism. All its refutations share one level."""
_CHOOSING = 10
"""Every tenth release chooses attacks: the first of ten."""


def releases_needed(
    growth: float, spread: float, alpha: Fraction, limits: int, on_largest: Fraction = EVEN
) -> int | None:
    """Return the number of releases with which all `limits` confidence limits pass with probability POWER; None if no
    number that a policy can state suffices. `growth` is the mean, `spread` the relative standard deviation of V (see
    the module). Each limit gets an equal share of 1 - POWER - CLAIMS (union bound). The
    largest bet has the share `on_largest` of the capital."""
    if growth <= 1:
        return None
    quantile = NormalDist().inv_cdf(float(1 - (1 - POWER - CLAIMS) / limits))
    found = [
        _estimating(float(bet), growth, spread, float(share) * float(alpha), quantile)
        for bet, share in zip(BETS, capital_split(on_largest), strict=True)
    ]
    estimating = min((each for each in found if each is not None), default=MOST_RELEASES)
    releases = estimating + math.ceil(estimating / (_CHOOSING - 1))
    return releases if releases <= MOST_RELEASES else None


def _estimating(bet: float, growth: float, spread: float, alpha: float, quantile: float) -> int | None:
    """Return the number of estimating releases for one bet; None if no number suffices. It is the least T such that T
    drift - quantile sqrt(T) deviation >= log(1 / alpha), for the drift and deviation of the log-product per release.
    `alpha` is the level times the bet's share of the capital."""
    whole = 1 + bet * (growth - 1)
    deviation, needed = bet * growth * spread / whole, math.log(1 / alpha)
    drift = math.log(whole) - deviation**2 / 2
    if drift <= 0:
        return None
    half = quantile * deviation
    return math.ceil(((half + math.sqrt(half**2 + 4 * drift * needed)) / (2 * drift)) ** 2)
