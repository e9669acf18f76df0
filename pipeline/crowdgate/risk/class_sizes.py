"""The classes of a table by their sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from crowdgate.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """Equivalence classes of people by size: `counts` of them have `sizes` people (ascending, positive)."""

    sizes: Floats
    counts: Floats

    @classmethod
    def of(cls, counts: Integers) -> ClassSizes:
        """Return the classes of a histogram's counts; classes without people are left out."""
        sizes, many = np.unique(counts[counts > 0], return_counts=True)
        return cls(sizes.astype(np.float64), many.astype(np.float64))

    @property
    def people(self) -> int:
        """Number of people in the table."""
        return int(self.sizes @ self.counts)

    @property
    def number(self) -> int:
        """Number of classes with people."""
        return int(self.counts.sum())

    def of_size(self, size: int) -> float:
        """Return the number of classes that have `size` people."""
        return float(self.counts[self.sizes == size].sum())
