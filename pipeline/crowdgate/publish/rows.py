"""Rows of a release as a file has them: one column per attribute, sorted, made from a histogram and its columns'
values.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from crowdgate.arrays import AnyIntegers
from crowdgate.histogram import Histogram, cut, expand
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
    return pa.schema([(each.column, pa.int64() if is_number(each, known) else labels()) for each, known in pairs])


def labels() -> pa.DataType:
    """Return the Arrow type of a column of labels: a dictionary of texts."""
    return pa.dictionary(pa.int32(), pa.string())


def parts(rows: Histogram) -> Iterator[tuple[Histogram, AnyIntegers]]:
    """Yield the released rows in pieces, so that memory does not grow with their number; with each piece, the class
    index of each of its rows.
    """
    place = np.arange(len(rows), dtype=np.int64)
    numbered = replace(rows, names=(*rows.names, ""), codes=(*rows.codes, place), sizes=(*rows.sizes, len(rows)))
    for part in cut(numbered, PIECE_ROWS):
        yield part, expand(part, "")


def column(part: Histogram, entry: DictionaryEntry, kind: pa.DataType) -> pa.Array:
    """Return one column of a piece of rows as Arrow array: numbers, or labels whose dictionary holds the labels of the
    piece.
    """
    codes = expand(part, entry.column)
    if pa.types.is_integer(kind):
        return pa.array(np.array([int(label) for label in entry.labels], dtype=np.int64)[codes])
    occurring, rank = np.unique(part.codes[part.names.index(entry.column)], return_inverse=True)
    ranked = np.repeat(rank.astype(np.int32), part.counts)
    own = pa.array([entry.labels[code] for code in occurring], type=pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(ranked), own)
