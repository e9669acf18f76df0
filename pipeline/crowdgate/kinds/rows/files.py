"""The files of a release of rows, made from its histogram and public levels alone: the same release, the same bytes."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from crowdgate.contracts.contract import Contract
from crowdgate.formats import Format
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, Integers, cut, expand
from crowdgate.kind.kind import Formats, Writer
from crowdgate.kinds.rows.candidate import RowsCandidate
from crowdgate.kinds.rows.estimates import Estimate, estimates
from crowdgate.mechanisms.rows.safe_k import SafeK
from crowdgate.publish.dictionary import DICTIONARY, write_dictionary

DATA = "data"
ESTIMATES = "estimates.csv"
ESTIMATE_COLUMNS = ("column", "label", "count", "estimate", "standard_error")
PIECE_ROWS = 1 << 20


def files(safe: SafeK, candidate: RowsCandidate, contract: Contract, formats: Formats) -> Mapping[str, Writer]:
    """The rows in every format, the dictionary of their columns, and estimates of persons."""
    levels, rows = candidate.static.levels, candidate.rows
    attributes = [(contract.by_name[name], level) for name, level in levels.items()]
    data = {f"{DATA}.{name}": _writer(each, rows, levels) for name, each in formats.items()}
    return {
        **data,
        DICTIONARY: lambda path: write_dictionary(attributes, path),
        ESTIMATES: lambda path: write_estimates(estimates(rows, levels, safe.beta, levels), path),
    }


def write_estimates(found: Iterable[Estimate], path: Path) -> None:
    """Every published value of every column, with the number of persons that it stands for."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(ESTIMATE_COLUMNS)
        out.writerows((each.column, each.label, each.count, each.persons, each.error) for each in found)


def schema(names: Sequence[str]) -> pa.Schema:
    """Columns of labels."""
    return pa.schema([(name, pa.dictionary(pa.int32(), pa.string())) for name in names])


def pieces(rows: Histogram, levels: Mapping[str, Level]) -> Iterator[pa.Table]:
    """The rows in pieces, so that memory does not grow with their number."""
    for part in cut(rows, PIECE_ROWS):
        found = [np.unique(codes, return_inverse=True) for codes in part.codes]
        ranked = replace(part, codes=tuple(rank.astype(np.int32) for _, rank in found))
        columns = [
            pa.DictionaryArray.from_arrays(pa.array(expand(ranked, name)), _labels(occurring, levels[name]))
            for name, (occurring, _) in zip(part.names, found, strict=True)
        ]
        yield pa.table(columns, schema=schema(rows.names))


def _writer(into: Format, rows: Histogram, levels: Mapping[str, Level]) -> Writer:
    return lambda path: into.write(path, schema(rows.names), pieces(rows, levels))


def _labels(codes: Integers, level: Level) -> pa.Array:
    return pa.array([level.labels[code] for code in codes], type=pa.string())
