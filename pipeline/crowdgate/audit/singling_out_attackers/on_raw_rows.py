"""Attackers on raw rows, or on a function of each row."""

from fractions import Fraction

import numpy as np

from crowdgate.audit.common.observation import PublicKnowledge
from crowdgate.audit.common.predicates import Predicate, PredicatePerUnit, TagBits
from crowdgate.audit.common.unreleased_parts import RawRows
from crowdgate.audit.singling_out_attackers.base import Answers, Attacker, SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.one_member import isolation_chance, one_member_predicate


class RawRow(Attacker):
    """Attacker that takes the rarest published row: by its tag's bits, or by its cell."""

    name = "raw row"
    source = "PNAS section 4.B, examples (arXiv: section 3.1, examples)"

    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        rows = sight.told.rows
        if rows is None:
            return None
        if rows.tags is None:
            return [_rarest_cell_predicate(rows, sight.known, most) for most in sight.weights]
        if not len(rows.tags):
            return sight.abstain
        values, times = np.unique(rows.tags, return_counts=True)
        rarest = int(np.argmin(times))
        tags = TagBits(rows.mask, int(values[rarest]))
        return [one_member_predicate(sight.population, int(times[rarest]), most, tags=tags) for most in sight.weights]


class EveryRow(Attacker):
    """Attacker that answers with a predicate for every row (full singling out): the published bits of its tag. Abstains
    if a row occurs twice."""

    name = "everybody's row"
    source = "arXiv: Definition 3.7 and Claim 4.8 (not in PNAS)"

    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        rows = sight.told.rows
        if rows is None or rows.tags is None:
            return None
        if len(np.unique(rows.tags)) < len(rows.tags):
            return sight.abstain
        each = PredicatePerUnit([Predicate(tags=TagBits(rows.mask, int(value))) for value in rows.tags])
        return [each] * len(sight.weights)


def _rarest_cell_predicate(rows: RawRows, known: PublicKnowledge, most: Fraction) -> Predicate | None:
    """Return the predicate, of a weight of at most `most`, for the cell whose rows are most probably isolated by it."""
    assert rows.cells is not None
    best = int(np.argmax(isolation_chance(rows.cells, known.population.weights, most)))
    return one_member_predicate(known.population, int(rows.cells[best]), most, cells=np.arange(len(rows.cells)) == best)
