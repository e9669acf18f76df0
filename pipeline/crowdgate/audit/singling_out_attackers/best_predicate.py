"""From posterior distributions to predicates: the best union of boxes, and the share of it with the greatest
probability of isolation.

A posterior distribution gives, for disjoint boxes, the number of units of the table in each: some known units (c), and
an approximately Poisson number of possible ones (of mean l). At a weight w the attacker takes a union of boxes B and a
share s of it, s weight(B) <= w, and succeeds when exactly one unit is taken: with probability e^(-l s) (c s (1 - s)^(c
- 1) + l s (1 - s)^c). While s is small that is (c + l) w / weight(B), so that boxes are ordered by expected units per
weight. The best among all prefixes of that order, and all single boxes, is taken.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.predicates import Predicate, greatest_share
from crowdgate.audit.singling_out_attackers.base import Answers, Attacker, SinglingOutAttackerView


@dataclass(frozen=True, eq=False)
class BoxPosterior:
    """Posterior distribution of a table's units over disjoint boxes of cells: the box of every cell of the population
    (`box`; -1: none), and for each box its weight, its number of known units (`sure`), and its expected number of
    possible units (`unsure`)."""

    box: Integers
    weight: Floats
    sure: Floats
    unsure: Floats

    @cached_property
    def order(self) -> Integers:
        """Indices of the boxes in descending order of expected units per weight; boxes of weight 0 are left out."""
        has = np.flatnonzero(self.weight > 0)
        people = self.sure[has] + self.unsure[has]
        found: Integers = has[np.argsort(-people / self.weight[has], kind="stable")]
        return found

    @cached_property
    def unions(self) -> tuple[Floats, Floats, Floats]:
        """Weight, known units and possible units of candidate unions of boxes: all prefixes of `order`, then every
        single box."""
        parts = (part[self.order] for part in (self.weight, self.sure, self.unsure))
        mass, sure, unsure = (np.concatenate([np.cumsum(part), part]) for part in parts)
        return mass, sure, unsure

    def best_union(self, weight: float) -> tuple[float, int]:
        """Return the expected probability of isolation by the best union of boxes, with a predicate of at most this
        weight, and the index of the union in `unions` (-1: no box)."""
        mass, sure, unsure = self.unions
        if not len(mass):
            return 0.0, -1
        share = np.minimum(np.minimum(1.0, weight / mass), 1 / np.maximum(sure + unsure, 1.0))
        chance = _isolation_probability(sure, unsure, share)
        best = int(np.argmax(chance))
        return float(chance[best]), best

    def predicate(self, population: Population, weight: Fraction, union: int) -> Predicate:
        """Return the predicate that selects a share of the union with index `union` by a hash: of at most this weight,
        and at most the share that most probably takes exactly one unit."""
        first = union < len(self.order)
        chosen = self.order[: union + 1] if first else self.order[union - len(self.order) :][:1]
        cells = cells_in_boxes(self.box, chosen, len(self.weight))
        own = Fraction(population.among(cells), population.size)
        people = float(self.unions[1][union] + self.unions[2][union])
        return Predicate(cells=cells, share=greatest_share(own, min(weight, own * Fraction(1 / max(1.0, people)))))


class PosteriorAttacker(Attacker):
    """An attacker that computes posterior distributions of the table's units over boxes, and answers with the best
    predicate over all of them."""

    @abstractmethod
    def posteriors(self, sight: SinglingOutAttackerView) -> Iterator[BoxPosterior]:
        """Yield the posterior distributions of the table's units over boxes; none if nothing that the attacker reads is
        published."""

    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        beliefs = list(self.posteriors(sight))
        return best_predicates(beliefs, sight.population, sight.weights) if beliefs else None


def _isolation_probability(sure: Floats, unsure: Floats, share: Floats) -> Floats:
    """Return the probability that a hash with this share takes exactly one unit of a box with `sure` known units and a
    Poisson number of possible ones (of mean `unsure`)."""
    rest = np.log1p(-np.minimum(share, 1 - 1e-15))
    others = np.exp(np.maximum(sure - 1, 0.0) * rest)
    # without known units, the one that is taken is a possible one
    mine = np.where(sure > 0, np.minimum(sure, 1.0) * np.maximum(sure, 1.0) * share * others, 0.0)
    return np.asarray(np.exp(-unsure * share) * (mine + unsure * share * np.exp(sure * rest)))


def best_predicates(
    beliefs: Sequence[BoxPosterior], population: Population, weights: Sequence[Fraction]
) -> list[Predicate | None]:
    """Return for each weight the predicate with the greatest expected success over all posterior distributions; None
    where none of them has a box."""
    found: list[Predicate | None] = []
    for weight in weights:
        aims = [each.best_union(float(weight)) for each in beliefs]
        at = max(range(len(aims)), key=lambda place: aims[place][0])
        union = aims[at][1]
        found.append(beliefs[at].predicate(population, weight, union) if union >= 0 else None)
    return found


def cells_in_boxes(box: Integers, boxes: Integers, size: int) -> Bools:
    """Return a mask of the cells whose box is one of `boxes`; `box` is the box of every cell (-1: none), `size` the
    number of boxes."""
    chosen = np.zeros(size + 1, dtype=np.bool_)
    chosen[boxes] = True
    found: Bools = chosen[box] & (box >= 0)
    return found
