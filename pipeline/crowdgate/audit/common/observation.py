"""The view of an attacker: everything that is published, and everything that was public before."""

from dataclasses import dataclass
from typing import Protocol

from crowdgate.arrays import Integers
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.audit.common.unreleased_parts import DescribedGroups, Pad, RawRows, SeededCounts, StripCounts
from crowdgate.kind.mechanism_output import MechanismOutput


@dataclass(frozen=True, eq=False)
class PublicKnowledge:
    """Public knowledge of an attacker: the population with all its weights, the number `n` of units of the table (which
    an attacker may know), and whether the table was drawn with replacement."""

    population: Population
    n: int
    replacement: bool = True


@dataclass(frozen=True, eq=False)
class Observation:
    """All that one mechanism publishes about one table, in parts. A part that is not published is None; an attacker
    that reads this part abstains."""

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
    """A randomised function of a table whose output is published and attacked."""

    @property
    def name(self) -> str: ...

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        """Return the mechanism's output on this table, with fresh randomness."""
