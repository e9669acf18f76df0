"""When Python's garbage collector looks for cycles."""

import atexit
import gc

SELDOM = 200_000
"""The number of new objects after which the garbage collector runs. Python's default 700 costs a light command 1/14 of
its time, and a worker that counts rows 1/30.
"""


def collect_seldom() -> None:
    """Make the garbage collector look for cycles seldom, and not at the end, when the process gives all memory back
    anyway. Files and databases are closed where they were opened: none waits for the collector."""
    gc.set_threshold(SELDOM)
    atexit.register(gc.freeze)
