"""How many releases a membership audit needs, so that a harmless mechanism passes.

An attacker on a harmless mechanism claims units blindly: he finds a share of the members as large as the share of the
population that he claims. In each release he draws whom he claims afresh (hypergeometric law). A share passes if the
upper limit of what he finds is below the recall that is judged, or the precision there is within the limit.
"""

import math
from fractions import Fraction

from crowdgate.audit.common.releases_needed import releases_needed
from crowdgate.audit.membership.record import MembershipSetting


def membership_releases(setting: MembershipSetting, alpha: Fraction) -> int | None:
    """The releases with which a harmless mechanism passes; None if no number suffices."""
    open_to_doubt = [share for share in setting.claimed if not _always_passes(setting, share)]
    found = [_releases(setting, share, alpha, len(open_to_doubt)) for share in open_to_doubt]
    return None if None in found else max((each for each in found if each is not None), default=1)


def _always_passes(setting: MembershipSetting, share: float) -> bool:
    """Whether no true positive rate is too high, or the rate is fixed: everybody is claimed."""
    return share >= 1 or _most(setting, share) <= _passing(setting, share)


def _releases(setting: MembershipSetting, share: float, alpha: Fraction, shares: int) -> int | None:
    size, n, most = setting.population_size, setting.n, _most(setting, share)
    deviation = math.sqrt(share * size * (n / size) * (1 - n / size) * (size * (1 - share)) / (size - 1)) / n
    missed = most - share
    if missed <= 0:
        return None
    return releases_needed(missed / (most - _passing(setting, share)), deviation / missed, alpha, shares)


def _most(setting: MembershipSetting, share: float) -> float:
    """The greatest true positive rate of who claims that share."""
    return min(1.0, share * setting.population_size / setting.n)


def _passing(setting: MembershipSetting, share: float) -> float:
    """The true positive rate that an upper limit must stay below: the greater of the recall that is judged and the rate
    whose precision is just the limit."""
    size, limit, skew = setting.population_size, float(setting.limit), float(setting.skew)
    others = size - setting.n
    at_limit = limit * skew * share * size / (others * (1 - limit) + limit * skew * setting.n)
    return max(float(setting.recall), at_limit)
