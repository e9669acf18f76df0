"""The files of a release, made from its histogram and public levels alone: the same release gives the same bytes."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.contract import Attribute
from pipeline.hierarchy import Level
from pipeline.histogram import Histogram, Integers, cut, expand
from pipeline.measures.estimates import Estimate

ROW_GROUP = 1 << 20
DICTIONARY_COLUMNS = ("column", "level", "code", "label", "description")
ESTIMATE_COLUMNS = ("column", "label", "count", "estimate", "standard_error")


def write_parquet(histogram: Histogram, levels: Mapping[str, Level], path: Path) -> None:
    """The rows as Parquet. Dictionaries hold only labels that occur; no index, no pandas metadata, no times."""
    with pq.ParquetWriter(path, _schema(histogram), compression="zstd", store_schema=False) as out:
        for table in _tables(histogram, levels):
            out.write_table(table, ROW_GROUP)


def write_csv(histogram: Histogram, levels: Mapping[str, Level], path: Path) -> None:
    """The rows as CSV with a header, quoted where needed. Equal rows follow each other, so each line is made once."""
    line = io.StringIO(newline="")
    out = csv.writer(line, lineterminator="\n")
    labels = [levels[name].labels for name in histogram.names]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(histogram.names)
        for *codes, count in zip(*histogram.codes, histogram.counts, strict=True):
            out.writerow([held[code] for held, code in zip(labels, codes, strict=True)])
            file.writelines(repeat(line.getvalue(), count))
            line.seek(line.truncate(0))


WRITERS: dict[str, Any] = {"parquet": write_parquet, "csv": write_csv}


def write_dictionary(attributes: Sequence[tuple[Attribute, Level]], path: Path) -> None:
    """Every released column with every public value it may hold, whether or not it occurs."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(DICTIONARY_COLUMNS)
        for attribute, level in attributes:
            for code, label in enumerate(level.labels):
                out.writerow((attribute.name, level.name, code, label, attribute.description))


def write_estimates(found: Iterable[Estimate], path: Path) -> None:
    """Every published value of every column, with the number of persons that it stands for."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(ESTIMATE_COLUMNS)
        out.writerows((each.column, each.label, each.count, each.persons, each.error) for each in found)


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
