"""Attackers that take synthetic rows for rows of people."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from crowdgate.audit.singling_out_attackers.base import SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.best_predicate import BoxPosterior, PosteriorAttacker
from crowdgate.audit.singling_out_attackers.by_attributes import tails
from crowdgate.histogram import Histogram, project
from crowdgate.kind.mechanism_output import MechanismOutput


class SyntheticRowClasses(PosteriorAttacker):
    """Attacker that takes the synthetic rows that stand for the most people per weight: a row that was copied is among
    them."""

    name = "rows taken for people's"
    source = "multivariate predicates; Giomi, Boenisch, Wehmeyer, Tasnadi 2023, with weights on D"

    def posteriors(self, sight: SinglingOutAttackerView) -> Iterator[BoxPosterior]:
        seen = sight.seen
        if seen is not None and seen.made is not None:
            tuples = sight.population.tuples(seen.levels)
            box, rows = tuples.of_cell, tuples.counts_of(seen.made)
            weight = np.asarray(np.bincount(box, sight.population.weights, len(rows)), dtype=np.float64)
            left = np.asarray((1 - float(seen.beta)) * sight.n * weight, dtype=np.float64)
            yield BoxPosterior(box, weight, rows.astype(np.float64), left)


class SyntheticRowColumns(PosteriorAttacker):
    """Attacker that takes values of one or two columns, or a tail of one, that are more frequent in synthetic rows than
    among people."""

    name = "columns of made rows"
    source = "univariate and multivariate predicates; Giomi et al. 2023, with weights on D"

    def posteriors(self, sight: SinglingOutAttackerView) -> Iterator[BoxPosterior]:
        if sight.seen is not None and sight.seen.made is not None:
            yield from _columns(sight, sight.seen, sight.seen.made)


def _columns(sight: SinglingOutAttackerView, seen: MechanismOutput, made: Histogram) -> Iterator[BoxPosterior]:
    for width in (1, 2):
        for names in combinations(made.names, width):
            box, weight = sight.population.boxes({name: seen.levels[name] for name in names})
            own = project(made, names)
            rows = np.zeros(len(weight))
            rows[np.ravel_multi_index(own.codes, own.sizes)] = own.counts
            left = (1 - float(seen.beta)) * sight.n * weight
            yield BoxPosterior(box, weight, rows, left)
            if width == 1:
                yield from tails(box, (weight, rows, left))
