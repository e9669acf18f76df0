"""The files of a release, made from its histogram and public levels alone: the same release gives the same bytes."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from pipeline.contract import Attribute
from pipeline.hierarchy import Level
from pipeline.histogram import Histogram, expand

ROW_GROUP = 1 << 20
DICTIONARY_COLUMNS = ("column", "level", "code", "label", "description")


def write_parquet(histogram: Histogram, levels: Mapping[str, Level], path: Path) -> None:
    """The rows as Parquet. Dictionaries hold only labels that occur; no index, no pandas metadata, no times."""
    table = _table(histogram, levels)
    pq.write_table(
        table, path, compression="zstd", row_group_size=ROW_GROUP, store_schema=False, write_page_index=False
    )


def write_csv(histogram: Histogram, levels: Mapping[str, Level], path: Path) -> None:
    """The rows as CSV with a header, quoted where needed."""
    options = pyarrow.csv.WriteOptions(quoting_style="needed")
    pyarrow.csv.write_csv(_table(histogram, levels), path, options)


WRITERS: dict[str, Any] = {"parquet": write_parquet, "csv": write_csv}


def write_dictionary(attributes: Sequence[tuple[Attribute, Level]], path: Path) -> None:
    """Every released column with every public value it may hold, whether or not it occurs."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(DICTIONARY_COLUMNS)
        for attribute, level in attributes:
            for code, label in enumerate(level.labels):
                out.writerow((attribute.name, level.name, code, label, attribute.description))


def _table(histogram: Histogram, levels: Mapping[str, Level]) -> pa.Table:
    columns = [_column(expand(histogram, name), levels[name]) for name in histogram.names]
    return pa.table(columns, names=list(histogram.names))


def _column(codes: "np.typing.NDArray[np.integer]", level: Level) -> pa.DictionaryArray:
    occurring = np.flatnonzero(np.bincount(codes, minlength=len(level)))
    rank = np.zeros(len(level), dtype=np.int32)
    rank[occurring] = np.arange(len(occurring), dtype=np.int32)
    labels = pa.array([level.labels[code] for code in occurring], type=pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(rank[codes]), labels)
