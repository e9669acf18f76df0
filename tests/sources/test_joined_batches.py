"""Joined batches hold the rows of the batches that they are made of, in order, whatever the types of cells."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.sources import joined_batches
from crowdgate.sources.joined_batches import joined
from crowdgate.sources.source import Batch
from tests.examples import examples

texts = st.lists(st.none() | st.sampled_from(["a", "b", "ccc", ""]), max_size=6)
TYPES = (pa.string(), pa.binary(), pa.string_view(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()))


def batch(cells: Any, done: int = 0, ragged: int = 0) -> Batch:
    return Batch(len(cells), ragged, {"x": cells, "n": pa.array(range(len(cells)), pa.int16())}, done)


def rows(batches: list[Batch]) -> list[tuple[Any, Any]]:
    return [
        pair
        for each in batches
        for pair in zip(each.cells["x"].cast(pa.string()).to_pylist(), each.cells["n"].to_pylist(), strict=True)
    ]


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(texts, st.sampled_from(TYPES), st.integers(0, 3)), max_size=8), st.integers(1, 20))
def test_no_row_is_lost_added_or_moved(parts: list[tuple[list[str | None], Any, int]], most: int) -> None:
    made = [
        batch(pa.array(cells, pa.string()).cast(kind), at, ragged) for at, (cells, kind, ragged) in enumerate(parts)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joined_batches, "MOST_ROWS", most)
        found = list(joined(made))
    assert rows(found) == rows(made)
    assert sum(each.ragged for each in found) == sum(each.ragged for each in made)
    assert all(each.rows == len(each.cells["x"]) <= max(most, 6) for each in found)
    assert not made or found[-1].done == made[-1].done


def test_small_batches_become_one() -> None:
    small = [batch(pa.array(["a", str(at)]).dictionary_encode(), at) for at in range(100)]
    (found,) = joined(small)
    assert rows([found]) == rows(small)
    assert len(found.cells["x"].dictionary) == 101


@pytest.mark.parametrize("dictionary", [[None, "a"], [f"{at}" for at in range(100)]])
def test_dictionaries_that_arrow_can_not_unify_stay_apart(dictionary: list[str | None]) -> None:
    other = [f"other {at}" for at in range(100)]
    made = [
        batch(pa.DictionaryArray.from_arrays(pa.array(range(len(values)), pa.int8()), pa.array(values)))
        for values in (dictionary, other)
    ]
    found = list(joined(made))
    assert [each.rows for each in found] == [len(dictionary), 100]
    assert rows(found) == rows(made)


def test_bytes_of_a_joined_batch_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined_batches, "MOST_BYTES", 2500)
    made = [batch(pa.array(["a" * 1000]).dictionary_encode()) for _ in range(6)]
    assert [each.rows for each in joined(made)] == [2, 2, 2]


def test_rows_that_stand_for_several_are_not_joined() -> None:
    made = [Batch(1, 0, {"x": pa.array(["a"])}, 0, np.array([2])) for _ in range(2)]
    assert list(joined(made)) == made
