"""Public descriptions of tables that a contract can be drafted from: headers, codebooks, contracts of other tools."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crowdgate.contracts.cell_form import ISO
from crowdgate.contracts.undecided import change
from crowdgate.documents.yaml_text import YAML, read_document
from crowdgate.domain import parse_date, parse_number
from crowdgate.errors import EnvironmentFault, FileFault
from crowdgate.review.templates.contract_draft import NO_TABLE, DraftColumn, DraftSource, cannot_draft
from crowdgate.review.templates.draft_codebook import codebook
from crowdgate.sources import SOURCES
from crowdgate.sources.arrow_schema import arrow_columns
from crowdgate.sources.csv_header import DELIMITERS, other_headers, read_header
from crowdgate.sources.parquet_schema import parquet_header
from crowdgate.sources.table_header import CellType, repeated_names

MOST_DRAFTED = 1000
"""The greatest number of columns of a draft: a contract of more would be too long to be read."""
_TYPES = {
    "integer": CellType.WHOLE, "number": CellType.NUMBER, "boolean": CellType.FLAG, "date": CellType.DAY,
    "timestamp": CellType.MOMENT, "time": CellType.TIME, "string": CellType.TEXT,
}  # fmt: skip
"""The types of cells by logical type of the Open Data Contract Standard."""


def read_draft_source(
    path: Path, folder: Path, columns: Sequence[str] | None = None, *, header_line: bool = False, sheet: str = ""
) -> DraftSource:
    """Return the public description of a table in `path`, for a contract in `folder`; only of `columns`, if given.
    `sheet` names a sheet of a workbook that has several.

    Line 1 of a CSV file or a workbook is read only if a person has said that it is a header (`header_line`): in a file
    without one it is somebody's record, and nothing in the line tells them apart. Raises ConfigurationError if the file
    says too little: the message never shows what could be a cell.
    """
    end = next((each for each in READERS if path.name.lower().endswith(each)), None)
    if end is None:
        raise cannot_draft(path, f"a file of type {path.suffix or 'unknown'}", f"one of {', '.join(READERS)}")
    if READERS[end] in (_csv, _excel) and not header_line:
        expected = "--header-line, after you have seen that line 1 holds names and no person's record"
        raise cannot_draft(path, "nothing says that line 1 is a header", expected)
    if sheet and READERS[end] is not _excel:
        raise cannot_draft(path, "--sheet for a file that has no sheets", "no --sheet")
    return _chosen(path, _read(path, READERS[end], os.path.relpath(path, folder), sheet), columns)


def _read(path: Path, reader: Callable[[Path, str, str], DraftSource], relative: str, sheet: str) -> DraftSource:
    try:
        return reader(path, relative, sheet)
    except FileFault as error:
        found = str(error).removeprefix(f"{path.name}: ")
        if reader is _excel:
            found = found.partition(": name one")[0]
        expected = "a header that can be read" + (", in UTF-8" if reader is _csv else "")
        expected = "--sheet NAME" if "sheet" in found else expected
        raise cannot_draft(path, found, expected) from None
    except OSError as error:
        raise cannot_draft(path, error.strerror or "it can't be read", "a readable file") from None


def _chosen(path: Path, found: DraftSource, columns: Sequence[str] | None) -> DraftSource:
    """Return a description with `columns` only. Raises ConfigurationError if names repeat or some are not there."""
    names = tuple(column.name for column in found.columns)
    for at in repeated_names(names):
        raise cannot_draft(path, f"column {at} has the name of a column before it", "a different name for each column")
    kept = tuple(column for column in found.columns if column.name in (names if columns is None else columns))
    kept = tuple(column for column in kept if column.name.strip())  # such as the row numbers that pandas writes
    unknown = [name for name in columns or () if name not in names]
    if unknown or not kept:
        raise cannot_draft(path, f"no column {unknown[0]!r}" if unknown else "no columns", "columns of the table")
    if len(kept) > MOST_DRAFTED:
        raise cannot_draft(path, f"more than {MOST_DRAFTED} columns", "--columns with those that the contract needs")
    return replace(found, columns=kept)


def write_draft(path: Path, text: str) -> None:
    """Write a draft into a new file. Raises EnvironmentFault if it exists or can't be written."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise EnvironmentFault(f"{path} can't be written: {error.strerror}") from None


def _parquet(path: Path, relative: str, _: str) -> DraftSource:
    header = parquet_header(path, {}, ())
    columns = tuple(DraftColumn(each.name, each.type) for each in header.columns if each.type is not CellType.NESTED)
    return DraftSource(f"the footer of {path.name}", relative, "parquet", columns)


def _arrow(path: Path, relative: str, _: str) -> DraftSource:
    """Return the columns of an Arrow IPC file."""
    found = (each for each in arrow_columns(path) if each.type is not CellType.NESTED)
    columns = tuple(DraftColumn(each.name, each.type) for each in found)
    return DraftSource(f"the schema of {path.name}", relative, "arrow", columns)


def _csv(path: Path, relative: str, _: str) -> DraftSource:
    """Return the columns in a header line, by the delimiter that gives the most names. Raises ConfigurationError if the
    line looks like cells.
    """
    found = other_headers(path) or {",": read_header(path, ",").names}
    delimiter = max(found, key=lambda each: (each != " ", len(found[each]), -DELIMITERS.index(each)))
    names = found[delimiter]
    _check_names(path, names)
    settings = {} if delimiter == "," else {"delimiter": delimiter}
    if delimiter == ";":  # as in countries where a comma is the decimal mark
        settings |= {"decimalMark": change("the mark in numbers: . or ,"), "dayForm": change(f"{ISO} or DD.MM.YYYY")}
    read = f"the header line of {path.name}"
    return DraftSource(read, relative, "csv", tuple(map(DraftColumn, names, [CellType.UNKNOWN] * len(names))), settings)


def _check_names(path: Path, names: Sequence[str]) -> None:
    """Raise ConfigurationError if a name is a number or a day, as in a table without a header."""
    for at, name in enumerate(names, 1):
        if parse_number(name) is not None or parse_date(name) is not None:
            raise cannot_draft(path, f"line 1 has a number or a day in column {at}", "a header: a name for each column")


def _contract(path: Path, _: str, __: str) -> DraftSource:
    """Return the columns of a contract of the Open Data Contract Standard, such as another tool wrote."""
    data = read_document(path).data
    tables = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(tables, list) or len(tables) != 1 or not isinstance(tables[0], dict):
        raise cannot_draft(
            path, "no contract of one table", "a contract of the Open Data Contract Standard with one table"
        )
    servers = [each for each in _mappings(data.get("servers")) if each.get("type") == "local"]
    server = servers[0] if servers else {}
    columns = tuple(map(_property, (each for each in _mappings(tables[0].get("properties")) if "name" in each)))
    form = "csv" if server.get("format") == "csv" else "parquet"
    return DraftSource(f"the contract {path.name}", str(server.get("path", change(NO_TABLE))), form, columns)


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _property(stated: dict[str, Any]) -> DraftColumn:
    options = stated.get("logicalTypeOptions")
    limits = [options.get(key) for key in ("minimum", "maximum")] if isinstance(options, dict) else []
    bounds = (str(limits[0]), str(limits[1])) if all(isinstance(each, str) for each in limits) and limits else None
    stated_rules = _mappings(stated.get("quality"))
    rules = [*(rule.get("arguments") for rule in stated_rules), *stated_rules]  # version 3.0 has no `arguments`
    values: list[Any] = next(
        (rule["validValues"] for rule in rules if isinstance(rule, dict) and "validValues" in rule), []
    )
    return DraftColumn(
        str(stated["name"]),
        _TYPES.get(str(stated.get("logicalType")), CellType.UNKNOWN),
        str(stated.get("description") or ""),
        tuple((str(value), "") for value in values if isinstance(value, str)),
        bounds,
        direct=stated.get("primaryKey") == "true" or stated.get("unique") == "true",
    )


def _codebook(path: Path, _: str, __: str) -> DraftSource:
    return codebook(path)


def _excel(path: Path, relative: str, sheet: str) -> DraftSource:
    """Return the columns in the first row of a sheet. Raises ConfigurationError if it looks like cells."""
    from crowdgate.sources.excel import excel_header

    names = excel_header(path, {"sheet": sheet}, ()).names
    _check_names(path, names)
    columns = tuple(DraftColumn(name, CellType.UNKNOWN) for name in names)
    return DraftSource(f"the first row of {path.name}", relative, "excel", columns, {"sheet": sheet} if sheet else {})


def _statistics(path: Path, relative: str, _: str) -> DraftSource:
    """Return the variables of a file of SPSS, Stata or SAS."""
    from crowdgate.review.templates.draft_statistics import labelled_variables

    reader = next(each for each in SOURCES.values() if path.name.lower().endswith(each.suffixes))
    return labelled_variables(path, relative, reader.name)


READERS: dict[str, Callable[[Path, str, str], DraftSource]] = {
    ".parquet": _parquet,
    **dict.fromkeys((".csv", ".csv.gz", ".csv.zst"), _csv),
    **dict.fromkeys(YAML, _contract),
    ".xml": _codebook,
    **dict.fromkeys((".arrow", ".feather", ".ipc"), _arrow),
    **dict.fromkeys(SOURCES["excel"].suffixes, _excel),
    **dict.fromkeys((*SOURCES["spss"].suffixes, *SOURCES["stata"].suffixes, *SOURCES["sas"].suffixes), _statistics),
}
"""The readers of public descriptions, by the end of their file's name."""
