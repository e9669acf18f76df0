"""The view of an attacker: everything that is published, and everything that was public before."""

from dataclasses import dataclass
from typing import Protocol

from crowdgate.arrays import Integers
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.common.unreleased_parts import DescribedGroups, Pad, RawRows, SeededCounts, StripCounts
from crowdgate.kind.mechanism_output import MechanismOutput


@dataclass(frozen=True, eq=False)
class PublicKnowledge:
    """Public knowledge: the population with all its weights, the size of the table (an attacker may know it), and how
    the table was drawn."""

    population: Population
    n: int
    replacement: bool = True


@dataclass(frozen=True, eq=False)
class Observation:
    """Output of one mechanism on one table. An attacker abstains if the part that it reads is None."""

    seen: MechanismOutput | None = None
    others: Integers | None = None
    """Rows of all units except the target, in each cell of the population. No release contains them, but an attacker
    may know them."""
    rows: RawRows | None = None
    counts: StripCounts | None = None
    seeded: SeededCounts | None = None
    groups: DescribedGroups | None = None
    pad: Pad | None = None


class Mechanism(Protocol):
    """A function of a table whose output is published."""

    @property
    def name(self) -> str: ...

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        """Return the output on this table, with fresh randomness."""
