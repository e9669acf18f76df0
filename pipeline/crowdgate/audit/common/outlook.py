"""Outlook of an audit before it plays: its games, its cost, the least number of units from which rows are released, and
the least number of trials or releases for a pass.

The cost is that of a trial of each game, played on random numbers of its own and forgotten.
"""

from collections.abc import Callable
from fractions import Fraction
from time import process_time
from typing import Any

from crowdgate.audit.common.audit import Audit
from crowdgate.audit.common.ceiling import Ceiling
from crowdgate.audit.common.game import UNUSED
from crowdgate.audit.common.least_units import ReleasedRows
from crowdgate.audit.common.levels import POWER
from crowdgate.audit.common.record import AuditSetting
from crowdgate.audit.common.trials import Schedule, ScheduledGame
from crowdgate.number_text import rounded, whole

_ENOUGH, _LONG = 0.2, 3.0
"""CPU seconds for which trials are timed, after a first one, which loads libraries and fills caches. After one that
takes long no other is timed."""


def outlook(
    of: Audit[Any, Any],
    setting: AuditSetting,
    alpha: Fraction,
    schedule: Schedule,
    ceiling: Ceiling | None = None,
    rows: ReleasedRows | None = None,
    clock: Callable[[], float] = process_time,
) -> str:
    """Return sentences for people about an audit that has this setting and is judged at level alpha. `rows` are the
    classes that the policy's mechanism may release."""
    own, *others = schedule
    seconds = sum(_seconds(each, clock) for each in schedule)
    controls = f", and {len(others)} further mechanisms" if len(others) > 1 else ""
    said = f"{whole(own.trials)} {of.plays}{controls}: about {_about(seconds)} CPU seconds."
    most = None if ceiling is None else _ceiling_text(ceiling)
    needed = None if of.needed is None else _needed_text(of.plays, own.trials, of.needed(setting, alpha, own.game))
    least = None if rows is None else rows.text(setting.n)
    return " ".join(filter(None, (said, least, most, needed)))


def _ceiling_text(ceiling: Ceiling) -> str:
    return f"{ceiling.text} So it can't fail, and a pass shows nothing." if ceiling.hopeless else ceiling.text


def _about(seconds: float) -> str:
    short = float(f"{seconds:.2g}")
    return whole(int(short)) if short >= 10 else rounded(short)


def _needed_text(plays: str, played: int, needed: int | None) -> str:
    if needed is None:
        return f"No number of {plays} lets a harmless mechanism pass at this limit: the audit can fail, or can't tell."
    said = f"A harmless mechanism passes with probability {rounded(POWER, 6)} from {whole(needed)} {plays} on."
    return said if played >= needed else f"{said} There are fewer, so this audit is likely to end without a verdict."


def _seconds(of: ScheduledGame, clock: Callable[[], float]) -> float:
    """Return the CPU seconds that all trials of a game will take, by those of a first trial, and of further ones if
    these take little time."""
    size = of.game.batch_size
    first = _batch_seconds(of, 1, clock)
    trials = max(1, int(min(size, of.trials, _ENOUGH / max(first, 1e-9))))
    timed = first if first > _LONG else _batch_seconds(of, trials, clock)
    return timed / (trials + of.game.more) * (1 + of.game.more / size) * of.trials


def _batch_seconds(of: ScheduledGame, trials: int, clock: Callable[[], float]) -> float:
    start = clock()
    of.game.batch(UNUSED, trials)
    return clock() - start
