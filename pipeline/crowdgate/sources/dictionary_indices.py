"""The indices of cells that are read as dictionaries: a damaged file may point outside its dictionary.

Arrow does not look: a join of two such arrays would read memory outside them.
"""

from typing import Any

from crowdgate.sources.source import Batch


def with_valid_indices(batch: Batch) -> Batch:
    """Return the batch. Raises ValueError if a cell of a column that is read as a dictionary has none of its values."""
    import pyarrow as pa

    for cells in batch.cells.values():
        if isinstance(cells, pa.DictionaryArray) and not _are_valid(cells):
            raise ValueError("a cell that points outside its dictionary")
    return batch


def _are_valid(cells: Any) -> bool:
    if cells.null_count == len(cells):
        return True
    indices = (cells.indices.drop_null() if cells.null_count else cells.indices).to_numpy()
    # without its sign, a negative index is greater than any other
    return bool(indices.view(f"u{indices.itemsize}").max() < len(cells.dictionary))
