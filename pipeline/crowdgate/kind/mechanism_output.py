"""What an attacker sees of a release: all that a mechanism draws, before it is made into files.

Everything that is published is a function of it and of public files, so that whoever attacks it loses nothing.
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
    """The L1 distance, in rows, between made rows and the sample in the table of some attributes, with noise of that
    variance."""

    names: tuple[str, ...]
    noisy: int
    variance: float


@dataclass(frozen=True, eq=False)
class MechanismOutput:
    """Noisy tables of counts; and rows at `levels`: released `rows` of a Bernoulli sample at rate `beta`, in no class
    of which there are less than `least`, or `made` ones, which are nobody's, with noisy `distances` from them to the
    sample. A kind without rows has no levels. `unread` names what else is drawn, which no attacker reads."""

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
        """The rows that are released, whoever's they are."""
        return self.made if self.rows is None else self.rows
