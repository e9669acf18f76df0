"""Predicates that take one member of a box with a known number of members."""

from fractions import Fraction

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.predicates import Predicate, TagCondition, greatest_share


def isolation_chance(members: Integers, weight: Floats, most: Fraction) -> Floats:
    """Return the probability of isolating one of the members of each box by the share of the box with at most the
    weight `most`."""
    share = np.minimum(1 / np.maximum(members, 1), np.minimum(1.0, float(most) / np.maximum(weight, 1e-300)))
    found: Floats = members * share * np.exp(np.log1p(-np.minimum(share, 1 - 1e-12)) * np.maximum(members - 1, 0))
    return found


def one_member_predicate(
    population: Population, members: int, most: Fraction, cells: Bools | None = None, tags: TagCondition | None = None
) -> Predicate:
    """Return a box with a hash that takes one of its members, if the weight allows that share."""
    own = Predicate(cells, tags).weight(population)
    return Predicate(cells, tags, greatest_share(own, min(most, own / max(1, members))))
