"""What an attacker is shown: everything that is published, and everything that was public before."""

from dataclasses import dataclass
from typing import Protocol

from crowdgate.arrays import Integers
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.common.unreleased_parts import DescribedGroups, Pad, RawRows, SeededCounts, StripCounts
from crowdgate.kind.mechanism_output import MechanismOutput


@dataclass(frozen=True, eq=False)
class PublicKnowledge:
    """What is public: the population with all its weights, the size of the table (an attacker may know it), and how it
    was drawn."""

    population: Population
    n: int
    replacement: bool = True


@dataclass(frozen=True, eq=False)
class Observation:
    """What one mechanism tells of one table. What reads a part that a mechanism does not tell (None) abstains."""

    seen: MechanismOutput | None = None
    others: Integers | None = None
    """Rows of all units but one in each cell of the population: no release tells them, an attacker may know them."""
    rows: RawRows | None = None
    counts: StripCounts | None = None
    seeded: SeededCounts | None = None
    groups: DescribedGroups | None = None
    pad: Pad | None = None


class Mechanism(Protocol):
    """Something that is published about a table."""

    @property
    def name(self) -> str: ...

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        """What it tells of this table, with fresh randomness."""
