"""What the manifest of a release of tables says beside what all manifests say."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import FailFast, Field

from crowdgate.accounting.discrete_laws import Law
from crowdgate.limits import MOST_ROWS_EACH, MOST_TABLES, MOST_VALUES
from crowdgate.manifest import Manifest, MechanismFields
from crowdgate.manifest.values import Count, Exact, FileName, Label, ManifestFields
from crowdgate.noisy_counts.manifest_fields import NoiseFields


class TablesMechanism(NoiseFields, MechanismFields):
    """Noise on every query; before it a sample of rate `beta`, unless 1.

    A number is trustworthy whose standard error is at most `relative_error` of it; with `suppress` others are left
    empty; with `raw` tables are also published as the noise left them. No number is without noise: there are no
    `invariants`.
    """

    kind: Literal["dp_tables"]
    rows_per_unit: Annotated[int, Field(ge=1, le=MOST_ROWS_EACH)]
    """The most rows of one privacy unit."""
    invariants: Annotated[tuple[Label, ...], Field(max_length=0)]
    """Numbers without noise: there are none."""
    relative_error: Exact
    """A number is trustworthy whose standard error is at most this part of it."""
    suppress: bool
    """Whether other numbers are left empty."""
    raw: bool
    """Whether tables are published as the noise left them, too."""

    def law(self, at: int) -> Law:
        """The law of the noise on every cell of a query."""
        return self.law_of(at, self.rows_per_unit)

    def unit(self, at: int) -> Fraction:
        """What one step of the noise is worth in a query, for the whole table."""
        grid = self.queries[at].grid
        return (Fraction(1) if grid is None else grid.unit) / self.beta


class TablesAxisFields(ManifestFields):
    """A column at a level."""

    column: Label
    """The column."""
    level: Label
    """Its level."""


class NumbersFields(ManifestFields):
    """How the numbers of a column are taken: those below `low` count as `low`, those above `high` as `high`; they are
    rounded to low + whole multiples of `precision`, to the nearest (of two the greater) or down ("none": other numbers
    are invalid). Rows whose number is invalid add nothing to a sum, and a mean is not over them."""

    low: Exact
    """Numbers below it count as this."""
    high: Exact
    """Numbers above it count as this."""
    precision: Exact
    """The step that numbers are rounded to."""
    rounding: Literal["nearest", "down", "none"]
    """How they are rounded."""


class TableFields(ManifestFields):
    """A table: the stem of its files, what it holds (of which column; of quantiles at which level, and which
    probabilities `at`), its axes, its lines, and the places of the queries that it is made of.

    Of sums, means and rows at an end (kind "clamped"; at or beyond which `end`) it says how `numbers` are taken; a
    manifest of format 1 does not.
    """

    file: FileName
    """The name of its files, without ending."""
    table: Label
    """The table in words."""
    kind: Literal["count", "sum", "mean", "quantiles", "clamped"]
    """What its numbers are."""
    column: Label | None = None
    """The column that is summed, or whose mean or quantiles are told."""
    level: Label | None = None
    """The level whose bins quantiles fall into."""
    at: Annotated[tuple[Exact, ...] | None, Field(max_length=1000)] = None
    """Which quantiles."""
    end: Literal["low", "high"] | None = None
    """At or beyond which end rows are counted."""
    numbers: NumbersFields | None = None
    """How the numbers of the column are taken."""
    axes: Annotated[tuple[TablesAxisFields, ...], FailFast(), Field(max_length=1000)]
    """Its columns with their levels."""
    cells: Count
    """How many lines it has."""
    queries: Annotated[tuple[int, ...], Field(min_length=1, max_length=2)]
    """The places of the noisy vectors that it is made of."""

    @property
    def levels(self) -> Mapping[str, str]:
        """The axes in their order."""
        return {axis.column: axis.level for axis in self.axes}

    @property
    def query_levels(self) -> Mapping[str, str]:
        """The axes of the noisy vector behind it: that of quantiles has their column as well."""
        if self.column is None or self.level is None:
            return self.levels
        return {**self.levels, self.column: self.level}

    @property
    def probabilities(self) -> list[str]:
        """Which quantiles, as the table writes them."""
        return [f"{float(p):g}" for p in self.at or ()]


class ValuesFields(ManifestFields):
    """A column at a level, and how many values that has."""

    name: Label
    """The column."""
    level: Label
    """Its level."""
    values: Annotated[int, Field(ge=1, le=MOST_VALUES + 1)]
    """How many values that has."""


class TablesData(ManifestFields):
    """What the files hold: columns as dictionary.csv lists them, and tables."""

    columns: Annotated[tuple[ValuesFields, ...], FailFast(), Field(max_length=10_000)]
    """The columns of the tables."""
    tables: Annotated[tuple[TableFields, ...], FailFast(), Field(min_length=1, max_length=MOST_TABLES)]
    """The tables."""


class TablesManifest(Manifest):
    """The manifest of a release of tables."""

    mechanism: TablesMechanism
    data: TablesData
