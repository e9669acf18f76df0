"""Number of releases that a membership audit needs to let a harmless mechanism pass.

An attacker on a harmless mechanism is blind: the expected share of members found equals the claimed share of the
population. The claimed units are drawn afresh for each release (hypergeometric distribution). A claimed share passes if
the upper limit of the recall is below the judged recall, or if the precision at that limit is within the audit's limit.
"""

import math
from fractions import Fraction

from crowdgate.audit.common.releases_needed import releases_needed
from crowdgate.audit.membership.record import MembershipSetting


def membership_releases(setting: MembershipSetting, alpha: Fraction) -> int | None:
    """Return the number of releases with which a harmless mechanism passes a membership audit at level alpha; None if
    no number suffices."""
    open_to_doubt = [share for share in setting.claimed if not _always_passes(setting, share)]
    found = [_releases(setting, share, alpha, len(open_to_doubt)) for share in open_to_doubt]
    return None if None in found else max((each for each in found if each is not None), default=1)


def _always_passes(setting: MembershipSetting, share: float) -> bool:
    """Return True if a claimed share can't fail: every possible true positive rate passes, or the rate is fixed because
    everybody is claimed."""
    return share >= 1 or _most(setting, share) <= _passing(setting, share)


def _releases(setting: MembershipSetting, share: float, alpha: Fraction, shares: int) -> int | None:
    size, n, most = setting.population_size, setting.n, _most(setting, share)
    deviation = math.sqrt(share * size * (n / size) * (1 - n / size) * (size * (1 - share)) / (size - 1)) / n
    missed = most - share
    if missed <= 0:
        return None
    return releases_needed(missed / (most - _passing(setting, share)), deviation / missed, alpha, shares)


def _most(setting: MembershipSetting, share: float) -> float:
    """Return the greatest possible true positive rate of an attacker who claims the share `share` of the population."""
    return min(1.0, share * setting.population_size / setting.n)


def _passing(setting: MembershipSetting, share: float) -> float:
    """Return the true positive rate below which an upper confidence limit passes: the judged recall, or the rate at
    which the precision equals the audit's limit, whichever is greater."""
    size, limit, skew = setting.population_size, float(setting.limit), float(setting.skew)
    others = size - setting.n
    at_limit = limit * skew * share * size / (others * (1 - limit) + limit * skew * setting.n)
    return max(float(setting.recall), at_limit)
