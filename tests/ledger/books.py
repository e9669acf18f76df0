"""Ledgers for tests: budgets, charges, and edits behind the ledger's back."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.ledger import reservations
from crowdgate.ledger.heads import head_file
from crowdgate.ledger.journal import JournalLine, chain_line
from crowdgate.ledger.ledger import Budget, ChargeRequest, Ledger, Spend, create
from crowdgate.ledger.replay import JournalReplay
from crowdgate.ledger.schema import ENTRIES, KEYS, tables
from crowdgate.ledger.sqlite import path_of
from crowdgate.publish.file_names import STAGING

if TYPE_CHECKING:
    import pytest

BUDGET = Budget("us-cps", Spend(Fraction(4), Fraction("1e-8")), 300_000, "row", "add-remove")
ONE = Spend(Fraction(1), Fraction("1e-9"))


def asked(release_id: str, holder: str | None = None, digest: str = "d", version: str | None = None) -> ChargeRequest:
    """Return a request of epsilon 1 to a population of four."""
    return ChargeRequest(release_id, digest, "census", BUDGET, ONE, version=version, holder=holder)


def publish_many(ledger: Ledger, lines: int) -> None:
    """Add releases of another policy and population in one transaction, four lines each, until the journal has `lines`
    lines.
    """
    budget = Budget("town", Spend(Fraction(lines), Fraction("1e-2")), 300_000, "row", "add-remove")
    with ledger._writing() as pen:
        for at in range((lines - pen.seen.number) // 4 + 1):
            version = f"town_hall/{at // 100 + 1}"
            digest = f"sha256:{at // 100:064x}"
            spend = Spend(Fraction(1, 3), Fraction("1e-9"))
            name, holder = f"{version}/{at:06}", "flow-" + "a" * 32
            request = ChargeRequest(name, digest, "town", budget, spend, version=version, holder=holder)
            number = reservations.charge(pen, request).number
            pen.line("entry.reading", name, None, [pen.put(ENTRIES, number=number, reading=True)])
            digests = {"manifest_digest": f"{at:064x}", "private_commitment": f"{at:064x}"}
            ended = pen.put(ENTRIES, number=number, state="committed", destination=f"releases/{name}", **digests)
            pen.line("entry.committed", name, None, [ended])
            pen.line("entry.published", name, None, [pen.put(ENTRIES, number=number, state="published")])


def head_at(root: Path, ledger_id: str) -> Path:
    """Return the file that keeps a ledger's head at a destination."""
    return head_file(root / STAGING, ledger_id)


Execute = Callable[..., Any]
"""A function that executes a statement with its values, and returns a cursor."""


@contextmanager
def by_force(place: Path | str) -> Iterator[Execute]:
    """Open the file of a ledger, or its database by URL as a superuser who switches its triggers off."""
    if not isinstance(place, Path) and place.startswith("postgresql:"):
        import psycopg

        with psycopg.connect(place.partition("#")[0]) as server:
            server.execute("SET session_replication_role = replica; SET search_path = crowdgate")
            yield lambda statement, values=(): server.execute(_of_server(statement), values or None)
        return
    path = place if isinstance(place, Path) else path_of(place)
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection.execute


def _of_server(statement: str) -> bytes:
    """Return a statement as PostgreSQL takes it, which keeps a table that others name unless it is told otherwise."""
    return (statement.replace("?", "%s") + " CASCADE" * statement.startswith("DROP TABLE")).encode()


def edit(place: Path | str, statement: str, *values: object) -> None:
    """Change a ledger as anyone can who may write its file, or as a superuser of its server."""
    with by_force(place) as execute:
        execute(statement, values)


def append(
    ledger: Ledger,
    event: str,
    subject: str,
    rows: Sequence[tuple[str, Mapping[str, object]]] = (),
    commitment: str | None = None,
    **said: object,
) -> None:
    """Add a line with a correct digest, and write its rows, as an expert forger can."""
    with closing(sqlite3.connect(ledger.path)) as connection, connection:
        last = JournalLine(*connection.execute("SELECT * FROM journal ORDER BY number DESC LIMIT 1").fetchone())
        held = {"rows": [{"table": table, "row": row} for table, row in rows]} if rows else {}
        said = {"at": "2030-01-01T00:00:00Z", "by": "mallory@example", **said, **held}
        line = chain_line(last.digest, last.number + 1, event, subject, commitment, json.dumps(said))
        connection.execute("INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?)", line)
        for table, row in rows:
            if table in KEYS:
                holes = ", ".join("?" * len(row))
                statement = f"INSERT OR REPLACE INTO {table} ({', '.join(row)}) VALUES ({holes})"
                connection.execute(statement, [*row.values()])


def cells(path: Path) -> list[tuple[str, str, int, object]]:
    """Return table, column, row id and value of every cell of a ledger."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [
            (table, column, rowid, value)
            for table in sorted(tables)
            for column in [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            for rowid, value in connection.execute(f"SELECT rowid, {column} FROM {table}")
        ]


def cut_after(place: Path | str, number: int) -> None:
    """Cut a ledger after a line: rows, lines and signatures become those of that time, an authentic older state."""
    with by_force(place) as execute:
        written = execute("SELECT * FROM journal WHERE number <= ? ORDER BY number", (number,)).fetchall()
        seen = JournalReplay()
        for line in written:
            seen.add(*line)
        for table in tables(seen.held.form):
            execute(f"DELETE FROM {table}")
            for row in seen.held.rows[table].values():
                execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        for table in set(KEYS) - set(tables(seen.held.form)):
            execute(f"DROP TABLE IF EXISTS {table}")
        for table in ("journal", "signatures"):
            execute(f"DELETE FROM {table} WHERE number > ?", (number,))


def contents_of(place: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of all tables of a ledger, as a backup holds them."""
    with by_force(place) as execute:
        return {table: execute(f"SELECT * FROM {table}").fetchall() for table in (*KEYS, "journal", "signatures")}


def put_contents(place: str, backup: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
    """Put the rows of a backup into the place of all rows of a ledger."""
    with by_force(place) as execute:
        for table, rows in backup.items():
            execute(f"DELETE FROM {table}")
            for row in rows:
                execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def compute_anew(path: Path, ledger_id: str) -> None:
    """Put a new, empty ledger with the same id into the place of a ledger, as whoever can write it can."""
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    create(f"sqlite:///{path}", "anew")
    with closing(sqlite3.connect(path)) as connection, connection:
        (line,) = connection.execute("SELECT * FROM journal").fetchall()
        detail = line[4].replace(line[2], ledger_id)
        first = chain_line("", 1, line[1], ledger_id, None, detail)
        connection.execute("UPDATE journal SET subject = ?, detail = ?, digest = ?", (ledger_id, detail, first.digest))
        connection.execute("UPDATE ledger SET id = ?", (ledger_id,))


def followed_lines(monkeypatch: "pytest.MonkeyPatch") -> list[int]:
    """Record the numbers of all lines of journals that are followed from now on."""
    numbers: list[int] = []
    honest = JournalReplay.add

    def add(self: JournalReplay, number: int, *said: Any) -> None:
        numbers.append(number)
        honest(self, number, *said)

    monkeypatch.setattr(JournalReplay, "add", add)
    return numbers
