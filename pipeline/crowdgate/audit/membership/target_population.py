"""The public population as an attacker of membership sees it: everybody whom he may claim to be in the table."""

from dataclasses import dataclass

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.tuples import DistinctTuples
from crowdgate.noisy_counts.mechanism_output import NoisyCounts


@dataclass(frozen=True, eq=False)
class TargetPopulation:
    """A population, and the size `n` of the table that a release is made of, which is public."""

    population: Population
    n: int

    @property
    def share(self) -> float:
        """The share of the population that is in the table."""
        return self.n / self.population.size

    def rows_per_tuple(self, tuples: DistinctTuples) -> Floats:
        """Rows of the population in each tuple."""
        return tuples.total(self.population.cells.counts)

    def of_units(self, scores: Floats) -> Floats:
        """The score of every distinct unit, from those of cells: a person's is the sum over his rows."""
        rows = self.population.rows
        return scores if rows is None else np.asarray(rows @ scores, dtype=np.float64)


def noisy_tuple_counts(table: NoisyCounts, tuples: DistinctTuples) -> Floats:
    """The noisy count of each tuple of the population at the table's levels."""
    if not table.levels:
        return np.asarray(table.counts.reshape(1), dtype=np.float64)
    return np.asarray(table.counts[tuples.codes], dtype=np.float64)
