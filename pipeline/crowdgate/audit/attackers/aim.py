"""From beliefs to predicates: the best union of boxes, and the share of it that isolates likeliest.

Beliefs are, for disjoint boxes, how many units of the table are expected in each. At a weight w the attacker takes a
union of boxes B and a share s of it, s weight(B) <= w, and is right when exactly one of the m units in B is taken:
m s (1 - s)^(m - 1). While m s is small that is m w / weight(B), so the boxes whose expected number is greatest for
their weight come first; among all prefixes of that order the best is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from crowdgate.audit.population import Population
from crowdgate.audit.predicates import Predicate, taken
from crowdgate.histogram import Mask

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Disjoint boxes: `box` is the box of every cell of the population (-1: of none), `weight` the weight of each box
    and `expected` how many units are expected in it."""

    box: Places
    weight: Floats
    expected: Floats

    def best(self, population: Population, weights: Sequence[Fraction]) -> list[Predicate | None]:
        """The predicate of each weight."""
        order = np.argsort(-self.expected / np.maximum(self.weight, 1e-300), kind="stable")
        order = order[self.weight[order] > 0]
        if not len(order):
            return [None] * len(weights)
        mass, people = np.cumsum(self.weight[order]), np.cumsum(self.expected[order])
        return [self._at(population, order[: _prefix(mass, people, float(w)) + 1], people, w) for w in weights]

    def _at(self, population: Population, boxes: Places, people: Floats, weight: Fraction) -> Predicate:
        cells = within(self.box, boxes, len(self.weight))
        own = Fraction(population.among(cells), population.size)
        # never a greater share than the likeliest to take one
        likeliest = Fraction(min(1.0, 1 / max(1.0, float(people[len(boxes) - 1]))))
        return Predicate(cells=cells, share=taken(own, min(weight, own * likeliest)))


def within(box: Places, boxes: Places, size: int) -> Mask:
    """The cells of some boxes."""
    chosen = np.zeros(size + 1, dtype=np.bool_)
    chosen[boxes] = True
    found: Mask = chosen[box] & (box >= 0)
    return found


def _prefix(mass: Floats, people: Floats, weight: float) -> int:
    """The last place of the prefix with the greatest chance."""
    share = np.minimum(np.minimum(1.0, weight / mass), 1 / np.maximum(people, 1.0))
    chance = people * share * np.exp(np.log1p(-np.minimum(share, 1 - 1e-12)) * np.maximum(people - 1, 0.0))
    return int(np.argmax(chance))
