"""What the manifest of a release of synthetic rows says beside what all manifests say."""

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
    """A column at a level."""

    column: Label
    """The column."""
    level: Label
    """Its level."""


Axes = Annotated[tuple[SyntheticAxisFields, ...], Field(min_length=1, max_length=3)]


class MeasuredTableFields(ManifestFields):
    """A noisy table: its axes, its cells, the round of its measurement and the rho of its noise; from round 1 on it was
    chosen privately, which cost `selection`. The variance of the noise in a cell is rows_per_unit^2 / (2 rho)."""

    axes: Axes
    """Its columns with their levels."""
    cells: Annotated[int, Field(ge=1, le=MOST_NUMBERS)]
    """How many cells it has."""
    round: Annotated[int, Field(ge=0, le=MOST_ROUNDS)]
    """The round of its measurement; from 1 on it was chosen privately."""
    rho: Exact
    """What its noise spent."""
    selection: Exact | None = None
    """What its choice spent."""

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        """Column and level of every axis."""
        return tuple((axis.column, axis.level) for axis in self.axes)

    @property
    def spent(self) -> Fraction:
        """The rho of choice and measurement."""
        return self.rho + (self.selection or 0)


Values = Annotated[tuple[Label, ...], Field(min_length=1, max_length=MOST_SYNTHETIC_VALUES)]
Combination = Mapping[str, tuple[str, ...]]


def sorted_combinations(lines: Iterable[Combination]) -> tuple[Combination, ...]:
    """Combinations that can't occur, each once, in the one order in which a manifest has them."""
    return tuple(dict(line) for line in sorted({tuple(sorted(line.items())) for line in lines}))


class SyntheticParameters(MechanismFields):
    """What is known of the mechanism before there is a candidate: `rho` in all, the shares of it that measure tables of
    one attribute and the certificate, and what the policy says of the model. A pair of attributes is trustworthy whose
    upper limit is at most `pair_error`."""

    kind: Literal["dp_synthetic"]
    rows_per_unit: Annotated[int, Field(ge=1, le=MOST_ROWS_EACH)]
    """The most rows of one privacy unit."""
    attributes: Annotated[dict[Label, Label], Field(min_length=2, max_length=MOST_SYNTHETIC_ATTRIBUTES)]
    """The columns with their levels."""
    rho: Exact
    """The budget in all."""
    one_way_share: Exact
    """The share of it for tables of one column."""
    certificate_share: Exact
    """The share of it for the certificate."""
    model_cells: Annotated[int, Field(ge=1, le=MOST_MODEL_CELLS)]
    """How large the model could become."""
    triples: Annotated[tuple[tuple[Label, Label, Label], ...], Field(max_length=MOST_TABLES)]
    """Three columns each whose table was measured for certain."""
    impossible: Annotated[
        tuple[Annotated[dict[Label, Values], Field(min_length=2, max_length=3)], ...], Field(max_length=MOST_IMPOSSIBLE)
    ]
    """Values that no row has together."""
    pair_error: Exact
    """A pair is trustworthy whose upper limit is at most this."""


class SyntheticMechanism(SyntheticParameters):
    """Tables with discrete Gaussian noise, in the order in which they were drawn; rows made of them with the draws that
    `seed` gives; and, where there are rows, the `certificate`'s rho. What was not spent is lost."""

    measured: Annotated[tuple[MeasuredTableFields, ...], FailFast(), Field(min_length=1, max_length=MOST_TABLES)]
    """The noisy tables, in the order in which they were drawn."""
    seed: Digest
    certificate: Exact | None = None
    """What the certificate's noise spent."""

    @property
    def spent(self) -> Fraction:
        """The rho of all that was drawn."""
        return sum((each.spent for each in self.measured), self.certificate or Fraction(0))

    def squared_sigma(self, rho: Fraction) -> Fraction:
        """Of the noise in a number that so much rho was spent on."""
        return squared_sigma(self.rows_per_unit, rho)

    @property
    def rows_variance(self) -> Fraction:
        """Of the noise in the number of rows: the mean of all tables' totals, weighted by 1/variance."""
        return 1 / sum((1 / (self.squared_sigma(each.rho) * each.cells) for each in self.measured), Fraction(0))


class SyntheticLevelFields(ManifestFields):
    """A column at a level that tables may be measured at, and how many values that has."""

    name: Label
    """The column."""
    level: Label
    """Its level."""
    values: Annotated[int, Field(ge=2, le=MOST_SYNTHETIC_VALUES)]
    """How many values that has."""


class SyntheticColumnFields(SyntheticLevelFields):
    """A column of the data: also whether its values are numbers or days in order."""

    ordered: bool
    """Whether its values are numbers or days in order."""


class SyntheticData(ManifestFields):
    """What the files hold: columns and coarser levels as dictionary.csv lists them, rows, how many of them are
    distinct, and for every measured table the sum of absolute differences between the rows and its noisy counts."""

    columns: Annotated[
        tuple[SyntheticColumnFields, ...], FailFast(), Field(min_length=2, max_length=MOST_SYNTHETIC_ATTRIBUTES)
    ]
    """The columns of the data."""
    levels: Annotated[tuple[SyntheticLevelFields, ...], FailFast(), Field(max_length=10_000)]
    """Columns at levels that tables may be measured at."""
    rows: Annotated[int, Field(ge=0, le=MOST_RELEASED)]
    """How many rows were made."""
    classes: Annotated[int, Field(ge=0, le=MOST_RELEASED)]
    """How many different rows were made."""
    distances: Annotated[tuple[Count, ...], FailFast(), Field(max_length=MOST_TABLES)]
    """A noisy distance between rows and table for every pair of columns, in rows."""

    @property
    def sizes(self) -> Mapping[tuple[str, str], int]:
        """Values by column and level."""
        listed: tuple[SyntheticLevelFields, ...] = (*self.columns, *self.levels)
        return {(each.name, each.level): each.values for each in listed}


class SyntheticManifest(Manifest):
    """The manifest of a release of synthetic rows."""

    mechanism: SyntheticMechanism
    data: SyntheticData
