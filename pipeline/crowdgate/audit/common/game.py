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

UNUSED = 1 << 32
"""Number of a batch that no game has: its random numbers decide no figure."""


class GameTally(Protocol):
    """Counts or shares that result from some trials of a game, in a form that can be stored."""

    def to_json(self) -> dict[str, Any]:
        """Return the counts or shares as a JSON object, as they are stored."""


T = TypeVar("T", bound=GameTally)
P = TypeVar("P")


class Game(ABC, Generic[T, P]):
    """Trials of attacks on one mechanism. `number` is the mechanism's number in the audit, which gives each game random
    streams of its own; `batch_size` is the number of trials in a batch."""

    mechanism: Mechanism
    seed: int
    number: int
    batch_size: ClassVar[int]
    more: ClassVar[int] = 0
    """Trials that a batch has beside those that are counted."""

    def batches(self, trials: int) -> Iterator[tuple[int, int]]:
        """Yield each batch's number in the game and its number of trials, for a total of `trials`."""
        for start in range(0, trials, self.batch_size):
            yield start // self.batch_size, min(self.batch_size, trials - start)

    def stream(self, batch: int) -> Rng:
        """Return the random number generator of one batch of trials, which depends on the audit's seed, the game's
        number and the batch's number only."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(self.number, batch)))

    @abstractmethod
    def batch(self, at: int, trials: int) -> T:
        """Play the `trials` trials of batch number `at`, and return the tally of their counts or shares."""

    @abstractmethod
    def read(self, said: dict[str, Any], trials: int) -> T:
        """Return the tally of a batch of `trials` trials from its stored JSON object. Raises ValueError, KeyError or
        TypeError for a tally that no such batch could have."""

    @abstractmethod
    def played(self, tallies: Mapping[int, T], must: Any, note: str, rate: float | None) -> P:
        """Return the game's results for the audit's record, from the tallies of all batches by batch number. `must`,
        `note` and `rate` are those of the scheduled game."""


@dataclass(frozen=True, eq=False)
class ShareTally:
    """Shares between 0 and 1 that attacks reached in each release (releases by attacks, and further axes of the game):
    in the releases that choose attacks, and in those that estimate figures. NaN: the attack had nothing to read."""

    choosing: Floats
    estimating: Floats

    def to_json(self) -> dict[str, Any]:
        """Return the shares as a JSON object, as they are stored, with -1 for NaN."""
        return {each.name: _as_lists(getattr(self, each.name)) for each in fields(self)}


class ReleaseGame(Game[T, P]):
    """Game whose trials are attacked releases: the first of every ten chooses attacks, the others estimate figures. A
    batch has one release more."""

    batch_size = 10
    more = 1

    def output(self, drawn: DrawnTable, rng: Rng) -> MechanismOutput:
        """Return the output of the game's mechanism for one release of a table."""
        return release_of(self.mechanism, drawn, rng)


def release_of(mechanism: Mechanism, drawn: DrawnTable, rng: Rng) -> MechanismOutput:
    """Return the output of a mechanism for a table that was drawn without replacement and whose size is public; an
    empty output if the mechanism publishes nothing."""
    known = PublicKnowledge(drawn.population, drawn.n, replacement=False)
    return mechanism.apply(drawn, known, rng).seen or MechanismOutput()


def read_shares(said: Any, shape: tuple[int, ...], most: Floats | float = 1.0) -> Floats:
    """Return an array of stored shares, with NaN for -1. Raises ValueError for another shape than `shape`, and for
    shares below 0 or above `most`."""
    found = np.array(said, dtype=np.float64)
    if found.size == 0 and 0 in shape:
        return found.reshape(shape)
    if found.shape != shape or not ((found >= 0) & (found <= most) | (found == -1)).all():
        raise ValueError("shares that can't be")
    return np.asarray(np.where(found == -1, np.nan, found), dtype=np.float64)


def joined(tallies: Iterable[ShareTally], name: str) -> Floats:
    """Return the shares of all batches, concatenated over releases. `name` is the part: `choosing`, `estimating` or
    `outside`."""
    return np.concatenate([getattr(each, name) for each in tallies])


def finite(value: float) -> float | None:
    """Return the number unchanged, or None for NaN."""
    return None if np.isnan(value) else float(value)


def _as_lists(values: Floats) -> Any:
    found: list[Any] = np.where(np.isnan(values), -1, values).tolist()
    return found
