"""Candidate: all that a measure may look at, each part marked static, output or confidential."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Bools, Floats
from crowdgate.contracts.contract import Attribute, Role

if TYPE_CHECKING:
    from crowdgate.guarantee import Guarantee
    from crowdgate.hierarchy import Level
    from crowdgate.histogram import Histogram
    from crowdgate.noise import CountNoise

Number = Fraction | float | int
Range = tuple[Number, Number]
Cost = tuple[Fraction, Fraction]
"""(epsilon, delta)."""


class OutputType(StrEnum):
    """What of a candidate a measure speaks of. A kind of release says which shapes its candidates have."""

    STATIC = "static"
    """Public facts; every candidate has them."""
    ROWS = "rows"
    """Output: distinct rows with counts."""
    CELLS = "cells"
    """Output: numbers with standard errors."""
    PAIRS = "pairs"
    """Output: noisy distances between released rows and the table, for all pairs of attributes."""
    TABLE = "table"
    """Confidential: the whole table at the released levels."""
    SAMPLE = "sample"
    """Confidential: the sample before suppression, beside the released rows."""
    INPUT = "input"
    """Confidential: the table as it stands in its files; every candidate has it."""


@dataclass(frozen=True)
class Measurement:
    """A measured number and the ends of its one-sided 95 % intervals (the number itself when it is exact)."""

    value: Number
    lower: Number
    upper: Number

    @classmethod
    def exact(cls, value: Number) -> Measurement:
        """A number without uncertainty."""
        return cls(value, value, value)


@dataclass(frozen=True)
class MechanismFigures:
    """What a mechanism says before any data are read: the least size of a class that is published, the levels (the
    finest candidates, before levels are chosen; none where no rows are published), and the rate at which its coins keep
    a row, 1 without coins."""

    least_class: int
    levels: Mapping[str, Level]
    beta: Fraction


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """What the contract says of a column: whether its values are numbers or days in their order, and without one for
    invalid cells; public counts of the values of its domain; and whether it is sensitive."""

    ordered: bool = False
    margins: tuple[int, ...] | None = None
    sensitive: bool = False

    @classmethod
    def of(cls, attribute: Attribute) -> ColumnFacts:
        """The facts of an attribute."""
        domain = attribute.domain
        numeric = domain is not None and (domain.grid is not None or domain.first_day is not None)
        ordered = numeric and attribute.invalid == "drop"
        return cls(ordered, attribute.margins, attribute.role is Role.SENSITIVE)


class AuditQuestion(StrEnum):
    """What an audit asks: whether somebody can be singled out, a secret attribute inferred, or membership told."""

    SINGLING_OUT = "singling-out"
    INFERENCE = "inference"
    MEMBERSHIP = "membership"


@dataclass(frozen=True, eq=False)
class AuditFigures:
    """What a recorded audit of this very policy says, on a public population: `measured` is a measure by its name and
    the options of a gate (None: the audit does not tell it there), `age` the days between the audit and the release's
    slot."""

    measured: Callable[[str, Mapping[str, Fraction]], Measurement | None]
    age: int


@dataclass(frozen=True)
class NoAudit:
    """There is no audit to be relied on, for a reason that anybody may read."""

    why: str = "no recorded audit is at hand"


Audits = Mapping[AuditQuestion, AuditFigures | NoAudit]


@dataclass(frozen=True, eq=False)
class Static:
    """Public facts: policy, contract and budget only. `spent` is the population's spend with this release included.

    `levels` are the released ones; before levels are chosen, the finest candidates. `joint` are public counts of
    several released attributes together, at these levels (static gates read them, so at the finest candidates). `beta`
    is the rate at which coins keep a row. `audits` are the recorded ones that gates are judged by.
    """

    guarantee: Guarantee
    spent: Cost
    budget: Cost
    people: int
    least_class: int
    levels: Mapping[str, Level]
    facts: Mapping[str, ColumnFacts]
    rows_per_unit: int = 1
    beta: Fraction = Fraction(1)
    audits: Audits = field(default_factory=dict)
    joint: tuple[Histogram, ...] = ()

    @property
    def sampled_rate(self) -> Fraction:
        """The rate at which coins keep all rows of a person. 1 where people have several: a row that is not kept may
        have a twin that is."""
        return self.beta if self.rows_per_unit == 1 else Fraction(1)

    @property
    def most_rows(self) -> int:
        """A public bound on the rows of the table."""
        return self.people * self.rows_per_unit

    def ordered(self, name: str) -> bool:
        """Whether the values of a released column are numbers or days in their order."""
        return self.facts[name].ordered and bool((np.diff(self.levels[name].codes) >= 0).all())

    def margins(self, name: str) -> tuple[int, ...] | None:
        """Public counts of every value of a column at its level, or None where the contract has none."""
        known, level = self.facts[name].margins, self.levels[name]
        if known is None:
            return None
        # in whole numbers: exact up to 2^62
        counts = np.zeros(len(level), dtype=np.int64)
        np.add.at(counts, level.of_values[: len(known)], np.asarray(known, dtype=np.int64))
        return tuple(counts.tolist())

    @property
    def cells(self) -> int:
        """Number of classes that could occur."""
        cells = 1
        for level in self.levels.values():
            cells *= len(level)
        return cells


@dataclass(frozen=True, eq=False)
class PublishedCells:
    """Numbers of one published table (`statistic`: count, sum or mean), flat: value, standard error, and whether it is
    trustworthy. `total` marks the count of all rows."""

    statistic: str
    values: Floats
    errors: Floats
    trustworthy: Bools
    total: bool = False


@dataclass(frozen=True)
class PairErrors:
    """How far released rows are from the table in the tables of two attributes, as half the sum of absolute differences
    in parts of the released rows: the greatest over all pairs and the mean, and the share of pairs that are
    trustworthy."""

    greatest: Measurement
    mean: Measurement
    trusted: float


@dataclass(frozen=True)
class Input:
    """The table as it stands in its files, before anything is dropped, in privacy units: rows, or people who are named.

    How many there are; how many have an invalid cell in any column that is read, and in each of some columns; and how
    many have more rows left after cleaning than may stay. One unit changes each number by at most 1.
    """

    units: int
    invalid: int
    invalid_in: Mapping[str, int]
    truncated: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidate:
    """A release that is not published yet. A shape that it does not have is None, and what reads it can't measure.

    `rows`, `cells` and `pairs` are what would be published; `register` counts a public register at the released levels,
    on the attributes that it shares with the rows. `table`, `sample` and `input` are confidential: nothing of them
    leaves without `noise` that was paid for.
    """

    static: Static
    rows: Histogram | None = None
    cells: tuple[PublishedCells, ...] | None = None
    pairs: PairErrors | None = None
    register: Histogram | None = None
    table: Histogram | None = None
    sample: Histogram | None = None
    input: Input | None = None
    noise: CountNoise | None = None
