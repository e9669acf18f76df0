"""The table that releases are made of, and its people as non-members.

Targets are all of them. They are divided into blocks at random; the baseline for a block is fitted on the others, so
that everybody is a non-member once (Francis, Wagner, section 4.2: several are removed at a time). Two or three units
that are equal in all of six attributes or more may be copies of one another (section 4.6), and are in one block; of
units that differ it can't be told. The first block chooses baselines and attacks, the others are what numbers are
estimated on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crowdgate.audit.inference.secret import Codes, Secret
from crowdgate.audit.population import Drawn, Population, Rng
from crowdgate.hierarchy import Level
from crowdgate.histogram import Counts

BLOCKS = 5
CHOOSING = 1
"""Blocks on which baselines and attacks are chosen."""
MOST_COPIES = 3
"""Equal units that may be copies of one another: they are removed together."""
TELLING = 6
"""Attributes at least: with fewer it is nothing special that two people are equal."""


@dataclass(frozen=True, eq=False)
class Original:
    """Units of a population that are the table, by blocks (`units`: distinct units by blocks); what is known of a
    target, and what is secret."""

    population: Population
    units: Counts
    known: tuple[str, ...]
    secrets: tuple[Secret, ...]
    _tuples: dict[tuple[str, ...], "Tuples"] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def rows(self) -> Counts:
        """Rows of each cell of the population, by blocks."""
        of = self.population.rows
        return self.units if of is None else np.asarray(of.T @ self.units, dtype=np.int64)

    @property
    def size(self) -> int:
        """Number of units."""
        return int(self.units.sum())

    def table(self, rng: Rng) -> Drawn:
        """The whole table."""
        return Drawn(self.population, self.units.sum(axis=1), rng)

    def without(self, block: int, rng: Rng) -> Drawn:
        """The table without the units of a block."""
        return Drawn(self.population, self.units.sum(axis=1) - self.units[:, block], rng)

    def known_of(self, secret: Secret) -> tuple[str, ...]:
        """What is known of a target whose secret this is: what is known already is never asked for."""
        return tuple(name for name in self.known if name != secret.name)

    def secret_codes(self, secret: Secret) -> Codes:
        """The label of the secret in every cell."""
        return self.population.codes(secret.name, secret.level)

    def tuples(self, levels: Mapping[str, Level]) -> "Tuples":
        """The distinct tuples of these attributes at these levels."""
        names = tuple(f"{name}/{level.name}" for name, level in levels.items())
        if names not in self._tuples:
            self._tuples[names] = distinct(
                [self.population.codes(*each) for each in levels.items()], len(self.rows), levels
            )
        return self._tuples[names]

    def finest(self, names: Iterable[str]) -> Mapping[str, Level]:
        """Attributes as the population has them."""
        return {name: self.population.levels[name] for name in names}


@dataclass(frozen=True, eq=False)
class Tuples:
    """Distinct tuples (`codes`: one array per attribute), and which of them every cell of the population has."""

    levels: Mapping[str, Level]
    codes: tuple[Codes, ...]
    of_cell: Codes

    def __len__(self) -> int:
        return len(self.codes[0]) if self.codes else 1

    def by_label(self, labels: Codes, size: int, rows: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
        """Rows of the cells as an array of tuples by labels of a secret."""
        total = np.bincount(self.of_cell * size + labels, rows, len(self) * size)
        return np.asarray(total, dtype=np.float64).reshape(len(self), size)

    def total(self, rows: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
        """Rows, or other numbers of the cells, added up by tuples."""
        return np.asarray(np.bincount(self.of_cell, rows, len(self)), dtype=np.float64)


def distinct(columns: Sequence[Codes], cells: int, levels: Mapping[str, Level]) -> Tuples:
    """The distinct tuples of some columns of codes."""
    if not columns:
        return Tuples(levels, (), np.zeros(cells, dtype=np.int64))
    of_cell = np.zeros(cells, dtype=np.int64)
    for column in columns:
        _, of_cell = np.unique(of_cell * (int(column.max(initial=0)) + 1) + column, return_inverse=True)
    first = np.zeros(int(of_cell.max(initial=-1)) + 1, dtype=np.int64)
    first[of_cell[::-1]] = np.arange(cells - 1, -1, -1)
    return Tuples(levels, tuple(column[first] for column in columns), of_cell)


def original(population: Population, n: int, known: Sequence[str], secrets: Sequence[Secret], rng: Rng) -> Original:
    """A table of n units, drawn without replacement, in blocks."""
    units = population.members if n == population.size else population.draw(n, rng, replacement=False).units
    return Original(
        population, _blocks(units, rng, copies=len(population.cells.names) >= TELLING), tuple(known), tuple(secrets)
    )


def _blocks(units: Counts, rng: Rng, *, copies: bool) -> Counts:
    """Of how many units of each distinct unit each block is: as equal as can be, copies together."""
    who = np.repeat(np.arange(len(units), dtype=np.int64), units)
    blocks = rng.permutation(np.arange(len(who)) % BLOCKS)
    together = (copies & (units > 1) & (units <= MOST_COPIES))[who]
    blocks[together] = rng.integers(0, BLOCKS, len(units))[who[together]]
    found = np.bincount(who * BLOCKS + blocks, minlength=len(units) * BLOCKS)
    return found.reshape(len(units), BLOCKS)
