"""The methods by which errors of counts are computed from published numbers, as manifests name them."""

from typing import Literal

ErrorMethod = Literal["of values", "by published numbers", "by other cells"]
"""The first two are those of earlier releases: priors of all cells together, in the first one with intervals that all
begin at 0."""
FIRST_METHOD: ErrorMethod = "of values"
LATEST_METHOD: ErrorMethod = "by other cells"
