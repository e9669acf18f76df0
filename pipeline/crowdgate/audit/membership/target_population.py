"""The public population as a membership attacker sees it: the units that can be claimed to be in the table."""

from dataclasses import dataclass

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.tuples import DistinctTuples
from crowdgate.noisy_counts.mechanism_output import NoisyCounts


@dataclass(frozen=True, eq=False)
class TargetPopulation:
    """A population, and the size `n` of the table that is released. The size is public."""

    population: Population
    n: int

    @property
    def share(self) -> float:
        """Share of the population that is in the table."""
        return self.n / self.population.size

    def rows_per_tuple(self, tuples: DistinctTuples) -> Floats:
        """Return the rows of the population in each tuple."""
        return tuples.total(self.population.cells.counts)

    def of_units(self, scores: Floats) -> Floats:
        """Return the score of every distinct unit from the scores of cells: a person's score is the sum over the
        person's rows."""
        rows = self.population.rows
        return scores if rows is None else np.asarray(rows @ scores, dtype=np.float64)


def noisy_tuple_counts(table: NoisyCounts, tuples: DistinctTuples) -> Floats:
    """Return the noisy count of each tuple of the population at the table's levels."""
    if not table.levels:
        return np.asarray(table.counts.reshape(1), dtype=np.float64)
    return np.asarray(table.counts[tuples.codes], dtype=np.float64)
