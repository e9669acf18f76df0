"""The files of a release, made from its histogram and public levels alone: the same release gives the same bytes."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from pipeline.contract import Attribute
from pipeline.hierarchy import Level
from pipeline.histogram import Histogram, Integers, cut, expand

ROW_GROUP = 1 << 20
DICTIONARY_COLUMNS = ("column", "level", "code", "label", "description")


def write_parquet(histogram: Histogram, levels: Mapping[str, Level], path: Path) -> None:
    """The rows as Parquet. Dictionaries hold only labels that occur; no index, no pandas metadata, no times."""
    with pq.ParquetWriter(path, _schema(histogram), compression="zstd", store_schema=False) as out:
        for table in _tables(histogram, levels):
            out.write_table(table, ROW_GROUP)


def write_csv(histogram: Histogram, levels: Mapping[str, Level], path: Path) -> None:
    """The rows as CSV with a header, quoted where needed."""
    options = pyarrow.csv.WriteOptions(quoting_style="needed")
    with pyarrow.csv.CSVWriter(path, _schema(histogram), write_options=options) as out:
        for table in _tables(histogram, levels):
            out.write_table(table)


WRITERS: dict[str, Any] = {"parquet": write_parquet, "csv": write_csv}


def write_dictionary(attributes: Sequence[tuple[Attribute, Level]], path: Path) -> None:
    """Every released column with every public value it may hold, whether or not it occurs."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(DICTIONARY_COLUMNS)
        for attribute, level in attributes:
            for code, label in enumerate(level.labels):
                out.writerow((attribute.name, level.name, code, label, attribute.description))


def _schema(histogram: Histogram) -> pa.Schema:
    return pa.schema([(name, pa.dictionary(pa.int32(), pa.string())) for name in histogram.names])


def _tables(histogram: Histogram, levels: Mapping[str, Level]) -> Iterator[pa.Table]:
    """The rows in row groups, so that memory does not grow with their number."""
    for part in cut(histogram, ROW_GROUP):
        found = [np.unique(codes, return_inverse=True) for codes in part.codes]
        ranked = replace(part, codes=tuple(rank.astype(np.int32) for _, rank in found))
        columns = [
            pa.DictionaryArray.from_arrays(pa.array(expand(ranked, name)), _labels(occurring, levels[name]))
            for name, (occurring, _) in zip(part.names, found, strict=True)
        ]
        yield pa.table(columns, schema=_schema(histogram))


def _labels(codes: Integers, level: Level) -> pa.Array:
    return pa.array([level.labels[code] for code in codes], type=pa.string())
