"""A table in a database as a source: one part, whose rows are distinct combinations of values with their counts."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from crowdgate.contracts.contract import Contract, DatabaseTable
from crowdgate.errors import EnvironmentFault, FileFault
from crowdgate.sources.source import Batch, table_changed
from crowdgate.sources.sql.dialect import Dialect, Relation, Session, Trouble
from crowdgate.sources.sql.query import COUNT, Layout, counting_query
from crowdgate.sources.table_header import CellType, HeaderColumn, TableHeader
from crowdgate.system.extras import need
from crowdgate.system.short_repr import short_repr

if TYPE_CHECKING:
    from typing import Any

T = TypeVar("T")
_FREE_TO_RETRY = (Trouble.AWAY, Trouble.LOGIN, Trouble.MISSING)
"""Troubles of a server that say nothing about the contract: it is not here, or not open to this user."""


class _Unreadable(Exception):
    """A trouble of the database, without the driver's error."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble)
        self.trouble = trouble


@dataclass(frozen=True, eq=False)
class DatabasePart:
    """The table, read by one query in one snapshot. `state` is that of the database's files when it was opened."""

    __repr__ = short_repr

    dialect: Dialect
    settings: Mapping[str, str]
    layout: Layout
    state: object = field(repr=False)
    size: int = 1

    def read(self, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """Yield the distinct combinations of these columns, with the number of rows of each. Raises FileFault if the
        database can't be read to the end, or its tables are others than when they were opened."""
        query = counting_query(self.dialect, self.settings, self.layout, columns, unique)
        batches = self._answer(query)
        while True:
            batch = _safely(self.dialect, self.layout.table, lambda: next(batches, None))
            if batch is None:
                return
            cells = {name: batch.column(at) for at, name in enumerate(columns)}
            counts = batch.column(COUNT).to_numpy(zero_copy_only=False)
            counts = counts.astype(np.int64)
            if int(counts.sum()):  # the count of no columns is one row of 0 for an empty table
                yield Batch(batch.num_rows, 0, cells, self.size, counts)

    def _answer(self, query: str) -> Iterator[Any]:
        with self.dialect.session(self.settings) as session:
            relations = _relations(session, self.layout.table)  # with the first query the snapshot begins
            if relations != self.layout.relations or self._state() != self.state:
                raise table_changed()
            yield from session.rows(query)
        if self._state() != self.state:
            raise table_changed()

    def _state(self) -> object:
        return self.dialect.state(self.settings)


@dataclass(frozen=True, eq=False)
class DatabaseSource:
    """An opened table of a database."""

    parts: tuple[DatabasePart]

    def fingerprint(self) -> object:
        """Return the state of the database's files, or what its catalogue says of the tables."""
        (part,) = self.parts

        def state() -> object:
            found = part.dialect.state(part.settings)
            if found is not None:
                return found
            with part.dialect.session(part.settings) as session:
                return _relations(session, part.layout.table)

        return _safely(part.dialect, part.layout.table, state)


def open_database(dialect: Dialect, contract: Contract, needed: Sequence[str], path: Path | None) -> DatabaseSource:
    """Open the contract's table in the engine of this dialect, or in the file at `path`, to read the columns
    `needed`."""
    table = _table(contract)
    if dialect.extra is not None:
        need(dialect.extra, "servers", str(next(iter(contract.files), "contract")))
    settings = dialect.place(contract, path)
    state = _safely(dialect, table, lambda: dialect.state(settings))
    layout = _safely(dialect, table, lambda: _layout(dialect, settings, table))
    _check(dialect, layout, needed)
    return DatabaseSource((DatabasePart(dialect, settings, layout, state),))


def database_header(dialect: Dialect, contract: Contract) -> TableHeader:
    """Return what is public of the contract's table. Raises FileFault if there is none, OSError if it can't be reached
    from here."""
    table = _table(contract)
    if dialect.extra is not None and find_spec(dialect.extra.module) is None:
        raise FileNotFoundError(errno.ENOENT, f"{dialect.extra.title} is not installed")
    settings = dialect.place(contract, None)
    is_server = dialect.state(settings) is None  # a file that is elsewhere is no fault of the contract
    try:
        layout = _troubled(dialect, lambda: _layout(dialect, settings, table))
    except _Unreadable as error:
        trouble = error.trouble
    else:
        _check(dialect, layout, ())
        return TableHeader(table.name, "the catalogue", tuple(_header_columns(dialect, layout, contract)))
    if is_server and trouble in _FREE_TO_RETRY:
        raise FileNotFoundError(errno.ENOENT, str(trouble))
    raise FileFault(f"{table.name}: {trouble}")


def _table(contract: Contract) -> DatabaseTable:
    if contract.database is None:
        raise FileFault("the contract describes no table of a database")
    return contract.database


def _safely(dialect: Dialect, table: DatabaseTable, work: Callable[[], T]) -> T:
    """Return what `work` returns. Raises FileFault, without the driver's error, if the database can't be read."""
    try:
        return _troubled(dialect, work)
    except _Unreadable as error:
        trouble = error.trouble
    raise FileFault(f"{table.name}: {trouble}")


def _troubled(dialect: Dialect, work: Callable[[], T]) -> T:
    """Return what `work` returns. Raises _Unreadable in place of every error of the engine, whose text and context can
    hold cells, passwords and connection strings."""
    try:
        return work()
    except (FileFault, EnvironmentFault):
        raise
    except Exception as error:
        trouble = dialect.trouble(error)
        if trouble is Trouble.OTHER and isinstance(error, OSError):
            trouble = Trouble.AWAY
    raise _Unreadable(trouble)


def _layout(dialect: Dialect, settings: Mapping[str, str], table: DatabaseTable) -> Layout:
    with dialect.session(settings) as session:
        return Layout(table, _relations(session, table))


def _relations(session: Session, table: DatabaseTable) -> dict[str, Relation]:
    """Return what the catalogue says of the table and its joins. Raises FileFault if one is missing, or is a view
    where the contract states a table."""
    found: dict[str, Relation] = {}
    for name, is_view in [(table.name, table.is_view), *((join.name, join.is_view) for join in table.joins)]:
        relation = session.relation(name)
        if relation is None:
            raise FileFault(f"the database has no table {name!r} that the user may see")
        if relation.is_view and not is_view:
            raise FileFault(
                f"{name}: the database has a view of this name, whose query can change what one person can do; state "
                "the table, or physicalType: view once you have checked the view"
            )
        found[name] = relation
    return found


def _check(dialect: Dialect, layout: Layout, needed: Sequence[str]) -> None:
    """Raise FileFault if a column that is needed, or a key, is missing, or if keys have different types."""
    for name in needed:
        found = layout.column(name)
        if found is None:
            raise FileFault(f"{layout.table.name}: column {name!r} is missing")
        if dialect.cell_type(found[1]) is CellType.NESTED:
            raise FileFault(f"{layout.table.name}: column {name!r} holds {CellType.NESTED}")
    for join in layout.table.joins:
        key, by = layout.key(join), layout.column(join.by)
        for column in join.columns:
            if layout.column(column) is None:
                raise FileFault(f"{join.name}: column {join.columns[column]!r} is missing")
        if key is None or by is None:
            missing = join.key if key is None else join.by
            raise FileFault(f"{join.name}: column {missing!r} is missing, which the join needs")
        floats = (key.type in dialect.merging, by[1].type in dialect.merging)
        if dialect.cell_type(key) is not dialect.cell_type(by[1]) or floats[0] != floats[1]:
            raise FileFault(f"{join.name}: the key {join.key!r} and {join.by!r} have different types")


def _header_columns(dialect: Dialect, layout: Layout, contract: Contract) -> Iterator[HeaderColumn]:
    """Yield the contract's columns that the database has, then its other columns."""
    used: set[str] = set()
    for name in contract.columns:
        found = layout.column(name)
        if found is not None:
            used.add(found[1].name)
            yield HeaderColumn(name, dialect.cell_type(found[1]))
    for column in layout.relations[layout.table.name].columns:
        if column.name not in used and column.name not in contract.columns:
            yield HeaderColumn(column.name, dialect.cell_type(column))


def file_settings(contract: Contract, path: Path | None, key: str) -> dict[str, str]:
    """Return a server's settings with the absolute path of its database file at `key`."""
    stated = contract.server.base / contract.server.settings[key] if path is None else path
    return {**contract.server.settings, key: os.path.abspath(stated)}


def file_state(path: str) -> object:
    """Return the stamp of a database file, and of the file beside it that holds its latest changes. Numbers of devices,
    which differ between machines, are no part of it. Raises OSError."""
    stamps = []
    for ending in ("", "-wal", ".wal", "-journal"):
        try:
            found = os.stat(path + ending)
        except OSError:
            if not ending:
                raise
            continue
        if found.st_size:
            stamps.append((ending, found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns))
    return tuple(stamps)
