"""Games against one mechanism, played in batches. A batch depends only on its number and on the fields of the game."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.audit.common.observation import Mechanism, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Rng
from crowdgate.kind.mechanism_output import MechanismOutput


class GameTally(Protocol):
    """Counts or shares of some trials."""

    def to_json(self) -> dict[str, Any]:
        """Return the tally as it is stored."""


T = TypeVar("T", bound=GameTally)
P = TypeVar("P")


class Game(ABC, Generic[T, P]):
    """Trials of attacks on one mechanism. `number` is the mechanism's number in its audit, which gives each game its
    own random streams."""

    mechanism: Mechanism
    seed: int
    number: int
    batch_size: ClassVar[int]

    def batches(self, trials: int) -> Iterator[tuple[int, int]]:
        """Yield the number of each batch, and how many trials it has."""
        for start in range(0, trials, self.batch_size):
            yield start // self.batch_size, min(self.batch_size, trials - start)

    def stream(self, batch: int) -> Rng:
        """Return the random number generator of one batch."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(self.number, batch)))

    @abstractmethod
    def batch(self, at: int, trials: int) -> T:
        """Play the trials of one batch."""

    @abstractmethod
    def read(self, said: dict[str, Any], trials: int) -> T:
        """Return the stored tally of this many trials. Raises ValueError, KeyError or TypeError for an impossible
        one."""

    @abstractmethod
    def played(self, tallies: Mapping[int, T], must: Any, note: str, rate: float | None) -> P:
        """Return the result to record, from the tallies of all batches by batch number."""


@dataclass(frozen=True, eq=False)
class ShareTally:
    """Shares by releases and attacks, of the releases that choose attacks and of those that estimate figures. A share
    is NaN where an attack had nothing to read."""

    choosing: Floats
    estimating: Floats

    def to_json(self) -> dict[str, Any]:
        """Return the tally as it is stored, with -1 for NaN."""
        return {each.name: _as_lists(getattr(self, each.name)) for each in fields(self)}


class ReleaseGame(Game[T, P]):
    """Attacked releases: the first of every ten chooses attacks, the others estimate figures."""

    batch_size = 10

    def output(self, drawn: DrawnTable, rng: Rng) -> MechanismOutput:
        """Return the output of one release of a table."""
        return release_of(self.mechanism, drawn, rng)


def release_of(mechanism: Mechanism, drawn: DrawnTable, rng: Rng) -> MechanismOutput:
    """Return the output of a mechanism for a table whose size is public."""
    known = PublicKnowledge(drawn.population, drawn.n, replacement=False)
    return mechanism.apply(drawn, known, rng).seen or MechanismOutput()


def read_shares(said: Any, shape: tuple[int, ...], most: Floats | float = 1.0) -> Floats:
    """Return stored shares. Raises ValueError for another shape, and for shares above `most`."""
    found = np.array(said, dtype=np.float64)
    if found.size == 0 and 0 in shape:
        return found.reshape(shape)
    if found.shape != shape or not ((found >= 0) & (found <= most) | (found == -1)).all():
        raise ValueError("shares that can't be")
    return np.asarray(np.where(found == -1, np.nan, found), dtype=np.float64)


def joined(tallies: Iterable[ShareTally], name: str) -> Floats:
    """Return the shares of all batches, concatenated."""
    return np.concatenate([getattr(each, name) for each in tallies])


def finite(value: float) -> float | None:
    """Return a share, or None for NaN."""
    return None if np.isnan(value) else float(value)


def _as_lists(values: Floats) -> Any:
    found: list[Any] = np.where(np.isnan(values), -1, values).tolist()
    return found
