"""Predicates that take one member of a box with a known number of members."""

from fractions import Fraction

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.predicates import Predicate, TagCondition, greatest_share


def isolation_chance(members: Integers, weight: Floats, most: Fraction) -> Floats:
    """Return, for each box with its number of members and its weight, the probability that a hash within the box, of at
    most the weight `most`, takes exactly one member."""
    share = np.minimum(1 / np.maximum(members, 1), np.minimum(1.0, float(most) / np.maximum(weight, 1e-300)))
    found: Floats = members * share * np.exp(np.log1p(-np.minimum(share, 1 - 1e-12)) * np.maximum(members - 1, 0))
    return found


def one_member_predicate(
    population: Population, members: int, most: Fraction, cells: Bools | None = None, tags: TagCondition | None = None
) -> Predicate:
    """Return the predicate for the box of `cells` and `tags` with a hash that takes one of its `members` members on
    average, or fewer if its weight would exceed `most`."""
    own = Predicate(cells, tags).weight(population)
    return Predicate(cells, tags, greatest_share(own, min(most, own / max(1, members))))
