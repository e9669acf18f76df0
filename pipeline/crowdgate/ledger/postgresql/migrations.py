"""Migrations of a ledger in PostgreSQL: numbered SQL files, each applied once, in order, in one transaction."""

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from crowdgate.errors import EnvironmentFault, LedgerRefused
from crowdgate.ledger.store import Database

_FOLDER = Path(__file__).parent
_APPLIED = "SELECT number, name, digest FROM crowdgate.migrations ORDER BY number"


class Migration(NamedTuple):
    """An SQL file: its number, its name and the SHA-256 of its bytes, as the table `migrations` keeps them."""

    number: int
    name: str
    digest: str

    @property
    def text(self) -> str:
        """The statements of the file."""
        return (_FOLDER / self.name).read_text(encoding="utf-8")


@cache
def migrations() -> tuple[Migration, ...]:
    """Return all migrations of this version, in order."""
    files = sorted(_FOLDER.glob("[0-9]*.sql"))
    return tuple(Migration(int(each.name[:3]), each.name, _digest(each)) for each in files)


def refuse_other_version(database: Database, name: str) -> None:
    """Raise LedgerRefused if the database `name` lacks migrations of this version, or has others."""
    if not _has_schema(database):
        raise LedgerRefused(f"no ledger in {name}; `crowdgate ledger create NAME` makes one")
    left = pending(database, name)
    if left:
        said = f"the ledger in {name} lacks {len(left)} migrations of this version"
        raise LedgerRefused(f"{said}; `crowdgate ledger upgrade`, as a member of crowdgate_admin, applies them")


def pending(database: Database, name: str) -> tuple[Migration, ...]:
    """Return the migrations that a database lacks. Raises LedgerRefused for one that has other ones."""
    applied = [Migration(*row) for row in database.rows(_APPLIED)] if _has_schema(database) else []
    if list(migrations()[: len(applied)]) != applied:
        raise LedgerRefused(f"the tables of the ledger in {name} were made by another version of Crowdgate")
    return migrations()[len(applied) :]


def make_tables(database: Database, name: str) -> None:
    """Apply all migrations to a database that holds no ledger. Raises EnvironmentFault for one that does."""
    if _has_schema(database):
        raise EnvironmentFault(f"{name} holds a ledger already, and a ledger is never replaced. Name another database")
    ((encoding,),) = database.rows("SELECT pg_catalog.current_setting('server_encoding')")
    if encoding != "UTF8":
        raise EnvironmentFault(f"{name} has the encoding {encoding}; expected UTF8")
    apply(database, migrations())


def apply(database: Database, left: tuple[Migration, ...]) -> None:
    """Apply migrations, and note them."""
    for each in left:
        database.change(each.text)
        database.change("INSERT INTO crowdgate.migrations (number, name, digest) VALUES (?, ?, ?)", *each)


def _has_schema(database: Database) -> bool:
    return any(database.rows("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'crowdgate'"))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
