"""What the manifest of a release of rows says beside what all manifests say."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import FailFast, Field

from crowdgate.hierarchy import ANY
from crowdgate.limits import GREATEST_K, MOST_CANDIDATES, MOST_RELEASED, MOST_ROWS_EACH, MOST_VALUES
from crowdgate.manifest import Manifest, MechanismFields
from crowdgate.manifest.values import Count, Exact, Label, ManifestFields
from crowdgate.noisy_counts.manifest_fields import NoiseFields


class ChoiceFields(ManifestFields):
    """How levels of the columns `chosen` were chosen: on the full table or on the released sample, among how many
    combinations, by which score (of `target`), for which epsilon."""

    chosen: Annotated[tuple[Label, ...], Field(max_length=1000)]
    """The columns whose level was chosen."""
    candidates: Annotated[int, Field(ge=1, le=MOST_CANDIDATES)]
    """Among how many combinations of levels."""
    score: Label
    """By which score."""
    target: Label | None = None
    """The attribute that the score predicts."""
    on: Literal["full", "sample"]
    """Whether the full table or the released sample was looked at."""
    epsilon: Exact
    """What the choice cost."""


class MarginsFields(NoiseFields):
    """Noisy counts of the full table, drawn with randomness of their own and made consistent. The weight of a row is a
    whole multiple of `unit`, from `low` to `high`: of all such weights, one for all rows of a class, those that
    `calibration` names."""

    calibration: Literal["ridge"]
    """How weights were made of the margins."""
    unit: Exact
    """Weights are whole multiples of it."""
    low: Exact
    """The least weight."""
    high: Exact
    """The greatest weight."""


class RowsMechanism(MechanismFields):
    """Rows kept with probability `beta` (or `inherited`: the table is the sample of that name and rate already), at the
    levels of `attributes`, in classes of at least `k`; at most `rows` rows of a person.
    `margins` of the full table stand beside them where they were bought."""

    kind: Literal["safe_k_anonymity"]
    k: Annotated[int, Field(ge=1, le=GREATEST_K)]
    """Classes of fewer rows are left out."""
    rows: Annotated[int, Field(ge=1, le=MOST_ROWS_EACH)] = 1
    """The most rows of a person."""
    inherited: Label | None = None
    """The name of the sample that the table already was."""
    attributes: dict[Label, Label]
    """The columns with their levels."""
    choice: ChoiceFields | None = None
    """How levels were chosen."""
    margins: MarginsFields | None = None
    """The noisy counts of the full table."""


class RowsColumnFields(ManifestFields):
    """A column of the data: its level, how many values that has, and whether they are numbers or days in order."""

    name: Label
    """The column."""
    level: Label
    """Its level."""
    values: Annotated[int, Field(ge=1, le=MOST_VALUES + 1)]
    """How many values that has."""
    ordered: bool
    """Whether its values are numbers or days in order."""


class RowsLevelFields(ManifestFields):
    """A column at a level that only margins have, and how many values that has."""

    name: Label
    """The column."""
    level: Label
    """Its level."""
    values: Annotated[int, Field(ge=1, le=MOST_VALUES + 1)]
    """How many values that has."""


class MarginsData(ManifestFields):
    """The cells of all margins; of these, how many have a released row, and how many of those the weighted rows meet:
    their weights add up to a number inside the interval."""

    levels: Annotated[tuple[RowsLevelFields, ...], FailFast(), Field(max_length=10_000)]
    """Columns at levels that only margins have."""
    cells: Count
    """The cells of all margins."""
    represented: Count
    """How many of the cells have a released row."""
    met: Count
    """How many of these the weighted rows meet, by the cell's interval."""


class RowsData(ManifestFields):
    """What the data hold."""

    columns: Annotated[tuple[RowsColumnFields, ...], FailFast(), Field(min_length=1, max_length=10_000)]
    """The columns of the data."""
    rows: Annotated[int, Field(ge=0, le=MOST_RELEASED)]
    """How many rows were released."""
    classes: Annotated[int, Field(ge=0, le=MOST_RELEASED)]
    """How many different rows were released."""
    margins: MarginsData | None = None
    """What is said of the margins beside the rows."""


def released_columns(attributes: Mapping[str, str]) -> list[str]:
    """Of attributes at levels those that are columns of the data: all but the ones at `any`, if there are others."""
    return [name for name, level in attributes.items() if level != ANY] or list(attributes)


class RowsManifest(Manifest):
    """The manifest of a release of rows."""

    mechanism: RowsMechanism
    data: RowsData
