"""A cell that points outside its dictionary, as in a damaged file, is a fault of the file, and never another cell."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.errors import FileFault
from crowdgate.sources.dictionary_indices import with_valid_indices
from crowdgate.sources.source import Batch
from tests.sources.test_sources import WORDS, attribute, contract_of, read, write

PACKED = b"\x24\x49\x92"
"""The indices 0, 1, 2 four times, as Parquet packs them into 2 bits each."""


@given(st.lists(st.none() | st.integers(-3, 4), max_size=8), st.integers(0, 3), st.integers(0, 2))
def test_each_index_is_one_of_the_dictionary_s(indices: list[int | None], size: int, before: int) -> None:
    places = pa.array([None, *indices][1:], pa.int32())
    cells = pa.DictionaryArray.from_arrays(places, pa.array(list("abc")[:size], pa.string()), safe=False)
    batch = Batch(len(cells) - before, 0, {"x": cells.slice(before), "n": pa.array(indices[before:], pa.int8())}, 0)
    if all(index is None or 0 <= index < size for index in indices[before:]):
        assert with_valid_indices(batch) is batch
    else:
        with pytest.raises(ValueError, match="outside its dictionary"):
            with_valid_indices(batch)


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_a_damaged_file_whose_batches_are_joined_is_refused_as_a_whole(wrong: int, tmp_path: Path) -> None:
    cells = np.tile(["a", "1", "é"], 100)
    path = write(tmp_path / "x.parquet", {"x": pa.array(cells)}, 100)
    pieces = path.read_bytes().split(PACKED)
    assert len(pieces) > 3, "texts are packed as expected"
    at = 1 + wrong * (len(pieces) // 3)
    path.write_bytes(PACKED.join(pieces[:at]) + b"\xff" + PACKED[1:] + PACKED.join(pieces[at:]))
    with pytest.raises(FileFault, match="can't be read to its end"):
        read(contract_of(path, attribute("x", WORDS)))
