"""Upgrade of a ledger from format 1 to 2: adds running totals, freezes, signatures, and times of leases.

Old lines stay unchanged, so the journal positions in old manifests stay valid. Charges whose reading never began become
expired leases.
"""

from crowdgate.errors import LedgerRefused
from crowdgate.ledger import schema
from crowdgate.ledger.author import author
from crowdgate.ledger.journal_writer import JournalWriter
from crowdgate.ledger.replay import JournalMismatch, JournalReplay
from crowdgate.ledger.schema import ENTRIES, LEDGERS, TOTALS
from crowdgate.ledger.store import DAMAGED, Database
from crowdgate.ledger.stores import kind_of


def upgrade(url: str, busy_seconds: float = 10) -> str:
    """Upgrade the ledger at a URL, atomically, and return its id.

    Raises LedgerRefused if it already has another format or differs from its journal.
    """
    kind = kind_of(url)
    store = kind.opened(url, busy_seconds, False)
    with store.transaction(writing=True) as database:
        found = list(database.rows(schema.select(LEDGERS)))
        if len(found) != 1 or found[0][1] != 1:
            raise LedgerRefused(f"{store.path} {DAMAGED if len(found) != 1 else 'is no ledger of format 1'}")
        ledger_id = str(found[0][0])
        _add_tables(database)
        pen = JournalWriter(database, _replayed_journal(database, ledger_id), store.now(database), author())
        row = pen.put(LEDGERS, id=ledger_id, format=schema.FORMAT)
        stated = [pen.put(TOTALS, **each) for each in pen.held.stated()]
        pen.line("ledger.upgraded", ledger_id, None, [row, *stated])
        return ledger_id


def _add_tables(database: Database) -> None:
    database.change(f"ALTER TABLE {ENTRIES} ADD COLUMN holder VARCHAR(300)")
    database.change(f"ALTER TABLE {ENTRIES} ADD COLUMN since VARCHAR(20)")
    there = {name for (name,) in database.rows("SELECT name FROM sqlite_master")}
    for name, statement in schema.STATEMENTS.items():
        if name not in there:
            database.change(statement)


def _replayed_journal(database: Database, ledger_id: str) -> JournalReplay:
    seen = JournalReplay()
    try:
        seen.follow(database)
        seen.compare(database)
    except JournalMismatch as changed:
        raise LedgerRefused(f"the ledger {ledger_id} is not upgraded: {changed}") from None
    return seen
