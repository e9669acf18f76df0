"""Rows whose tables are those of a model, by systematic rounding down the junction tree.

From the root on, the rows of each separator's value are given cells in proportion to the model's probabilities given
that value: cell by cell along one line, from one uniform draw a group (systematic sampling, Madow 1949), and in random
order. In every group a cell, or a run of cells, has its expected number of rows rounded down or up, so that nothing
impossible occurs.
"""

import numpy as np
import numpy.typing as npt

from crowdgate.domain import Codes
from crowdgate.mechanisms.synthetic.domain import Domain, Floats
from crowdgate.mechanisms.synthetic.junction_tree import Clique
from crowdgate.mechanisms.synthetic.model import Model

Indices = npt.NDArray[np.int64]


def rows(model: Model, total: int, rng: np.random.Generator) -> tuple[Codes, ...]:
    """Codes of the finest variable of every attribute, for `total` rows in random order."""
    domain = model.domain
    if not total:
        return tuple(np.zeros(0, dtype=np.int32) for _ in domain.finest)
    codes: dict[int, Codes] = {}
    for at, clique in enumerate(model.network.cliques):
        # a fresh order for every clique: given the separator, one clique's cells tell nothing of another's
        order = rng.permutation(total)
        groups = _groups(domain, clique, codes, total)
        cells = _drawn(domain, clique, model.beliefs.given(at), groups[order], rng)
        found = np.unravel_index(cells, domain.shape(clique.axes))
        for axis, values in zip(clique.axes, found, strict=True):
            codes[axis] = np.empty(total, dtype=np.int32)
            codes[axis][order] = values
        _coarsen(domain, clique, codes)
    return tuple(codes[variable] for variable in domain.finest)


def _groups(domain: Domain, clique: Clique, codes: dict[int, Codes], total: int) -> Indices:
    """The number of every row's value of the separator."""
    if not clique.separator:
        return np.zeros(total, dtype=np.int64)
    known = tuple(codes[variable] for variable in clique.separator)
    return np.asarray(np.ravel_multi_index(known, domain.shape(clique.separator)))


def _coarsen(domain: Domain, clique: Clique, codes: dict[int, Codes]) -> None:
    """Codes of all members of a clique, from those of its axes."""
    axis_of = {domain.attribute_of[axis]: axis for axis in clique.axes}
    for variable in range(len(domain.variables)):
        if clique.members >> variable & 1 and variable not in codes:
            axis = axis_of[domain.attribute_of[variable]]
            codes[variable] = domain.codes(axis, variable)[codes[axis]]


def _drawn(domain: Domain, clique: Clique, given: Floats, groups: Indices, rng: np.random.Generator) -> Indices:
    """A cell of the clique for each row; rows stand in random order, with the number of their group."""
    group_of = _group_of_lines(domain, clique)
    counts = np.bincount(groups, minlength=domain.cells(clique.separator))
    lines = np.argsort(group_of, kind="stable")
    lines = lines[counts[group_of[lines]] > 0]
    columns = rng.permutation(given.size // len(group_of))
    expected = given.reshape(len(group_of), -1)[np.ix_(lines, columns)] * counts[group_of[lines], None]
    cells = (lines[:, None] * len(columns) + columns).reshape(-1)
    numbers = _rounded(expected.reshape(-1), np.repeat(group_of[lines], len(columns)), counts, rng)
    out = np.empty(len(groups), dtype=np.int64)
    out[np.argsort(groups, kind="stable")] = np.repeat(cells, numbers)
    return out


def _group_of_lines(domain: Domain, clique: Clique) -> Indices:
    """The separator's value of every cell over the axes that a clique shares with it."""
    shared = clique.axes[: len(clique.separator)]
    codes = [domain.codes(axis, coarser) for axis, coarser in zip(shared, clique.separator, strict=True)]
    if not codes:
        return np.zeros(1, dtype=np.int64)
    return np.asarray(np.ravel_multi_index(np.ix_(*codes), domain.shape(clique.separator))).reshape(-1)


def _rounded(expected: Floats, groups: Indices, counts: Indices, rng: np.random.Generator) -> Indices:
    """Whole numbers for cells that stand group by group, `counts` in each: along a group's line the sum up to any cell
    is that of `expected` plus one uniform draw, rounded down."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    sums = np.cumsum(expected)
    number = np.searchsorted(starts, np.arange(len(groups)), side="right") - 1
    before = np.concatenate([np.zeros(1), sums])[starts]
    whole = sums[np.append(starts[1:], len(sums)) - 1] - before
    rows = counts[groups[starts]]
    # cells of expectation 0 at the end of a line have a share of exactly 1 before them
    share = (sums - before[number]) / whole[number]
    floors = np.floor(share * rows[number] + rng.random(len(starts))[number]).astype(np.int64)
    ends = np.minimum(floors, rows[number]) + (np.cumsum(rows) - rows)[number]
    return np.asarray(np.diff(ends, prepend=0))
