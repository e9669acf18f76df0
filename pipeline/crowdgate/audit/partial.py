"""What a run of an audit has played so far, on disk: a killed run goes on where it was stopped.

A line says of which audit it is, with which seed; then one line a batch, each on disk before the next is played. What
is played does not depend on when: batches have streams of their own.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from crowdgate.audit.game import Tally
from crowdgate.errors import EnvironmentFault, VerificationFailed


@dataclass(frozen=True)
class Batch:
    """Trials of one game: its number in the audit, the number of the batch in it, and how many trials."""

    game: int
    at: int
    trials: int


@dataclass(frozen=True, eq=False)
class Partial:
    """Batches that are played, and the open file that further ones are added to."""

    seed: str
    played: dict[Batch, Tally]
    _file: BinaryIO

    def add(self, batch: Batch, tally: Tally) -> None:
        """Keep a batch: it is on disk when this returns."""
        _append(self._file, {**asdict(batch), "tally": _written(tally)})
        self.played[batch] = tally


def seed_of(path: Path) -> str | None:
    """The seed of the run that left this file, or None where there is none to go on with."""
    try:
        lines = _whole_lines(path.read_bytes())
        return str(json.loads(lines[0])["seed"]) if lines else None
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise _other(path) from None


@contextmanager
def kept(path: Path, digest: str, seed: str, batches: Sequence[Batch], mode: int = 0o666) -> Iterator[Partial]:
    """The batches of the audit `digest` with this seed that a run has played, and their file, which is made if need be.

    A last line that was not written to its end is dropped. Raises VerificationFailed for a file of another audit or
    another seed, EnvironmentFault while another run holds it.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, mode)
    with os.fdopen(handle, "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise EnvironmentFault(f"{path}: another run plays this audit") from None
        lines = _whole_lines(file.read())
        file.truncate(sum(map(len, lines)))
        file.seek(0, os.SEEK_END)
        if not lines:
            _append(file, {"audit": digest, "seed": seed})
        yield Partial(seed, _read(path, lines, digest, seed, batches), file)


def _read(path: Path, lines: Sequence[bytes], digest: str, seed: str, batches: Sequence[Batch]) -> dict[Batch, Tally]:
    known, played = set(batches), dict[Batch, Tally]()
    try:
        for at, line in enumerate(map(json.loads, lines)):
            if at == 0:
                if line != {"audit": digest, "seed": seed}:
                    raise _other(path)
                continue
            tally = line.pop("tally")
            batch = Batch(**line)
            played[batch] = _tally(tally)
            if batch not in known or not _possible(played[batch], batch.trials):
                raise _other(path)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise _other(path) from None
    return played


def _possible(tally: Tally, trials: int) -> bool:
    """Whether counts can be those of so many trials: who isolates within the weight isolates."""
    counts = (tally.light, tally.any, tally.idle, tally.tenth_light, tally.tenth_any)
    return (
        tally.trials == trials
        and tally.kept >= 0
        and tally.light.ndim == 2
        and len({each.shape for each in counts if each.ndim == 2}) == 1
        and tally.idle.shape == tally.light.shape[:1]
        and all(((each >= 0) & (each <= trials)).all() for each in counts)
        and bool((tally.light <= tally.any).all() and (tally.tenth_light <= tally.light).all())
        and bool((tally.tenth_any <= tally.any).all())
    )


def _other(path: Path) -> VerificationFailed:
    return VerificationFailed(
        f"{path}: what was played there is not of this audit with this seed; remove the file to begin anew, which"
        " counts as a further attempt"
    )


def _whole_lines(data: bytes) -> list[bytes]:
    return [line for line in data.splitlines(keepends=True) if line.endswith(b"\n")]


def _append(file: BinaryIO, value: dict[str, Any]) -> None:
    file.write(json.dumps(value, separators=(",", ":")).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())


def _written(tally: Tally) -> dict[str, Any]:
    said = {each.name: getattr(tally, each.name) for each in fields(tally)}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in said.items()}


def _tally(said: dict[str, Any]) -> Tally:
    read: dict[str, Any] = {each.name: said[each.name] for each in fields(Tally)}
    counts = {name: np.array(value) for name, value in read.items() if isinstance(value, list)}
    numbers = [read["trials"], read["kept"]]
    if any(type(each) is not int for each in numbers) or any(each.dtype != np.int64 for each in counts.values()):
        raise ValueError("counts are whole numbers")
    return Tally(**{**read, **counts})
