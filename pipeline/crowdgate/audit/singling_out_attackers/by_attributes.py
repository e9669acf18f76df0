"""Attackers that guess with attributes: one value or range of one column, or values of two columns."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import Rng
from crowdgate.audit.singling_out_attackers.base import Answers, Attacker
from crowdgate.audit.singling_out_attackers.best_predicate import BoxPosterior, Floats, Places, best_predicates
from crowdgate.audit.singling_out_attackers.on_noisy_tables import units_in
from crowdgate.audit.singling_out_attackers.on_releases import rows_in
from crowdgate.hierarchy import Level
from crowdgate.kind.mechanism_output import MechanismOutput


def tables(
    seen: MechanismOutput, known: PublicKnowledge, width: int
) -> Iterator[tuple[Mapping[str, Level], Sequence[Floats]]]:
    """Tables of so many attributes that the release tells, from its rows or as they are: levels; and of each cell the
    weight, the rows that it has for sure, and the others that are expected."""
    if seen.rows is not None:
        _, weight = known.population.boxes(seen.levels)
        shape = tuple(len(level) for level in seen.levels.values())
        whole = [part.reshape(shape) for part in (weight, *rows_in(seen, seen.rows, weight, known.n))]
        for chosen in combinations(seen.levels, min(width, len(seen.levels))):
            others = tuple(at for at, name in enumerate(seen.levels) if name not in chosen)
            yield {name: seen.levels[name] for name in chosen}, [part.sum(axis=others).reshape(-1) for part in whole]
    for table in seen.tables:
        if len(table.levels) == width:
            _, weight = known.population.boxes(table.levels)
            yield table.levels, (weight, *units_in(table, weight, known.n))


class OneColumnAttacker(Attacker):
    """A value of one column, or all its values up to one or from one on (a tail of a numeric column), whichever has the
    most rows for its weight."""

    name: ClassVar[str] = "one column"
    summary: ClassVar[str] = "a rare value or a tail of one column, and a hash within it"
    source: ClassVar[str] = "univariate predicates; Giomi, Boenisch, Wehmeyer, Tasnadi 2023, with weights on D"

    def answer(
        self, told: Observation, known: PublicKnowledge, weights: Sequence[Fraction], rng: Rng
    ) -> Answers | None:
        if told.seen is None:
            return None
        beliefs = []
        for levels, parts in tables(told.seen, known, 1):
            box, _ = known.population.boxes(levels)
            beliefs += [BoxPosterior(box, *parts), *tails(box, parts)]
        return best_predicates(beliefs, known.population, weights) if beliefs else None


def tails(box: Places, parts: Sequence[Floats]) -> Iterator[BoxPosterior]:
    """Of weight, sure and unsure rows of one column: the tails of both sides with the most rows for their weight, each
    as the one box there is."""
    for order in (slice(None), slice(None, None, -1)):
        mass, sure, unsure = (np.cumsum(part[order]) for part in parts)
        rate = np.divide(sure + unsure, mass, out=np.zeros_like(mass), where=mass > 0)
        last = int(np.argmax(rate))
        inside, here = box <= last if order.step is None else box >= len(mass) - 1 - last, slice(last, last + 1)
        yield BoxPosterior(np.where(inside, 0, -1), mass[here], sure[here], unsure[here])


class TwoColumnsAttacker(Attacker):
    """Values of two columns together."""

    name: ClassVar[str] = "two columns"
    summary: ClassVar[str] = "rare values of two columns together, and a hash within them"
    source: ClassVar[str] = "multivariate predicates; Giomi, Boenisch, Wehmeyer, Tasnadi 2023, with weights on D"

    def answer(
        self, told: Observation, known: PublicKnowledge, weights: Sequence[Fraction], rng: Rng
    ) -> Answers | None:
        if told.seen is None:
            return None
        found = tables(told.seen, known, 2)
        beliefs = [BoxPosterior(known.population.boxes(levels)[0], *parts) for levels, parts in found]
        return best_predicates(beliefs, known.population, weights) if beliefs else None
