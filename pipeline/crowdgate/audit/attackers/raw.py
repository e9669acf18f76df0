"""Attackers who are shown rows, or a function of each."""

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from crowdgate.audit.attackers.base import Answers, Attacker
from crowdgate.audit.attackers.single import chance, one_of
from crowdgate.audit.observation import Known, Observation
from crowdgate.audit.parts import RawRows
from crowdgate.audit.population import Rng
from crowdgate.audit.predicates import Bits, Everybody, Predicate


class RawRow(Attacker):
    """The row that is there most rarely: the lightest predicate that it meets."""

    name: ClassVar[str] = "raw row"
    summary: ClassVar[str] = "one row that is published as it is, or whose cells or bits are"
    source: ClassVar[str] = "PNAS section 4.B, examples (arXiv: section 3.1, examples)"

    def answer(self, told: Observation, known: Known, weights: Sequence[Fraction], rng: Rng) -> Answers | None:
        rows = told.rows
        if rows is None:
            return None
        if rows.tags is None:
            return [_of_cells(rows, known, most) for most in weights]
        if not len(rows.tags):
            return [None] * len(weights)
        values, times = np.unique(rows.tags, return_counts=True)
        rarest = int(np.argmin(times))
        tags = Bits(rows.mask, int(values[rarest]))
        return [one_of(known.population, int(times[rarest]), most, tags=tags) for most in weights]


class EverybodysRow(Attacker):
    """A predicate for every row (full singling out): its bits. One row that is there twice spoils it."""

    name: ClassVar[str] = "everybody's row"
    summary: ClassVar[str] = "a predicate for every row of the table, each of which must isolate its own row"
    source: ClassVar[str] = "arXiv: Definition 3.7 and Claim 4.8 (not in PNAS)"

    def answer(self, told: Observation, known: Known, weights: Sequence[Fraction], rng: Rng) -> Answers | None:
        rows = told.rows
        if rows is None or rows.tags is None:
            return None
        if len(np.unique(rows.tags)) < len(rows.tags):
            return [None] * len(weights)
        each = Everybody([Predicate(tags=Bits(rows.mask, int(value))) for value in rows.tags])
        return [each] * len(weights)


def _of_cells(rows: RawRows, known: Known, most: Fraction) -> Predicate | None:
    """Of the cell whose rows are isolated likeliest."""
    assert rows.cells is not None
    best = int(np.argmax(chance(rows.cells, known.population.weights, most)))
    return one_of(known.population, int(rows.cells[best]), most, cells=np.arange(len(rows.cells)) == best)
