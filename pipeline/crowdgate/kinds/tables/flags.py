"""Flags of cells: a code for each published or empty number, so that an empty cell says why it is empty."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from crowdgate.arrays import Bools, Floats
from crowdgate.mechanisms.tables.columns import MEAN_PARTS

FLAGS_FILE = "flags.csv"
FLAG_COLUMNS = ("flag", "meaning")
GIVEN, ZERO, FEW_ROWS, NO_ROWS, WITHHELD = "given", "zero", "few_rows", "no_rows", "withheld"
FLAGS: Mapping[str, str] = {
    GIVEN: "The number is given.",
    ZERO: "The count is given as 0, because its estimate is near 0 or below. It does not mean that nobody is there.",
    FEW_ROWS: "Empty: the noisy number of rows of this mean is within 3 of its errors of 0, so the mean is unknown."
    " It does not mean that nobody is there.",
    NO_ROWS: "Empty: the noisy counts of this quantile add up to nothing. It does not mean that nobody is there.",
    WITHHELD: "Empty: the number is not trustworthy, and this release leaves such numbers empty.",
}
"""The meaning of each code in the column `flag`."""


def number_flags(value: Floats, parts: Mapping[str, Floats], *, consistent: bool) -> pa.Array:
    """Return the flag of each number of a table, flat; NaN is an empty cell. `parts` are the further columns of a mean.
    `consistent` says that the numbers are counts from 0 on."""
    empty = np.isnan(value)
    rows = parts[MEAN_PARTS[1]].ravel() if parts else np.full(value.shape, np.nan)
    why = np.where(np.isnan(rows), WITHHELD, FEW_ROWS)
    return pa.array(np.where(empty, why, np.where(consistent & (value == 0), ZERO, GIVEN)).tolist(), pa.string())


def quantile_flags(known: Bools) -> pa.Array:
    """Return the flag of each quantile; `known` is False where no bin is given."""
    return pa.array(np.where(known, GIVEN, NO_ROWS).tolist(), pa.string())
