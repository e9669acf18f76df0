"""Canaries: simulated units in a copy of the public population, each in the table with probability one half.

Most are the only unit of their class, which shows whether suppression works. The others are in classes of 2, 3, 5, ...
simulated units, up to k and k/beta. An attacker knows everything but which canaries are in, and guesses for those of
which it is most certain. Canaries are never in a release that is published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.audit.common.game import release_of
from crowdgate.audit.common.observation import Mechanism
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.membership.target_population import noisy_tuple_counts
from crowdgate.histogram import Histogram, collapse
from crowdgate.kind.mechanism_output import MechanismOutput
from crowdgate.system import lazy_libraries

CANARIES = 500
"""Greatest number of canaries in a release."""
SIZES = (1, 1, 1, 1, 2, 3, 5, 8, 13, 21)
"""Sizes of canaries' classes, with the canary, in the order in which they are given out; k and k/beta follow."""
SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
"""Shares of the canaries that are guessed to be in, or to be out: those with the greatest, or with the least scores."""
ATTACKS = ("canaries in rows", "canaries in tables", "canaries in rows and tables")
ALPHA = 0.05
"""Level of the limits by which the shares of an attack are chosen."""


@dataclass(frozen=True, eq=False)
class CanaryTable:
    """A copy of a population with canaries: its cells, the rows that are in every table (`base`, by cell), and the
    cells of the canaries."""

    population: Population
    base: Integers
    cells: Integers

    def play(self, mechanism: Mechanism, rng: Rng) -> Floats:
        """Release one table, and return the numbers of right guesses: attacks by (in, out) by SHARES. NaN: the attack
        had nothing to read."""
        inside = rng.random(len(self.cells)) < 0.5
        units = self.base.copy()
        units[self.cells] += inside
        seen = release_of(mechanism, DrawnTable(self.population, units, rng), rng)
        return np.array([_right_guesses(scores, inside, rng) for scores in self.scores(seen)])

    def scores(self, seen: MechanismOutput) -> list[Floats | None]:
        """Return each attack's score of every canary: it rises with the probability that the canary is in."""
        rows, tables = self._by_rows(seen), self._by_tables(seen)
        return [rows, tables, None if rows is None or tables is None else rows + tables]

    def _by_rows(self, seen: MechanismOutput) -> Floats | None:
        """Return log likelihood ratios from the released rows of the canaries' classes, as if none were suppressed."""
        if seen.released_rows is None:
            return None
        tuples = self.population.tuples(seen.levels)
        count = tuples.counts_of(seen.released_rows)[tuples.of_cell][self.cells].astype(np.float64)
        others = (tuples.total(self.base) + self._canaries(tuples.of_cell) / 2)[tuples.of_cell][self.cells] - 0.5
        beta = float(seen.beta)
        if seen.rows is None or beta >= 1:
            return (count - beta * (others + 0.5)) / np.sqrt(others + 1)
        rest = np.maximum(others + 1 - count, 1e-9)
        return np.asarray(np.log(1 - beta + count * (1 - beta) / rest), dtype=np.float64)

    def _by_tables(self, seen: MechanismOutput) -> Floats | None:
        """Return log likelihood ratios from the noisy tables, as if their noise were normal and independent."""
        if not seen.tables:
            return None
        found = np.zeros(len(self.cells))
        for table in seen.tables:
            tuples = self.population.tuples(table.levels)
            beta, own, held = float(table.beta), self._canaries(tuples.of_cell), tuples.total(self.base)
            variance = table.variance + beta**2 * own / 4 + beta * (1 - beta) * (held + own / 2)
            far = noisy_tuple_counts(table, tuples) - beta * (held + own / 2)
            found += (beta * far / np.maximum(variance, 1e-9))[tuples.of_cell][self.cells]
        return found

    def _canaries(self, of_cell: Integers) -> Floats:
        """Return the number of canaries with each tuple."""
        return np.bincount(of_cell[self.cells], minlength=int(of_cell.max(initial=-1)) + 1).astype(np.float64)


def _right_guesses(scores: Floats | None, inside: Bools, rng: Rng) -> Floats:
    if scores is None:
        return np.full((2, len(SHARES)), np.nan)
    order = np.lexsort((rng.random(len(scores)), -scores))
    found = np.concatenate([[0], np.cumsum(inside[order])])
    missed = np.concatenate([[0], np.cumsum(~inside[order[::-1]])])
    guesses = guessed(len(scores))
    return np.array([found[guesses], missed[guesses]], dtype=np.float64)


def guessed(canaries: int) -> Integers:
    """Return the number of guesses in one release for each of SHARES."""
    return np.array([int(share * canaries) for share in SHARES])


@dataclass(frozen=True)
class CanaryGuesses:
    """Guesses of one attack in some releases together: in all, and right."""

    attack: int
    guesses: int
    right: int


def guesses_of(choosing: Floats, estimating: Floats, canaries: int) -> list[CanaryGuesses]:
    """Return the guesses in the estimating releases by each attack that read every release. Its shares are those whose
    guesses in the choosing releases are right most surely. Both hold right guesses by release, attack, (in, out) and
    share."""
    counts, found = guessed(canaries), []
    for attack in range(choosing.shape[1]):
        own = choosing[:, attack], estimating[:, attack]
        if not any(np.isnan(each).any() for each in own) and (sides := _best_sides(own[0], counts)):
            right = sum(int(own[1][:, side, at].sum()) for side, at in sides)
            found.append(CanaryGuesses(attack, len(estimating) * sum(int(counts[at]) for _, at in sides), right))
    return found


Sides = tuple[tuple[int, int], ...]


def _best_sides(choosing: Floats, counts: Integers) -> Sides:
    """Return the choice of (in or out, share) with the greatest exact lower limit of the share of right guesses, which
    are given by release, (in, out) and share. Empty without guesses."""
    right, places = choosing.sum(axis=0), [at for at in range(len(SHARES)) if counts[at]]
    single: list[Sides] = [((side, at),) for side in (0, 1) for at in places]
    both: list[Sides] = [((0, at), (1, other)) for at in places for other in places]

    def limit(sides: Sides) -> float:
        guesses = len(choosing) * sum(int(counts[at]) for _, at in sides)
        return _lower_limit(sum(float(right[each]) for each in sides), guesses)

    return max((*single, *both), key=limit, default=())


def _lower_limit(right: float, guesses: int) -> float:
    return float(lazy_libraries.special.betaincinv(right, guesses - right + 1, ALPHA)) if right else 0.0


def canary_table(population: Population, k: int, beta: Fraction, rng: Rng) -> CanaryTable:
    """Return a copy of the population with up to CANARIES canaries: in classes that it does not have, with simulated
    units; and where these are too few, in its own smallest classes."""
    cells = population.cells
    new = _unoccupied(cells, CANARIES, rng)
    sizes = np.resize([*SIZES, k, int(k / beta)], len(new[0]) if new else 0)
    codes = [np.concatenate([own, fresh]) for own, fresh in zip(cells.codes, new, strict=True)]
    weights = np.concatenate([cells.counts, sizes])  # each cell has a row here, so none is dropped
    every = collapse(cells.names, cells.sizes, codes, weights)
    fresh = _indices(every, new)
    base = every.counts.copy()
    base[fresh] -= 1
    others = np.setdiff1d(np.arange(len(every)), fresh, assume_unique=True)
    smallest = others[np.argsort(every.counts[others], kind="stable")][: CANARIES - len(fresh)]
    return CanaryTable(Population(population.name, population.view, every, base), base, np.append(fresh, smallest))


def _unoccupied(cells: Histogram, most: int, rng: Rng) -> list[Integers]:
    """Return the codes, by attribute, of up to `most` random tuples that the population does not have."""
    known = {*zip(*(column.tolist() for column in cells.codes), strict=True)}
    free = prod(cells.sizes) - len(known)
    found: dict[tuple[int, ...], None] = {}
    for _ in range(200):
        if len(found) >= min(most, free):
            break
        drawn = zip(*(rng.integers(0, size, 4 * most).tolist() for size in cells.sizes), strict=True)
        found |= {key: None for key in drawn if key not in known}
    kept = list(found)[:most]
    return [np.array([key[at] for key in kept], dtype=np.int64) for at in range(len(cells.sizes))]


def _indices(cells: Histogram, codes: Sequence[Integers]) -> Integers:
    place = {key: at for at, key in enumerate(zip(*(column.tolist() for column in cells.codes), strict=True))}
    return np.array([place[key] for key in zip(*(each.tolist() for each in codes), strict=True)], dtype=np.int64)
