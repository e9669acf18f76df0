"""Rows of a release as a file has them: one column per attribute, sorted, made from a histogram and its columns'
values.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from crowdgate.arrays import Array
from crowdgate.histogram import Histogram, cut
from crowdgate.publish.dictionary import DictionaryEntry

DATA = "data"
PIECE_ROWS = 1 << 20
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)


def is_number(column: DictionaryEntry, ordered: bool) -> bool:
    """Return whether a column is written as whole numbers: its values are `ordered` and all are canonical whole
    numbers.
    """
    return ordered and all(_WHOLE.fullmatch(label) for label in column.labels)


def schema(columns: Sequence[DictionaryEntry], ordered: Sequence[bool]) -> pa.Schema:
    """Return the Arrow schema of released rows: columns of whole numbers as int64, other columns as labels."""
    pairs = zip(columns, ordered, strict=True)
    return pa.schema([(each.column, pa.int64() if is_number(each, known) else labels(each)) for each, known in pairs])


def labels(column: DictionaryEntry) -> pa.DataType:
    """Return the Arrow type of a column of labels: a dictionary of texts, with the narrowest indices that suffice."""
    index = np.min_scalar_type(-max(1, len(column.labels)))
    return pa.dictionary(pa.from_numpy_dtype(index), pa.string())


def parts(rows: Histogram) -> Iterator[Histogram]:
    """Yield the released rows in pieces, so that memory does not grow with their number. The last column of a piece,
    without a name, is the index of the class among those of all rows.
    """
    place = np.arange(len(rows), dtype=np.int64)
    numbered = replace(rows, names=(*rows.names, ""), codes=(*rows.codes, place), sizes=(*rows.sizes, len(rows)))
    return cut(numbered, PIECE_ROWS)


def repeated(values: Array, part: Histogram) -> pa.Array:
    """Return the value of each row of a piece, given those of its classes. `pyarrow.array` would import all of
    numpy.ma.
    """
    rows = np.repeat(values, part.counts)
    return pa.Array.from_buffers(pa.from_numpy_dtype(rows.dtype), len(rows), [None, pa.py_buffer(rows)])


def column(part: Histogram, entry: DictionaryEntry, kind: pa.DataType) -> pa.Array:
    """Return one column of a piece of rows as Arrow array: numbers, or labels whose dictionary holds the labels of the
    piece.
    """
    codes = part.codes[part.names.index(entry.column)]
    if pa.types.is_integer(kind):
        numbers = np.array([int(label) for label in entry.labels], dtype=np.int64)
        return repeated(numbers[codes], part)
    occurring, rank = np.unique(codes, return_inverse=True)
    ranked = repeated(rank.astype(kind.index_type.to_pandas_dtype()), part)
    own = pa.array([entry.labels[code] for code in occurring], type=pa.string())
    return pa.DictionaryArray.from_arrays(ranked, own, safe=False)  # ranks are places in `own`
