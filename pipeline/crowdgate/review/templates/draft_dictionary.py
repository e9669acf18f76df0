"""Data dictionaries as tables: one row for each column of a table, or one for each of its values.

The names of their own columns are recognized, as REDCap, RADx and many offices write them. Only rows about columns of
the table are used, so that a table of persons which is given by mistake says nothing.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from crowdgate.review.templates.codebook_values import ListedValues, listed_values, whole_bounds
from crowdgate.review.templates.contract_draft import DraftColumn, cannot_draft
from crowdgate.sources.table_header import CellType
from crowdgate.system.regular_files import read_plain

LARGEST_DICTIONARY = 1 << 26
"""The greatest size of a data dictionary in bytes."""
MOST_TITLE_ROWS = 10
"""The number of rows in which the headings are looked for."""
_HEADINGS = {
    "name": (
        "variable / field name", "variable name", "field name", "column name", "variable", "varname", "field",
        "column", "element name", "data element", "attribute", "spalte", "variablenname", "feldname", "name", "id",
    ),
    "label": (
        "label", "variable label", "field label", "question", "description", "definition", "title", "beschreibung",
        "bezeichnung", "comment",
    ),
    "type": ("data type", "datatype", "field type", "type", "datentyp", "typ", "format"),
    "check": ("text validation type or show slider number", "text validation type", "validation"),
    "values": (
        "values", "value labels", "choices calculations or slider labels", "select choices or calculations", "choices",
        "codes", "code set", "code list", "codelist", "allowed values", "permissible values", "valid values",
        "possible values", "enumeration", "categories", "coding", "response options", "value", "code", "werte",
        "auspragungen",
    ),
    "value label": (
        "value label", "code label", "category label", "level label", "value description", "code description",
        "label of value", "category",
    ),
    "least": ("text validation min", "minimum", "min", "lower bound", "min value"),
    "greatest": ("text validation max", "maximum", "max", "upper bound", "max value"),
    "missing": ("missing", "missing values", "missing codes", "missingvaluecodes", "missing value codes"),
    "identifier": ("identifier", "is identifier", "pii"),
}  # fmt: skip
"""The headings of data dictionaries, each in order of preference, without marks and in lower case."""
_TYPES = {
    "integer": CellType.WHOLE, "int": CellType.WHOLE, "whole number": CellType.WHOLE, "number": CellType.NUMBER,
    "numeric": CellType.NUMBER, "decimal": CellType.NUMBER, "float": CellType.NUMBER, "double": CellType.NUMBER,
    "real": CellType.NUMBER, "n": CellType.NUMBER, "num": CellType.NUMBER, "continuous": CellType.NUMBER,
    "calc": CellType.NUMBER, "slider": CellType.WHOLE, "date": CellType.DAY, "datum": CellType.DAY,
    "datetime": CellType.MOMENT, "timestamp": CellType.MOMENT, "time": CellType.TIME,
}  # fmt: skip
_YES_NO = {"yesno": (("0", "No"), ("1", "Yes")), "truefalse": (("0", "False"), ("1", "True"))}
_TICKED = (("0", "not ticked"), ("1", "ticked"))
Row = Mapping[str, str]
"""A row of a data dictionary: the cells under the headings that are known."""


def dictionary_rows(path: Path) -> list[list[str]]:
    """Return the cells of a data dictionary in CSV. Raises ConfigurationError if it can't be read."""
    try:
        text = read_plain(path, LARGEST_DICTIONARY).decode("utf-8-sig")
        first = text.partition("\n")[0]
        mark = max((",", ";", "\t"), key=lambda each: (first.count(each), each == ","))
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True))
    except (UnicodeDecodeError, csv.Error):
        raise cannot_draft(path, "no table in CSV", "a data dictionary in CSV, in UTF-8") from None


def dictionary_columns(path: Path, rows: Sequence[Sequence[str]], table: Sequence[str]) -> tuple[DraftColumn, ...]:
    """Return the columns of `table` that a data dictionary describes; their case may differ. Raises ConfigurationError
    without headings.
    """
    found = next(((at, places) for at, row in enumerate(rows[:MOST_TITLE_ROWS]) if (places := _places(row))), None)
    if found is None:
        expected = "a data dictionary with a heading for names (`variable`) and one for labels or values"
        raise cannot_draft(path, "no headings of a data dictionary", expected)
    at, places = found
    groups: dict[str, list[Row]] = {}
    name = ""
    for cells in rows[at + 1 :]:
        row = {key: cells[place].strip() for key, place in places.items() if place < len(cells)}
        name = row.get("name") or name  # further values of a variable often stand below its name
        groups.setdefault(name, []).append(row)
    described = {each.name: each for own in groups.items() for each in _columns(*own)}
    folded = {each.casefold() for each in table}
    return tuple(column for column in described.values() if column.name.casefold() in folded)


def _places(row: Sequence[str]) -> dict[str, int]:
    """Return the place of each known heading in a row; none if the row has no headings of a data dictionary."""
    heads = [" ".join(re.sub(r"[^\w/ ]", " ", each.lower().replace("_", " ")).split()) for each in row]
    found = {
        key: heads.index(next(each for each in known if each in heads))
        for key, known in _HEADINGS.items()
        if any(each in heads for each in known)
    }
    return found if "name" in found and len(found.keys() & {"label", "values", "type"}) > 0 else {}


def _columns(name: str, rows: Sequence[Row]) -> Iterator[DraftColumn]:
    """Yield the columns of one variable: several for boxes of REDCap that can be ticked, as its exports have them."""
    first, kind = rows[0], rows[0].get("type", "").lower()
    listed = _listed(rows, kind)
    label = "" if _has_label_each(rows) else " ".join(first.get("label", "").split())
    column = DraftColumn(
        name, _type(first, kind, listed), label, listed.values, listed.bounds,
        first.get("identifier", "").lower() in ("y", "yes", "true", "1", "x"),
        (*listed.missing, *listed_values(first.get("missing", "")).missing),
    )  # fmt: skip
    if kind == "checkbox":
        for code, choice in listed.values:
            yield replace(column, name=f"{name}___{code}", description=f"{choice} ({label})", values=_TICKED)
    else:
        yield column


def _listed(rows: Sequence[Row], kind: str) -> ListedValues:
    if kind in _YES_NO:
        return ListedValues(_YES_NO[kind])
    least, greatest = (rows[0].get(key, "") for key in ("least", "greatest"))
    if (bounds := whole_bounds(least, greatest)) is not None:
        return ListedValues(bounds=bounds)
    if kind in ("calc", "descriptive"):
        return ListedValues()
    if len(rows) > 1:  # a row for each value
        key = "label" if _has_label_each(rows) else "value label"
        pairs = [(row["values"], row.get(key, "")) for row in rows if row.get("values")]
        return listed_values(" | ".join(f"{code}={label}" if label else code for code, label in pairs))
    return listed_values(rows[0].get("values", ""))


def _has_label_each(rows: Sequence[Row]) -> bool:
    """Return whether the labels of a variable's rows are those of its values."""
    labels = [row.get("label", "") for row in rows]
    return len(rows) > 1 and len(set(labels)) == len(labels) and not any(row.get("value label") for row in rows)


def _type(row: Row, kind: str, listed: ListedValues) -> CellType:
    if listed.values:
        return CellType.TEXT
    stated = [part for each in (row.get("check", "").lower(), kind) for part in (each, each.partition("_")[0])]
    return next((_TYPES[each] for each in stated if each in _TYPES), CellType.UNKNOWN)
