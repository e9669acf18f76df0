"""What an audit says before it plays: its games, its cost, and the least number of trials or releases for a pass.

The cost is that of a trial of each game, played on random numbers of its own and forgotten.
"""

from collections.abc import Callable
from fractions import Fraction
from time import process_time
from typing import Any

from crowdgate.audit.common.audit import Audit
from crowdgate.audit.common.levels import POWER
from crowdgate.audit.common.record import AuditSetting
from crowdgate.audit.common.trials import Schedule, ScheduledGame
from crowdgate.number_text import rounded, whole

_UNUSED = 1 << 32
"""Number of a batch that no game has."""
_ENOUGH = 0.2
"""CPU seconds after which a trial is not timed again. The first one may load libraries."""


def outlook(
    of: Audit[Any, Any],
    setting: AuditSetting,
    alpha: Fraction,
    schedule: Schedule,
    clock: Callable[[], float] = process_time,
) -> str:
    """Return sentences for people about an audit that has this setting and is judged at level alpha."""
    own, *others = schedule
    seconds = sum(_seconds(each, clock) for each in schedule)
    controls = f", and {len(others)} further mechanisms" if len(others) > 1 else ""
    said = f"{whole(own.trials)} {of.plays}{controls}: about {_about(seconds)} CPU seconds."
    return said if of.needed is None else f"{said} {_needed_text(of.plays, own.trials, of.needed(setting, alpha))}"


def _about(seconds: float) -> str:
    short = float(f"{seconds:.2g}")
    return whole(int(short)) if short >= 10 else rounded(short)


def _needed_text(plays: str, played: int, needed: int | None) -> str:
    if needed is None:
        return f"No number of {plays} lets a harmless mechanism pass at this limit: the audit can fail, or can't tell."
    below = f"In fewer than {whole(needed)} {plays} a harmless mechanism passes with a probability below"
    said = f"{below} {rounded(POWER, 6)}."
    return said if played >= needed else f"{said} So this audit is likely to end without a verdict."


def _seconds(of: ScheduledGame, clock: Callable[[], float]) -> float:
    """Return the CPU seconds that all trials of a game will take, from the quickest of a few."""
    found: list[float] = []
    while sum(found) < _ENOUGH and len(found) < min(3, of.trials):
        start = clock()
        of.game.batch(_UNUSED, 1)
        found.append(clock() - start)
    return min(found, default=0.0) * of.game.relative_cost * of.trials
