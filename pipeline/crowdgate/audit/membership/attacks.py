"""Attacks on membership: a score for every unit of the population, by one release. Units with more are claimed first.

An attack answers None where a release tells nothing that it reads.
"""

from collections.abc import Callable, Sequence

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.audit.membership.attacker_view import MembershipAttackerView
from crowdgate.audit.membership.shadow_releases import features

Attack = Callable[[MembershipAttackerView], Floats | None]


def distance(sight: MembershipAttackerView) -> Floats | None:
    """Who agrees with a released class in most attributes, and among these whose class is largest; a person by the sum
    over rows."""
    near = sight.nearness
    return None if near is None else sight.crowd.of_units(near)


def likelihood_ratio(sight: MembershipAttackerView) -> Floats | None:
    """By how much the person makes what is released likelier (Neyman and Pearson 1933): counts of classes against what
    the population's weights expect of the sample, and tables as if they were independent of each other."""
    if sight.nothing:
        return None
    return sight.crowd.of_units(sight.log_rows + sight.log_tables)


def exact_counts(sight: MembershipAttackerView) -> Floats | None:
    """As the likelihood ratio, of who believes that the noise was left out: cells of few people then tell most."""
    return sight.crowd.of_units(sight.log_exact) if sight.seen.tables else None


def rows_of_people(sight: MembershipAttackerView) -> Floats | None:
    """As the likelihood ratio, of who takes made rows for people's: whose class has more rows than is expected."""
    if sight.seen.made is None:
        return None
    return sight.crowd.of_units(sight.log_ratio_by_person(np.minimum(sight.counts, sight.rows_per_tuple)))


def shadow_releases(sight: MembershipAttackerView) -> Floats | None:
    """The log odds of every unit, but for a constant, by the model that is fitted on releases of the attacker's own."""
    model, found = sight.shadow, None if sight.shadow is None else features(sight)
    if model is None or found is None:
        return None
    return np.asarray(((found - model.middle) / model.spread) @ model.slopes, dtype=np.float64)


ATTACKS: Sequence[tuple[str, str, Attack]] = (
    ("distance", "claims those who agree with a released class in most attributes", distance),
    ("likelihood ratio", "claims those whose presence makes the released counts likelier", likelihood_ratio),
    ("exact counts", "claims the same, where counts of tables are taken for exact", exact_counts),
    ("rows taken for people's", "claims those whose rows the made rows likeliest are", rows_of_people),
    (
        "shadow releases",
        "claims whom a logistic regression finds likeliest, fitted on releases of tables that the attacker drew",
        shadow_releases,
    ),
)
"""(name, summary, attack)."""
NAMES = tuple(name for name, _, _ in ATTACKS)
