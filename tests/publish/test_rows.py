"""Columns of released rows: their indices are as narrow as their labels allow, and the files do not depend on that."""

import io

import numpy as np
import pyarrow as pa
import pytest

from crowdgate.formats import FORMATS
from crowdgate.histogram import Histogram
from crowdgate.publish import rows
from crowdgate.publish.dictionary import DictionaryEntry

WIDE = pa.dictionary(pa.int32(), pa.string())


def written(part: Histogram, column: DictionaryEntry, kind: pa.DataType, form: str) -> bytes:
    schema, into = pa.schema([(column.column, kind)]), io.BytesIO()
    table = pa.table([rows.column(part, column, kind)], schema=schema)
    table.validate(full=True)
    FORMATS[form].write(into, schema, [table])
    return into.getvalue()


@pytest.mark.parametrize(
    ("size", "index"),
    [(1, pa.int8()), (128, pa.int8()), (129, pa.int16()), (1 << 15, pa.int16()), ((1 << 15) + 1, pa.int32())],
)
@pytest.mark.parametrize("form", FORMATS)
def test_indices_of_labels_are_narrow_and_change_no_byte_of_a_file(size: int, index: pa.DataType, form: str) -> None:
    column = DictionaryEntry("a", "exact", tuple(f"label {at}" for at in range(size)), "")
    kind = rows.labels(column)
    assert kind.index_type == index
    part = Histogram(("a",), (size,), (np.arange(size),), np.full(size, 2, dtype=np.int64))
    assert written(part, column, kind, form) == written(part, column, WIDE, form)
