"""Sources of tables. A new one is a file here and a line below."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.contracts.cell_form import DAYS, ISO, POINT
from crowdgate.contracts.contract import Contract
from crowdgate.contracts.server_rules import PATH, ServerRule, ServerSetting
from crowdgate.errors import FileFault
from crowdgate.sources.files import file_reader
from crowdgate.sources.source import Reader, Source

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from crowdgate.sources.arrow_stream import ArrowTable
    from crowdgate.sources.files import FileFormat, HeaderReader
    from crowdgate.sources.locations import Location
    from crowdgate.sources.sql.dialect import Dialect
    from crowdgate.sources.table_header import TableHeader


def _make(module: str) -> Callable[[Mapping[str, str]], FileFormat]:
    """Return the function `files` of a module here, which is imported at its first call."""

    def files(settings: Mapping[str, str]) -> FileFormat:
        found: FileFormat = import_module(f"{__name__}.{module}").files(settings)
        return found

    return files


def _describe(module: str, function: str) -> HeaderReader:
    """Return the function of a module here that reads headers; the module is imported at its first call."""

    def described(path: Location, settings: Mapping[str, str], expected: Collection[str]) -> TableHeader:
        found: TableHeader = getattr(import_module(f"{__name__}.{module}"), function)(path, settings, expected)
        return found

    return described


def _object_reader(
    form: str,
    suffixes: tuple[str, ...],
    make: Callable[[Mapping[str, str]], FileFormat],
    described: HeaderReader,
    properties: Mapping[str, ServerSetting] | None = None,
) -> Reader:
    """Return the source of objects of one format; its module is imported at the first use."""
    rule = ServerRule("s3", form, {"location": LOCATION, "endpointUrl": ENDPOINT}, properties or {})

    def opened(contract: Contract, needed: Sequence[str], path: Path | None) -> Source:
        from crowdgate.sources.s3 import open_objects

        return open_objects(contract, needed, path, suffixes, make)

    def header(contract: Contract) -> TableHeader:
        from crowdgate.sources.s3 import objects_header

        return objects_header(contract, suffixes, described)

    return Reader(f"s3 {form}", rule, (), opened, header)


def _database_reader(rule: ServerRule, make: Callable[[], Dialect], name: str) -> Reader:
    """Return the source of a database engine; its modules are imported at the first use."""

    def opened(contract: Contract, needed: Sequence[str], path: Path | None) -> Source:
        from crowdgate.sources.sql.table import open_database

        return open_database(make(), contract, needed, path)

    def header(contract: Contract) -> TableHeader:
        from crowdgate.sources.sql.table import database_header

        return database_header(make(), contract)

    return Reader(name, rule, (), opened, header)


def _sqlite() -> Dialect:
    from crowdgate.sources.sql.sqlite import Sqlite

    return Sqlite()


def _duckdb() -> Dialect:
    from crowdgate.sources.sql.duckdb import DuckDB

    return DuckDB()


def _postgres() -> Dialect:
    from crowdgate.sources.sql.postgres import Postgres

    return Postgres()


DECIMAL_MARK = ServerSetting("[.,]", "a point or a comma, the decimal mark of numbers", ".")
DAY_FORM = ServerSetting("|".join(map(re.escape, (ISO, *DAYS))), f"one of {', '.join((ISO, *DAYS))}", ISO)
DELIMITER = ServerSetting(r"[\t ,;:|^~]", "one character that separates cells", ",")
CSV_PROPERTIES = {"delimiter": DELIMITER, "decimalMark": DECIMAL_MARK, "dayForm": DAY_FORM}
LONGEST_KEY = 1024
"""The most characters of the key of an object."""
_KEY_PART = r"[^/?#\x00-\x1f\x7f\ud800-\udfff]+"
LOCATION = ServerSetting(
    rf"s3://[A-Za-z0-9._-]{{1,255}}(?!.{{{LONGEST_KEY + 2}}})(/{_KEY_PART})*/?",
    "s3://BUCKET/KEY, or s3://BUCKET/PREFIX/ for all objects below; "
    f"a key of at most {LONGEST_KEY} characters, without control characters, ?, # and //",
)
ENDPOINT = ServerSetting(r"https?://[^/\s?#@]+/?|", "the URL of the store, without user and password", "")
HOST = ServerSetting(
    r"[A-Za-z0-9._:/-]{1,255}", "the name of a host, or the folder of its socket; no user, no password"
)
PORT = ServerSetting(r"[0-9]{1,5}", "the number of a port", "5432")
DATABASE = ServerSetting(r"[^\0=:/@]{1,63}", "the name of a database; no user, no password and no URL")
TIMEOUT = ServerSetting(r"[1-9][0-9]{0,5}", "the most seconds that a query may take", "3600")


def _schema(default: str) -> ServerSetting:
    return ServerSetting(r"[^\0]{1,63}", "the name of a schema of the database", default)


SHEET = ServerSetting(r"[^\0]{1,31}|", "the name of the sheet; needed if the workbook has several", "")
VALUES = ServerSetting("labels|codes", "labels, or codes for values without their labels", "labels")
_STATISTICS = (_make("statistics_formats"), _describe("statistics_formats", "statistics_header"))
_PARQUET = ((".parquet",), _make("parquet"), _describe("parquet_schema", "parquet_header"))
_CSV = ((".csv", ".csv.gz", ".csv.zst"), _make("csv"), _describe("csv_header", "csv_header"))
_ARROW = ((".arrow", ".arrows", ".feather", ".ipc"), _make("arrow_ipc"), _describe("arrow_schema", "arrow_header"))
_EXCEL = ((".xlsx", ".xlsm", ".xlsb", ".xls"), _make("excel"), _describe("excel", "excel_header"))
_NUMBERS_AS_TEXTS = ("excel", "spss", "stata", "sas")
"""Readers that give numbers of a file as texts with a decimal point."""
SOURCES: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        file_reader("parquet", *_PARQUET, {"path": PATH}),
        file_reader("csv", *_CSV, {"path": PATH}, CSV_PROPERTIES),
        file_reader("arrow", *_ARROW, {"path": PATH}),
        file_reader("excel", *_EXCEL, {"path": PATH}, {"sheet": SHEET}),
        file_reader("spss", (".sav", ".zsav", ".por"), *_STATISTICS, {"path": PATH}, {"values": VALUES}),
        file_reader("stata", (".dta",), *_STATISTICS, {"path": PATH}, {"values": VALUES}),
        file_reader("sas", (".sas7bdat", ".xpt"), *_STATISTICS, {"path": PATH}, {"values": VALUES}),
        _object_reader("parquet", *_PARQUET),
        _object_reader("csv", *_CSV, CSV_PROPERTIES),
        _object_reader("arrow", *_ARROW),
        _database_reader(ServerRule("local", "sqlite", {"path": PATH}, {}, is_database=True), _sqlite, "sqlite"),
        _database_reader(
            ServerRule("duckdb", None, {"database": PATH, "schema": _schema("main")}, {}, is_database=True),
            _duckdb,
            "duckdb",
        ),
        _database_reader(
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
"""The sources by the name of their reader. A contract names one by the type and the format of its server."""


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
    own = SOURCES[contract.server.reader]
    if path is None or os.path.isdir(path):
        return own
    found = next((reader for reader in SOURCES.values() if path.name.lower().endswith(reader.suffixes)), own)
    stated = contract.server.settings
    if found.name in _NUMBERS_AS_TEXTS and {stated.get("decimalMark", POINT), stated.get("dayForm", ISO)} != {
        POINT,
        ISO,
    }:
        words = "the contract states the decimal mark or the form of days of CSV, which this format does not have"
        raise FileFault(f"{path.name}: {words}: give a file in CSV, Parquet or Arrow")
    return found


__all__ = ["LOCATION", "SOURCES", "Reader", "Source", "open_source"]
