"""An estimate with its confidence limits."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A figure and its confidence limits."""

    value: float
    low: float
    high: float
