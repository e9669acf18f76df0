"""The catalog of a ledger's schema in PostgreSQL, compared with that of a new ledger (catalog.txt)."""

from functools import cache
from pathlib import Path

from crowdgate.ledger.store import Database

EXPECTED = Path(__file__).with_name("catalog.txt")
_ACTIVE_WORDS = ("trigger ", "disabled ", "function ", "rule ", "policy ")


def catalog_lines(database: Database, *, active: bool = False) -> frozenset[str]:
    """Return a line for each object of the schema: tables, columns, indexes, constraints, and whatever acts: triggers,
    functions, rules and policies. With `active` only the latter.
    """
    statements = [_statement("active"), *([] if active else [_statement("tables")])]
    return frozenset(str(line) for each in statements for (line,) in database.rows(each))


def integrity_fault(database: Database) -> str | None:
    """Return a description of a schema that differs from that of a new ledger; None if it does not. Damaged pages are
    found by the server's checksums.
    """
    if catalog_lines(database) == _expected():
        return None
    return "its tables, indexes or triggers differ from those that Crowdgate makes"


def active_objects(database: Database) -> str | None:
    """Return a description of triggers, rules and policies that a new ledger lacks, or of missing ones; or None."""
    expected = {line for line in _expected() if line.startswith(_ACTIVE_WORDS)}
    differ = catalog_lines(database, active=True) != expected
    return "it holds other triggers or rules than Crowdgate makes" if differ else None


@cache
def _statement(part: str) -> str:
    return EXPECTED.with_name(f"catalog_{part}.sql").read_text(encoding="utf-8")


@cache
def _expected() -> frozenset[str]:
    return frozenset(EXPECTED.read_text(encoding="utf-8").splitlines())
