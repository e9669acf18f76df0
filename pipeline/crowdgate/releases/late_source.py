"""Waiting for a late table, or for a disk or network that is away, before anything is reserved and never after."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from crowdgate.errors import EnvironmentFault, FileFault

if TYPE_CHECKING:
    from crowdgate.kind.run import Request

R = TypeVar("R")
PAUSE = 60.0
"""The time between two attempts, in seconds."""
MOST_MINUTES = 24 * 60
"""The longest wait that a request may state, in minutes."""


def when_ready(
    request: Request,
    prepare: Callable[[Request], R],
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> R:
    """Return what `prepare` returns. A fault of the table or of the machine is tried again for `request.wait` minutes.

    Nothing is charged while a release is prepared, so each attempt is as good as the first. Every other error, and the
    last fault, is raised.
    """
    end = clock() + 60 * request.wait
    while True:
        try:
            return prepare(request)
        except (FileFault, EnvironmentFault):
            left = end - clock()
            if left <= 0:
                raise
        pause(min(PAUSE, left))
