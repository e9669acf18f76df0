"""The person bound: of each person's rows only so many stay, chosen by secret coins."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipeline.histogram import Mask
from pipeline.io.encode import is_text, plain, texts

NOBODY = -1
People = npt.NDArray[np.int32]
_SLICE = 1 << 16


def number_people(batches: Iterable[Any]) -> People:
    """A number per row, equal exactly for rows of one person; NOBODY where the id is null, empty or no UTF-8."""
    ids = pa.chunked_array([_as_bytes(cells) for cells in batches], pa.large_binary()).dictionary_encode()
    if ids.num_chunks == 0:
        return np.empty(0, dtype=np.int32)
    people = np.concatenate([chunk.indices.fill_null(NOBODY).to_numpy(zero_copy_only=False) for chunk in ids.chunks])
    named = _named(ids.chunk(0).dictionary)
    if not named.all():
        people = np.where(np.append(named, False)[people], people, NOBODY)
    return people.astype(np.int32, copy=False)


def rows_each(people: People, words: npt.NDArray[np.uint64], most: int) -> Mask:
    """For each person the `most` rows with the smallest words; of equal words the first ones. Raises ValueError for
    missing words."""
    if words.shape != people.shape or words.dtype != np.uint64:
        raise ValueError("random_words must give one 64-bit word per row")
    rows = np.flatnonzero(people != NOBODY)
    order = rows[np.lexsort((words[rows], people[rows]))]
    owner = people[order]
    first = np.searchsorted(owner, owner, side="left")  # where the rows of this person begin
    chosen = np.zeros(len(people), dtype=np.bool_)
    chosen[order[np.arange(len(order)) - first < most]] = True
    return chosen


def _as_bytes(cells: Any) -> Any:
    """Ids as bytes: a number by its text, so that one null, which turns integers into floats, makes no new people."""
    cells = plain(cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells)
    if is_text(cells.type) or pa.types.is_integer(cells.type):
        return (cells if is_text(cells.type) else cells.cast(pa.string())).cast(pa.large_binary())
    distinct = cells.dictionary_encode()
    names = pa.array([_encoded(text) for text in texts(distinct.dictionary)], pa.large_binary())
    return names.take(distinct.indices)


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


def _named(ids: Any) -> Mask:
    """Which distinct ids can name a person."""
    slices = (ids.slice(start, _SLICE) for start in range(0, len(ids), _SLICE))
    named = [_all_named(part) if _valid_utf8(part) else _each_named(part) for part in slices]
    return np.concatenate([np.zeros(0, dtype=np.bool_), *named])


def _valid_utf8(ids: Any) -> bool:
    try:
        ids.cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True


def _all_named(ids: Any) -> Mask:
    lengths = np.diff(np.frombuffer(ids.buffers()[1], dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1])
    named: Mask = lengths > 0
    return named


def _each_named(ids: Any) -> Mask:
    return np.fromiter((cell != b"" and _is_utf8(cell) for cell in ids.to_pylist()), dtype=np.bool_, count=len(ids))


def _is_utf8(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True
