"""Exact counts of tables at any levels, from one count of all attributes at their finest levels. Confidential."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Projection, Table

if TYPE_CHECKING:
    from crowdgate.histogram import Histogram


class FinestTables:
    """Tables over variables, each projected from the table over the finest variables of its attributes."""

    def __init__(self, domain: ModelDomain) -> None:
        self.domain = domain
        self._finest = tuple(domain.finest[attribute] for attribute in domain.attribute_of)
        self._projections: dict[Table, Projection] = {}

    def of(self, table: Table) -> Table:
        """Return the table over the finest variables of a table's attributes, in its order."""
        return tuple([self._finest[variable] for variable in table])

    def projected(self, finest: Integers, table: Table) -> Integers:
        """Return the counts of `table`, summed from `finest`, the counts of the table over the finest variables of its
        attributes."""
        if table == self.of(table):
            return finest
        if table not in self._projections:
            self._projections[table] = Projection.of(self.domain, self.of(table), table)
        return np.asarray(self._projections[table].sums(finest), dtype=np.int64)


def count(domain: ModelDomain, counted: Histogram, table: Table) -> Integers:
    """Return the number of rows in each cell of a table over finest variables. `counted` is the histogram of all
    attributes at their finest levels."""
    shape = domain.shape(table)
    places = np.ravel_multi_index(
        tuple(counted.codes[counted.names.index(domain.variables[variable].attribute)] for variable in table), shape
    )
    held = np.bincount(places, weights=counted.counts, minlength=prod(shape))
    return np.rint(held).astype(np.int64).reshape(shape)
