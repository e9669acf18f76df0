"""The first replay of a ledger in a process: its journal is followed, and the tables are compared with it.

With an attested position a read or a change continues from there: every row of every table is still compared, but older
lines of the journal are not read. A read that returns lines, or compares older ones, follows the whole journal.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crowdgate.ledger.replay import JournalMismatch, JournalReplay
from crowdgate.ledger.schema import LEDGERS, select, tables

if TYPE_CHECKING:
    from crowdgate.ledger.position import AttestedPosition
    from crowdgate.ledger.store import Database, Store


def first_replay(store: Store, database: Database, position: AttestedPosition | None, whole: bool) -> JournalReplay:
    """Return the replay of the ledger's journal: from line 1 if `whole`, otherwise from the attested position if there
    is one.

    Raises JournalMismatch for a ledger that differs from its journal, or that lacks the line of the attested position.
    """
    with _without_collection():
        seen = None if position is None or whole else _replay_on(store, database, position)
        if seen is None:
            _refuse_unsound(store.integrity_fault(database))
            seen = JournalReplay()
        seen.follow(database)
        seen.compare(database)
    if position is not None and not position.is_line_of(database):
        raise JournalMismatch(position.contradiction())
    return seen


@contextmanager
def _without_collection() -> Iterator[None]:
    """Suspend the collection of cycles: a replay makes very many rows and no cycle, and would be searched again and
    again, which takes a quarter of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _replay_on(store: Store, database: Database, position: AttestedPosition) -> JournalReplay | None:
    """Return a replay that continues from the attested position; None if the journal lacks its line, or its state is
    invalid.
    """
    ((_, form),) = database.rows(select(LEDGERS))
    _refuse_unsound(store.integrity_fault(database, tables(form)))
    return position.replay() if position.is_line_of(database) else None


def _refuse_unsound(fault: str | None) -> None:
    if fault is not None:
        raise JournalMismatch(fault)
