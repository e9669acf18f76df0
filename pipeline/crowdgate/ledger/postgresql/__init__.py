"""A ledger in a PostgreSQL database, for runs on several machines. Numbered SQL files make its tables and rights.

The driver is imported when a URL names such a ledger.
"""

from contextlib import AbstractContextManager

from crowdgate.ledger.postgresql.address import EXAMPLE, absolute_url
from crowdgate.ledger.store import Database, Store, StoreKind
from crowdgate.system.extras import POSTGRES, need


def _new_database(url: str) -> AbstractContextManager[Database]:
    need(POSTGRES, "--ledger")
    from crowdgate.ledger.postgresql.database import new_database

    return new_database(url)


def _open_store(url: str, busy_seconds: float, reading: bool) -> Store:
    need(POSTGRES, "--ledger")
    from crowdgate.ledger.postgresql.database import open_store

    return open_store(url, busy_seconds, reading)


def _migrate(url: str, busy_seconds: float) -> int:
    need(POSTGRES, "--ledger")
    from crowdgate.ledger.postgresql.database import migrate

    return migrate(url, busy_seconds)


def _now(database: Database) -> str:
    from crowdgate.ledger.postgresql.database import now

    return now(database)


KIND = StoreKind(EXAMPLE, absolute_url, _new_database, _open_store, _now, _migrate)
