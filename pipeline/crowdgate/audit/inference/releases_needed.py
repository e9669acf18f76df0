"""Number of releases that an inference audit needs to let a harmless mechanism pass.

The attack on a harmless mechanism is right as often as its baseline: its true gain is 0. In each release it is wrong
for as many targets as if it guessed each of them afresh: where the baseline is wrong for m targets, that number has
mean m and a standard deviation of at most sqrt(m). A limit on the gain leaves 1 - limit of the baseline's failures, so
that V has mean 1/(1 - limit).
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from crowdgate.accounting.bets import EVEN
from crowdgate.audit.common.releases_needed import releases_needed


def inference_releases(
    limit: Fraction, wrong: Sequence[float], alpha: Fraction, on_largest: Fraction = EVEN
) -> int | None:
    """Return the number of releases with which a harmless mechanism passes an inference audit at level alpha; None if
    no number suffices. `wrong` is, for each secret, the number of targets for whom its baseline is wrong.
    `on_largest` is the share of the capital on the largest bet."""
    if limit >= 1:
        return 1
    return releases_needed(float(1 / (1 - limit)), 1 / math.sqrt(max(1.0, min(wrong))), alpha, len(wrong), on_largest)
