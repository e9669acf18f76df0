"""Writers of one table in every format that sources read."""

import datetime as dt
import gzip
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq

Columns = Mapping[str, Sequence[Any]]
"""Cells by column: texts, numbers, days, None."""
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = (
    '<Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
)


def write_workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[Any]]]) -> None:
    """Write an Excel workbook: by sheet its rows, the header first."""
    numbers = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{i}" r:id="r{i}"/>' for i, name in zip(numbers, sheets, strict=True)
    )
    links = "".join(_link(f"r{i}", "worksheet", f"worksheets/sheet{i}.xml") for i in numbers)
    with zipfile.ZipFile(path, "w") as book:
        kinds = f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
        book.writestr("[Content_Types].xml", f"{kinds}{_TYPES}</Types>")
        book.writestr("_rels/.rels", _links(_link("r1", "officeDocument", "xl/workbook.xml")))
        names = f'<workbook xmlns="{_MAIN}" xmlns:r="{_DOCUMENT}"><sheets>{listed}</sheets></workbook>'
        book.writestr("xl/workbook.xml", names)
        styles = '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs>'
        book.writestr("xl/styles.xml", f'<styleSheet xmlns="{_MAIN}">{styles}</styleSheet>')
        book.writestr("xl/_rels/workbook.xml.rels", _links(links + _link("rs", "styles", "styles.xml")))
        for i, rows in zip(numbers, sheets.values(), strict=True):
            body = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
            text = f'<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData></worksheet>'
            book.writestr(f"xl/worksheets/sheet{i}.xml", text)


def _link(name: str, kind: str, target: str) -> str:
    return f'<Relationship Id="{name}" Type="{_DOCUMENT}/{kind}" Target="{target}"/>'


def _links(listed: str) -> str:
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def _cell(value: Any) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, dt.date):
        return f'<c s="1"><v>{(value - dt.date(1899, 12, 30)).days}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value!r}</v></c>"
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'


def _excel(path: Path, columns: Columns) -> None:
    write_workbook(path, {"table": [list(columns), *map(list, zip(*columns.values(), strict=True))]})


def _statistics(write: str, days: str) -> Callable[[Path, Columns], None]:
    def written(path: Path, columns: Columns) -> None:
        import pandas as pd
        import pyreadstat

        frame = pd.DataFrame({name: _statistics_cells(cells) for name, cells in columns.items()})
        dated = {n: days for n, cells in columns.items() if any(isinstance(each, dt.date) for each in cells)}
        getattr(pyreadstat, write)(frame, path, **({"variable_format": dated} if days and dated else {}))

    return written


def _statistics_cells(cells: Sequence[Any]) -> Any:
    import pandas as pd

    if any(isinstance(each, dt.date) for each in cells):
        return pd.Series(
            [None if each is None else dt.datetime.combine(each, dt.time()) for each in cells], dtype="datetime64[us]"
        )
    texts = any(isinstance(each, str) for each in cells)
    return pd.Series(list(cells), dtype=object if texts else float)


def _csv(path: Path, columns: Columns) -> None:
    options = pyarrow.csv.WriteOptions(quoting_style="needed")
    pyarrow.csv.write_csv(pa.table(dict(columns)), path, options)


def _compressed(codec: str) -> Callable[[Path, Columns], None]:
    def written(path: Path, columns: Columns) -> None:
        with pa.CompressedOutputStream(str(path), codec) as out:
            pyarrow.csv.write_csv(pa.table(dict(columns)), out, pyarrow.csv.WriteOptions(quoting_style="needed"))

    return written


def _members(path: Path, columns: Columns) -> None:
    """Write CSV as two members of one gzip file, as parallel compressors do."""
    plain = path.with_suffix("")
    _csv(plain, columns)
    text = plain.read_bytes()
    plain.unlink()
    path.write_bytes(gzip.compress(text[: len(text) // 2]) + gzip.compress(text[len(text) // 2 :]))


def _arrow(path: Path, columns: Columns) -> None:
    table = pa.table(dict(columns))
    with pa.ipc.new_file(path, table.schema) as out:
        out.write_table(table, 3)


def _arrow_stream(path: Path, columns: Columns) -> None:
    table = pa.table(dict(columns))
    with pa.ipc.new_stream(path, table.schema) as out:
        out.write_table(table, 3)


WRITERS: Mapping[str, tuple[str, str, Callable[[Path, Columns], None]]] = {
    "parquet": ("parquet", "t.parquet", lambda path, columns: pq.write_table(pa.table(dict(columns)), path, 5)),
    "csv": ("csv", "t.csv", _csv),
    "gz": ("csv", "t.csv.gz", _compressed("gzip")),
    "gz of two members": ("csv", "t.csv.gz", _members),
    "zst": ("csv", "t.csv.zst", _compressed("zstd")),
    "arrow": ("arrow", "t.arrow", _arrow),
    "arrow stream": ("arrow", "t.arrows", _arrow_stream),
    "excel": ("excel", "t.xlsx", _excel),
    "spss": ("spss", "t.sav", _statistics("write_sav", "DATE11")),
    "stata": ("stata", "t.dta", _statistics("write_dta", "")),
    "sas": ("sas", "t.xpt", _statistics("write_xport", "DATETIME20")),
}
"""By form of a table: the format of its server, the name of its file, and the function that writes it."""
NEEDS = {"excel": "fastexcel", "spss": "pyreadstat", "stata": "pyreadstat", "sas": "pyreadstat"}
"""The module that a format needs, by format."""
