"""The part of the manifest that is particular to a release of tables."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import FailFast, Field

from crowdgate.accounting.discrete_laws import Law
from crowdgate.limits import MOST_ROWS_EACH, MOST_TABLES, MOST_VALUES
from crowdgate.manifest import Manifest, MechanismFields
from crowdgate.manifest.values import Count, Exact, FileName, Label, ManifestFields
from crowdgate.mechanisms.tables.error_methods import ErrorMethod
from crowdgate.noisy_counts.manifest_fields import NoiseFields


class TablesMechanism(NoiseFields, MechanismFields):
    """Noise on each query, after sampling at rate `beta` unless 1.

    A number is trustworthy if its 95 % interval is within `relative_error` of it; with `suppress` others are left
    empty; with `raw` tables are also published as drawn. Each number has noise: there are no `invariants`.
    """

    kind: Literal["dp_tables"]
    rows_per_unit: Annotated[int, Field(ge=1, le=MOST_ROWS_EACH)]
    """The largest number of rows of one privacy unit."""
    invariants: Annotated[tuple[Label, ...], Field(max_length=0)]
    """Numbers without noise: always empty."""
    relative_error: Exact
    """A number is trustworthy if its 95 % interval is within this part of it; without `errors`, if its standard error
    is at most this part of it."""
    suppress: bool
    """True if numbers that are not trustworthy are left empty."""
    raw: bool
    """True if tables are also published as drawn, before consistency."""
    errors: ErrorMethod | None = None
    """Tables state the error of each published value, and a code for each cell. Errors of counts and means are
    computed by this method; "by some cells" is the present one. Absent: earlier releases state standard errors of the
    noise."""

    def law(self, at: int) -> Law:
        """Return the distribution of the noise on each cell of query number `at`."""
        return self.law_of(at, self.rows_per_unit)

    def unit(self, at: int) -> Fraction:
        """Return the value of one step of the noise of query number `at`, scaled to the whole table."""
        grid = self.queries[at].grid
        return (Fraction(1) if grid is None else grid.unit) / self.beta


class TablesAxisFields(ManifestFields):
    """A column at a level."""

    column: Label
    """The name of the column."""
    level: Label
    """The level of the column."""


class NumbersFields(ManifestFields):
    """Treatment of the numbers of a column: those below `low` count as `low`, those above `high` as `high`. They are
    rounded to low + whole multiples of `precision`: to the nearest (of two the greater), or down; with "none" other
    numbers are invalid. Rows with an invalid number add nothing to a sum, and do not count in a mean."""

    low: Exact
    """Numbers below this one count as this one."""
    high: Exact
    """Numbers above this one count as this one."""
    precision: Exact
    """The step to which numbers are rounded."""
    rounding: Literal["nearest", "down", "none"]
    """The direction of rounding."""


class TableFields(ManifestFields):
    """A table: the stem of its files, its statistic (the column; for quantiles the level, and the probabilities `at`),
    its axes, its number of lines, and the places of its queries.

    For sums, means and rows at a bound (kind "clamped"; `end` names the bound) it states the treatment of `numbers`,
    except in format 1.
    """

    file: FileName
    """The name of the files, without extension."""
    table: Label
    """The table in words."""
    kind: Literal["count", "sum", "mean", "quantiles", "clamped"]
    """The statistic of the table."""
    column: Label | None = None
    """The column of the sum, mean or quantiles."""
    level: Label | None = None
    """The level whose bins quantiles fall into."""
    at: Annotated[tuple[Exact, ...] | None, Field(max_length=1000)] = None
    """The probabilities of the quantiles."""
    end: Literal["low", "high"] | None = None
    """The bound at or beyond which rows are counted."""
    numbers: NumbersFields | None = None
    """Treatment of the numbers of the column."""
    axes: Annotated[tuple[TablesAxisFields, ...], FailFast(), Field(max_length=1000)]
    """The columns of the table, with their levels."""
    cells: Count
    """The number of lines of the table."""
    queries: Annotated[tuple[int, ...], Field(min_length=1, max_length=40)]
    """The places of the noisy vectors that the table is computed from. For quantiles from a hierarchical histogram, the
    first counts bins, and the others groups of bins, which are levels of the column."""

    @property
    def levels(self) -> Mapping[str, str]:
        """The level of each axis, in the order of the axes."""
        return {axis.column: axis.level for axis in self.axes}

    @property
    def query_levels(self) -> Mapping[str, str]:
        """The level of each column of the noisy vector behind the table; for quantiles this includes the column
        itself."""
        if self.column is None or self.level is None:
            return self.levels
        return {**self.levels, self.column: self.level}

    @property
    def probabilities(self) -> list[str]:
        """The probabilities of the quantiles, as the table writes them."""
        return [f"{float(p):g}" for p in self.at or ()]


class ValuesFields(ManifestFields):
    """A column at a level, and the number of values at this level."""

    name: Label
    """The name of the column."""
    level: Label
    """The level of the column."""
    values: Annotated[int, Field(ge=1, le=MOST_VALUES + 1)]
    """The number of values at this level."""


class TablesData(ManifestFields):
    """Content of the files: columns as dictionary.csv lists them, and tables."""

    columns: Annotated[tuple[ValuesFields, ...], FailFast(), Field(max_length=10_000)]
    """The columns of the tables."""
    tables: Annotated[tuple[TableFields, ...], FailFast(), Field(min_length=1, max_length=MOST_TABLES)]
    """The tables."""


class TablesManifest(Manifest):
    """The manifest of a release of tables."""

    mechanism: TablesMechanism
    data: TablesData
