"""Sources of tables. A new one is a file here and a line below."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.contracts.contract import Contract
from crowdgate.contracts.servers import PATH, ServerRule, ServerSetting
from crowdgate.sources.files import file_reader
from crowdgate.sources.source import Reader, Source
from crowdgate.sources.sql.table import database_reader

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from crowdgate.sources.arrow_stream import ArrowTable
    from crowdgate.sources.files import FileFormat
    from crowdgate.sources.sql.dialect import Dialect
    from crowdgate.sources.table_header import TableHeader


def _parquet_files(settings: Mapping[str, str]) -> FileFormat:
    from crowdgate.sources.parquet import files

    return files(settings)


def _csv_files(settings: Mapping[str, str]) -> FileFormat:
    from crowdgate.sources.csv import files

    return files(settings)


def _parquet_header(path: Path, settings: Mapping[str, str], expected: Collection[str]) -> TableHeader:
    from crowdgate.sources.parquet_schema import parquet_header

    return parquet_header(path, settings, expected)


def _csv_header(path: Path, settings: Mapping[str, str], expected: Collection[str]) -> TableHeader:
    from crowdgate.sources.csv_header import csv_header

    return csv_header(path, settings, expected)


def _sqlite() -> Dialect:
    from crowdgate.sources.sql.sqlite import Sqlite

    return Sqlite()


def _duckdb() -> Dialect:
    from crowdgate.sources.sql.duckdb import DuckDB

    return DuckDB()


def _postgres() -> Dialect:
    from crowdgate.sources.sql.postgres import Postgres

    return Postgres()


DELIMITER = ServerSetting(r"[\t ,;:|^~]", "one character that separates cells", ",")
HOST = ServerSetting(
    r"[A-Za-z0-9._:/-]{1,255}", "the name of a host, or the folder of its socket; no user, no password"
)
PORT = ServerSetting(r"[0-9]{1,5}", "the number of a port", "5432")
DATABASE = ServerSetting(r"[^\0=:/@]{1,63}", "the name of a database; no user, no password and no URL")
TIMEOUT = ServerSetting(r"[1-9][0-9]{0,5}", "the most seconds that a query may take", "3600")


def _schema(default: str) -> ServerSetting:
    return ServerSetting(r"[^\0]{1,63}", "the name of a schema of the database", default)


SOURCES: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        file_reader("parquet", (".parquet",), _parquet_files, _parquet_header, {"path": PATH}),
        file_reader("csv", (".csv",), _csv_files, _csv_header, {"path": PATH}, {"delimiter": DELIMITER}),
        database_reader(ServerRule("local", "sqlite", {"path": PATH}, {}, is_database=True), _sqlite, "sqlite"),
        database_reader(
            ServerRule("duckdb", None, {"database": PATH, "schema": _schema("main")}, {}, is_database=True),
            _duckdb,
            "duckdb",
        ),
        database_reader(
            ServerRule(
                "postgres",
                None,
                {"host": HOST, "port": PORT, "database": DATABASE, "schema": _schema("public")},
                {"timeout": TIMEOUT},
                is_database=True,
            ),
            _postgres,
            "postgres",
        ),
    )
}


def open_source(contract: Contract, columns: Sequence[str], instead: Path | ArrowTable | None = None) -> Source:
    """Open the contract's table, or what stands in its place, to read these columns and the person column.

    A file in its place is read by the reader of its suffix. An Arrow table in its place is a stream of rows. Raises
    FileFault if something is missing, can't be opened or has other columns.
    """
    person = [] if contract.unit.person is None else [contract.unit.person]
    needed = tuple(dict.fromkeys([*contract.columns_of(columns), *person]))
    if instead is None or isinstance(instead, Path):
        return _reader_of(contract, instead).opened(contract, needed, instead)
    from crowdgate.sources.arrow_stream import open_stream

    return open_stream(contract, needed, instead)


def _reader_of(contract: Contract, path: Path | None) -> Reader:
    by_suffix = {suffix: reader for reader in SOURCES.values() for suffix in reader.suffixes}
    own = SOURCES[contract.server.reader]
    return own if path is None or os.path.isdir(path) else by_suffix.get(path.suffix.lower(), own)


__all__ = ["SOURCES", "Reader", "Source", "open_source"]
