"""A ledger of format 1 becomes one of format 2: it gets running totals, freezes, signatures, and leases with a time.

Nothing that it holds is changed: old lines stay what they are, so that the places of old manifests in the journal do,
too. Its charges that never began to read are leases that have run out.
"""

from sqlalchemy import Connection, select, text, update

from crowdgate.errors import LedgerRefused
from crowdgate.ledger import schema
from crowdgate.ledger.author import author
from crowdgate.ledger.journal_writer import JournalWriter
from crowdgate.ledger.replay import JournalMismatch, JournalReplay
from crowdgate.ledger.schema import ledgers, totals
from crowdgate.ledger.store import DAMAGED
from crowdgate.ledger.stores import kind_of


def upgrade(url: str, busy_seconds: float = 10) -> str:
    """Upgrades the ledger at a URL, at once or not at all, and returns its id.

    Raises LedgerRefused where it is of another format already, or does not hold what its journal says.
    """
    kind = kind_of(url)
    store = kind.opened(url, busy_seconds, False)
    with store.transaction(writing=True) as connection:
        found = connection.execute(select(ledgers)).all()
        if len(found) != 1 or found[0].format != 1:
            raise LedgerRefused(f"{store.path} {DAMAGED if len(found) != 1 else 'is no ledger of format 1'}")
        _add_tables(connection)
        pen = JournalWriter(connection, _replayed_journal(connection, found[0].id), store.now(connection), author())
        row = pen.update_row(ledgers, update(ledgers).values(format=schema.FORMAT))
        assert row is not None, "it is there"
        stated = [pen.added(totals, each) for each in pen.seen.held.stated()]
        pen.line("ledger.upgraded", found[0].id, None, [row, *stated])
        return str(found[0].id)


def _add_tables(connection: Connection) -> None:
    for column in ("holder", "since"):
        kept = schema.entries.c[column].type.compile(connection.dialect)
        connection.execute(text(f"ALTER TABLE {schema.entries.name} ADD COLUMN {column} {kept}"))
    schema.metadata.create_all(connection)


def _replayed_journal(connection: Connection, ledger_id: str) -> JournalReplay:
    seen = JournalReplay()
    try:
        seen.follow(connection)
        seen.compare(connection)
    except JournalMismatch as changed:
        raise LedgerRefused(f"the ledger {ledger_id} is not upgraded: {changed}") from None
    return seen
