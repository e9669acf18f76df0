"""Margins of margins: sums of figures that several tables have in common.

If each cell of one table lies wholly in a cell of another (on the given classes), the first table's figures add up to
the second's. For these sums the equations of many overlapping tables are nearly dependent. Solving them exactly beside
a diagonal leaves conjugate gradients few iterations (two-level preconditioning; Nicolaides 1987).
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from crowdgate.arrays import Integers


def common_sums(tables: Sequence[Integers]) -> Any:
    """Return a sparse matrix of figures (rows) by sums (columns), 1 if the figure is part of the sum, else 0. `tables`
    hold for each table the cell of each class; figures are the cells that occur, table by table."""
    from scipy.sparse import csr_array

    dense = [np.unique(cells, return_inverse=True)[1].reshape(-1) for cells in tables]
    sizes = [int(cells.max(initial=-1)) + 1 for cells in dense]
    starts, rows, columns, width = np.cumsum([0, *sizes]), [], [], 0
    for finer, groups in _nested(dense, sizes):
        rows.append(starts[finer] + np.arange(sizes[finer]))
        columns.append(width + groups)
        width += int(groups.max()) + 1
    if not width:
        return csr_array((int(starts[-1]), 0))
    entries = np.ones(sum(map(len, rows))), (np.concatenate(rows), np.concatenate(columns))
    return csr_array(entries, shape=(int(starts[-1]), width))


def _nested(tables: Sequence[Integers], sizes: Sequence[int]) -> Iterator[tuple[int, Integers]]:
    """Yield (table, groups): each table whose cells all lie within cells of a smaller table, with the enclosing cell of
    each of its cells; then each such enclosing table with its own cells."""
    containers = set[int]()
    for finer, cells in enumerate(tables):
        example = np.zeros(sizes[finer], dtype=np.int64)
        example[cells] = np.arange(len(cells))
        for coarser, others in enumerate(tables):
            if sizes[coarser] < sizes[finer] and (others[example][cells] == others).all():
                containers.add(coarser)
                yield finer, others[example]
    for table in sorted(containers):
        yield table, np.arange(sizes[table])
