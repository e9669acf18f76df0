"""The methods by which errors are computed from published numbers, as manifests name them."""

from typing import Literal

ErrorMethod = Literal[
    "of values", "by published numbers", "by other cells", "by other groups", "by some cells", "by group shapes"
]
"""All but the last are those of earlier releases. In the first two, priors of counts are those of all cells together,
in the first one with intervals that all begin at 0. In the first three, errors of means have no prior. In the last two,
priors of a very large table are learnt from some of its cells. In the last one, quantiles are those that the shapes of
all groups make likely, and none is given for a group of few rows; errors of counts and means are as before."""
FIRST_METHOD: ErrorMethod = "of values"
BY_GROUP_SHAPES: tuple[ErrorMethod, ...] = ("by group shapes",)
"""The methods in which quantiles of groups of few rows are not given."""
BY_SOME_CELLS: tuple[ErrorMethod, ...] = ("by some cells", *BY_GROUP_SHAPES)
"""The methods in which priors of very large tables are learnt from some cells."""
BY_OTHER_GROUPS: tuple[ErrorMethod, ...] = ("by other groups", *BY_SOME_CELLS)
"""The methods in which errors of means have the prior of the other groups."""
BY_OTHER_CELLS: tuple[ErrorMethod, ...] = ("by other cells", *BY_OTHER_GROUPS)
"""The methods in which the prior of a count is that of the other cells."""
LATEST_METHOD: ErrorMethod = "by group shapes"
