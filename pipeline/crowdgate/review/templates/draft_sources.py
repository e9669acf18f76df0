"""Public descriptions of tables that a contract can be drafted from: headers, codebooks, contracts of other tools."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crowdgate.contracts.cell_form import DAYS, ISO
from crowdgate.contracts.contract import Role
from crowdgate.contracts.undecided import change
from crowdgate.documents.yaml_scalars import in_quotes
from crowdgate.documents.yaml_text import YAML, read_document
from crowdgate.domain import parse_date, parse_number
from crowdgate.errors import ConfigurationError, EnvironmentFault, FileFault
from crowdgate.review.templates.code_lists import Sheet, read_sheets
from crowdgate.review.templates.codebook_values import codes_in_words, listed_values
from crowdgate.review.templates.dbt_schemas import dbt_columns
from crowdgate.review.templates.dictionary_types import day_form
from crowdgate.review.templates.draft_codebook import codebook
from crowdgate.review.templates.draft_column import NO_TABLE, DraftColumn, DraftSource, cannot_draft
from crowdgate.review.templates.draft_consistency import consistent
from crowdgate.review.templates.draft_dictionary import (
    MOST_TITLE_ROWS,
    Dictionary,
    dictionary_rows,
    dictionary_text,
    is_dictionary,
    read_dictionary,
)
from crowdgate.review.templates.draft_merge import with_codebook
from crowdgate.review.templates.draft_role import role_in_draft
from crowdgate.review.templates.draft_sql import SQL, sql_codebook
from crowdgate.review.templates.draft_syntax import SYNTAX, SyntaxCodebook, syntax_codebook
from crowdgate.review.templates.general_missing import general_missing
from crowdgate.review.templates.json_schemas import json_columns
from crowdgate.review.templates.keyed_lines import keyed_rows
from crowdgate.review.templates.list_names import list_name
from crowdgate.review.templates.markdown_tables import markdown_tables, section_rows, with_points
from crowdgate.review.templates.plain_forms import plain_form
from crowdgate.review.templates.printed_types import printed_rows
from crowdgate.review.templates.programs import program_of
from crowdgate.review.templates.ruled_tables import ruled_tables
from crowdgate.review.templates.sectioned_blocks import sectioned_rows
from crowdgate.review.templates.stated_ranges import ListedValues, stated_range
from crowdgate.review.templates.text_blocks import block_rows
from crowdgate.review.templates.text_lines import joined_lines, with_marked_gaps, with_plain_codes, without_indent
from crowdgate.review.templates.text_tables import with_code_points
from crowdgate.review.templates.xlsforms import form_rows
from crowdgate.sources import SOURCES
from crowdgate.sources.arrow_schema import arrow_columns
from crowdgate.sources.csv_header import DELIMITERS, other_headers, read_header
from crowdgate.sources.parquet_schema import parquet_header
from crowdgate.sources.table_header import CellType, repeated_names

_POSTGRES = ("server", "type", "host", "port", "database", "schema")
_WITH_TABS = (".tsv", ".tab")
"""The ends of names of CSV files with tabs between their cells."""
MOST_LISTED = 20
"""The greatest number of sheets that a message names."""
_CODEBOOK_SHEET = re.compile(
    "codebook|dic+ion|diccion|variab|metadata|code|kode|legend|schl(ü|ue)ssel|merkmal|label|lookup|data ?elements"
    r"|dise(ñ|n)o|tablas|valores|valeurs|modalit|c(ó|o)digo"
    r"|de(ğ|g)i(ş|s)ken|sözlük|μεταβλητ|κωδικ|változó|kódok|variabil|변수|코드|변수설명|变量|變數|变数|編碼|编码|代码|字段|変数|符号|コード",
    re.I,
)
"""The words in names of sheets that are codebooks."""
MOST_DRAFTED = 1000
"""The greatest number of columns of a draft: a contract of more would be too long to be read."""
_FORM_OF_DAYS = change(f"{ISO}, {', '.join(list(DAYS)[:-1])} or {list(DAYS)[-1]}")
"""The form of days that is left to decide, where nothing states it."""
_TYPES = {
    "integer": CellType.WHOLE, "number": CellType.NUMBER, "boolean": CellType.FLAG, "date": CellType.DAY,
    "timestamp": CellType.MOMENT, "time": CellType.TIME, "string": CellType.TEXT,
}  # fmt: skip
"""The types of cells by logical type of the Open Data Contract Standard."""


CODEBOOKS = (
    "a data dictionary (.csv, .tsv, .txt, .xlsx, .md), a program of Stata, SPSS or SAS (.do, .dct, .sps, .sas), SQL "
    "(.sql), DDI (.xml), labels (.sav, .dta), a schema (.json, .yml) or a contract (.yaml). Save others as .csv, with "
    "the headings variable, label, type, values and missing"
)
"""The forms of codebooks, and what to do with others."""
_TEXT = "its text saved as .txt, or its tables as .csv or .xlsx; else "
_INSTEAD = dict.fromkeys((".rtf", ".docx", ".doc", ".odt", ".pdf", ".html", ".htm"), _TEXT)
_INSTEAD |= dict.fromkeys((".rst", ".adoc", ".tex"), "its name with the ending .txt; else ")
"""The advice on other forms of files."""


def read_draft_source(
    path: Path,
    folder: Path,
    columns: Sequence[str] | None = None,
    *,
    header_line: bool = False,
    part: str = "",
    codebook: Path | None = None,
) -> DraftSource:
    """Return the public description of a table in `path`, for a contract in `folder`; only of `columns`, if given.
    `part` names a sheet of a workbook, or a table of a contract, that has several. A `codebook` states the values.

    Line 1 of a CSV file or a workbook is read only if a person has said that it is a header (`header_line`): in a file
    without one it is somebody's record, and nothing in the line tells them apart. Raises ConfigurationError if the file
    says too little: the message never shows what could be a cell.
    """
    end = next((each for each in READERS if path.name.lower().endswith(each)), None)
    if path.name.lower().endswith((*SYNTAX, SQL)):
        raise cannot_draft(path, "a program, not a table", f"the table as SOURCE, and --codebook {path.name}")
    if end is None:
        raise cannot_draft(path, f"a file of type {path.suffix or 'unknown'}", f"one of {', '.join(READERS)}")
    if not path.is_file():
        raise cannot_draft(path, "No such file or directory", "a readable file")
    if READERS[end] is _excel and not part and len(names := _sheet_names(path)) > 1:
        raise cannot_draft(path, "the workbook has several sheets", f"--table with one of its sheets: {_listed(names)}")
    if READERS[end] in (_csv, _excel) and not header_line:
        expected = "--header-line, after you have seen that line 1 holds names and no person's record"
        raise cannot_draft(path, "nothing says that line 1 is a header", expected)
    if part and READERS[end] not in (_excel, _contract):
        raise cannot_draft(path, "--table for a file that has one table", "no --table")
    if codebook == path and READERS[end] is _csv:
        raise cannot_draft(path, "the table itself as its codebook", "--codebook with another file: no cell is read")
    found = _chosen(path, _read(path, READERS[end], os.path.relpath(path, folder), part), columns)
    if codebook is not None:
        found = _with_general_missing(_with_codebook(found, codebook, part if codebook == path else None), codebook)
    found = _with_day_form(replace(found, columns=tuple(map(consistent, found.columns))))
    return found if codebook is None else _without_day_form(found)


def _with_general_missing(found: DraftSource, codebook: Path) -> DraftSource:
    """Return a description whose note quotes what a codebook of plain text says of the missing codes of all columns."""
    is_text = codebook.suffix.lower() in (".txt", ".md", SQL, *SYNTAX)
    said = general_missing(dictionary_text(codebook)[0]) if is_text else ""
    return replace(found, note=f"{found.note}; of missing codes it says: {in_quotes(said)}") if said else found


def _without_day_form(found: DraftSource) -> DraftSource:
    """Return a description without a form of days that is left to decide, if no column can have days."""
    others = [c for c in found.columns if role_in_draft(c) is not Role.DIRECT_IDENTIFIER and not c.is_weight]
    can_be = any(
        each.is_day or not (each.values or each.bounds or each.type in (CellType.WHOLE, CellType.NUMBER))
        for each in others
    )
    is_open = found.settings.get("dayForm") == _FORM_OF_DAYS and not can_be
    return replace(found, settings={k: v for k, v in found.settings.items() if k != "dayForm"}) if is_open else found


def _with_day_form(found: DraftSource) -> DraftSource:
    """Return a description that leaves the form of days to decide, if the table is a CSV file with days, and nothing
    states their form.
    """
    days = [each for each in found.columns if each.is_day and not each.direct]
    known = {each.day_form or each.range_form for each in days} - {""}
    if found.format != "csv" or "dayForm" in found.settings or not days or len(known) == 1:
        return found
    return replace(found, settings={**found.settings, "dayForm": _FORM_OF_DAYS})


def _read(path: Path, reader: Callable[[Path, str, str], DraftSource], relative: str, part: str) -> DraftSource:
    try:
        return reader(path, relative, part)
    except FileFault as error:
        found = str(error).removeprefix(f"{path.name}: ")
        expected = "a header that can be read"
        if reader is _csv:
            anew = f"iconv -f CP1252 -t UTF-8 {path.name} > utf8-{path.name}"
            expected += f", in UTF-8: save the table anew, as with `{anew}` (CP1250 for central Europe)"
        if reader is _excel and part and "sheet" in found:
            expected = f"--table with one of its sheets: {_listed(_sheet_names(path))}"
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


def _with_codebook(table: DraftSource, path: Path, own_sheet: str | None) -> DraftSource:
    """Return a table's description with what a codebook says of its columns, and a note on what of it was used.
    `own_sheet` is that of the table, if it is in the same workbook. Raises ConfigurationError if the codebook can't be
    read.
    """
    names = [column.name for column in table.columns]
    end = path.suffix.lower()
    if end in (".csv", ".tsv", ".txt", ".md", *SOURCES["excel"].suffixes):
        found = _dictionary(path, end, own_sheet, names)
        return with_codebook(table, path, found.columns, found.unmatched, str(found))
    if end in (*SYNTAX, SQL):
        return _with_syntax(table, path, syntax_codebook(path, names) if end in SYNTAX else sql_codebook(path, names))
    return with_codebook(table, path, _codebook_columns(path, names))


def _with_syntax(table: DraftSource, path: Path, found: SyntaxCodebook) -> DraftSource:
    """Return a table's description with what a syntax file says of its columns, and the order of its days."""
    merged = with_codebook(table, path, found.columns, headings=found.note)
    if table.format != "csv" or not found.order or merged.settings.get("dayForm", _FORM_OF_DAYS) != _FORM_OF_DAYS:
        return merged
    orders = {"DMY": "DD", "MDY": "MM", "YMD": "YYYY"}
    forms = [each for each in (ISO, *DAYS) if each.startswith(orders.get(found.order, ""))]
    none = (
        ""
        if found.order in orders
        else f"; {path.name} reads {found.order}, which is none of them, so write the days anew in one"
    )
    words = f"the form of days in the table: {', '.join(forms)}{none}"
    return replace(merged, settings={**merged.settings, "dayForm": change(words)})


def _dictionary(path: Path, end: str, own_sheet: str | None, names: Sequence[str]) -> Dictionary:
    """Return what a data dictionary says of the columns of a table. Raises ConfigurationError if it says nothing."""
    if end in SOURCES["excel"].suffixes:
        named = _sheets(path, _codebook_sheets(path, own_sheet), names)
        unnamed = [each for each in _sheet_names(path) if each not in (own_sheet, *(title for title, _ in named))]
        folded = {each.casefold() for each in names}
        if own_sheet is not None:
            unnamed = [each for each in unnamed if list_name(each) in folded]
        others = _sheets(path, unnamed, names)
        if any(is_dictionary(rows, names) for _, rows in named):
            least = max(_named_columns(rows, folded) for _, rows in named)
            others = [
                each
                for each in others
                if list_name(each[0]) in folded
                or _can_be_lists(each[1], names)
                or (not _has_header(each[1], names) and _named_columns(each[1], folded) > least)
            ]
        if form := form_rows([rows for _, rows in (*named, *others)], names):
            return read_dictionary(path, form, names).of_blocks()
        return read_sheets(path, [*named, *others], names)
    text, encoding = dictionary_text(path)
    text = plain_form(text)
    if end == ".txt" and (program := program_of(text)):
        raise cannot_draft(path, f"a program of {program[0]} in a text file", f"its name with the ending {program[1]}")
    if end == ".md":
        return replace(_markdown(path, text, names), encoding=encoding)
    tables: list[Sheet] = [("", rows) for rows in ruled_tables(text)] if end == ".txt" else []
    if any(is_dictionary(rows, names) for _, rows in tables):
        return replace(read_sheets(path, tables, names).without_rows(), encoding=encoding, sheets=())
    rows = _plain_rows(text, path, names) if end == ".txt" else dictionary_rows(text, path)
    found = replace(read_sheets(path, [("", rows)], names), sheets=())
    is_table = end != ".txt" or rows == dictionary_rows(text, path)
    found = found if is_table else found.of_blocks()
    return replace(found, encoding=encoding)


def _can_be_lists(rows: Sequence[Sequence[str]], names: Sequence[str]) -> bool:
    """Return whether a sheet beside that of the variables describes none, and has no rows of the table."""
    return not _has_header(rows, names) and not is_dictionary(rows, names)


def _has_header(rows: Sequence[Sequence[str]], names: Sequence[str]) -> bool:
    return any(len({*names} & {*row}) > 1 for row in rows[:MOST_TITLE_ROWS])


def _named_columns(rows: Sequence[Sequence[str]], folded: set[str]) -> int:
    """Return the number of columns whose names are cells."""
    return len(folded & {cell.strip().casefold() for row in rows for cell in row})


def _plain_rows(text: str, path: Path, names: Sequence[str]) -> list[list[str]]:
    """Return the rows of a text that is a table, or else of its sections. Raises ConfigurationError for others."""
    if stated := keyed_rows(text, names) or printed_rows(text, names) or sectioned_rows(text, names):
        return stated
    text = with_plain_codes(with_marked_gaps(text))
    rows = dictionary_rows(text, path)
    if is_dictionary(rows, names) and max(map(len, rows)) > 1:
        return rows
    text = without_indent(text, names)
    if blocks := block_rows(text, names):
        return blocks
    if sections := section_rows(with_points(with_code_points(joined_lines(text, names)), names), names):
        return sections
    expected = "lines that begin with the name of a column, with its codes on indented lines below"
    raise cannot_draft(path, "no variables of the table", expected)


def _markdown(path: Path, text: str, names: Sequence[str]) -> Dictionary:
    """Return what tables of variables say, or else sections that each describe one."""
    sheets = [*markdown_tables(text)]
    form = day_form(re.sub(r"(?m)^\s*\|.*$", "", text))
    found = _markdown_dictionary(path, text, sheets, names)
    columns = (replace(each, day_form=form) if _lacks_form(each) else each for each in found.columns)
    return replace(found, columns=tuple(columns)) if form else found


def _lacks_form(column: DraftColumn) -> bool:
    """Return whether a column is one of days whose own row states no form."""
    return column.is_day and not column.day_form


def _markdown_dictionary(path: Path, text: str, sheets: Sequence[Sheet], names: Sequence[str]) -> Dictionary:
    if not any(is_dictionary(rows, names) for _, rows in sheets) and (rows := section_rows(text, names)):
        return read_dictionary(path, rows, names).without_rows()
    if not sheets:
        raise cannot_draft(path, "no table in Markdown", "a table with lines of cells: `| variable | label | values |`")
    return read_sheets(path, sheets, names).without_rows()


def _codebook_columns(path: Path, names: Sequence[str]) -> tuple[DraftColumn, ...]:
    """Return the variables of a codebook that is no table. Raises ConfigurationError if it can't be read."""
    end = path.suffix.lower()
    reader = READERS.get(end)
    if reader in (_codebook, _statistics):
        return _read(path, reader, path.name, "").columns
    if reader is _contract:
        data = read_document(path).data
        is_dbt = isinstance(data, dict) and not {"models", "seeds", "snapshots", "sources"}.isdisjoint(data)
        return dbt_columns(path, data, names) if is_dbt else _nearest_table(path, names)
    if end == ".json":
        return json_columns(path, names)
    raise cannot_draft(path, "no codebook", f"{_INSTEAD.get(end, '')}{CODEBOOKS}")


def _sheet_names(path: Path) -> Sequence[str]:
    """Return the names of a workbook's sheets; none if it can't be read, which its reader says."""
    from crowdgate.sources.excel import sheets

    try:
        return sheets(path)
    except (FileFault, OSError):
        return ()


def _listed(names: Sequence[str]) -> str:
    """Return the names of sheets, for the person who drafts: not for the log of a release."""
    return ", ".join(map(repr, names[:MOST_LISTED])) + (", ..." if len(names) > MOST_LISTED else "")


def _sheets(path: Path, titles: Sequence[str], columns: Sequence[str]) -> list[Sheet]:
    """Return the sheets of a workbook with these titles. Raises ConfigurationError if they can't be read."""
    from crowdgate.sources.excel import sheet_rows

    try:
        rows = ((each, sheet_rows(path, each)) for each in titles)
        return [(title, [[plain_form(cell, columns) for cell in row] for row in each]) for title, each in rows]
    except FileFault as error:
        raise _unread(path, error) from None


def _unread(path: Path, error: FileFault) -> ConfigurationError:
    return cannot_draft(path, str(error).removeprefix(f"{path.name}: "), "a workbook that can be read")


def _codebook_sheets(path: Path, own_sheet: str | None) -> Sequence[str]:
    """Return the names of the sheets that can be codebooks: those whose name says so, or else, in a workbook without
    the table, all. Never the table's sheet: one of several, or the only one (an empty name). Raises ConfigurationError
    if the workbook can't be read.
    """
    from crowdgate.sources.excel import sheets

    try:
        names = sheets(path)
    except FileFault as error:
        raise _unread(path, error) from None
    if own_sheet is not None and len(names) == 1:
        raise cannot_draft(path, "the table itself as its codebook", "--codebook with another file: no cell is read")
    named = [each for each in names if _CODEBOOK_SHEET.search(each) and each != own_sheet]
    if not named and own_sheet is not None:
        raise cannot_draft(path, "several sheets", "one sheet whose name has `codebook`, `dictionary` or `variables`")
    return named or names


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
        settings |= {
            "decimalMark": change("the mark in numbers: . or ,"),
            "dayForm": _FORM_OF_DAYS,
        }
    read = f"the header line of {path.name}"
    return DraftSource(read, relative, "csv", tuple(map(DraftColumn, names, [CellType.UNKNOWN] * len(names))), settings)


def _check_names(path: Path, names: Sequence[str]) -> None:
    """Raise ConfigurationError if a name is a number or a day, as in a table without a header."""
    for at, name in enumerate(names, 1):
        if parse_number(name) is not None or parse_date(name) is not None:
            raise cannot_draft(path, f"line 1 has a number or a day in column {at}", "a header: a name for each column")


def _contract(path: Path, _: str, part: str) -> DraftSource:
    """Return the columns of a contract of the Open Data Contract Standard, such as another tool wrote."""
    data = read_document(path).data
    tables = _tables(path, data)
    names = [str(each.get("name")) for each in tables]
    if part not in names and (part or len(tables) > 1):
        found = f"no table {part!r}" if part else "several tables"
        raise cannot_draft(path, found, f"--table with one of {', '.join(names)}")
    servers = _mappings(data.get("servers"))
    server: dict[str, Any] = next((each for each in servers if each.get("type") == "local"), {})
    form = "csv" if server.get("format") == "csv" else "parquet"
    place = str(server.get("path", change(NO_TABLE)))
    table = tables[names.index(part) if part else 0]
    called, physical = (str(table.get(key) or "") for key in ("name", "physicalName"))
    return DraftSource(
        f"the contract {path.name}", place, form, _properties(table), server=_database(servers), table=called,
        physical=physical,
    )  # fmt: skip


def _tables(path: Path, data: Any) -> list[dict[str, Any]]:
    tables = _mappings(data.get("schema")) if isinstance(data, dict) else []
    if not tables:
        raise cannot_draft(path, "no contract with a table", "a contract of the Open Data Contract Standard")
    return tables


def _properties(table: dict[str, Any]) -> tuple[DraftColumn, ...]:
    """Return the columns of a table that hold one value a cell."""
    stated = (each for each in _mappings(table.get("properties")) if "name" in each)
    return tuple(_property(each) for each in stated if each.get("logicalType") not in ("array", "object"))


def _nearest_table(path: Path, names: Sequence[str]) -> tuple[DraftColumn, ...]:
    """Return the columns of the table of a contract that has most of these columns."""
    tables = [_properties(each) for each in _tables(path, read_document(path).data)]
    return max(tables, key=lambda each: len({column.name for column in each} & {*names}))


def _database(servers: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return the facts about the server, if it is a database that is read where it is."""
    if len(servers) != 1 or not all(servers[0].get(key) for key in _POSTGRES):
        return {}
    return {key: str(servers[0][key]) for key in _POSTGRES} if servers[0]["type"] == "postgres" else {}


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _property(stated: dict[str, Any]) -> DraftColumn:
    options = stated.get("logicalTypeOptions")
    limits = [options.get(key) for key in ("minimum", "maximum")] if isinstance(options, dict) else []
    limited = all(isinstance(each, str) for each in limits) and bool(limits)
    stated_limits = stated_range(*map(str, limits)) if limited else ListedValues()
    multiple = str(options.get("multipleOf") or "") if isinstance(options, dict) else ""
    decimals = len(multiple.partition(".")[2]) if parse_number(multiple) is not None else stated_limits.decimals
    stated_rules = _mappings(stated.get("quality"))
    rules = [*(rule.get("arguments") for rule in stated_rules), *stated_rules]  # version 3.0 has no `arguments`
    values: list[Any] = next(
        (rule["validValues"] for rule in rules if isinstance(rule, dict) and "validValues" in rule), []
    )
    described = str(stated.get("description") or "")
    in_words = listed_values(described) if "=" in described else ListedValues()
    return DraftColumn(
        str(stated["name"]),
        _TYPES.get(str(stated.get("logicalType")), CellType.UNKNOWN),
        described,
        tuple((str(value), "") for value in values if isinstance(value, str)) or in_words.values,
        stated_limits.bounds,
        missing=in_words.missing or codes_in_words(described),
        direct=stated.get("primaryKey") == "true" or stated.get("unique") == "true",
        decimals=decimals,
        physical=str(stated.get("physicalName") or ""),
        is_key=stated.get("primaryKey") == "true",
    )


def _codebook(path: Path, relative: str, _: str) -> DraftSource:
    """Return the variables of a DDI codebook, and the table that it names if that is beside it."""
    found, named = codebook(path)
    end = next((each for each in READERS if named.lower().endswith(each)), None)
    is_table = end is not None and READERS[end] in (_csv, _parquet) and Path(named).name == named
    if not is_table or not (path.parent / named).is_file():
        return found
    form = "csv" if end is not None and READERS[end] is _csv else "parquet"
    settings = {"delimiter": "\t"} if end in _WITH_TABS else {}
    place = os.path.join(os.path.dirname(relative), named)
    return replace(found, path=place, format=form, settings=settings)


def _excel(path: Path, relative: str, part: str) -> DraftSource:
    """Return the columns in the first row of a sheet. Raises ConfigurationError if it looks like cells."""
    from crowdgate.sources.excel import excel_header

    names = excel_header(path, {"sheet": part}, ()).names
    _check_names(path, names)
    columns = tuple(DraftColumn(name, CellType.UNKNOWN) for name in names)
    return DraftSource(f"the first row of {path.name}", relative, "excel", columns, {"sheet": part} if part else {})


def _statistics(path: Path, relative: str, _: str) -> DraftSource:
    """Return the variables of a file of SPSS, Stata or SAS."""
    from crowdgate.review.templates.draft_statistics import labelled_variables

    reader = next(each for each in SOURCES.values() if path.name.lower().endswith(each.suffixes))
    return labelled_variables(path, relative, reader.name)


READERS: dict[str, Callable[[Path, str, str], DraftSource]] = {
    ".parquet": _parquet,
    **dict.fromkeys((".csv", ".csv.gz", ".csv.zst", *_WITH_TABS), _csv),
    **dict.fromkeys(YAML, _contract),
    ".xml": _codebook,
    **dict.fromkeys((".arrow", ".feather", ".ipc"), _arrow),
    **dict.fromkeys(SOURCES["excel"].suffixes, _excel),
    **dict.fromkeys((*SOURCES["spss"].suffixes, *SOURCES["stata"].suffixes, *SOURCES["sas"].suffixes), _statistics),
}
"""The readers of public descriptions, by the end of their file's name."""
