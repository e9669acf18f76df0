"""The output of a release that an attacker observes: all that a mechanism draws, before files are made.

All published files are functions of it and of public files, so an attack on it loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crowdgate.hierarchy import Level
    from crowdgate.histogram import Histogram
    from crowdgate.noisy_counts.mechanism_output import NoisyCounts


@dataclass(frozen=True)
class NoisyDistance:
    """The L1 distance, in rows, between synthetic rows and the sample in the table of some attributes, with noise of
    this variance."""

    names: tuple[str, ...]
    noisy: int
    variance: float


@dataclass(frozen=True, eq=False)
class MechanismOutput:
    """Noisy tables of counts; and rows at `levels`. These are released `rows` of a Bernoulli sample at rate `beta`, in
    classes of at least `least`, or `made`, synthetic rows with noisy `distances` to the sample. A kind without rows has
    no levels. `unread` names further random output, which no attacker reads."""

    tables: tuple[NoisyCounts, ...] = ()
    rows: Histogram | None = None
    levels: Mapping[str, Level] = field(default_factory=dict)
    least: int = 1
    beta: Fraction = Fraction(1)
    unread: tuple[str, ...] = ()
    made: Histogram | None = None
    distances: tuple[NoisyDistance, ...] = ()

    @property
    def released_rows(self) -> Histogram | None:
        """The released rows, sampled or synthetic."""
        return self.made if self.rows is None else self.rows
