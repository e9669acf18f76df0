"""Rows whose tables are those of a model, by systematic rounding down the junction tree.

From the root on, the rows of each separator's value are assigned cells in proportion to the model's probabilities given
that value: cell by cell along one line, from one uniform draw for each group (systematic sampling, Madow 1949). In each
group a cell, or a run of cells, has its expected number of rows rounded down or up, so that nothing impossible occurs.
The assignment of cells to rows is as even as possible. Rows that are equal in other attributes are adjacent, and each
run of them is spread over the whole line, so that tables across cliques are nearer to the model's than those of
independent draws.
"""

from __future__ import annotations

from collections.abc import Collection
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Integers

if TYPE_CHECKING:
    from crowdgate.arrays import Codes, Floats
    from crowdgate.mechanisms.synthetic.domain import ModelDomain
    from crowdgate.mechanisms.synthetic.junction_tree import Clique
    from crowdgate.mechanisms.synthetic.model import Model

_GOLDEN = (sqrt(5) - 1) / 2


def rows(model: Model, total: int, rng: np.random.Generator) -> tuple[Codes, ...]:
    """Return the codes of `total` synthetic rows in random order: one array for the finest variable of each
    attribute."""
    domain = model.domain
    codes: dict[int, Codes] = {}
    wanted = {*domain.finest, *(variable for clique in model.network.cliques for variable in clique.separator)}
    for at, clique in enumerate(model.network.cliques if total else ()):
        groups = _groups(domain, clique, codes, total)
        order = _order(domain, clique, groups, codes)
        cells = _sample_cells(domain, clique, model.beliefs.given(at), groups[order], rng)
        for axis in reversed(clique.axes):
            cells, values = np.divmod(cells, domain.sizes[axis])
            codes[axis] = np.empty(total, dtype=np.int32)
            codes[axis][order] = values
        _coarsen(domain, clique, codes, wanted)
    order = rng.permutation(total)
    return tuple(codes.pop(variable, np.zeros(0, dtype=np.int32))[order] for variable in domain.finest)


def _groups(domain: ModelDomain, clique: Clique, codes: dict[int, Codes], total: int) -> Integers:
    """Return for each row the number of its separator's combination of values, i.e. of its group in this clique."""
    if not clique.separator:
        return np.zeros(total, dtype=np.int64)
    known = tuple(codes[variable] for variable in clique.separator)
    return np.asarray(np.ravel_multi_index(known, domain.shape(clique.separator)))


def _order(domain: ModelDomain, clique: Clique, groups: Integers, codes: dict[int, Codes]) -> Integers:
    """Return the places of rows group by group, ordered within a group by their values in earlier cliques, as far as
    these fit into a whole number."""
    here = {domain.attribute_of[axis] for axis in clique.axes}
    key, span = groups, domain.cells(clique.separator)
    for variable in (v for v in domain.finest if v in codes and domain.attribute_of[v] not in here):
        span *= domain.sizes[variable]
        if span >= 1 << 63:
            break
        key = key * domain.sizes[variable] + codes[variable]
    return np.argsort(key, kind="stable")


def _coarsen(domain: ModelDomain, clique: Clique, codes: dict[int, Codes], wanted: Collection[int]) -> None:
    """Add the codes of the wanted variables in a clique to `codes`, from those of the clique's axes."""
    axis_of = {domain.attribute_of[axis]: axis for axis in clique.axes}
    for variable in wanted:
        if clique.members >> variable & 1 and variable not in codes:
            axis = axis_of[domain.attribute_of[variable]]
            codes[variable] = domain.codes(axis, variable)[codes[axis]]


def _sample_cells(
    domain: ModelDomain, clique: Clique, given: Floats, groups: Integers, rng: np.random.Generator
) -> Integers:
    """Return for each row the cell of the clique that it is assigned. `given` are the cells' probabilities given the
    separator's value; `groups` hold the number of each row's group, rows in `_order`."""
    group_of = _group_of_lines(domain, clique)
    counts = np.bincount(groups, minlength=domain.cells(clique.separator))
    lines = np.argsort(group_of, kind="stable")
    lines = lines[counts[group_of[lines]] > 0]
    columns = rng.permutation(given.size // len(group_of))
    expected = given.reshape(len(group_of), -1)[np.ix_(lines, columns)] * counts[group_of[lines], None]
    cells = (lines[:, None] * len(columns) + columns).reshape(-1)
    numbers = _rounded(expected.reshape(-1), np.repeat(group_of[lines], len(columns)), counts, rng)
    out = np.empty(len(groups), dtype=np.int64)
    out[_stratified_order(groups, rng)] = np.repeat(cells, numbers)
    return out


def _stratified_order(groups: Integers, rng: np.random.Generator) -> Integers:
    """Return the places of rows group by group, and in each by the fractional parts of multiples of the golden ratio
    (Kronecker's sequence) from a uniform start: each run of rows is spread evenly over the line of cells."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    number = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(groups)))
    turns = (np.arange(len(groups)) - starts[number]) * _GOLDEN + rng.random(len(starts))[number]
    return np.argsort(number + turns % 1, kind="stable")


def _group_of_lines(domain: ModelDomain, clique: Clique) -> Integers:
    """Return for each cell over the axes that a clique shares with its separator the number of the separator's
    value."""
    shared = clique.axes[: len(clique.separator)]
    codes = [domain.codes(axis, coarser) for axis, coarser in zip(shared, clique.separator, strict=True)]
    if not codes:
        return np.zeros(1, dtype=np.int64)
    return np.asarray(np.ravel_multi_index(np.ix_(*codes), domain.shape(clique.separator))).reshape(-1)


def _rounded(expected: Floats, groups: Integers, counts: Integers, rng: np.random.Generator) -> Integers:
    """Return a whole number of rows for each cell, in group order, with `counts` in each group. Along a group's line
    the sum up to any cell is that of `expected` plus one uniform draw, rounded down."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    sums = np.cumsum(expected)
    number = np.searchsorted(starts, np.arange(len(groups)), side="right") - 1
    before = np.concatenate([np.zeros(1), sums])[starts]
    whole = sums[np.append(starts[1:], len(sums)) - 1] - before
    rows = counts[groups[starts]]
    # the cumulated share before cells of expectation 0 at the end of a line is exactly 1
    share = (sums - before[number]) / whole[number]
    floors = np.floor(share * rows[number] + rng.random(len(starts))[number]).astype(np.int64)
    ends = np.minimum(floors, rows[number]) + (np.cumsum(rows) - rows)[number]
    return np.asarray(np.diff(ends, prepend=0))
