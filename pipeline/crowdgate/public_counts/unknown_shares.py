"""Attributes with unknown shares: no public margins, and no counts at the requested level or a finer one.

Coarse counts do not show how people are spread within a coarse value, so a figure at a finer level would be a guess.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from crowdgate.hierarchy import Level
from crowdgate.kind.forecast import Axes
from crowdgate.kind.prior import Prior


@dataclass(frozen=True)
class UnknownShares:
    """An attribute whose shares of people by value are unknown at a requested level, and the finest coarser level with
    known shares (None: none)."""

    name: str
    level: Level
    known: Level | None

    @property
    def found(self) -> str:
        """The missing information about the attribute, in words."""
        if self.known is None:
            return f"{self.name!r} has no public margins"
        coarser = f"its counts are at {self.known.name!r}, coarser than {self.level.name!r}"
        return f"{self.name!r} has no public margins, and {coarser}"

    @property
    def expected(self) -> str:
        """The remedies of the missing shares as one phrase: "a, b, or c"."""
        return alternatives(*self.ways)

    @property
    def ways(self) -> tuple[str, ...]:
        """The remedies of the missing shares, each as a phrase: a coarser level, counts, or margins."""
        if self.known is None:
            return "margins in the contract", "--from with counts of it"
        counts = f"counts at {self.level.name!r} or finer"
        return f"{self.name!r} at {self.known.name!r} or coarser", counts, "margins in the contract"


def alternatives(*ways: str) -> str:
    """Return these phrases as one: "a, b, or c"."""
    return f"{', '.join(ways[:-1])}, or {ways[-1]}"


def unknown_shares(prior: Prior, levels: Axes) -> Iterator[UnknownShares]:
    """Yield every attribute whose shares of people by value are unknown at its level in `levels`."""
    for name, level in levels.items():
        if prior.shares(name, level) is None:
            yield UnknownShares(name, level, prior.known_level(name, level))
