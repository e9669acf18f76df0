"""Forgeries of table contents: rows, cells and lines, equally in every format, with new counts in the manifest."""

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crowdgate.formats import FORMATS
from tests.forgery.claims import claims_of, put, say, walk
from tests.forgery.forgery import Change, Forgery, resealed

Lines = list[list[str]]
Tables = Callable[[pa.Table], pa.Table]
NOTE = "hidden"


def line_forgeries(folder: Path, seal: Change) -> Iterator[Forgery]:
    """Yield forgeries of every CSV file: rows, cells, and their spelling."""
    for path in sorted(folder.glob("*.csv")):
        for what, lines in LINES.items():
            yield Forgery(f"lines: {path.name}: {what}", resealed(_relisted(path.name, lines), seal))
        for what, options in WRITTEN.items():
            yield Forgery(f"lines written: {path.name}: {what}", resealed(_rewritten(path.name, options), seal))
        for at in range(len(_lines(path)[0])):
            for what, cell in CELLS.items():
                change = _relisted(path.name, _cell(at, cell))
                yield Forgery(f"lines cell: {path.name}: column {at}: {what}", resealed(change, seal))


def _lines(path: Path) -> Lines:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file)) or [[""]]


def _written(path: Path, lines: Lines, **options: Any) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, **{"lineterminator": "\n", **options}).writerows(lines)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")


def _relisted(name: str, change: Callable[[Lines], Lines]) -> Change:
    return lambda folder: _written(folder / name, change(_lines(folder / name)))


def _rewritten(name: str, options: dict[str, Any]) -> Change:
    return lambda folder: _written(folder / name, _lines(folder / name), **options)


LINES: dict[str, Callable[[Lines], Lines]] = {
    "a line doubled": lambda lines: [*lines[:2], *lines[1:]],
    "the first removed": lambda lines: [lines[0], *lines[2:]],
    "the last removed": lambda lines: lines[:-1],
    "reversed": lambda lines: [lines[0], *lines[:0:-1]],
    "two swapped": lambda lines: [lines[0], *lines[2:3], *lines[1:2], *lines[3:]],
    "no header": lambda lines: lines[1:],
    "the header twice": lambda lines: [lines[0], *lines],
    "only a header": lambda lines: lines[:1],
    "an empty line": lambda lines: [*lines, []],
    "a column more": lambda lines: [[*line, NOTE] for line in lines],
    "a cell more in one line": lambda lines: [*lines[:-1], [*lines[-1], NOTE]],
    "an empty cell more": lambda lines: [lines[0], *([*line, ""] for line in lines[1:])],
    "the last column removed": lambda lines: [line[:-1] for line in lines],
    "the first two columns swapped": lambda lines: [[*line[1::-1], *line[2:]] for line in lines],
}

WRITTEN: dict[str, dict[str, Any]] = {
    "all quoted": {"quoting": csv.QUOTE_ALL},
    "other line ends": {"lineterminator": "\r\n"},
    "another delimiter": {"delimiter": ";"},
}


def _more(cell: str) -> str:
    try:
        return f"{float(cell) + 1:g}"
    except ValueError:
        return cell + "x"


CELLS: dict[str, Callable[[str], str]] = {
    "one more": _more,
    "emptied": lambda _: "",
    "a blank in front": lambda cell: f" {cell}",
    "a sign in front": lambda cell: f"+{cell}",
    "written otherwise": lambda cell: f"{cell}.0" if cell.isdigit() else f"{cell}0",
    "other letters": str.swapcase,
    "a formula": lambda cell: f"={cell}",
    "infinite": lambda _: "1e999",
    "a line end inside": lambda cell: f"{cell}\n",
    "very long": lambda cell: cell + "0" * 10_000,
}


def _cell(at: int, change: Callable[[str], str]) -> Callable[[Lines], Lines]:
    """Return a change of one cell in the first line after the header."""

    def changed(lines: Lines) -> Lines:
        if len(lines) < 2 or at >= len(lines[1]):
            return lines
        return [lines[0], [*lines[1][:at], change(lines[1][at]), *lines[1][at + 1 :]], *lines[2:]]

    return changed


def table_forgeries(folder: Path, seal: Change) -> Iterator[Forgery]:
    """Yield forgeries of every table in all its formats at once, with the library's own writers; then with a new count
    in the manifest.
    """
    for path in sorted(folder.glob("*.parquet")):
        table = pq.read_table(path)
        for what, change in _table_changes(table):
            one = _retabled(path.stem, change)
            yield Forgery(f"tables: {path.stem}: {what}", resealed(one, seal))
            if "row" in what:
                more = resealed(_recounted(path.name, one), seal)
                yield Forgery(f"tables: {path.stem}: {what}, counted again", more)


def _retabled(stem: str, change: Tables) -> Change:
    def apply(folder: Path) -> None:
        table = labelled(change(pq.read_table(folder / f"{stem}.parquet")))
        for name, form in FORMATS.items():
            if (folder / f"{stem}.{name}").exists():
                with (folder / f"{stem}.{name}").open("wb") as file:
                    form.write(file, table.schema, table.to_batches() and [table])

    return apply


def labelled(table: pa.Table) -> pa.Table:
    """Return a table with columns of text as columns of labels, the form that formats get."""
    table = table.replace_schema_metadata(None).combine_chunks()
    for at, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            table = table.set_column(at, field.name, pc.dictionary_encode(table.column(at)))
    return table


def _recounted(name: str, change: Change) -> Change:
    """Return a change that also replaces the old number of rows or classes everywhere in the manifest."""

    def apply(folder: Path) -> None:
        before = _counts(pq.read_table(folder / name))
        change(folder)
        after, claims = _counts(pq.read_table(folder / name)), claims_of(folder)
        for place, value in [*walk(claims)]:
            for old, new in zip(before, after, strict=True):
                if place and type(value) in (int, str) and value in (old, str(old)):
                    put(claims, place, type(value)(new))
        say(folder, claims)

    return apply


def _counts(table: pa.Table) -> tuple[int, int]:
    return table.num_rows, table.group_by(table.column_names).aggregate([]).num_rows


def _table_changes(table: pa.Table) -> Iterator[tuple[str, Tables]]:
    if table.num_rows > 1:
        yield from _row_changes(table)
    yield "all rows removed", lambda table: table.slice(0, 0)
    yield "a row doubled", lambda table: pa.concat_tables([table.slice(0, 1), table])
    yield "columns reversed", lambda table: table.select(table.column_names[::-1])
    yield "a column removed", lambda table: table.select(table.column_names[:-1])
    yield "a column more", lambda table: table.append_column("note", pa.array([NOTE] * table.num_rows, pa.string()))
    for at, field in enumerate(table.schema):
        for what, change in _column_changes(field.type):
            yield f"column {field.name} {what}", _column(at, change)


def _row_changes(table: pa.Table) -> Iterator[tuple[str, Tables]]:
    middle = table.num_rows // 2
    without = [at for at in range(table.num_rows) if at != middle]
    swapped = [middle, *range(1, middle), 0, *range(middle + 1, table.num_rows)]
    yield "the first row removed", lambda table: table.slice(1)
    yield "a row removed", lambda table: table.take(without)
    yield "the last row removed", lambda table: table.slice(0, table.num_rows - 1)
    yield "rows reversed", lambda table: table.take(list(range(table.num_rows))[::-1])
    yield "two rows swapped", lambda table: table.take(swapped)
    yield "the class of the first row removed", lambda table: _without_class(table)
    yield "the class of the first row halved", lambda table: _without_class(table, half=True)


def _without_class(table: pa.Table, half: bool = False) -> pa.Table:
    rows = table.to_pylist()
    own = [at for at, row in enumerate(rows) if row == rows[0]]
    gone = set(own[1::2] if half else own)
    return table.take([at for at in range(len(rows)) if at not in gone])


def _column(at: int, change: Callable[[list[Any]], list[Any]]) -> Tables:
    def changed(table: pa.Table) -> pa.Table:
        field = table.schema.field(at)
        cells = pa.array(change(table.column(at).to_pylist()), field.type)
        return table.set_column(at, field, cells)

    return changed


def _column_changes(kind: pa.DataType) -> Iterator[tuple[str, Callable[[list[Any]], list[Any]]]]:
    """Yield changes of the cells in a column of numbers, labels or flags."""
    nothing = "" if pa.types.is_string(kind) else None  # labels are never missing: no format writes that
    yield "with its first cell empty", lambda cells: [nothing, *cells[1:]]
    yield "emptied", lambda cells: [nothing] * len(cells)
    yield "rotated", lambda cells: [*cells[1:], *cells[:1]]
    yield "of one value", lambda cells: cells[:1] * len(cells)
    if pa.types.is_string(kind):
        yield "with a foreign label", lambda cells: [NOTE, *cells[1:]]
        yield "with a foreign label everywhere", lambda cells: [NOTE if cell == cells[0] else cell for cell in cells]
        yield "with a long label", lambda cells: [NOTE * 10_000, *cells[1:]]
        yield "with two labels swapped", _swapped
    elif pa.types.is_boolean(kind):
        yield "with a flag flipped", lambda cells: [not cells[0], *cells[1:]]
    else:
        whole = pa.types.is_integer(kind)
        yield from ((name, change) for name, change in NUMBERS.items() if not whole or name in WHOLE)


def _swapped(cells: list[Any]) -> list[Any]:
    one, other = cells[0], next((cell for cell in cells if cell != cells[0]), cells[0])
    return [{one: other, other: one}.get(cell, cell) for cell in cells]


WHOLE = ("with one more", "doubled", "negative", "zero", "one moved to another cell")
NUMBERS: dict[str, Callable[[list[Any]], list[Any]]] = {
    "with one more": lambda cells: [(cells[0] or 0) + 1, *cells[1:]],
    "with a half more": lambda cells: [(cells[0] or 0) + 0.5, *cells[1:]],
    "doubled": lambda cells: [None if cell is None else cell * 2 for cell in cells],
    "negative": lambda cells: [None if cell is None else -cell for cell in cells],
    "zero": lambda cells: [0] * len(cells),
    "a little more": lambda cells: [(cells[0] or 0) * (1 + 1e-12) + 1e-300, *cells[1:]],
    "huge": lambda cells: [1e300, *cells[1:]],
    "infinite": lambda cells: [float("inf"), *cells[1:]],
    "no number": lambda cells: [float("nan"), *cells[1:]],
    "one moved to another cell": lambda cells: (
        [(cells[0] or 0) + 1, (cells[1] or 0) - 1, *cells[2:]] if len(cells) > 1 else cells
    ),
}
