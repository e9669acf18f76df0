"""Attacks on membership: a score for every unit of the population, from one release. Units with greater scores are
claimed first.

An attack returns None if it reads nothing of what is released.
"""

from collections.abc import Callable, Sequence

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.audit.membership.attacker_view import MembershipAttackerView
from crowdgate.audit.membership.shadow_releases import features

Attack = Callable[[MembershipAttackerView], Floats | None]


def distance(sight: MembershipAttackerView) -> Floats | None:
    """Return a membership score per distinct unit: the number of attributes in which the nearest released class agrees,
    and among equal numbers the class's size. A person's score is the sum over rows."""
    near = sight.nearness
    return None if near is None else sight.crowd.of_units(near)


def likelihood_ratio(sight: MembershipAttackerView) -> Floats | None:
    """Return a membership score per distinct unit: the log likelihood ratio of the release for the unit as a member
    (Neyman and Pearson 1933), from released classes and noisy tables, taken as independent."""
    if sight.nothing:
        return None
    return sight.crowd.of_units(sight.log_rows + sight.log_tables)


def exact_counts(sight: MembershipAttackerView) -> Floats | None:
    """Return a membership score per distinct unit: the log likelihood ratio of the released tables as if counts had no
    noise. Cells of few people then matter most."""
    return sight.crowd.of_units(sight.log_exact) if sight.seen.tables else None


def rows_of_people(sight: MembershipAttackerView) -> Floats | None:
    """Return a membership score per distinct unit: the log likelihood ratio as if synthetic rows were people's. Classes
    with more rows than expected score high."""
    if sight.seen.made is None:
        return None
    return sight.crowd.of_units(sight.log_ratio_by_person(np.minimum(sight.counts, sight.rows_per_tuple)))


def shadow_releases(sight: MembershipAttackerView) -> Floats | None:
    """Return a membership score per distinct unit: its log odds of membership, up to a constant, by the model fitted on
    the attacker's own releases."""
    model, found = sight.shadow, None if sight.shadow is None else features(sight)
    if model is None or found is None:
        return None
    return np.asarray(((found - model.middle) / model.spread) @ model.slopes, dtype=np.float64)


ATTACKS: Sequence[tuple[str, str, Attack]] = (
    ("distance", "claims those who agree with a released class in most attributes", distance),
    ("likelihood ratio", "claims those whose presence makes the released counts more probable", likelihood_ratio),
    ("exact counts", "like the likelihood ratio, with counts of tables taken as exact", exact_counts),
    (
        "rows taken for people's",
        ("claims those whose rows are the most probable source of the synthetic rows"),
        rows_of_people,
    ),
    (
        "shadow releases",
        "claims those whom a logistic regression finds most probable, fitted on releases of tables that the attacker"
        " drew",
        shadow_releases,
    ),
)
"""(name, summary, attack)."""
NAMES = tuple(name for name, _, _ in ATTACKS)
