"""Types of NumPy arrays, by their elements."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
"""An array of elements of any type."""
Bools = npt.NDArray[np.bool_]
"""An array of truth values, such as a mask of rows."""
Floats = npt.NDArray[np.float64]
"""An array of floating-point numbers, such as shares or noisy values."""
Integers = npt.NDArray[np.int64]
"""An array of whole numbers of 64 bits, such as counts, sums or indices."""
AnyIntegers = npt.NDArray[np.integer]
"""An array of whole numbers of any width, signed or not."""
Codes = npt.NDArray[np.int32]
"""An array of codes: places of values in a domain or at a level, negative for none."""


def marked_rows(marks: Bools | None, counts: Integers | None = None) -> int:
    """Return the number of marked rows (None: no row is marked), each as often as `counts` says (None: once)."""
    if marks is None:
        return 0
    return int(np.count_nonzero(marks) if counts is None else counts[marks].sum())
