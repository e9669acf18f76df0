"""Upgrade of a ledger to the newest format.

From format 1 it adds running totals, freezes, signatures, and times of leases; from format 2 restored charges, and the
tables of budgets that are counted in Renyi divergences. Old lines stay unchanged, so the journal positions in old
manifests stay valid. In format 1 charges whose reading never began become expired leases.
"""

from collections.abc import Sequence

from crowdgate.errors import LedgerRefused
from crowdgate.ledger import schema
from crowdgate.ledger.author import author
from crowdgate.ledger.journal import last_line
from crowdgate.ledger.journal_writer import JournalWriter
from crowdgate.ledger.replay import JournalMismatch, JournalReplay
from crowdgate.ledger.schema import ENTRIES, FORMAT, LEDGERS, TOTALS
from crowdgate.ledger.signatures import is_signed_by, sign
from crowdgate.ledger.store import DAMAGED, Database, Store
from crowdgate.ledger.stores import kind_of
from crowdgate.signing.keys import PublicKey, SigningKey


def upgrade(
    url: str, busy_seconds: float = 10, signer: SigningKey | None = None, trusted: Sequence[PublicKey] = ()
) -> str:
    """Upgrade the ledger at a URL to the newest format, atomically, and return its id.

    `signer` signs the line. With `trusted` keys a ledger of format 2 must end with a line that one of them signed. One
    of format 1 holds no signatures, so it stays unsigned until a person signs it.
    Raises LedgerRefused otherwise, and if the ledger has the newest format already or differs from its journal.
    """
    kind = kind_of(url)
    steps = kind.migrate(url, busy_seconds) if kind.migrate is not None else 0
    store = kind.opened(url, busy_seconds, False)
    with store.transaction(writing=True) as database:
        ledger_id, form = _stated(store, database, migrated=bool(steps))
        if form == FORMAT:
            return ledger_id
        _refuse_unsigned(database, ledger_id, form, trusted)
        _add_tables(database, form)
        pen = JournalWriter(database, _replayed_journal(database, ledger_id), store.now(database), author())
        row = pen.put(LEDGERS, id=ledger_id, format=FORMAT)
        stated = [pen.put(TOTALS, **each) for each in pen.held.stated()] if form == 1 else []
        line = pen.line("ledger.upgraded", ledger_id, None, [row, *stated])
        if signer is not None and not (form == 1 and trusted):
            sign(database, ledger_id, line, signer)
        return ledger_id


def _stated(store: Store, database: Database, migrated: bool) -> tuple[str, int]:
    """Return the id and the format that a ledger states. Raises LedgerRefused unless it can be upgraded, or its tables
    were migrated.
    """
    found = list(database.rows(schema.select(LEDGERS)))
    if len(found) != 1 or found[0][1] not in (1, *schema.USABLE):
        raise LedgerRefused(f"{store.name} {DAMAGED}")
    if found[0][1] == FORMAT and not migrated:
        raise LedgerRefused(f"{store.name} is a ledger of format {FORMAT} already; there is nothing to upgrade")
    return str(found[0][0]), int(found[0][1])


def _refuse_unsigned(database: Database, ledger_id: str, form: int, trusted: Sequence[PublicKey]) -> None:
    if form == 1 or not trusted:
        return
    line = last_line(database)
    if not is_signed_by(database, ledger_id, line, trusted):
        said = f"the ledger {ledger_id} is not upgraded: its last line, {line.number}, is signed by no trusted key"
        raise LedgerRefused(f"{said}; inspect it, and if you trust it, sign it with `crowdgate ledger sign`", "edited")


def _add_tables(database: Database, form: int) -> None:
    if form == 1:
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
