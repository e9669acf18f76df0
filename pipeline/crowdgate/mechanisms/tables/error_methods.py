"""The methods by which errors are computed from published numbers, as manifests name them."""

from typing import Literal

ErrorMethod = Literal["of values", "by published numbers", "by other cells", "by other groups", "by some cells"]
"""All but the last are those of earlier releases. In the first two, priors of counts are those of all cells together,
in the first one with intervals that all begin at 0. In the first three, errors of means have no prior. In the last one,
priors of a very large table are learnt from some of its cells."""
FIRST_METHOD: ErrorMethod = "of values"
BY_OTHER_CELLS: tuple[ErrorMethod, ...] = ("by other cells", "by other groups", "by some cells")
"""The methods in which the prior of a count is that of the other cells."""
BY_OTHER_GROUPS: tuple[ErrorMethod, ...] = ("by other groups", "by some cells")
"""The methods in which errors of means have the prior of the other groups."""
LATEST_METHOD: ErrorMethod = "by some cells"
