"""The part of the manifest that is particular to a release of rows."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import FailFast, Field

from crowdgate.hierarchy import ANY
from crowdgate.limits import GREATEST_K, MOST_CANDIDATES, MOST_RELEASED, MOST_ROWS_EACH, MOST_VALUES
from crowdgate.manifest import Manifest, MechanismFields
from crowdgate.manifest.values import Count, Exact, Label, ManifestFields
from crowdgate.noisy_counts.manifest_fields import NoiseFields


class ChoiceFields(ManifestFields):
    """The choice of the levels of the columns `chosen`: on the full table or on the released sample, among how many
    combinations, by which score (of `target`), for which epsilon."""

    chosen: Annotated[tuple[Label, ...], Field(max_length=1000)]
    """The columns with a chosen level."""
    candidates: Annotated[int, Field(ge=1, le=MOST_CANDIDATES)]
    """The number of combinations of levels to choose among."""
    score: Label
    """The name of the score."""
    target: Label | None = None
    """The attribute that the score predicts."""
    on: Literal["full", "sample"]
    """The table that the score reads: the full table or the released sample."""
    epsilon: Exact
    """The privacy cost of the choice."""


Calibration = Literal["ridge", "integer ridge"]
"""The methods that make weights: in floating point (earlier releases), and in whole numbers."""


class MarginsFields(NoiseFields):
    """Noisy counts of the full table, drawn with independent randomness and made consistent. All rows of a class have
    one weight: a whole multiple of `unit` from `low` to `high`, found by `calibration`."""

    calibration: Calibration
    """The method that makes weights from the margins."""
    unit: Exact
    """Weights are whole multiples of this unit."""
    low: Exact
    """The least weight."""
    high: Exact
    """The greatest weight."""


class RowsMechanism(MechanismFields):
    """Rows sampled with probability `beta` (or `inherited`: the table is already the sample of this name and rate), at
    the levels of `attributes`, in classes of at least `k`; at most `rows` rows of a person. `margins` are noisy counts
    of the full table, if the policy has any."""

    kind: Literal["safe_k_anonymity"]
    k: Annotated[int, Field(ge=1, le=GREATEST_K)]
    """Classes of fewer rows are suppressed."""
    rows: Annotated[int, Field(ge=1, le=MOST_ROWS_EACH)] = 1
    """The largest number of rows of a person."""
    inherited: Label | None = None
    """The name of the sample that the table is."""
    attributes: dict[Label, Label]
    """The level of each column."""
    choice: ChoiceFields | None = None
    """The choice of levels."""
    margins: MarginsFields | None = None
    """The noisy counts of the full table."""


class RowsColumnFields(ManifestFields):
    """A column of the data: its level, the number of its values, and whether they are numbers or days in order."""

    name: Label
    """The name of the column."""
    level: Label
    """The level of the column."""
    values: Annotated[int, Field(ge=1, le=MOST_VALUES + 1)]
    """The number of values at this level."""
    ordered: bool
    """True if the values are numbers or days in order."""


class RowsLevelFields(ManifestFields):
    """A column at a level that only margins have, and the number of values at this level."""

    name: Label
    """The name of the column."""
    level: Label
    """The level of the column."""
    values: Annotated[int, Field(ge=1, le=MOST_VALUES + 1)]
    """The number of values at this level."""


class RepresentedFields(ManifestFields):
    """The estimated share of the full table's rows whose combination of values has a released row, in hundredths, with
    limits of one-sided level 95 %."""

    share: Exact
    """The estimated share."""
    low: Exact
    """The lower limit."""
    high: Exact
    """The upper limit."""


class UseFields(ManifestFields):
    """Uses that the weighted rows allow: people represented, counts met, and unfit columns."""

    represented: RepresentedFields | None = None
    """The share of the full table that is represented; missing if noise hides the total."""
    met: Count
    """The number of cells of margins of one and two columns whose interval holds the sum of weights."""
    cells: Count
    """The number of cells of margins of one and two columns."""
    unfit: Annotated[tuple[Label, ...], FailFast(), Field(max_length=10_000)]
    """The columns that the rows misstate: a value of many rows of the full table is absent, or a share is wrong."""

    @property
    def text(self) -> str:
        """The statement in sentences."""
        share, unfit = self.represented, ", ".join(self.unfit)
        known = "The share of the full table that these rows represent is unknown (the noise is too large)."
        if share is not None:
            shown = " to ".join(f"{float(100 * each):g}" for each in (share.low, share.high))
            known = f"These rows represent about {float(100 * share.share):g} % of the full table ({shown} %)."
        agreed = f"Their weights agree with {self.met} of {self.cells} noisy counts in tables of one or two columns."
        return f"{known} {agreed}" + (f" Do not use these rows for: {unfit}." if unfit else "")


class SharesFields(ManifestFields):
    """Limits of shares in tables of one and two columns, which hold for all cells of all margins together with
    probability `level`: within `width` standard errors around each estimate. They are rounded outwards to `unit`."""

    level: Exact
    """The probability that all limits hold."""
    width: Exact
    """Half an interval around an unbiased estimate, in standard errors."""
    unit: Exact
    """Limits are whole multiples of this unit."""


class MarginsData(ManifestFields):
    """Number of cells of all margins; of these, those with a released row; and of those, the cells that the weighted
    rows meet: their weights add up to a number inside the cell's interval."""

    levels: Annotated[tuple[RowsLevelFields, ...], FailFast(), Field(max_length=10_000)]
    """Columns at levels that only margins have."""
    cells: Count
    """The number of cells of all margins."""
    represented: Count
    """The number of cells with a released row."""
    met: Count
    """The number of these cells whose interval holds the sum of weights."""
    use: UseFields | None = None
    """Uses that the rows allow; missing in earlier releases of this format."""
    shares: SharesFields | None = None
    """The limits of shares in `estimates.csv`; missing in earlier releases of this format."""


class RowsData(ManifestFields):
    """Columns and numbers of rows, classes and cells of the data files."""

    columns: Annotated[tuple[RowsColumnFields, ...], FailFast(), Field(min_length=1, max_length=10_000)]
    """The columns of the data."""
    rows: Annotated[int, Field(ge=0, le=MOST_RELEASED)]
    """The number of released rows."""
    classes: Annotated[int, Field(ge=0, le=MOST_RELEASED)]
    """The number of different released rows."""
    margins: MarginsData | None = None
    """Summary of the margins and of their agreement with the weighted rows."""


def released_columns(attributes: Mapping[str, str]) -> list[str]:
    """Return the attributes that are columns of the data: those not at `any`, or all if all are at `any`."""
    return [name for name, level in attributes.items() if level != ANY] or list(attributes)


class RowsManifest(Manifest):
    """The manifest of a release of rows."""

    mechanism: RowsMechanism
    data: RowsData

    @property
    def use_text(self) -> str:
        """Uses that the rows allow, in sentences."""
        margins = self.data.margins
        return "" if margins is None or margins.use is None else margins.use.text
