"""The public population as a membership attacker sees it: the units that can be claimed to be in the table."""

from dataclasses import dataclass

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.tuples import DistinctTuples
from crowdgate.noisy_counts.mechanism_output import NoisyCounts


@dataclass(frozen=True, eq=False)
class TargetPopulation:
    """A public population from which members are claimed, with the number `n` of units of the released table, which is
    public too."""

    population: Population
    n: int

    @property
    def share(self) -> float:
        """Share of the population's units that are in the table."""
        return self.n / self.population.size

    def rows_per_tuple(self, tuples: DistinctTuples) -> Floats:
        """Return the number of the population's rows with each tuple of attribute values."""
        return tuples.total(self.population.cells.counts)

    def of_units(self, scores: Floats) -> Floats:
        """Return the score of every distinct unit from the scores of the cells: a person's score is the sum over the
        person's rows."""
        rows = self.population.rows
        return scores if rows is None else np.asarray(rows @ scores, dtype=np.float64)


def noisy_tuple_counts(table: NoisyCounts, tuples: DistinctTuples) -> Floats:
    """Return the count in a noisy table for each tuple of the population's attribute values at the table's levels."""
    if not table.levels:
        return np.asarray(table.counts.reshape(1), dtype=np.float64)
    return np.asarray(table.counts[tuples.codes], dtype=np.float64)
