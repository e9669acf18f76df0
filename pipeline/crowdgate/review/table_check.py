"""Compare a contract with what is public of its table: names and types in the header, never a cell or a count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdgate.contracts.cell_form import POINT
from crowdgate.documents.similar_files import similar_file
from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import Code, ConfigurationError, FileFault, Problem, nearest
from crowdgate.sources import SOURCES
from crowdgate.sources.table_header import CellType, TableHeader, repeated_names, type_fault

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.documents.yaml_text import Document, Location

Contradiction = tuple[str | None, str, str, str | None]
"""The column that is contradicted (None: the server), what the table has, the expected text, the nearest word."""


@dataclass(frozen=True)
class TableCheck:
    """The part of a table that was read, or the reason why nothing could be read here; both in words."""

    read: str | None
    absent: str | None = None


def check_table(contract: Contract) -> TableCheck:
    """Compare a contract with the header of its table. Raises ConfigurationError that lists what the table contradicts.

    A table that is not here is no problem, since a policy owner need not hold the table. A table that is here and
    can't be read is one.
    """
    try:
        header = SOURCES[contract.server.reader].header(contract)
        found = list(_contradictions(contract, header))
    except FileFault as error:
        found = [(None, str(error), "a table as the contract describes it", None)]
    except (FileNotFoundError, NotADirectoryError) as error:
        return TableCheck(None, _absence(contract, error))
    except OSError as error:
        told = f"{contract.server.title} can't be read: {error.strerror or 'unknown reason'}"
        found = [(None, told, "a table that you may read; check needs only its header", None)]
    if found:
        document = read_document(contract.files[0])
        raise ConfigurationError([_problem(document, contract, each) for each in found])
    what = "names" if all(each.type is CellType.UNKNOWN for each in header.columns) else "names and types"
    return TableCheck(f"{what} in {header.source} of {header.name}; no cell, no count{_assumed_mark(contract)}")


def _assumed_mark(contract: Contract) -> str:
    """Return a note on the decimal point of a file with semicolons, which mostly have decimal commas; else nothing."""
    settings = contract.server.settings
    grids = [each.domain.grid for each in contract.columns.values() if each.domain is not None]
    has_decimals = any(grid is not None and not grid.whole for grid in grids)
    if (settings.get("delimiter"), settings.get("decimalMark")) != (";", POINT) or not has_decimals:
        return ""
    return ". Numbers in it are taken to have a decimal point: 1,5 would be outside each domain"


def _absence(contract: Contract, error: OSError) -> str:
    try:
        meant = similar_file(contract.server.path)
    except FileFault:
        meant = None
    return f"{error.strerror or 'unreadable'}{'' if meant is None else f'; there is {meant}'}"


def _contradictions(contract: Contract, header: TableHeader) -> Iterator[Contradiction]:
    matched = _matched(contract, header.names)
    delimiter, columns = max(header.hints, key=lambda hint: _matched(contract, hint[1]), default=(",", ()))
    if _matched(contract, columns) > matched and _is_header(contract, columns):
        expected = f"{{property: delimiter, value: {delimiter!r}}}, which gives the contract's columns"
        yield None, f"{header.name}: the header lacks the contract's columns", expected, None
        return
    shown = header.certain or _is_header(contract, header.names)
    for at in repeated_names(header.names) if shown else ():
        found = f"{header.name}: column {at} of the header has the name of a column before it"
        yield None, found, "a different name for each column", None
    yield from _column_contradictions(contract, header, shown=shown)


def _column_contradictions(contract: Contract, header: TableHeader, *, shown: bool) -> Iterator[Contradiction]:
    by_name = {column.name: column for column in header.columns}
    free = [name for name in header.names if name not in contract.columns]
    for name, attribute in contract.columns.items():
        column = by_name.get(name)
        if column is None:
            same = [other for other in free if _letters(other) == _letters(name)]
            meant = next(iter(same), nearest(name, free) if shown else None)
            there = "" if meant is None else f"; there is {meant!r}"
            yield name, f"{header.name} has no column {name!r}{there}", "the name of a column of the table", meant
        elif column.fault is not None or column.type is CellType.NESTED:
            yield name, f"the column {column.fault or f'holds {column.type}'}", "plain cells that can be read", None
        elif (expected := type_fault(attribute, column)) is not None:
            yield name, f"the column holds {column.type}", expected, None


def _matched(contract: Contract, names: Iterable[str]) -> int:
    return len(contract.columns.keys() & set(names))


def _is_header(contract: Contract, names: Iterable[str]) -> bool:
    """Return whether names are surely those of a header, not cells: half of the contract's columns are among them."""
    return 2 * _matched(contract, names) >= len(contract.columns)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


def _problem(document: Document, contract: Contract, found: Contradiction) -> Problem:
    name, *words, meant = found
    at: Location = ("servers", _local_server(document, contract), "path")
    if name is not None:
        properties = document.data["schema"][0]["properties"]
        at = (
            "schema",
            0,
            "properties",
            next(i for i, each in enumerate(properties) if each.get("name") == name),
            "name",
        )
    told, expected = words
    return document.problem(at, str(told), str(expected), meant, Code.HEADER, where=name or "servers")


def _local_server(document: Document, contract: Contract) -> int:
    stated = [SOURCES[contract.server.reader].rule.type]
    return next(i for i, each in enumerate(document.data["servers"]) if each.get("type") in stated)
