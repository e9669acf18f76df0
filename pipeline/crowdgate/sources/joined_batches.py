"""Small batches of successive files or row groups as larger ones, since each batch that is encoded costs its own time.

No cell changes: only arrays of one type are joined, and dictionaries are unified.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from crowdgate.sources.source import Batch

MOST_ROWS = 1 << 17
"""The most rows of a joined batch: they stay in cache."""
MOST_BYTES = 1 << 26
"""The most bytes of the arrays of a joined batch, with their dictionaries."""


def joined(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Yield the same rows in the same order, in batches as large as the limits and the types of the cells allow."""
    held: list[Batch] = []
    rows = size = 0
    for batch in batches:
        added = sum(cells.get_total_buffer_size() for cells in batch.cells.values())
        if held and (rows + batch.rows > MOST_ROWS or size + added > MOST_BYTES or not _fits(held[0], batch)):
            yield from _together(held)
            held, rows, size = [], 0, 0
        held.append(batch)
        rows, size = rows + batch.rows, size + added
        if rows >= MOST_ROWS or size >= MOST_BYTES:  # it is not held while the next one is read
            yield from _together(held)
            held, rows, size = [], 0, 0
    yield from _together(held)


def _fits(first: Batch, other: Batch) -> bool:
    return (
        first.counts is None
        and other.counts is None
        and first.cells.keys() == other.cells.keys()
        and all(cells.type == other.cells[name].type for name, cells in first.cells.items())
    )


def _together(held: list[Batch]) -> Iterator[Batch]:
    """Yield the batches as one, or each by itself where Arrow can't unify their dictionaries."""
    if len(held) < 2:
        yield from held
        return
    cells = _concatenated(held)
    if cells is None:
        yield from held
    else:
        yield replace(
            held[-1], rows=sum(each.rows for each in held), ragged=sum(each.ragged for each in held), cells=cells
        )


def _concatenated(held: list[Batch]) -> dict[str, Any] | None:
    import pyarrow as pa

    try:
        return {name: pa.concat_arrays([each.cells[name] for each in held]) for name in held[0].cells}
    except pa.ArrowException:  # such as an index that is too narrow for the dictionaries together
        return None
