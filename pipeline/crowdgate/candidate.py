"""Candidate: all inputs of measures, each part marked static, output or confidential."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.contracts.contract import Attribute, Role

if TYPE_CHECKING:
    from crowdgate.accounting.lifetime import Lifetime
    from crowdgate.guarantee import Guarantee
    from crowdgate.hierarchy import Level
    from crowdgate.histogram import Histogram
    from crowdgate.noise import CountNoise
    from crowdgate.risk.class_sizes import ClassSizes

Number = Fraction | float | int
Range = tuple[Number, Number]
Cost = tuple[Fraction, Fraction]
"""(epsilon, delta)."""


class OutputType(StrEnum):
    """Part of a candidate (a release before its publication) that a measure reads. Each kind of release lists the parts
    that its candidates have."""

    STATIC = "static"
    """Public facts; every candidate has them."""
    ROWS = "rows"
    """Output: distinct rows with counts."""
    CELLS = "cells"
    """Output: numbers with standard errors."""
    PAIRS = "pairs"
    """Output: noisy distances between released rows and the table, for all pairs of attributes."""
    MARGINS = "margins"
    """Output: weights of released rows, beside the noisy margins of the table."""
    TABLE = "table"
    """Confidential: the whole table at the released levels."""
    SAMPLE = "sample"
    """Confidential: the sample before suppression, and the released rows."""
    INPUT = "input"
    """Confidential: the table as in its files; every candidate has it."""


@dataclass(frozen=True)
class Measurement:
    """A measured number with its lower and upper confidence limits, each of one-sided level 95 % unless stated
    otherwise; both are the number itself if it is exact."""

    value: Number
    lower: Number
    upper: Number

    @classmethod
    def exact(cls, value: Number) -> Measurement:
        """Return a measurement without uncertainty: the number is also both confidence limits."""
        return cls(value, value, value)


@dataclass(frozen=True)
class MechanismFigures:
    """Public figures of a mechanism before any data are read: the least size of a published class, the levels (the
    finest candidates, before levels are chosen; none if no rows are published), and the sampling rate, 1 without
    sampling."""

    least_class: int
    levels: Mapping[str, Level]
    beta: Fraction


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """A column's facts from the contract: whether its values are ordered numbers or days without a value for invalid
    cells (`ordered`), public counts of its domain's values (`margins`; None: unknown), and whether it is sensitive."""

    ordered: bool = False
    margins: tuple[int, ...] | None = None
    sensitive: bool = False

    @classmethod
    def of(cls, attribute: Attribute) -> ColumnFacts:
        """Return a contract attribute's order, public counts of values, and sensitivity."""
        domain = attribute.domain
        numeric = domain is not None and (domain.grid is not None or domain.first_day is not None)
        ordered = numeric and attribute.invalid == "drop"
        return cls(ordered, attribute.margins, attribute.role is Role.SENSITIVE)


class AuditQuestion(StrEnum):
    """The question of an audit: singling out of a person, inference of a secret attribute, membership, whether the
    mechanism draws by its stated distributions (`law`), or what whole releases show in their files, decisions and
    charges (`files`)."""

    SINGLING_OUT = "singling-out"
    INFERENCE = "inference"
    MEMBERSHIP = "membership"
    LAW = "law"
    FILES = "files"


@dataclass(frozen=True, eq=False)
class AuditFigures:
    """Figures of a recorded audit of exactly this policy, on a public population: `measured` returns a measure by its
    name and the options of a gate (None: not available from the audit), `age` is the number of days between the audit
    and the release's slot."""

    measured: Callable[[str, Mapping[str, Fraction]], Measurement | None]
    age: int


@dataclass(frozen=True)
class NoAudit:
    """Placeholder for the figures of an audit question without a reliable audit, with the reason, which is public."""

    why: str = "no recorded audit is at hand"


Audits = Mapping[AuditQuestion, AuditFigures | NoAudit]


@dataclass(frozen=True, eq=False)
class Static:
    """Public facts: policy, contract and budget only. `spent` is the population's spend, including this release.

    `levels` are the released ones; before levels are chosen, the finest candidates. `joint` are public counts of
    several released attributes together, at these levels (static gates read them, so at the finest candidates). `beta`
    is the sampling rate. `audits` are the recorded audits that gates read. With a `lifetime` that is counted in Renyi
    divergences, `spent` is the whole budget. `classes` are the class sizes of a public table by the attributes that a
    gate names (None: facts of an earlier release, whose gates have an earlier rule). With a `series`, the epsilon and
    delta of all its releases together, `spent` includes it in place of the release.
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
    lifetime: Lifetime | None = None
    classes: Mapping[frozenset[str], ClassSizes] | None = None
    series: Cost | None = None

    @property
    def sampled_rate(self) -> Fraction:
        """Sampling rate beta of a person's only row; 1 if people may have several rows, since a row outside of the
        sample may have an equal row in it."""
        return self.beta if self.rows_per_unit == 1 else Fraction(1)

    @property
    def most_rows(self) -> int:
        """Public upper bound of the table's number of rows: people times rows per person."""
        return self.people * self.rows_per_unit

    def ordered(self, name: str) -> bool:
        """Return True if the values of a released column, at its level, are numbers or days in increasing order."""
        return self.facts[name].ordered and bool((np.diff(self.levels[name].codes) >= 0).all())

    def margins(self, name: str) -> tuple[int, ...] | None:
        """Return the public number of rows with each value of a column at its released level; None if the contract
        states none."""
        known, level = self.facts[name].margins, self.levels[name]
        if known is None:
            return None
        # in whole numbers: exact up to 2^62
        counts = np.zeros(len(level), dtype=np.int64)
        np.add.at(counts, level.of_values[: len(known)], np.asarray(known, dtype=np.int64))
        return tuple(counts.tolist())

    @property
    def cells(self) -> int:
        """Number of classes that could occur: the product of the levels' numbers of values."""
        cells = 1
        for level in self.levels.values():
            cells *= len(level)
        return cells


@dataclass(frozen=True, eq=False)
class PublishedCells:
    """Numbers of one published table (`statistic`: count, sum or mean), as flat arrays by cell: values, standard
    errors, and whether each number is trustworthy. `total` is true for the count of all rows."""

    statistic: str
    values: Floats
    errors: Floats
    trustworthy: Bools
    total: bool = False


@dataclass(frozen=True)
class PairErrors:
    """Errors of the released rows in all tables of two attributes: the greatest and the mean error, and the share of
    trustworthy pairs. An error is half the sum of absolute differences, divided by the number of released rows."""

    greatest: Measurement
    mean: Measurement
    trusted: float


@dataclass(frozen=True, eq=False)
class WeightedCells:
    """A noisy margin of the full table beside the released rows, as flat arrays by cell.

    `columns` are the margin's columns; `rows` and `weighted` are the number of released rows and the sum of their
    weights; `estimate`, `unbiased`, `error`, `lower` and `upper` are the published count, its unbiased estimate, the
    standard error and the 95 % interval.
    """

    columns: tuple[str, ...]
    rows: Integers
    weighted: Floats
    estimate: Floats
    unbiased: Floats
    error: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """The weight of each class of released rows, in whole units, and all margins; the margin without columns is the
    total."""

    weights: Integers
    margins: tuple[WeightedCells, ...]


@dataclass(frozen=True)
class Input:
    """Counts of the table as in its files, before anything is dropped, in privacy units (rows, or people identified by
    a column).

    `units` is their number; `invalid` and `invalid_in` are the numbers with an invalid cell in any column that is read,
    and in each of some columns; `truncated` is the number with more rows after cleaning than are permitted. One unit
    changes each number by at most 1.
    """

    units: int
    invalid: int
    invalid_in: Mapping[str, int]
    truncated: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidate:
    """A release that is not published yet. A part that it does not have is None, and measures of this part return None.

    `rows`, `cells`, `pairs` and `weighted` are the output to publish. `register` counts the records of the public
    register that the policy names, at the released levels of the attributes that it shares with the rows. `table`,
    `sample` and `input` are confidential: nothing computed from them is published without paid `noise`.
    """

    static: Static
    rows: Histogram | None = None
    cells: tuple[PublishedCells, ...] | None = None
    pairs: PairErrors | None = None
    weighted: WeightedRows | None = None
    register: Histogram | None = None
    table: Histogram | None = None
    sample: Histogram | None = None
    input: Input | None = None
    noise: CountNoise | None = None
