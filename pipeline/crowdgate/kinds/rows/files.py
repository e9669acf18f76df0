"""The files of a release of rows, made from its histogram and public levels alone: the same release, the same bytes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from crowdgate.formats import Format
from crowdgate.formats.written import Writer
from crowdgate.histogram import Histogram, Integers, cut, expand
from crowdgate.kind.kind import Formats
from crowdgate.kinds.rows.candidate import PublishedRows
from crowdgate.kinds.rows.estimates import Estimate, estimates
from crowdgate.kinds.rows.said import RowsManifest
from crowdgate.publish.dictionary import DICTIONARY, write_dictionary, write_lines

DATA = "data"
ESTIMATES = "estimates.csv"
ESTIMATE_COLUMNS = ("column", "label", "count", "estimate", "standard_error")
PIECE_ROWS = 1 << 20


def files(said: RowsManifest, held: PublishedRows, formats: Formats) -> Mapping[str, Writer]:
    """The rows in every format, the dictionary of their columns, and estimates of persons."""
    found = estimates(held.rows, said.mechanism.beta, held.labels)
    data = {f"{DATA}.{name}": _writer(each, held) for name, each in formats.items()}
    return {
        **data,
        DICTIONARY: lambda into: write_dictionary(held.columns, into),
        ESTIMATES: lambda into: write_estimates(found, into),
    }


def write_estimates(found: Iterable[Estimate], into: BinaryIO) -> None:
    """Every published value of every column, with the number of persons that it stands for."""
    lines = ((each.column, each.label, each.count, each.persons, each.error) for each in found)
    write_lines(into, ESTIMATE_COLUMNS, lines)


def schema(names: Sequence[str]) -> pa.Schema:
    """Columns of labels."""
    return pa.schema([(name, pa.dictionary(pa.int32(), pa.string())) for name in names])


def pieces(rows: Histogram, labels: Mapping[str, Sequence[str]]) -> Iterator[pa.Table]:
    """The rows in pieces, so that memory does not grow with their number."""
    for part in cut(rows, PIECE_ROWS):
        found = [np.unique(codes, return_inverse=True) for codes in part.codes]
        ranked = replace(part, codes=tuple(rank.astype(np.int32) for _, rank in found))
        columns = [
            pa.DictionaryArray.from_arrays(pa.array(expand(ranked, name)), _occurring(occurring, labels[name]))
            for name, (occurring, _) in zip(part.names, found, strict=True)
        ]
        yield pa.table(columns, schema=schema(rows.names))


def _writer(into: Format, held: PublishedRows) -> Writer:
    return lambda sink: into.write(sink, schema(held.rows.names), pieces(held.rows, held.labels))


def _occurring(codes: Integers, labels: Sequence[str]) -> pa.Array:
    return pa.array([labels[code] for code in codes], type=pa.string())
