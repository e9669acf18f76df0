"""Attackers that use few attributes: one value or range of one column, or values of two columns."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.audit.singling_out_attackers.base import SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.best_predicate import BoxPosterior, PosteriorAttacker
from crowdgate.audit.singling_out_attackers.on_noisy_tables import units_in
from crowdgate.audit.singling_out_attackers.on_releases import rows_in


def tables(sight: SinglingOutAttackerView, width: int) -> Iterator[tuple[Integers, Sequence[Floats]]]:
    """Yield each table of `width` attributes that the release contains, counted from the rows or as noisy table: the
    box of every cell of the population; and for each box its weight, known rows and expected possible rows."""
    seen, population = sight.seen, sight.population
    if seen is None:
        return
    if seen.rows is not None:
        _, weight = population.boxes(seen.levels)
        shape = tuple(len(level) for level in seen.levels.values())
        whole = [part.reshape(shape) for part in (weight, *rows_in(seen, seen.rows, weight, sight.n))]
        for chosen in combinations(seen.levels, min(width, len(seen.levels))):
            others = tuple(at for at, name in enumerate(seen.levels) if name not in chosen)
            box, _ = population.boxes({name: seen.levels[name] for name in chosen})
            yield box, [part.sum(axis=others).reshape(-1) for part in whole]
    for table in seen.tables:
        if len(table.levels) == width:
            box, weight = population.boxes(table.levels)
            yield box, (weight, *units_in(table, weight, sight.n))


class OneColumnAttacker(PosteriorAttacker):
    """Attacker that takes a value of one column, or a tail (all values up to one, or from one on): the one with the
    most rows per weight."""

    name = "one column"
    source = "univariate predicates; Giomi, Boenisch, Wehmeyer, Tasnadi 2023, with weights on D"

    def posteriors(self, sight: SinglingOutAttackerView) -> Iterator[BoxPosterior]:
        for box, parts in tables(sight, 1):
            yield BoxPosterior(box, *parts)
            yield from tails(box, parts)


def tails(box: Integers, parts: Sequence[Floats]) -> Iterator[BoxPosterior]:
    """Yield, for each side of one column, the tail (all values up to one, or from one on) with the most rows per
    weight, as a single box. `parts` are weight, known rows and possible rows by value."""
    for order in (slice(None), slice(None, None, -1)):
        mass, sure, unsure = (np.cumsum(part[order]) for part in parts)
        rate = np.divide(sure + unsure, mass, out=np.zeros_like(mass), where=mass > 0)
        last = int(np.argmax(rate))
        inside, here = box <= last if order.step is None else box >= len(mass) - 1 - last, slice(last, last + 1)
        yield BoxPosterior(np.where(inside, 0, -1), mass[here], sure[here], unsure[here])


class TwoColumnsAttacker(PosteriorAttacker):
    """Attacker that takes pairs of values of two columns."""

    name = "two columns"
    source = "multivariate predicates; Giomi, Boenisch, Wehmeyer, Tasnadi 2023, with weights on D"

    def posteriors(self, sight: SinglingOutAttackerView) -> Iterator[BoxPosterior]:
        return (BoxPosterior(box, *parts) for box, parts in tables(sight, 2))
