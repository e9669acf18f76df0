"""The part of the manifest that is particular to a release of synthetic rows."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import FailFast, Field

from crowdgate.accounting.zcdp import squared_sigma
from crowdgate.limits import (
    MOST_IMPOSSIBLE,
    MOST_MODEL_CELLS,
    MOST_NUMBERS,
    MOST_RELEASED,
    MOST_ROUNDS,
    MOST_ROWS_EACH,
    MOST_SYNTHETIC_ATTRIBUTES,
    MOST_SYNTHETIC_VALUES,
    MOST_TABLES,
)
from crowdgate.manifest import Manifest, MechanismFields
from crowdgate.manifest.values import Count, Digest, Exact, Label, ManifestFields


class SyntheticAxisFields(ManifestFields):
    """One axis of a table in the manifest: a column, and the level at which the table has it."""

    column: Label
    """The name of the column."""
    level: Label
    """The level of the column."""


Axes = Annotated[tuple[SyntheticAxisFields, ...], Field(min_length=1, max_length=3)]


class MeasuredTableFields(ManifestFields):
    """A noisy table: its axes, its cells, the round of its measurement and the rho of its noise. From round 1 on the
    table was selected privately, at the cost `selection`. The variance of the noise in a cell is rows_per_unit^2 / (2
    rho)."""

    axes: Axes
    """The columns of the table, with their levels."""
    cells: Annotated[int, Field(ge=1, le=MOST_NUMBERS)]
    """The number of cells."""
    round: Annotated[int, Field(ge=0, le=MOST_ROUNDS)]
    """The round of the measurement; from round 1 on tables are selected privately."""
    rho: Exact
    """The rho spent on noise."""
    selection: Exact | None = None
    """The rho spent on the selection."""

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        """Column and level of each axis."""
        return tuple((axis.column, axis.level) for axis in self.axes)

    @property
    def spent(self) -> Fraction:
        """The rho spent on selecting and measuring the table."""
        return self.rho + (self.selection or 0)


Values = Annotated[tuple[Label, ...], Field(min_length=1, max_length=MOST_SYNTHETIC_VALUES)]
Combination = Mapping[str, tuple[str, ...]]


def sorted_combinations(lines: Iterable[Combination]) -> tuple[Combination, ...]:
    """Return combinations that can't occur, each once, in the order that manifests use."""
    return tuple(dict(line) for line in sorted({tuple(sorted(line.items())) for line in lines}))


class SyntheticParameters(MechanismFields):
    """The mechanism as known before there is a candidate: total `rho`, its shares for tables of one attribute and for
    the certificate, and the policy's parameters of the model. A pair of attributes is trustworthy if its upper
    confidence limit is at most `pair_error`."""

    kind: Literal["dp_synthetic"]
    rows_per_unit: Annotated[int, Field(ge=1, le=MOST_ROWS_EACH)]
    """The largest number of rows of one privacy unit."""
    attributes: Annotated[dict[Label, Label], Field(min_length=2, max_length=MOST_SYNTHETIC_ATTRIBUTES)]
    """The level of each column."""
    rho: Exact
    """The total budget."""
    one_way_share: Exact
    """The share of rho for tables of one column."""
    certificate_share: Exact
    """The share of rho for the certificate."""
    model_cells: Annotated[int, Field(ge=1, le=MOST_MODEL_CELLS)]
    """The largest number of cells that the model may have."""
    triples: Annotated[tuple[tuple[Label, Label, Label], ...], Field(max_length=MOST_TABLES)]
    """Triples of columns whose tables are always measured."""
    impossible: Annotated[
        tuple[Annotated[dict[Label, Values], Field(min_length=2, max_length=3)], ...], Field(max_length=MOST_IMPOSSIBLE)
    ]
    """Combinations of values that can't occur."""
    pair_error: Exact
    """A pair is trustworthy if its upper confidence limit is at most this number."""


class SyntheticMechanism(SyntheticParameters):
    """Tables with discrete Gaussian noise, in the order of their measurement; the `seed` of the rows drawn from their
    model; and, if there are rows, the `certificate`'s rho. Unspent budget is lost."""

    measured: Annotated[tuple[MeasuredTableFields, ...], FailFast(), Field(min_length=1, max_length=MOST_TABLES)]
    """The noisy tables, in the order of their measurement."""
    seed: Digest
    certificate: Exact | None = None
    """The rho spent on the certificate's noise."""

    @property
    def spent(self) -> Fraction:
        """The rho spent on all noise and all selections of the release."""
        return sum((each.spent for each in self.measured), self.certificate or Fraction(0))

    def squared_sigma(self, rho: Fraction) -> Fraction:
        """Return the noise variance of a number on which `rho` was spent."""
        return squared_sigma(self.rows_per_unit, rho)

    @property
    def rows_variance(self) -> Fraction:
        """Noise variance of the number of rows: the mean of all tables' totals, weighted by 1/variance."""
        return 1 / sum((1 / (self.squared_sigma(each.rho) * each.cells) for each in self.measured), Fraction(0))


class SyntheticLevelFields(ManifestFields):
    """A column at a level at which tables may be measured, and the number of values at this level."""

    name: Label
    """The name of the column."""
    level: Label
    """The level of the column."""
    values: Annotated[int, Field(ge=2, le=MOST_SYNTHETIC_VALUES)]
    """The number of values at this level."""


class SyntheticColumnFields(SyntheticLevelFields):
    """A column of the data, with the order of its values."""

    ordered: bool
    """True if the values are numbers or days in order."""


class SyntheticData(ManifestFields):
    """Content of the files: columns and coarser levels as dictionary.csv lists them, numbers of rows and of distinct
    rows, and for each measured table the sum of absolute differences between the rows and its noisy counts."""

    columns: Annotated[
        tuple[SyntheticColumnFields, ...], FailFast(), Field(min_length=2, max_length=MOST_SYNTHETIC_ATTRIBUTES)
    ]
    """The columns of the data."""
    levels: Annotated[tuple[SyntheticLevelFields, ...], FailFast(), Field(max_length=10_000)]
    """Columns at levels at which tables may be measured."""
    rows: Annotated[int, Field(ge=0, le=MOST_RELEASED)]
    """The number of synthetic rows."""
    classes: Annotated[int, Field(ge=0, le=MOST_RELEASED)]
    """The number of distinct synthetic rows."""
    distances: Annotated[tuple[Count, ...], FailFast(), Field(max_length=MOST_TABLES)]
    """For each measured table the sum of absolute differences between the rows and its noisy counts."""

    @property
    def sizes(self) -> Mapping[tuple[str, str], int]:
        """Number of values by column and level."""
        listed: tuple[SyntheticLevelFields, ...] = (*self.columns, *self.levels)
        return {(each.name, each.level): each.values for each in listed}


class SyntheticManifest(Manifest):
    """The manifest of a release of synthetic rows."""

    mechanism: SyntheticMechanism
    data: SyntheticData
