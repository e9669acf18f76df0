"""Public descriptions of tables that a contract can be drafted from: headers, codebooks, contracts of other tools."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from crowdgate.contracts.undecided import change
from crowdgate.documents.yaml_text import YAML, read_document
from crowdgate.domain import parse_date, parse_number
from crowdgate.errors import Code, ConfigurationError, EnvironmentFault, FileFault, Problem
from crowdgate.review.templates.contract_draft import DraftColumn, DraftSource, Values
from crowdgate.sources.arrow_schema import arrow_columns
from crowdgate.sources.csv_header import DELIMITERS, other_headers, read_header
from crowdgate.sources.parquet_schema import parquet_header
from crowdgate.sources.table_header import CellType, repeated_names
from crowdgate.system.regular_files import read_plain

MOST_DRAFTED = 1000
"""The greatest number of columns of a draft: a contract of more would be too long to be read."""
NO_TABLE = "the table's file, relative to the contract, in the format beside it"
"""Words about the path of a table that its description does not name."""
LARGEST_CODEBOOK = 1 << 26
"""The greatest size of a codebook in bytes."""
_TYPES = {
    "integer": CellType.WHOLE, "number": CellType.NUMBER, "boolean": CellType.FLAG, "date": CellType.DAY,
    "timestamp": CellType.MOMENT, "time": CellType.TIME, "string": CellType.TEXT,
}  # fmt: skip
"""The types of cells by logical type of the Open Data Contract Standard."""


def read_draft_source(
    path: Path, folder: Path, columns: Sequence[str] | None = None, *, header_line: bool = False
) -> DraftSource:
    """Return the public description of a table in `path`, for a contract in `folder`; only of `columns`, if given.

    Line 1 of a CSV file is read only if a person has said that it is a header (`header_line`): in a file without one it
    is somebody's record, and nothing in the line tells them apart. Raises ConfigurationError if the file says too
    little: the message never shows what could be a cell.
    """
    suffix = path.suffix.lower()
    reader = READERS.get(suffix)
    if reader is None:
        raise _fault(path, f"a file of type {suffix or 'unknown'}", f"one of {', '.join(READERS)}")
    if suffix == ".csv" and not header_line:
        expected = "--header-line, after you have seen that line 1 holds names and no person's record"
        raise _fault(path, "nothing says that line 1 is a header", expected)
    try:
        found = reader(path, os.path.relpath(path, folder))
    except FileFault as error:
        raise _fault(path, str(error).removeprefix(f"{path.name}: "), "a header that can be read") from None
    except OSError as error:
        raise _fault(path, error.strerror or "it can't be read", "a readable file") from None
    names = tuple(column.name for column in found.columns)
    for at in repeated_names(names):
        raise _fault(path, f"column {at} has the name of a column before it", "a different name for each column")
    kept = tuple(column for column in found.columns if column.name in (names if columns is None else columns))
    kept = tuple(column for column in kept if column.name.strip())  # such as the row numbers that pandas writes
    unknown = [name for name in columns or () if name not in names]
    if unknown or not kept:
        raise _fault(path, f"no column {unknown[0]!r}" if unknown else "no columns", "columns of the table")
    if len(kept) > MOST_DRAFTED:
        raise _fault(path, f"more than {MOST_DRAFTED} columns", "--columns with those that the contract needs")
    return DraftSource(found.read, found.path, found.format, kept, found.settings)


def write_draft(path: Path, text: str) -> None:
    """Write a draft into a new file. Raises EnvironmentFault if it exists or can't be written."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise EnvironmentFault(f"{path} can't be written: {error.strerror}") from None


def _fault(path: Path, found: str, expected: str) -> ConfigurationError:
    return ConfigurationError(Problem(str(path), None, "table", found, expected, code=Code.HEADER))


def _parquet(path: Path, relative: str) -> DraftSource:
    header = parquet_header(path, {}, ())
    columns = tuple(DraftColumn(each.name, each.type) for each in header.columns if each.type is not CellType.NESTED)
    return DraftSource(f"the footer of {path.name}", relative, "parquet", columns)


def _arrow(path: Path, relative: str) -> DraftSource:
    """Return the columns of an Arrow IPC file."""
    found = (each for each in arrow_columns(path) if each.type is not CellType.NESTED)
    columns = tuple(DraftColumn(each.name, each.type) for each in found)
    return DraftSource(f"the schema of {path.name}", relative, "arrow", columns)


def _csv(path: Path, relative: str) -> DraftSource:
    """Return the columns in a header line, by the delimiter that gives the most names. Raises ConfigurationError if the
    line looks like cells.
    """
    found = other_headers(path) or {",": read_header(path, ",").names}
    delimiter = max(found, key=lambda each: (each != " ", len(found[each]), -DELIMITERS.index(each)))
    names = found[delimiter]
    for at, name in enumerate(names, 1):
        if parse_number(name) is not None or parse_date(name) is not None:
            raise _fault(path, f"line 1 has a number or a day in column {at}", "a header: a name for each column")
    settings = {} if delimiter == "," else {"delimiter": delimiter}
    read = f"the header line of {path.name}"
    return DraftSource(read, relative, "csv", tuple(map(DraftColumn, names, [CellType.UNKNOWN] * len(names))), settings)


def _contract(path: Path, relative: str) -> DraftSource:
    """Return the columns of a contract of the Open Data Contract Standard, such as another tool wrote."""
    del relative
    data = read_document(path).data
    tables = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(tables, list) or len(tables) != 1 or not isinstance(tables[0], dict):
        raise _fault(path, "no contract of one table", "a contract of the Open Data Contract Standard with one table")
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


def _codebook(path: Path, relative: str) -> DraftSource:
    """Return the variables of a DDI codebook (version 2), with the values of their categories; frequencies are passed
    over.
    """
    del relative
    text = read_plain(path, LARGEST_CODEBOOK)
    if b"\0" in text or b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise _fault(path, "XML with declarations of its own", "a codebook in UTF-8, without DOCTYPE and ENTITY")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise _fault(path, f"no XML: line {error.position[0]}, column {error.position[1]}", "a DDI codebook") from None
    except (LookupError, ValueError):
        raise _fault(path, "XML in an encoding that is not known", "a codebook in UTF-8") from None
    columns = tuple(_variable(each) for each in root.iter() if _tag(each) == "var" and each.get("name"))
    return DraftSource(f"the codebook {path.name}", change(NO_TABLE), "csv", columns)


def _variable(stated: Any) -> DraftColumn:
    labels = {_tag(each): "".join(each.itertext()).strip() for each in stated}
    listed = tuple(_categories(stated))
    values = () if stated.get("intrvl") == "contin" else listed  # of a continuous variable, these are special codes
    formats = {str(each.get("type")) for each in stated if _tag(each) == "varFormat"}
    numeric = CellType.WHOLE if stated.get("dcml") in (None, "0") else CellType.NUMBER
    limits = _valid_range(stated)
    is_text = "character" in formats or (values and not formats and limits is None)
    found = CellType.TEXT if is_text else numeric
    column = DraftColumn(str(stated.get("name")), found, labels.get("labl", ""), values, limits)
    bounds = column.bounds if column.is_age or not values else None
    missing = [*_missing_codes(stated), *(_outside(listed, bounds) if bounds else ())]
    return replace(column, bounds=bounds, missing=tuple(dict.fromkeys(missing)))


def _outside(listed: Values, bounds: tuple[str, str]) -> Iterator[str]:
    """Yield the codes of categories outside a valid range: such as 98 for an unknown age."""
    low, high = map(parse_number, bounds)
    for code, _ in listed:
        number = parse_number(code)
        if number is not None and low is not None and high is not None and not low <= number <= high:
            yield code


def _valid_range(variable: Any) -> tuple[str, str] | None:
    """Return the least and the greatest valid number of a variable (element valrng), rounded outwards to whole numbers;
    None if it has not exactly one range.
    """
    ranges = _ranges(variable, "valrng")
    limits = [ranges[0].get(key) for key in ("min", "max")] if len(ranges) == 1 else []
    numbers = [parse_number(str(each)) for each in limits]
    if not numbers or numbers[0] is None or numbers[1] is None:
        return None
    return str(math.floor(numbers[0])), str(math.ceil(numbers[1]))  # a domain has steps of 1 unless it states another


def _ranges(variable: Any, kind: str) -> list[Any]:
    return [each for group in variable if _tag(group) == kind for each in group if _tag(each) in ("range", "item")]


def _categories(variable: Any) -> Iterator[tuple[str, str]]:
    """Yield the value and the label of each category of a variable that is no missing value: by its own mark, or by the
    variable's invalid range (element invalrng).
    """
    invalid = [_limits(each) for each in _ranges(variable, "invalrng")]
    for category in variable:
        if _tag(category) != "catgry" or category.get("missing") == "Y":
            continue
        parts = {_tag(each): "".join(each.itertext()).strip() for each in category}
        number = parse_number(parts.get("catValu", ""))
        if parts.get("catValu") and not any(number is not None and low <= number <= high for low, high in invalid):
            yield parts["catValu"], parts.get("labl", "")


def _missing_codes(variable: Any) -> Iterator[str]:
    """Yield the codes of categories that a codebook marks as missing, and the single values of its invalid range."""
    invalid = [each for group in variable if _tag(group) == "invalrng" for each in group if _tag(each) == "item"]
    marked = [each for each in variable if _tag(each) == "catgry" and each.get("missing") == "Y"]
    codes = [part.text for each in marked for part in each if _tag(part) == "catValu"]
    found = [*codes, *(each.get("VALUE") for each in invalid)]
    yield from dict.fromkeys(code.strip() for code in found if code and parse_number(code) is not None)


def _limits(stated: Any) -> tuple[Fraction | float, Fraction | float]:
    """Return the least and the greatest number of a range or an item; one limit that it lacks is infinite, of two it is
    empty.
    """
    low, high = (parse_number(stated.get(key) or stated.get("VALUE") or "") for key in ("min", "max"))
    if low is None and high is None:
        return math.inf, -math.inf
    return (-math.inf if low is None else low), (math.inf if high is None else high)


def _tag(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


READERS: dict[str, Callable[[Path, str], DraftSource]] = {
    ".parquet": _parquet,
    ".csv": _csv,
    **dict.fromkeys(YAML, _contract),
    ".xml": _codebook,
    **dict.fromkeys((".arrow", ".feather", ".ipc"), _arrow),
}
"""The readers of public descriptions, by the suffix of their file."""
