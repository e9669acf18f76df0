"""From a box with a known number of members to a predicate that takes one of them."""

from fractions import Fraction

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.predicates import Predicate, TagCondition, greatest_share


def isolation_chance(members: Integers, weight: Floats, most: Fraction) -> Floats:
    """The chance to isolate one of so many members of each box by the share of it that has at most the weight."""
    share = np.minimum(1 / np.maximum(members, 1), np.minimum(1.0, float(most) / np.maximum(weight, 1e-300)))
    found: Floats = members * share * np.exp(np.log1p(-np.minimum(share, 1 - 1e-12)) * np.maximum(members - 1, 0))
    return found


def one_member_predicate(
    population: Population, members: int, most: Fraction, cells: Bools | None = None, tags: TagCondition | None = None
) -> Predicate:
    """A box, and a hash that takes one of its members, if the weight allows as great a share."""
    own = Predicate(cells, tags).weight(population)
    return Predicate(cells, tags, greatest_share(own, min(most, own / max(1, members))))
