"""Progress of an audit on disk: a killed run resumes where it stopped.

The first line names the audit and its seed; each further line is a batch, and is on disk before the next batch is
played. The order of batches does not matter: each has its own random stream.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from crowdgate.audit.common.game import Game, GameTally
from crowdgate.errors import EnvironmentFault, VerificationFailed
from crowdgate.limits import LARGEST_PRIVATE_RECORD
from crowdgate.system import permissions
from crowdgate.system.regular_files import read_plain


@dataclass(frozen=True)
class TrialBatch:
    """Trials of one game: the game's number in the audit, the batch's number in the game, and the number of trials."""

    game: int
    at: int
    trials: int


@dataclass(frozen=True, eq=False)
class SavedProgress:
    """Batches of trials that were played, with their tallies, and the open file to which further batches are
    appended."""

    seed: str
    played: dict[TrialBatch, Any]
    _file: BinaryIO

    def add(self, batch: TrialBatch, tally: GameTally) -> None:
        """Append a played batch with its tally. Both are on disk when this returns."""
        _append(self._file, {**asdict(batch), "tally": tally.to_json()})
        self.played[batch] = tally


def seed_of(path: Path) -> str | None:
    """Return the seed of the unfinished run that left the progress file `path`; None if there is no run to resume.
    Raises VerificationFailed for a file that is no progress of an audit."""
    try:
        lines = _whole_lines(read_plain(path, LARGEST_PRIVATE_RECORD))
        return str(json.loads(lines[0])["seed"]) if lines else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        raise _other_audit(path) from None


def begin(path: Path, digest: str, seed: str, access: permissions.Access = permissions.AUDIT_RECORD) -> None:
    """Create the progress file of the audit with this setting's digest and this seed, without batches. Thus a run that
    is stopped while its games are prepared retains its seed."""
    with os.fdopen(permissions.open_file(path, os.O_WRONLY | os.O_TRUNC, access), "wb") as file:
        _append(file, {"audit": digest, "seed": seed})


@contextmanager
def open_progress(
    path: Path,
    digest: str,
    seed: str,
    batches: Sequence[TrialBatch],
    games: Sequence[Game[Any, Any]],
    access: permissions.Access = permissions.AUDIT_RECORD,
) -> Iterator[SavedProgress]:
    """Open the progress file of the audit with this setting's digest and this seed, or create it, and yield the batches
    played so far. An incomplete last line is dropped. Raises VerificationFailed for a file of another audit or another
    seed, EnvironmentFault while another run holds it."""
    handle = permissions.open_file(path, os.O_RDWR, access)
    with os.fdopen(handle, "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise EnvironmentFault(
                f"{path}: another run of this audit is using this file. Try again when it has ended"
            ) from None
        lines = _whole_lines(file.read())
        file.truncate(sum(map(len, lines)))
        file.seek(0, os.SEEK_END)
        if not lines:
            _append(file, {"audit": digest, "seed": seed})
        yield SavedProgress(seed, _read(path, lines, digest, seed, batches, games), file)


def _read(
    path: Path,
    lines: Sequence[bytes],
    digest: str,
    seed: str,
    batches: Sequence[TrialBatch],
    games: Sequence[Game[Any, Any]],
) -> dict[TrialBatch, Any]:
    known, played = set(batches), dict[TrialBatch, Any]()
    try:
        for at, line in enumerate(map(json.loads, lines)):
            if at == 0:
                if line != {"audit": digest, "seed": seed}:
                    raise _other_audit(path)
                continue
            tally = line.pop("tally")
            batch = TrialBatch(**line)
            if batch not in known:
                raise _other_audit(path)
            played[batch] = games[batch.game].read(tally, batch.trials)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise _other_audit(path) from None
    return played


def _other_audit(path: Path) -> VerificationFailed:
    return VerificationFailed(
        f"{path}: the saved progress belongs to another audit or seed. Remove the file to begin anew, which"
        " counts as a further attempt"
    )


def _whole_lines(data: bytes) -> list[bytes]:
    return [line for line in data.splitlines(keepends=True) if line.endswith(b"\n")]


def _append(file: BinaryIO, value: dict[str, Any]) -> None:
    file.write(json.dumps(value, separators=(",", ":")).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())
