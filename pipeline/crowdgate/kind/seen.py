"""What an attacker sees of a release: all that a mechanism draws, before it is made into files.

Everything that is published is a function of it and of public files, so that whoever attacks it loses nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram
from crowdgate.kind.forecast import Floats


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """Counts of rows of the whole table in the cells of `levels`, unbiased (they may be negative), with the variance of
    noise and coins in each."""

    levels: Mapping[str, Level]
    counts: Floats
    variance: float


@dataclass(frozen=True, eq=False)
class Seen:
    """Released rows at their levels, none of which is in a class below `least`, of a Bernoulli sample at rate `beta`;
    and noisy tables. A kind without rows has none at no level."""

    tables: tuple[NoisyCounts, ...]
    rows: Histogram | None = None
    levels: Mapping[str, Level] | None = None
    least: int = 1
    beta: Fraction = Fraction(1)
