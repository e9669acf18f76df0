"""The table that releases are made of, and its people as non-members.

Targets are all rows of all units. Units are divided into blocks at random, each with all of its rows; the baseline for
a block is fitted on the others, so that everybody is a non-member once (Francis, Wagner, section 4.2: one at a time, or
several for the sake of time). Two or three units that are equal in all of six attributes or more may be copies of one
another (section 4.6), and are in one block; of units that differ it can't be told. The first fifth of the blocks
chooses baselines and attacks, the others are what numbers are estimated on.
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
"""Of the blocks: the first chooses baselines and attacks."""
MOST_FITTED = 100_000
"""Units of a table times its blocks: of more units than this is of five tables, there are five blocks."""
MOST_COPIES = 3
"""Equal units that may be copies of one another: they are removed together."""
TELLING = 6
"""Attributes at least: with fewer it is nothing special that two people are equal."""


@dataclass(frozen=True, eq=False)
class SourceTable:
    """The units of a table, by blocks (`units`: distinct units of `population` by blocks); what is known of a target,
    and what is secret. `public` is the population that the table was drawn from."""

    population: Population
    public: Population
    units: Integers
    known: tuple[str, ...]
    secrets: tuple[Secret, ...]

    @cached_property
    def rows(self) -> Integers:
        """Rows of each cell of the population, by blocks."""
        of = self.population.rows
        return self.units if of is None else np.asarray(of.T @ self.units, dtype=np.int64)

    @property
    def size(self) -> int:
        """Number of units."""
        return int(self.units.sum())

    def table(self, rng: Rng) -> DrawnTable:
        """The whole table."""
        return DrawnTable(self.population, self.units.sum(axis=1), rng)

    def without(self, part: slice, rng: Rng) -> DrawnTable:
        """The table without the units of some blocks."""
        return DrawnTable(self.population, self.units.sum(axis=1) - self.units[:, part].sum(axis=1), rng)

    @property
    def blocks(self) -> int:
        """How many there are: a multiple of PARTS."""
        return int(self.units.shape[1])

    def part(self, at: int) -> slice:
        """The blocks of a fifth."""
        each = self.blocks // PARTS
        return slice(at * each, (at + 1) * each)

    @property
    def choose(self) -> slice:
        """The blocks on which baselines and attacks are chosen."""
        return self.part(0)

    @property
    def estimate(self) -> slice:
        """The blocks that numbers are estimated on."""
        return slice(self.choose.stop, self.blocks)

    def units_in(self, cells: Bools, part: slice) -> int:
        """How many units of some blocks have a row in one of the cells."""
        return int(self.units[self.population.having(cells), part].sum())

    def holders(self, tuples: DistinctTuples) -> Integers:
        """How many units have a row with each tuple."""
        units, of = self.units.sum(axis=1), self.population.rows
        if of is None:
            return np.asarray(np.bincount(tuples.of_cell, units, len(tuples)), dtype=np.int64)
        cells = np.arange(len(tuples.of_cell))
        from scipy.sparse import csr_array

        into = csr_array((np.ones_like(cells), (cells, tuples.of_cell)), (len(cells), len(tuples)))
        return np.asarray((of @ into > 0).T @ units, dtype=np.int64)

    def known_attributes(self, secret: Secret) -> tuple[str, ...]:
        """What is known of a target whose secret this is: what is known already is never asked for."""
        return tuple(name for name in self.known if name != secret.name)

    def secret_codes(self, secret: Secret) -> Integers:
        """The label of the secret in every cell."""
        return self.population.codes(secret.name, secret.level)

    def finest(self, names: Iterable[str]) -> Mapping[str, Level]:
        """Attributes as the population has them."""
        return {name: self.population.levels[name] for name in names}


def source_table(
    population: Population, n: int, known: Sequence[str], secrets: Sequence[Secret], rng: Rng, blocks: int
) -> SourceTable:
    """A table of n units, drawn without replacement, in so many blocks (a multiple of PARTS)."""
    units = population.members if n == population.size else population.draw(n, rng, replacement=False).units
    own = population.only(units > 0)
    copies = len(population.cells.names) >= TELLING
    held = _draw_blocks(units[units > 0], blocks, rng, copies=copies)
    return SourceTable(own, population, held, tuple(known), tuple(secrets))


def block_count(n: int) -> int:
    """In how many blocks a table of n units is: a small one in one for each unit (leave-one-out), a larger one in as
    many as MOST_FITTED allows, of at least PARTS. It is a multiple of PARTS, so that some may be empty."""
    return PARTS * max(1, min(-(-n // PARTS), MOST_FITTED // (PARTS * n)))


def _draw_blocks(units: Integers, blocks: int, rng: Rng, *, copies: bool) -> Integers:
    """Of how many units of each distinct unit each block is: as equal as can be, copies together."""
    who = np.repeat(np.arange(len(units), dtype=np.int64), units)
    block = rng.permutation(np.arange(len(who)) % blocks)
    together = (copies & (units > 1) & (units <= MOST_COPIES))[who]
    first = block[np.cumsum(units) - units]
    block[together] = first[who[together]]
    found = np.bincount(who * blocks + block, minlength=len(units) * blocks)
    return found.reshape(len(units), blocks)
