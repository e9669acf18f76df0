"""Data dictionaries as tables: one row for each column of a table, or one for each of its values.

The names of their own columns are recognized, as REDCap, RADx and many offices write them. Only rows about columns of
the table are used, so that a table of persons which is given by mistake says nothing.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from crowdgate.review.templates.codebook_values import (
    ListedValues,
    listed_values,
    missing_codes,
    stated_range,
    without_scale,
)
from crowdgate.review.templates.contract_draft import DraftColumn, cannot_draft
from crowdgate.sources.table_header import CellType
from crowdgate.system.regular_files import read_plain

LARGEST_DICTIONARY = 1 << 26
"""The greatest size of a data dictionary in bytes."""
MOST_HEADINGS, LONGEST_HEADING = 20, 40
"""The number of headings that a message names, and the length of each."""
MOST_TITLE_ROWS = 10
"""The number of rows in which the headings are looked for."""
_HEADINGS = {
    "name": (
        "variable / field name", "variable name", "field name", "column name", "variable", "varname", "field",
        "column", "element name", "data element", "attribute", "spalte", "variablenname", "feldname", "name", "id",
    ),
    "label": (
        "label", "variable label", "field label", "question", "title", "bezeichnung",
    ),
    "description": ("description", "definition", "variable description", "beschreibung", "comment", "bemerkung"),
    "type": ("data type", "datatype", "field type", "type", "datentyp", "typ", "format"),
    "check": ("text validation type or show slider number", "text validation type", "validation"),
    "values": (
        "values", "value labels", "choices calculations or slider labels", "select choices or calculations", "choices",
        "codes", "code set", "code list", "codelist", "allowed values", "permissible values", "valid values",
        "possible values", "enumeration", "categories", "coding", "response options", "value", "code", "werte",
        "ausprägungen", "auspraegungen", "auspragungen", "wertelabels",
    ),
    "value label": (
        "value label", "code label", "category label", "level label", "value description", "code description",
        "label of value", "category", "meaning", "bedeutung", "code meaning", "value meaning",
    ),
    "range": ("range", "valid range", "value range", "wertebereich", "bereich"),
    "least": ("text validation min", "minimum", "min", "lower bound", "min value", "from", "von"),
    "greatest": ("text validation max", "maximum", "max", "upper bound", "max value", "to", "bis"),
    "missing": (
        "missing", "missing values", "missing codes", "missingvaluecodes", "missing value codes",
        "missing code", "missing value", "na", "na values", "na codes", "fehlend", "fehlende werte", "fehlwerte",
    ),
    "identifier": ("identifier", "is identifier", "pii"),
}  # fmt: skip
"""The headings of data dictionaries, each in order of preference, without marks and in lower case."""
_TYPES = {
    "integer": CellType.WHOLE, "int": CellType.WHOLE, "whole number": CellType.WHOLE, "number": CellType.NUMBER,
    "numeric": CellType.NUMBER, "decimal": CellType.NUMBER, "float": CellType.NUMBER, "double": CellType.NUMBER,
    "real": CellType.NUMBER, "n": CellType.NUMBER, "num": CellType.NUMBER, "continuous": CellType.NUMBER,
    "dezimal": CellType.NUMBER, "dezimalzahl": CellType.NUMBER, "kommazahl": CellType.NUMBER,
    "ganzzahl": CellType.WHOLE, "zahl": CellType.NUMBER, "numerisch": CellType.NUMBER, "zeitpunkt": CellType.MOMENT,
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
    except UnicodeDecodeError:
        raise cannot_draft(path, "a text that is not in UTF-8", "the data dictionary saved in UTF-8") from None
    except csv.Error:
        raise cannot_draft(path, "no table in CSV", "a data dictionary in CSV, in UTF-8") from None


@dataclass(frozen=True)
class Dictionary:
    """The description of a table's columns by a data dictionary, and the headings that were used and not used."""

    columns: tuple[DraftColumn, ...]
    used: tuple[str, ...]
    ignored: tuple[str, ...]
    unmatched: int
    """The number of its variables that are no column of the table."""

    def __str__(self) -> str:
        used, ignored = (", ".join(each[:MOST_HEADINGS]) or "none" for each in (self.used, self.ignored))
        return f"headings used: {used}; ignored: {ignored}"


def read_dictionary(path: Path, rows: Sequence[Sequence[str]], table: Sequence[str]) -> Dictionary:
    """Return what a data dictionary says of the columns of `table`; their case may differ. Raises ConfigurationError
    without headings.
    """
    found = next(((at, places) for at, row in enumerate(rows[:MOST_TITLE_ROWS]) if (places := _places(row))), None)
    if found is None:
        expected = "a data dictionary with a heading for names (`variable`) and one for labels or values"
        raise cannot_draft(path, "no headings of a data dictionary", expected)
    at, places = found
    groups: dict[str, list[Row]] = {}
    name = ""
    for cells in (each for each in rows[at + 1 :] if any(cell.strip() for cell in each)):
        row = {key: cells[place].strip() for key, place in places.items() if place < len(cells)}
        name = row.get("name") or name  # further values of a variable often stand below its name
        groups.setdefault(name, []).append(row)
    described = {each.name: each for own in groups.items() for each in _columns(*own)}
    folded = {each.casefold() for each in table}
    columns = tuple(column for column in described.values() if column.name.casefold() in folded)
    heads = {place: name for place, each in enumerate(rows[at]) if (name := _shown(each))}
    used = tuple(name for place, name in heads.items() if place in places.values())
    ignored = tuple(name for place, name in heads.items() if place not in places.values())
    return Dictionary(columns, used, ignored, len(described) - len(columns))


def _shown(heading: str) -> str:
    """Return a heading as a message shows it."""
    return "".join(each for each in " ".join(heading.split())[:LONGEST_HEADING] if each.isprintable())


def _places(row: Sequence[str]) -> dict[str, int]:
    """Return the place of each known heading in a row; none if the row has no headings of a data dictionary."""
    heads = [" ".join(re.sub(r"[^\w/ ]", " ", each.lower().replace("_", " ")).split()) for each in row]
    found = {
        key: heads.index(next(each for each in known if each in heads))
        for key, known in _HEADINGS.items()
        if any(each in heads for each in known)
    }
    return found if "name" in found and len(found.keys() & {"label", "description", "values", "type"}) > 0 else {}


def _columns(name: str, rows: Sequence[Row]) -> Iterator[DraftColumn]:
    """Yield the columns of one variable: several for boxes of REDCap that can be ticked, as its exports have them."""
    first, kind = rows[0], rows[0].get("type", "").lower()
    listed = _listed(rows, kind)
    missing = (*listed.missing, *(code for row in rows for code in missing_codes(row.get("missing", ""))))
    column = DraftColumn(
        name, _type(first, kind, listed), _description(rows),
        tuple(pair for pair in listed.values if pair[0] not in missing), listed.bounds,
        first.get("identifier", "").lower() in ("y", "yes", "true", "1", "x"),
        tuple(dict.fromkeys(missing)), unread=listed.unread, decimals=listed.decimals,
    )  # fmt: skip
    if kind == "checkbox":
        for code, choice in listed.values:
            yield replace(
                column, name=f"{name}___{code}", description=f"{choice} ({column.description})", values=_TICKED
            )
    else:
        yield column


def _listed(rows: Sequence[Row], kind: str) -> ListedValues:
    if kind in _YES_NO:
        return ListedValues(_YES_NO[kind])
    own = _listed_values(rows, kind)
    least, greatest = (rows[0].get(key, "") for key in ("least", "greatest"))
    stated = stated_range(least, greatest)
    limits = stated if stated.bounds is not None else listed_values(rows[0].get("range", ""))
    if limits.bounds is None:
        return own
    kept = without_scale(own.values, limits.bounds)
    if own.values and kept.values:
        return own
    missing = (*own.missing, *kept.missing, *limits.missing)
    return replace(kept, bounds=limits.bounds, missing=missing, decimals=limits.decimals)


def _listed_values(rows: Sequence[Row], kind: str) -> ListedValues:
    if kind in ("calc", "descriptive"):
        return ListedValues()
    if len(rows) > 1:  # a row for each value
        key = _label_each(rows) or "value label"
        pairs = tuple((row["values"], row.get(key, "")) for row in rows if row.get("values"))
        if len(pairs) > 1 and len({code for code, _ in pairs}) == len(pairs):
            return without_scale(pairs)
        return listed_values(" | ".join(f"{code}={label}" if label else code for code, label in pairs))
    if (label := rows[0].get("value label")) and rows[0].get("values"):
        return ListedValues(unread=f"{rows[0]['values']} = {label}")
    return listed_values(rows[0].get("values", ""))


def _label_each(rows: Sequence[Row]) -> str:
    """Return the heading under which each row of a variable has the label of its value; empty if there is none."""
    if len(rows) < 2 or any(row.get("value label") for row in rows):
        return ""
    named = {key: [row.get(key, "") for row in rows] for key in ("label", "description")}
    return next((key for key, each in named.items() if all(each) and len(set(each)) == len(each)), "")


def _description(rows: Sequence[Row]) -> str:
    """Return the words about a variable, which are not those about its values."""
    used = _label_each(rows)
    keys = [key for key in ("label", "description") if key != used and rows[0].get(key)]
    return " ".join(rows[0][keys[0]].split()) if keys else ""


def _type(row: Row, kind: str, listed: ListedValues) -> CellType:
    if listed.values:
        return CellType.TEXT
    stated = [part for each in (row.get("check", "").lower(), kind) for part in (each, each.partition("_")[0])]
    return next((_TYPES[each] for each in stated if each in _TYPES), CellType.UNKNOWN)
