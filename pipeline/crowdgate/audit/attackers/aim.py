"""From beliefs to predicates: the best union of boxes, and the share of it that isolates likeliest.

Beliefs are, for disjoint boxes, how many units of the table are expected in each. At a weight w the attacker takes a
union of boxes B and a share s of it, s weight(B) <= w, and is right when exactly one of the m units in B is taken:
m s (1 - s)^(m - 1). While m s is small that is m w / weight(B), so the boxes whose expected number is greatest for
their weight come first; among all prefixes of that order the best is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

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

    @cached_property
    def order(self) -> Places:
        """Boxes by expected units for their weight, the most first; those without weight are left out."""
        has = np.flatnonzero(self.weight > 0)
        found: Places = has[np.argsort(-self.expected[has] / self.weight[has], kind="stable")]
        return found

    def aim(self, weight: float) -> tuple[float, int]:
        """The chance that is expected of the best prefix of that order at this weight, and how many boxes it has."""
        if not len(self.order):
            return 0.0, 0
        mass, people = np.cumsum(self.weight[self.order]), np.cumsum(self.expected[self.order])
        share = np.minimum(np.minimum(1.0, weight / mass), 1 / np.maximum(people, 1.0))
        others = np.log1p(-np.minimum(share, 1 - 1e-12)) * np.maximum(people - 1, 0.0)
        chance = people * share * np.exp(others)
        last = int(np.argmax(chance))
        return float(chance[last]), last + 1

    def predicate(self, population: Population, weight: Fraction, used: int) -> Predicate:
        """A hash within the first boxes, of at most that weight, and of no greater share than the likeliest to take
        one."""
        chosen = self.order[:used]
        cells = within(self.box, chosen, len(self.weight))
        own = Fraction(population.among(cells), population.size)
        likeliest = Fraction(1 / max(1.0, float(self.expected[chosen].sum())))
        return Predicate(cells=cells, share=taken(own, min(weight, own * likeliest)))

    def best(self, population: Population, weights: Sequence[Fraction]) -> list[Predicate | None]:
        """The predicate of each weight."""
        return best_of([self], population, weights)


def best_of(beliefs: Sequence[Beliefs], population: Population, weights: Sequence[Fraction]) -> list[Predicate | None]:
    """For each weight the predicate from whichever beliefs expect the most of it; None where all know nothing."""
    found: list[Predicate | None] = []
    for weight in weights:
        aims = [each.aim(float(weight)) for each in beliefs]
        at = max(range(len(aims)), key=lambda place: aims[place][0])
        used = aims[at][1]
        found.append(beliefs[at].predicate(population, weight, used) if used else None)
    return found


def within(box: Places, boxes: Places, size: int) -> Mask:
    """The cells of some boxes."""
    chosen = np.zeros(size + 1, dtype=np.bool_)
    chosen[boxes] = True
    found: Mask = chosen[box] & (box >= 0)
    return found
