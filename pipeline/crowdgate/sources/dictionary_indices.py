"""The indices of cells that are read as dictionaries: a damaged file may point outside its dictionary.

Arrow does not look: a join of two such arrays would read memory outside them.
"""

from typing import Any

from crowdgate.sources.source import Batch


def with_valid_indices(batch: Batch) -> Batch:
    """Return the batch. Raises ValueError if a cell of a column that is read as a dictionary has none of its values."""
    import pyarrow as pa

    for cells in batch.cells.values():
        if pa.types.is_dictionary(cells.type) and not _are_valid(cells):
            raise ValueError("a cell that points outside its dictionary")
    return batch


def _are_valid(cells: Any) -> bool:
    import pyarrow.compute as pc

    if cells.null_count == len(cells):
        return True
    if cells.null_count:
        least, most = pc.min_max(cells.indices).as_py().values()
    else:
        indices = cells.indices.to_numpy()
        least, most = indices.min(), indices.max()
    return bool(least >= 0 and most < len(cells.dictionary))
