"""The public population as an attacker of membership sees it: everybody whom he may claim to be in the table."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crowdgate.audit.common.population import Population
from crowdgate.audit.inference.secret import Floats
from crowdgate.audit.inference.source_table import DistinctTuples, distinct_tuples
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram
from crowdgate.noisy_counts.mechanism_output import NoisyCounts

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TargetPopulation:
    """A population, and the size `n` of the table that a release is made of, which is public."""

    population: Population
    n: int
    _tuples: dict[tuple[str, ...], DistinctTuples] = field(default_factory=dict, init=False, repr=False)

    @property
    def share(self) -> float:
        """The share of the population that is in the table."""
        return self.n / self.population.size

    def tuples(self, levels: Mapping[str, Level]) -> DistinctTuples:
        """The distinct tuples of these attributes at these levels, and which of them every cell has."""
        names = tuple(f"{name}/{level.name}" for name, level in levels.items())
        if names not in self._tuples:
            columns = [self.population.codes(*each) for each in levels.items()]
            self._tuples[names] = distinct_tuples(columns, len(self.population.cells), levels)
        return self._tuples[names]

    def rows_per_tuple(self, tuples: DistinctTuples) -> Floats:
        """Rows of the population in each tuple."""
        return tuples.total(self.population.cells.counts)

    def of_units(self, scores: Floats) -> Floats:
        """The score of every distinct unit, from those of cells: a person's is the sum over his rows."""
        rows = self.population.rows
        return scores if rows is None else np.asarray(rows @ scores, dtype=np.float64)


def released_tuple_counts(rows: Histogram, tuples: DistinctTuples) -> Floats:
    """How many released rows each tuple of the population has."""
    own, theirs = np.zeros(len(tuples), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    for (name, level), mine in zip(tuples.levels.items(), tuples.codes, strict=True):
        codes = np.asarray(rows.codes[rows.names.index(name)], dtype=np.int64)
        both = np.concatenate([theirs * len(level) + codes, own * len(level) + mine])
        _, place = np.unique(both, return_inverse=True)
        theirs, own = place[: len(rows)].astype(np.int64), place[len(rows) :].astype(np.int64)
    return np.asarray(np.bincount(theirs, rows.counts, int(own.max(initial=-1)) + 1)[own], dtype=np.float64)


def noisy_tuple_counts(table: NoisyCounts, tuples: DistinctTuples) -> Floats:
    """The noisy count of each tuple of the population at the table's levels."""
    if not table.levels:
        return np.asarray(table.counts.reshape(1), dtype=np.float64)
    return np.asarray(table.counts[tuples.codes], dtype=np.float64)
