"""Noisy distances of the synthetic rows from the source table, for each pair of attributes.

The L1 distance of two tables of counts changes by at most 1 with a row, whatever the synthetic rows are: they depend on
noisy numbers, and are fixed when the distances are measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.mechanisms.synthetic.counting import count

if TYPE_CHECKING:
    from crowdgate.arrays import Codes
    from crowdgate.histogram import Histogram
    from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table
    from crowdgate.noise import ZcdpSource


def pairs(domain: ModelDomain) -> tuple[Table, ...]:
    """Return the table of each pair of attributes at their finest levels, in the order of the certificate."""
    return tuple(combinations(domain.finest, 2))


def distances(
    domain: ModelDomain,
    counted: Histogram,
    made: Sequence[Codes],
    rows_per_unit: int,
    rho: Fraction,
    noise: ZcdpSource,
) -> Integers:
    """Return for each pair the L1 distance, in rows, between the synthetic rows and the table, with noise of variance
    rows_per_unit^2 pairs/(2 rho): all together rho-zCDP. Empty without rows, or for one attribute."""
    every = pairs(domain) if len(made) and len(made[0]) else ()
    if not every:
        return np.zeros(0, dtype=np.int64)
    own = [table_of(domain, made, table) for table in every]
    far = [np.abs(a - count(domain, counted, table)).sum() for a, table in zip(own, every, strict=True)]
    return noise.gaussian(np.array(far, dtype=np.int64), rows_per_unit, rho / len(every))


def table_of(domain: ModelDomain, made: Sequence[Codes], table: Table) -> Integers:
    """Return the numbers of synthetic rows in the cells of a table of two attributes at their finest levels. `made`
    holds the rows' codes, one array for each attribute."""
    a, b = (made[domain.attribute_of[variable]] for variable in table)
    shape = domain.shape(table)
    return np.bincount(np.ravel_multi_index((a, b), shape), minlength=shape[0] * shape[1]).reshape(shape)
