"""Attackers on outputs of a policy: rows, noisy tables, or both."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.audit.common.predicates import Predicate, greatest_share
from crowdgate.audit.singling_out_attackers.base import Answers, Attacker, SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.best_predicate import BoxPosterior, PosteriorAttacker
from crowdgate.histogram import Histogram
from crowdgate.kind.mechanism_output import MechanismOutput


def places(rows: Histogram) -> Integers:
    """Return, for each released class, its index among all possible tuples of values at the released levels."""
    shape = tuple(map(int, rows.sizes))
    found: Integers = np.ravel_multi_index(rows.codes, shape) if shape else np.zeros(len(rows), np.int64)
    return found


def rows_in(seen: MechanismOutput, rows: Histogram, weight: Floats, n: int) -> tuple[Floats, Floats]:
    """Return, for each class, its number of released rows, and the expected number of further rows of the table: those
    outside of the sample, and up to `least` - 1 sampled ones of a suppressed class. Expectations are n times the
    class's weight."""
    sure, whole = np.zeros_like(weight), n * weight
    left = (1 - float(seen.beta)) * whole
    at = places(rows)
    sure[at] = rows.counts
    return sure, np.where(sure > 0, left, np.minimum(whole, left + max(0, seen.least - 1)))


class OverrepresentedClasses(PosteriorAttacker):
    """Attacker that takes the classes with more released rows than the population predicts, together, and a hash within
    them."""

    name = "likeliest classes"
    source = "optimal for small weights: audit/singling_out_attackers/best_predicate.py"

    def posteriors(self, sight: SinglingOutAttackerView) -> Iterator[BoxPosterior]:
        seen = sight.seen
        if seen is not None and seen.rows is not None:
            box, weight = sight.population.boxes(seen.levels)
            yield BoxPosterior(box, weight, *rows_in(seen, seen.rows, weight, sight.n))


class GroupAndHash(Attacker):
    """Attacker that takes a released class of the least weight, and a hash that selects one of its members."""

    name = "group and hash"
    source = "Cohen, Nissim 2020 Theorem 7.1 (arXiv: Theorem 6.1)"

    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        seen = sight.seen
        if seen is None or seen.rows is None:
            return None
        if not len(seen.rows):
            return sight.abstain
        box, weight = sight.population.boxes(seen.levels)
        at = places(seen.rows)
        lightest = int(np.argmin(np.where(weight[at] > 0, weight[at], np.inf)))
        people = sum(part[at[lightest]] for part in rows_in(seen, seen.rows, weight, sight.n))
        cells = box == at[lightest]
        own = Fraction(sight.population.among(cells), sight.population.size)
        best = own * Fraction(1 / max(1.0, float(people)))
        return [Predicate(cells=cells, share=greatest_share(own, min(most, best))) for most in sight.weights]
