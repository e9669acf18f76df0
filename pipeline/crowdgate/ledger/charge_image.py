"""The tables of charges at a line of the journal, as the bytes of a SQLite database: an image.

A ledger may have very many charges, and a process needs few of them. An attested position holds this image, so that a
process looks up single rows, and SQLite compares whole tables, without a Python object for each cell. The image's
indexes serve these lookups alone; the columns have the types of the ledger's, so that no comparison converts a value.
"""

import sqlite3
from collections.abc import Callable, Container, Hashable, Iterator, Mapping
from contextlib import closing
from functools import cached_property
from typing import Any

from crowdgate.ledger.lazy_mapping import LazyMapping
from crowdgate.ledger.schema import COLUMNS, DIVERGENCES, ENTRIES, INDEXES, KEYS, SERIES, STATEMENTS, select
from crowdgate.ledger.values import State

IMAGED = (ENTRIES, DIVERGENCES, SERIES)
"""The tables with one row a charge at most, whose key is its number."""
ATTACHED = "attested"
"""The name under which an image is attached to a ledger's database."""
DAMAGED_INDEXES = "its indexes are damaged, perhaps not its rows: SQLite's command REINDEX rebuilds the indexes"
Cells = tuple[Any, ...]
_INDEXES = (
    "CREATE INDEX releases ON entries (release_id)",
    "CREATE INDEX samples ON entries (population, sample) WHERE sample IS NOT NULL",
    "CREATE INDEX leases ON entries (number) WHERE state = 'reserved'",
)
_READING = COLUMNS[ENTRIES].index("reading")
_LIVE = f"state <> '{State.VOID.value}'"


class ChargeImage:
    """The rows of the tables of charges at a line of the journal, and the bytes that hold them."""

    def __init__(self, data: bytes | memoryview) -> None:
        self.data = data

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        connection.deserialize(self.data)
        return connection

    @classmethod
    def of(cls, rows: Mapping[str, Mapping[Any, Cells]]) -> "ChargeImage":
        """Return the image of the rows of a state, by table and key. Raises ValueError, OverflowError or sqlite3.Error
        for rows that a database can't hold unchanged.
        """
        with closing(sqlite3.connect(":memory:")) as connection:
            for table in IMAGED:
                holes = ", ".join("?" * len(COLUMNS[table]))
                connection.execute(STATEMENTS[table])
                connection.executemany(f"INSERT INTO {table} VALUES ({holes})", rows[table].values())
            for statement in _INDEXES:
                connection.execute(statement)
            connection.commit()
            image = cls(connection.serialize())
        if any(image.rows(table).whole() != rows[table] for table in IMAGED):
            raise ValueError("a value that SQLite converts")
        return image

    def check(self) -> None:
        """Raise sqlite3.Error or ValueError unless the bytes are a database with the tables of charges."""
        if not self.data:
            raise ValueError("no image")
        for table in IMAGED:
            self._connection.execute(select(table, "LIMIT 0"))

    def table(self, table: str, rest: str = "", *values: object) -> list[Cells]:
        """Return the rows of a table, in the order of their keys; `rest`, such as a WHERE clause, restricts them."""
        return [*self._rows(table, f"{rest} ORDER BY {KEYS[table]}", *values)]

    def charges(self, condition: str, *values: object, newest: bool = False) -> Iterator[Cells]:
        """Yield the charges that satisfy a condition, in order, or the newest first: each is read when it is needed."""
        return self._rows(ENTRIES, f"WHERE {condition} ORDER BY number{' DESC' * newest}", *values)

    def destinations(self) -> Iterator[tuple[int, str, str, str]]:
        """Yield number, release id, destination and state of each charge that has a destination, in order."""
        names = "number, release_id, destination, state"
        return self._connection.execute(f"SELECT {names} FROM {ENTRIES} WHERE destination <> '' ORDER BY number")

    def _rows(self, table: str, rest: str, *values: object) -> Iterator[Cells]:
        rows = self._connection.execute(select(table, rest), values)
        return map(_with_truth_value, rows) if table == ENTRIES else rows

    def rows(self, table: str) -> LazyMapping[Hashable, Cells]:
        """Return the rows of a table by key."""
        return LazyMapping(
            lambda key: {cells[0]: cells for cells in self.table(table, f"WHERE {KEYS[table]} = ?", key)}.get(key),
            lambda: {cells[0]: cells for cells in self.table(table)},
        )

    def charged(self) -> LazyMapping[str, int]:
        """Return the number of each release's charge that is not void."""
        return self._mapping(f"release_id, number FROM {ENTRIES} WHERE {_LIVE}", "release_id = ?", tuple)

    def samples(self) -> LazyMapping[tuple[str, str], str]:
        """Return the release that used up each sample of a population."""
        every = f"population, sample, release_id FROM {ENTRIES} WHERE {_LIVE} AND sample IS NOT NULL"
        return self._mapping(every, "population = ? AND sample = ?", lambda row: (row[:2], row[2]))

    def last_charges(self, after_access: Container[str]) -> LazyMapping[str, tuple[str, str, bool]]:
        """Return population and policy digest of each release's last charge, and whether the release is one of those
        charged `after_access`.
        """
        every = f"release_id, population, policy_digest FROM {ENTRIES} WHERE true"
        return self._mapping(every, "release_id = ?", lambda row: (row[0], (*row[1:], row[0] in after_access)))

    def _mapping(self, every: str, one: str, pair: Callable[[Cells], tuple[Any, Any]]) -> LazyMapping[Any, Any]:
        """Return the pairs of key and value of the rows of a statement, the last one of each key; `one` restricts them
        to a key, of the same type as well: SQLite finds the text of a number.
        """

        def pairs(rest: str, *values: object) -> Iterator[tuple[Any, Any]]:
            return map(pair, self._connection.execute(f"SELECT {every} {rest}", values))

        def find(key: object) -> object:
            values = key if isinstance(key, tuple) else (key,)
            return dict(pairs(f"AND {one} ORDER BY number", *values)).get(key)

        return LazyMapping(find, lambda: dict(pairs("ORDER BY number")))


def comparison(table: str) -> str:
    """Return the SQL statement that compares a table with that of an attached image. Its one row holds the number of
    rows in each, whether each index of the table has as many entries as it should, and the keys, with commas, of rows
    that the image lacks, or has with other values. Types and nulls count, as nothing is converted.
    """
    key, live = KEYS[table], f"count(*) FILTER (WHERE own.{_LIVE})"
    entries = [f"(SELECT count(*) FROM main.{ENTRIES} INDEXED BY {name} WHERE {_LIVE}) = {live}" for name in INDEXES]
    indexed = " AND ".join(entries) if table == ENTRIES else "true"
    differ = " OR ".join(f"own.{name} IS NOT image.{name}" for name in COLUMNS[table])
    pairs = f"main.{table} AS own LEFT JOIN {ATTACHED}.{table} AS image ON image.{key} = own.{key}"
    counts = f"(SELECT count(*) FROM {ATTACHED}.{table}), count(*)"
    return f"SELECT {counts}, {indexed}, group_concat(own.{key}) FILTER (WHERE {differ}) FROM {pairs}"


def _with_truth_value(cells: Cells) -> Cells:
    """Return a row of `entries` with the truth value that SQLite keeps as 0 or 1."""
    return (*cells[:_READING], bool(cells[_READING]), *cells[_READING + 1 :])
