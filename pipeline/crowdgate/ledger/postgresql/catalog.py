"""The catalog of a ledger's schema in PostgreSQL, compared with that of a new ledger (catalog.txt)."""

from functools import cache
from pathlib import Path

from crowdgate.ledger.store import Database

EXPECTED = Path(__file__).with_name("catalog.txt")
_IN_SCHEMA = "n.nspname = 'crowdgate'"
_ACTIVE = f"""
SELECT 'trigger ' || c.relname || ' ' || t.tgname || ' ' || t.tgenabled::text || ' ' || t.tgtype || ' ' || p.proname
    || ' ' || f.nspname
FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
JOIN pg_catalog.pg_namespace f ON f.oid = p.pronamespace
WHERE {_IN_SCHEMA} AND NOT t.tgisinternal
UNION ALL
SELECT 'disabled ' || c.relname FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE {_IN_SCHEMA} AND t.tgisinternal AND t.tgenabled <> 'O'
UNION ALL
SELECT 'function ' || p.proname || ' ' || p.prosecdef || ' '
    || pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(p.prosrc, 'UTF8')), 'hex')
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE {_IN_SCHEMA}
UNION ALL
SELECT 'rule ' || c.relname || ' ' || r.rulename
FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE {_IN_SCHEMA}
UNION ALL
SELECT 'policy ' || c.relname || ' ' || p.polname || ' ' || p.polcmd::text || ' ' || p.polpermissive
FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE {_IN_SCHEMA}
"""
_TABLES = f"""
SELECT 'table ' || c.relname || ' ' || c.relkind::text || ' ' || c.relpersistence::text || ' ' || c.relrowsecurity
    || ' ' || c.relforcerowsecurity
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE {_IN_SCHEMA} AND c.relkind NOT IN ('i', 't')
UNION ALL
SELECT 'column ' || c.relname || ' ' || a.attnum || ' ' || a.attname || ' '
    || pg_catalog.format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' ' || a.atthasdef || ' '
    || a.attcollation::pg_catalog.regcollation
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE {_IN_SCHEMA} AND c.relkind NOT IN ('i', 't') AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT 'index ' || pg_catalog.pg_get_indexdef(i.indexrelid) || ' ' || i.indisvalid
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE {_IN_SCHEMA} AND c.relkind <> 't'
UNION ALL
SELECT 'constraint ' || c.relname || ' ' || o.conname || ' ' || pg_catalog.pg_get_constraintdef(o.oid)
FROM pg_catalog.pg_constraint o JOIN pg_catalog.pg_class c ON c.oid = o.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE {_IN_SCHEMA} AND o.contype IN ('p', 'u', 'f', 'c', 'x')
UNION ALL
SELECT 'child ' || i.inhrelid::pg_catalog.regclass || ' ' || i.inhparent::pg_catalog.regclass
FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhparent
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE {_IN_SCHEMA}
"""
_ACTIVE_WORDS = ("trigger ", "disabled ", "function ", "rule ", "policy ")


def catalog_lines(database: Database, *, active: bool = False) -> frozenset[str]:
    """Return a line for each object of the schema: tables, columns, indexes, constraints, and whatever acts: triggers,
    functions, rules and policies. With `active` only the latter.
    """
    statement = _ACTIVE if active else f"{_ACTIVE} UNION ALL {_TABLES}"
    return frozenset(str(line) for (line,) in database.rows(statement))


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
def _expected() -> frozenset[str]:
    return frozenset(EXPECTED.read_text(encoding="utf-8").splitlines())
