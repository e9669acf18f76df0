"""Files of SPSS, Stata and SAS (pyreadstat), with their value labels and dates.

Bytes of texts are read one by one (as Latin-1) and decoded here by the file's encoding, because the library stops at a
text that it can't decode, and a text is a matter of its row only. Missing values that the user defined are missing.
"""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowdgate.errors import FileFault
from crowdgate.sources.files import OpenedFile, Slice
from crowdgate.sources.locations import Location, Stamp, opened, size_of
from crowdgate.sources.source import Batch
from crowdgate.sources.table_header import CellType, HeaderColumn, TableHeader
from crowdgate.system.extras import STATISTICS, need

BATCH_ROWS = 1 << 17
LABELS, CODES = "labels", "codes"
_READERS = {
    ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta", ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}  # fmt: skip
_SPSS_DAY = -141_428
"""1582-10-14, from which SPSS counts seconds, in days of the Unix calendar; Stata and SAS count from 1960-01-01."""
_DAY_1960 = -3653
_SECONDS, _MILLISECONDS = 86_400, 86_400_000
_SAS_DAYS = ("DATE", "DDMMYY", "MMDDYY", "YYMMDD", "E8601DA", "B8601DA", "JULIAN", "WEEKDATE", "WORDDATE")
_SPSS_DAYS = ("DATE", "ADATE", "EDATE", "SDATE", "JDATE", "DATETIME", "YMDHMS")


@dataclass(frozen=True)
class StatisticsFiles:
    """The formats of SPSS, Stata and SAS: a file is one slice. With `labels` a value that has a label is read as it."""

    labels: bool

    def examine(self, path: Location, needed: Sequence[str], stamp: Stamp) -> OpenedFile:
        """Return the names of the file's variables, and the whole file as one slice."""
        del needed  # every cell is plain
        return OpenedFile(tuple(_metadata(path).column_names), (Slice(path, size_of(stamp), stamp),))

    def read(self, part: Slice, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows in batches."""
        del unique
        said, start = _metadata(part.path), 0
        raw = dict(zip(said.column_names, _metadata(part.path, encoding="LATIN1").column_names, strict=True))
        while True:
            found, _ = _reader(part.path)(
                part.path, row_offset=start, row_limit=BATCH_ROWS, usecols=[raw[name] for name in columns],
                encoding="LATIN1", output_format="dict", disable_datetime_conversion=True,
            )  # fmt: skip
            rows = len(next(iter(found.values()), ()))
            if not rows:
                return
            yield Batch(rows, 0, {name: self._cells(said, name, found[raw[name]]) for name in columns}, part.size)
            if rows < BATCH_ROWS:
                return
            start += rows

    def _cells(self, said: Any, name: str, values: Sequence[Any]) -> Any:
        """Return the values of a variable as Arrow cells."""
        import pyarrow as pa

        labels = said.variable_value_labels.get(name, {}) if self.labels else {}
        if any(isinstance(value, str) for value in values):
            return pa.array(_texts(values, labels, said.file_encoding or "UTF-8"), pa.binary())
        if labels:
            known = {float(code): label for code, label in labels.items() if isinstance(code, int | float)}
            return pa.array([known.get(value, _number_text(value)) for value in values], pa.string())
        numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        days = _days(said, name, numbers)
        if days is not None:
            return days
        narrow = said.readstat_variable_types.get(name) == "float"  # ids beyond 2^24 name nobody then
        return pa.array(numbers.astype(np.float32) if narrow else numbers, from_pandas=True)


def _texts(values: Sequence[Any], labels: Mapping[Any, str], encoding: str) -> list[bytes | None]:
    """Return texts, or their labels, as bytes of UTF-8."""
    known = {code.encode(): label.encode() for code, label in labels.items() if isinstance(code, str)}
    cells = [_text_bytes(value, encoding) for value in values]
    return [cell if cell is None else known.get(cell, cell) for cell in cells]


def _text_bytes(value: object, encoding: str) -> bytes | None:
    """Return the bytes of a text in UTF-8; those that the file's encoding lacks stay, and no domain holds them."""
    if not isinstance(value, str):
        return None
    raw = value.encode("latin-1", "replace")
    try:
        return raw.decode(encoding).encode()
    except (UnicodeDecodeError, LookupError):
        return raw if not _is_utf8(raw) else b"\xff" + raw


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _number_text(value: float | None) -> str | None:
    if value is None or not np.isfinite(value):
        return None
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))


def _days(said: Any, name: str, numbers: Any) -> Any | None:
    """Return the moments of a variable whose format is one of days or moments, else None."""
    import pyarrow as pa

    unit = _unit(str(said.original_variable_types.get(name) or "").upper(), said)
    if unit is None:
        return None
    first, per_day = unit
    with np.errstate(invalid="ignore", over="ignore"):
        seconds = (numbers / per_day + first) * _SECONDS
    valid = np.abs(seconds) < 2**40  # some 30,000 years
    whole = np.where(valid, np.round(seconds), 0).astype(np.int64)
    return pa.array(whole, pa.timestamp("s"), mask=~valid)


def _unit(stated: str, said: Any) -> tuple[int, int] | None:
    """Return the first day of a date format, in days of the Unix calendar, and the units in a day; None for others."""
    if said.file_format == "dta":
        units = {"%TD": 1, "%D": 1, "%TC": _MILLISECONDS}
        return next(((_DAY_1960, units[each]) for each in units if stated.startswith(each)), None)
    letters = stated.rstrip("0123456789.")
    if said.file_format in ("sav/zsav", "por"):
        return (_SPSS_DAY, _SECONDS) if letters in _SPSS_DAYS else None
    if letters.startswith(("DATETIME", "E8601DT")):
        return _DAY_1960, _SECONDS
    return (_DAY_1960, 1) if letters in _SAS_DAYS else None


def _reader(path: Location) -> Callable[..., tuple[Any, Any]]:
    import pyreadstat

    found: Callable[..., tuple[Any, Any]] = getattr(pyreadstat, _READERS[os.path.splitext(path.name.lower())[1]])
    return found


def _metadata(path: Location, **options: Any) -> Any:
    """Return names, types, formats and labels of a file's variables. Raises FileFault, OSError without a file."""
    import pyreadstat

    assert isinstance(path, Path), "these files are read on this machine only"
    with opened(path):  # a file that is absent, or of another kind, is an OSError
        pass
    try:
        return _reader(path)(path, metadataonly=True, **options)[1]
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, KeyError):
        pass
    raise FileFault(f"{path.name}: not a readable file of SPSS, Stata or SAS with the suffix that its format has")


@dataclass(frozen=True)
class LabelledVariable:
    """A variable as its file describes it. `values` holds the values that have a label and are not read as missing: the
    text of each, as it is read, and its label; `missing` those of the labelled numbers that are. A variable `is_scale`
    if the file says that it is a measured number.
    """

    name: str
    label: str
    type: CellType
    values: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]
    is_scale: bool


def variables(path: Location) -> Iterator[LabelledVariable]:
    """Yield the variables of a file. Raises FileFault if it can't be read, OSError without a file."""
    need(STATISTICS, "a file of SPSS, Stata or SAS")
    has_ranges = not path.name.lower().endswith((".por", ".xpt"))
    said = _metadata(path, **({"user_missing": True} if has_ranges else {}))
    for name, label in zip(said.column_names, said.column_labels, strict=True):
        labels, ranges = said.variable_value_labels.get(name, {}), said.missing_ranges.get(name, ())
        is_number = said.readstat_variable_types.get(name) != "string"
        gone = {code for code in labels if any(map(_holds(code), ranges)) or (is_number and isinstance(code, str))}
        values = tuple((_code_text(code), text) for code, text in labels.items() if code not in gone)
        missing = tuple(_code_text(code) for code in labels if code in gone and not isinstance(code, str))
        is_scale = said.variable_measure.get(name) == "scale"
        kind = _cell_type(said, name, False)
        kind = CellType.WHOLE if kind is CellType.NUMBER and _is_whole(said, name) else kind
        yield LabelledVariable(name, label or "", kind, values, missing, is_scale)


def _is_whole(said: Any, name: str) -> bool:
    """Return whether a variable holds whole numbers: by its print format in SPSS, F2.0, or by its type in Stata."""
    printed = str(said.original_variable_types.get(name) or "").upper()
    is_spss = said.file_format in ("sav/zsav", "por")
    return str(said.readstat_variable_types.get(name)).startswith("int") or (
        is_spss and bool(re.fullmatch(r"[FN]\d+(\.0)?", printed))
    )


def _holds(code: Any) -> Callable[[Any], bool]:
    """Return a test whether a range of missing values holds a code."""
    return lambda missing: type(missing["lo"]) is type(code) and bool(missing["lo"] <= code <= missing["hi"])


def _code_text(code: Any) -> str:
    return code if isinstance(code, str) else _number_text(float(code)) or ""


def statistics_header(path: Location, settings: Mapping[str, str], expected: Collection[str]) -> TableHeader:
    """Return the variables of a file. Raises FileFault if it can't be read, OSError without a file."""
    del expected
    need(STATISTICS, "format: spss, stata or sas")
    said = _metadata(path)
    labels = set(said.variable_value_labels) if settings["values"] == LABELS else set()
    columns = tuple(HeaderColumn(name, _cell_type(said, name, name in labels)) for name in said.column_names)
    return TableHeader(path.name, "the header", columns)


def _cell_type(said: Any, name: str, is_labelled: bool) -> CellType:
    if is_labelled or said.readstat_variable_types.get(name) == "string":
        return CellType.TEXT
    return (
        CellType.NUMBER
        if _unit(str(said.original_variable_types.get(name) or "").upper(), said) is None
        else (CellType.MOMENT)
    )


def files(settings: Mapping[str, str]) -> StatisticsFiles:
    """Return these formats by the settings of a contract's server. Raises ConfigurationError without the extra."""
    need(STATISTICS, "format: spss, stata or sas")
    return StatisticsFiles(settings["values"] == LABELS)
