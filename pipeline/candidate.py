"""Candidate: all that a measure may look at, each part marked static, output or confidential."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pipeline.contract import Attribute
from pipeline.guarantee import Guarantee
from pipeline.hierarchy import Level
from pipeline.histogram import Histogram
from pipeline.noise import Noise

Number = Fraction | float | int
Range = tuple[Number, Number]
Cost = tuple[Fraction, Fraction]
"""(epsilon, delta)."""


@dataclass(frozen=True)
class Measurement:
    """A measured number and the ends of its one-sided 95 % intervals (the number itself when it is exact)."""

    value: Number
    lower: Number
    upper: Number

    @classmethod
    def exact(cls, value: Number) -> "Measurement":
        """A number without uncertainty."""
        return cls(value, value, value)


@dataclass(frozen=True, eq=False)
class Static:
    """Public facts: policy, contract and budget only. `spent` is the population's spend with this release included.

    `levels` are the released ones; before levels are chosen, the finest candidates.
    """

    guarantee: Guarantee
    spent: Cost
    budget: Cost
    people: int
    least_class: int
    levels: Mapping[str, Level]
    attributes: Mapping[str, Attribute]
    rows_per_unit: int = 1

    @property
    def most_rows(self) -> int:
        """A public bound on the rows of the table."""
        return self.people * self.rows_per_unit

    @property
    def cells(self) -> int:
        """Number of classes that could occur."""
        cells = 1
        for level in self.levels.values():
            cells *= len(level)
        return cells


@dataclass(frozen=True, eq=False)
class Confidential:
    """The input at the released levels and the sample before suppression. Nothing of it is published without noise."""

    full: Histogram
    sample: Histogram


@dataclass(frozen=True, eq=False)
class Candidate:
    """A release that is not published yet. `output` is what would be published."""

    static: Static
    output: Histogram
    confidential: Confidential
    noise: Noise


@dataclass(frozen=True, eq=False)
class PublishedCells:
    """Numbers of one published table (`kind`: count, sum or mean), flat: value, standard error, and whether it is
    trustworthy. `total` marks the count of all rows."""

    kind: str
    values: npt.NDArray[np.float64]
    errors: npt.NDArray[np.float64]
    trustworthy: npt.NDArray[np.bool_]
    total: bool = False


@dataclass(frozen=True, eq=False)
class TablesCandidate:
    """Tables that are not published yet: made of noisy numbers and the plan, so nothing in it is confidential."""

    static: Static
    output: tuple[PublishedCells, ...]


AnyCandidate = Candidate | TablesCandidate
