"""The table that is released, and its people as non-members.

Targets are all rows of all units. Units are divided into blocks at random, each with all of its rows. The baseline for
a block is fitted on the others, so that everybody is a non-member once (Francis, Wagner, section 4.2: one at a time, or
several for the sake of time). Two or three units with equal values in six or more attributes may be copies of one
another (section 4.6), and are put in one block; units that differ can't be recognised as copies. The first fifth of the
blocks chooses baselines and attacks, figures are estimated on the others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdgate.arrays import Bools, Integers
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.common.tuples import DistinctTuples
from crowdgate.audit.inference.secret import Secret
from crowdgate.hierarchy import Level

PARTS = 5
"""Number of parts of the blocks: the first part chooses baselines and attacks."""
MOST_FITTED = 100_000
"""Greatest number of units times blocks, except that there are at least PARTS blocks."""
MOST_COPIES = 3
"""Greatest number of equal units that may be copies of one another: they are put in one block."""
TELLING = 6
"""Least number of attributes in which equal units may be copies: with fewer, equal people are common."""


@dataclass(frozen=True, eq=False)
class SourceTable:
    """A table to release: the number of its units by distinct unit and block (`units`), the names of its known
    attributes, and its secrets. `public` is the population that the table was drawn from."""

    population: Population
    public: Population
    units: Integers
    known: tuple[str, ...]
    secrets: tuple[Secret, ...]

    @cached_property
    def rows(self) -> Integers:
        """Number of the table's rows, by cells of the population and blocks."""
        of = self.population.rows
        return self.units if of is None else np.asarray(of.T @ self.units, dtype=np.int64)

    @property
    def size(self) -> int:
        """Number of units of the table (rows, or persons)."""
        return int(self.units.sum())

    def table(self, rng: Rng) -> DrawnTable:
        """Return the whole table, with all its blocks, in the form that mechanisms receive."""
        return DrawnTable(self.population, self.units.sum(axis=1), rng)

    def without(self, part: slice, rng: Rng) -> DrawnTable:
        """Return the table without the units of some blocks (`part`), in the form that mechanisms receive."""
        return DrawnTable(self.population, self.units.sum(axis=1) - self.units[:, part].sum(axis=1), rng)

    @property
    def blocks(self) -> int:
        """Number of blocks into which the table's units are divided: a multiple of PARTS."""
        return int(self.units.shape[1])

    def part(self, at: int) -> slice:
        """Return the range of the blocks in part number `at` of the PARTS parts of the table."""
        each = self.blocks // PARTS
        return slice(at * each, (at + 1) * each)

    @property
    def choose(self) -> slice:
        """Range of the blocks on which baselines and attacks are chosen."""
        return self.part(0)

    @property
    def estimate(self) -> slice:
        """Range of the blocks on which figures are estimated."""
        return slice(self.choose.stop, self.blocks)

    def units_in(self, cells: Bools, part: slice) -> int:
        """Return the number of units of some blocks (`part`) that have a row in at least one of the cells (a mask)."""
        return int(self.units[self.population.having(cells), part].sum())

    def holders(self, tuples: DistinctTuples) -> Integers:
        """Return, for each tuple of attribute values, the number of the table's units that have a row with it."""
        units, of = self.units.sum(axis=1), self.population.rows
        if of is None:
            return np.asarray(np.bincount(tuples.of_cell, units, len(tuples)), dtype=np.int64)
        cells = np.arange(len(tuples.of_cell))
        from scipy.sparse import csr_array

        into = csr_array((np.ones_like(cells), (cells, tuples.of_cell)), (len(cells), len(tuples)))
        return np.asarray((of @ into > 0).T @ units, dtype=np.int64)

    def known_attributes(self, secret: Secret) -> tuple[str, ...]:
        """Return the names of the attributes that the attacker knows of a target, without the secret."""
        return tuple(name for name in self.known if name != secret.name)

    def secret_codes(self, secret: Secret) -> Integers:
        """Return the label of the secret attribute in every cell of the population."""
        return self.population.codes(secret.name, secret.level)

    def finest(self, names: Iterable[str]) -> Mapping[str, Level]:
        """Return the named attributes, each with its finest level in the population."""
        return {name: self.population.levels[name] for name in names}


def source_table(
    population: Population, n: int, known: Sequence[str], secrets: Sequence[Secret], rng: Rng, blocks: int
) -> SourceTable:
    """Draw a table of n units from a population without replacement, and divide its units into `blocks` blocks (a
    multiple of PARTS)."""
    units = population.members if n == population.size else population.draw(n, rng, replacement=False).units
    own = population.only(units > 0)
    copies = len(population.cells.names) >= TELLING
    held = _draw_blocks(units[units > 0], blocks, rng, copies=copies)
    return SourceTable(own, population, held, tuple(known), tuple(secrets))


def block_count(n: int) -> int:
    """Return the number of blocks of a table of n units: for a small table one block for each unit (leave-one-out), for
    a larger one as many as MOST_FITTED allows, but at least PARTS. It is a multiple of PARTS, so that some blocks may
    be empty."""
    return PARTS * max(1, min(-(-n // PARTS), MOST_FITTED // (PARTS * n)))


def _draw_blocks(units: Integers, blocks: int, rng: Rng, *, copies: bool) -> Integers:
    """Return the number of copies of each distinct unit in each block. Blocks are drawn as equal as possible; with
    `copies`, 2 to MOST_COPIES equal units are put in one block."""
    who = np.repeat(np.arange(len(units), dtype=np.int64), units)
    block = rng.permutation(np.arange(len(who)) % blocks)
    together = (copies & (units > 1) & (units <= MOST_COPIES))[who]
    first = block[np.cumsum(units) - units]
    block[together] = first[who[together]]
    found = np.bincount(who * blocks + block, minlength=len(units) * blocks)
    return found.reshape(len(units), blocks)
