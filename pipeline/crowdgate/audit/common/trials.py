"""All games of an audit: played in batches, in one process or in several, and added up for its record.

The counts are the same however many processes play, in whatever order, and wherever a run was stopped and went on.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from crowdgate.audit.common.game import Game
from crowdgate.audit.common.saved_progress import TrialBatch, open_progress
from crowdgate.system import permissions
from crowdgate.system.core_dumps import disable_core_dumps

Progress = Callable[[int, int], None]
"""Callback with (trials played, trials in all)."""


@dataclass(frozen=True, eq=False)
class ScheduledGame:
    """A game of attacks on one mechanism, with its number of trials, the result that a working audit must find
    (`must`), and a description of what the mechanism publishes (`note`)."""

    game: Game[Any, Any]
    trials: int
    must: str
    note: str
    rate: float | None = None
    """Stated success of the best attack on a mechanism that must be caught; in an inference audit the precision
    improvement that the attack must exceed."""


Schedule = Sequence[ScheduledGame]
Executor = Callable[[Schedule, Sequence[TrialBatch]], Iterable[tuple[TrialBatch, Any]]]
"""Function that plays batches of a schedule, in any order and in any process."""


def batches(schedule: Schedule) -> list[TrialBatch]:
    """Return the batches of trials of all scheduled games."""
    return [
        TrialBatch(number, at, trials)
        for number, each in enumerate(schedule)
        for at, trials in each.game.batches(each.trials)
    ]


def play_games(
    schedule: Schedule,
    path: Path,
    digest: str,
    seed: str,
    executor: Executor,
    progress: Progress | None = None,
    access: permissions.Access = permissions.AUDIT_RECORD,
) -> tuple[Any, ...]:
    """Play all scheduled games, and return each game's results. Progress is stored at `path` (see `saved_progress`),
    from which a later run resumes."""
    every = batches(schedule)
    with open_progress(path, digest, seed, every, [each.game for each in schedule], access) as partial:
        total = sum(batch.trials for batch in every)
        for batch, tally in executor(schedule, [batch for batch in every if batch not in partial.played]):
            partial.add(batch, tally)
            if progress is not None:
                progress(sum(each.trials for each in partial.played), total)
        return tuple(_game_results(at, each, partial.played) for at, each in enumerate(schedule))


def serial(schedule: Schedule, missing: Sequence[TrialBatch]) -> Iterator[tuple[TrialBatch, Any]]:
    """Play the missing batches of trials one after the other in this process; yield each with its tally."""
    for batch in missing:
        yield batch, schedule[batch.game].game.batch(batch.at, batch.trials)


def processes(count: int) -> Executor:
    """Return an executor that plays `count` batches of trials at the same time, each in its own process; `serial` for a
    count of 1."""

    def over(schedule: Schedule, missing: Sequence[TrialBatch]) -> Iterator[tuple[TrialBatch, Any]]:
        pool = ProcessPoolExecutor(min(count, max(1, len(missing))), get_context("spawn"), _start_worker, (schedule,))
        try:
            for found in as_completed([pool.submit(_play_batch, batch) for batch in missing]):
                yield found.result()
        finally:
            pool.shutdown(cancel_futures=True)

    return serial if count == 1 else over


_HELD: list[Schedule] = []
"""Schedule of a worker process, received once at its start."""


def _start_worker(schedule: Schedule) -> None:
    disable_core_dumps()
    _HELD[:] = [schedule]
    Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    """End the worker when its parent ends, so that a killed run leaves no process behind."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _play_batch(batch: TrialBatch) -> tuple[TrialBatch, Any]:
    return next(serial(_HELD[0], [batch]))


def _game_results(number: int, of: ScheduledGame, tallies: Mapping[TrialBatch, Any]) -> Any:
    own = {
        batch.at: tally for batch, tally in sorted(tallies.items(), key=lambda each: each[0].at) if batch.game == number
    }
    return of.game.played(own, of.must, of.note, of.rate)
