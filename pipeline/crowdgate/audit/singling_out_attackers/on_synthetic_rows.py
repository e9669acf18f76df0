"""Attackers who take rows that are nobody's for rows of people."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import Rng
from crowdgate.audit.singling_out_attackers.base import Answers, Attacker
from crowdgate.audit.singling_out_attackers.best_predicate import BoxPosterior, best_predicates
from crowdgate.audit.singling_out_attackers.by_attributes import tails
from crowdgate.histogram import Histogram, project
from crowdgate.kind.mechanism_output import MechanismOutput


class SyntheticRowClasses(Attacker):
    """The made rows that stand for the most people for their weight: a row that was copied is one of them."""

    name: ClassVar[str] = "rows taken for people's"
    summary: ClassVar[str] = "the classes of made rows that would be rarest among people, and a hash within them"
    source: ClassVar[str] = "multivariate predicates; Giomi, Boenisch, Wehmeyer, Tasnadi 2023, with weights on D"

    def answer(
        self, told: Observation, known: PublicKnowledge, weights: Sequence[Fraction], rng: Rng
    ) -> Answers | None:
        if told.seen is None or told.seen.made is None:
            return None
        box, rows = known.population.placed(told.seen.levels, told.seen.made)
        weight = np.bincount(box, known.population.weights, len(rows))
        left = np.asarray((1 - float(told.seen.beta)) * known.n * weight, dtype=np.float64)
        return BoxPosterior(box, np.asarray(weight), rows.astype(np.float64), left).best(known.population, weights)


class SyntheticRowColumns(Attacker):
    """Values of one or two columns, or a tail of one, that made rows have more often than people."""

    name: ClassVar[str] = "columns of made rows"
    summary: ClassVar[str] = "values of one or two columns that made rows have, taken for people's, and a hash there"
    source: ClassVar[str] = "univariate and multivariate predicates; Giomi et al. 2023, with weights on D"

    def answer(
        self, told: Observation, known: PublicKnowledge, weights: Sequence[Fraction], rng: Rng
    ) -> Answers | None:
        if told.seen is None or told.seen.made is None:
            return None
        return best_predicates(list(_columns(told.seen, told.seen.made, known)), known.population, weights)


def _columns(seen: MechanismOutput, made: Histogram, known: PublicKnowledge) -> Iterator[BoxPosterior]:
    for width in (1, 2):
        for names in combinations(made.names, width):
            box, weight = known.population.boxes({name: seen.levels[name] for name in names})
            own = project(made, names)
            rows = np.zeros(len(weight))
            rows[np.ravel_multi_index(own.codes, own.sizes)] = own.counts
            left = (1 - float(seen.beta)) * known.n * weight
            yield BoxPosterior(box, weight, rows, left)
            if width == 1:
                yield from tails(box, (weight, rows, left))
