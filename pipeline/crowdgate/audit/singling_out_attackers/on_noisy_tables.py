"""Attackers on noisy tables."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.audit.common.observation import PublicKnowledge
from crowdgate.audit.singling_out_attackers.base import SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.best_predicate import BoxPosterior, PosteriorAttacker
from crowdgate.audit.singling_out_attackers.on_releases import rows_in
from crowdgate.noisy_counts.mechanism_output import NoisyCounts


def shrunken_counts(table: NoisyCounts, weight: Floats, n: int) -> Floats:
    """Return the expected number of the whole table's rows (n units) in each cell of a noisy table, given the noisy
    counts of the sample: the best linear estimate for about Poisson(n weight) rows in a cell. It is never negative."""
    prior, sampled = n * weight, n * weight * float(table.beta)
    kept = sampled / np.maximum(sampled + table.variance, 1e-300)
    return np.asarray(np.maximum(prior + kept * (table.counts.reshape(-1) - sampled), 0.0))


def units_in(table: NoisyCounts, weight: Floats, n: int) -> tuple[Floats, Floats]:
    """Return the estimated number of units in each cell of a noisy table, as known and as possible units: known if the
    remaining variance is below _KNOWN, otherwise possible."""
    found, prior = shrunken_counts(table, weight, n), n * weight
    sampled = prior * float(table.beta)
    left = prior * (1 - float(table.beta) * sampled / np.maximum(sampled + table.variance, 1e-300))
    known = left < _KNOWN
    return np.where(known, np.rint(found), 0.0), np.where(known, 0.0, found)


_KNOWN = 0.1
"""Remaining variance of a cell's rows below which their number is treated as known."""


class NoisyCells(PosteriorAttacker):
    """Attacker that takes the cells of a noisy table with more rows than the population predicts, by their noisy
    counts, and a hash within them."""

    name = "noisy cells"
    source = "best linear estimates; audit/singling_out_attackers/best_predicate.py"

    def posteriors(self, sight: SinglingOutAttackerView) -> Iterator[BoxPosterior]:
        return (self._posterior(table, sight.known) for table in sight.seen.tables) if sight.seen else iter(())

    def _posterior(self, table: NoisyCounts, known: PublicKnowledge) -> BoxPosterior:
        box, weight = known.population.boxes(table.levels)
        return BoxPosterior(box, weight, *units_in(table, weight, known.n))


class CellsAsExact(NoisyCells):
    """Attacker like `NoisyCells` that takes noisy counts as exact."""

    name = "cells taken as exact"
    source = "exact counts: Cohen, Nissim (PNAS) Theorem 5.2 (arXiv: Theorem 4.6)"

    def _posterior(self, table: NoisyCounts, known: PublicKnowledge) -> BoxPosterior:
        return super()._posterior(replace(table, variance=1e-6), known)


class NoisySingletons(PosteriorAttacker):
    """Attacker that takes the cell, of all noisy tables, that most probably has exactly one row."""

    name = "likeliest singleton"
    source = "posterior of one row: Poisson(n w) beside noise of the table's variance"

    def posteriors(self, sight: SinglingOutAttackerView) -> Iterator[BoxPosterior]:
        for table in sight.seen.tables if sight.seen else ():
            box, weight = sight.population.boxes(table.levels)
            chance = singleton_chance(table, weight, sight.n)
            at = int(np.argmax(chance))
            yield BoxPosterior(np.where(box == at, 0, -1), weight[at : at + 1], chance[at : at + 1], np.zeros(1))


def singleton_chance(table: NoisyCounts, weight: Floats, n: int) -> Floats:
    """Return, for each cell of a noisy table, the posterior probability of exactly one row, for about Poisson(n weight)
    rows (at most 30) and normal noise."""
    prior = n * weight
    m = np.arange(31)[:, None]
    off = table.counts.reshape(-1)[None, :] - float(table.beta) * m
    log = m * np.log(np.maximum(prior, 1e-300)) - prior - np.cumsum(np.log(np.maximum(m, 1)), axis=0)
    log = log - off**2 / (2 * (table.variance + float(table.beta * (1 - table.beta)) * m))
    likely = np.exp(log - log.max(axis=0))
    # a cell in which D expects more rows than these is no singleton
    return np.asarray(np.where(prior < 30, likely[1] / likely.sum(axis=0), 0.0))


class RowsAndMargins(PosteriorAttacker):
    """Attacker that takes released classes, scaled to the noisy margins: people who are missing from the rows are in
    the margins."""

    name = "rows and margins"
    source = "one round of iterative proportional fitting to the estimates of each margin"

    def posteriors(self, sight: SinglingOutAttackerView) -> Iterator[BoxPosterior]:
        seen = sight.seen
        if seen is None or seen.rows is None or not seen.tables:
            return
        box, weight = sight.population.boxes(seen.levels)
        expected = np.add(*rows_in(seen, seen.rows, weight, sight.n))
        shape = tuple(len(level) for level in seen.levels.values())
        names = list(seen.levels)
        for table in seen.tables:
            if all(seen.levels[name] is level for name, level in table.levels.items()):
                others = tuple(at for at, name in enumerate(names) if name not in table.levels)
                kept = [name for name in names if name in table.levels]
                own = weight.reshape(shape).sum(axis=others)
                order = [list(table.levels).index(name) for name in kept]
                there = shrunken_counts(_transposed(table, order), own.reshape(-1), sight.n).reshape(own.shape)
                now = expected.reshape(shape).sum(axis=others)
                ratio = np.divide(there, now, out=np.ones_like(now), where=now > 0)
                expected = (expected.reshape(shape) * np.expand_dims(ratio, others)).reshape(-1)
        yield BoxPosterior(box, weight, np.zeros_like(expected), expected)


def _transposed(table: NoisyCounts, order: Sequence[int]) -> NoisyCounts:
    names = list(table.levels)
    levels = {names[at]: table.levels[names[at]] for at in order}
    return NoisyCounts(levels, np.transpose(table.counts, order), table.variance, table.beta)
