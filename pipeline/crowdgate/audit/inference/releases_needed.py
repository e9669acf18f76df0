"""How many releases an inference audit needs, so that a harmless mechanism passes.

The attack on a harmless mechanism is right as often as its baseline: its true gain is 0. In each release it is wrong of
as many targets as if it guessed each of them afresh: where the baseline is wrong of m targets, that number has the mean
m and a standard deviation of sqrt(m) at most. A limit of the gain leaves 1 - limit of the baseline's failures, so that
V has the mean 1/(1 - limit).
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from crowdgate.audit.common.releases_needed import releases_needed


def inference_releases(limit: Fraction, wrong: Sequence[float], alpha: Fraction) -> int | None:
    """The releases with which a harmless mechanism passes; None if no number suffices.

    `wrong` says for each secret of how many targets its baseline is wrong.
    """
    if limit >= 1:
        return 1
    return releases_needed(float(1 / (1 - limit)), 1 / math.sqrt(max(1.0, min(wrong))), alpha, len(wrong))
