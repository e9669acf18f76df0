"""Counting a workload: few covering views in one scan, each answer a projection of one of them, all in integers.

An answer is exact whatever its size, and then clamped to 64 bits, in which noise is drawn. Clamping never increases the
change that a person makes; clamping parts of an answer would depend on how it is split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.hierarchy import Level, coarser_codes
from crowdgate.histogram import Histogram, View

if TYPE_CHECKING:
    from crowdgate.arrays import Codes
    from crowdgate.mechanisms.tables.workload import LinearQuery

VIEW_CELLS = 1 << 20
"""Largest number of cells of a covering view: its counters (8 MiB) are summed once for each table in it."""
MOST = (1 << 63) - 1
"""The greatest answer; its negative is the least."""


def cover(queries: Sequence[LinearQuery], most: int = VIEW_CELLS) -> dict[str, View]:
    """Return views of at most `most` cells (more only if one query has more) such that each query is a projection of
    one.

    Greedy: the largest query first, each into the view that grows least.
    """
    needs = sorted((needed_levels(query) for query in queries), key=_cells, reverse=True)
    views: list[dict[str, Level]] = []
    for need in needs:
        grown = [(_cells(union) / _cells(view), at, union) for at, view, union in _unions(views, need)]
        fitting = [candidate for candidate in grown if candidate[0] == 1 or _cells(candidate[2]) <= most]
        if fitting:
            _, at, union = min(fitting, key=lambda candidate: candidate[:2])
            views[at] = union
        else:
            views.append(need)
    return {f"view {at}": View(levels) for at, levels in enumerate(views)}


def needed_levels(query: LinearQuery) -> dict[str, Level]:
    """Return the levels that a view must have to answer the query: the query's levels, and its summed column at its
    grid's level."""
    grid = query.grid
    return dict(query.levels) if grid is None else {**query.levels, grid.column: grid.level}


def answer(
    queries: Sequence[LinearQuery], views: Mapping[str, View], histograms: Mapping[str, Histogram]
) -> tuple[Integers, ...]:
    """Return the array of true answers of each query (confidential), computed from the histograms of the views."""
    answers: list[Integers | None] = [None] * len(queries)
    for name, members in _members(queries, views).items():
        axes = dict(views[name].levels)
        wide = _wide(histograms[name], [queries[at] for at in members])
        if views[name].cells > VIEW_CELLS or wide:
            for at in members:
                answers[at] = _tuple_by_tuple(histograms[name], axes, queries[at], wide=wide)
            continue
        wanted = {at: tuple(n for n in axes if n in needed_levels(queries[at])) for at in members}
        for at, (array, kept) in _margins(_dense(histograms[name]), tuple(axes), wanted).items():
            answers[at] = _finish(array, {n: axes[n] for n in kept}, queries[at])
    return tuple(found for found in answers if found is not None)


def _members(queries: Sequence[LinearQuery], views: Mapping[str, View]) -> dict[str, list[int]]:
    """Return for each view the places of the queries that it answers. A query is assigned to the smallest view that can
    answer it."""
    members: dict[str, list[int]] = {name: [] for name in views}
    for at, query in enumerate(queries):
        able = [name for name, view in views.items() if _view_answers(view.levels, needed_levels(query))]
        members[min(able, key=lambda name: views[name].cells)].append(at)
    return {name: found for name, found in members.items() if found}


def _margins(
    array: Integers, axes: tuple[str, ...], wanted: Mapping[int, tuple[str, ...]]
) -> dict[int, tuple[Integers, tuple[str, ...]]]:
    """Return the margin of an array for each key of `wanted`, with the names of its axes. Computed by halves: axes that
    a half of the margins does not need are summed out once for the half."""
    union = tuple(axis for axis in axes if any(axis in names for names in wanted.values()))
    array = np.asarray(array.sum(axis=tuple(i for i, axis in enumerate(axes) if axis not in union), dtype=np.int64))
    if all(names == union for names in wanted.values()):
        return dict.fromkeys(wanted, (array, union))
    order = sorted(wanted, key=lambda at: [axis not in wanted[at] for axis in union])
    whole = [at for at in order if wanted[at] == union]
    rest = [at for at in order if wanted[at] != union]
    cut = _cut(rest, wanted, union)
    halves = [half for half in (rest[:cut], rest[cut:]) if half]
    found = dict.fromkeys(whole, (array, union))
    for half in halves:
        found |= _margins(array, union, {at: wanted[at] for at in half})
    return found


def _cut(rest: Sequence[int], wanted: Mapping[int, tuple[str, ...]], union: tuple[str, ...]) -> int:
    """Return the place at which to halve margins ordered by their first axes: behind those that need the first axis, if
    others do not."""
    first = sum(union[0] in wanted[at] for at in rest)
    return first if 0 < first < len(rest) else max(1, len(rest) // 2)


def _finish(array: Integers, axes: Mapping[str, Level], query: LinearQuery) -> Integers:
    """Return the answer of a query from a margin of its view: brought to the query's levels and order of axes, with a
    summed column weighted by its integers."""
    target = needed_levels(query)
    for i, (name, level) in enumerate(axes.items()):
        if level is not target[name]:
            array = _coarsened(array, i, coarser_codes(level, target[name]), len(target[name]))
    names = list(axes)
    order = [names.index(name) for name in target]
    array = array.transpose(order)
    if query.grid is None:
        return np.ascontiguousarray(array).reshape(query.shape)
    column = list(target).index(query.grid.column)
    return np.ascontiguousarray(np.tensordot(array, query.grid.weights, axes=([column], [0]))).reshape(query.shape)


def _wide(histogram: Histogram, queries: Sequence[LinearQuery]) -> bool:
    """Return True if an answer of these queries, or a part of it, might need more than 64 bits."""
    greatest = max((query.grid.greatest for query in queries if query.grid is not None), default=1)
    return float(histogram.counts.sum(dtype=np.float64)) * greatest >= MOST / 2


def _tuple_by_tuple(histogram: Histogram, axes: Mapping[str, Level], query: LinearQuery, *, wide: bool) -> Integers:
    """Return the answer of a query from the distinct tuples of a histogram: for a view with too many cells for an
    array, or in Python's integers (`wide`) if 64 bits might not suffice."""
    codes = dict(zip(histogram.names, histogram.codes, strict=True))
    cell = np.zeros(len(histogram), dtype=np.int64)
    for name, level in query.levels.items():
        cell = cell * len(level) + coarser_codes(axes[name], level)[codes[name]]
    kind = object if wide else np.int64
    grid, amounts = query.grid, histogram.counts.astype(kind)
    if grid is not None:
        column = coarser_codes(axes[grid.column], grid.level)[codes[grid.column]]
        amounts = amounts * grid.weights.astype(kind)[column]
    out = np.zeros(query.query.cells, dtype=kind)
    np.add.at(out, cell, amounts)
    return np.clip(out, -MOST, MOST).astype(np.int64).reshape(query.shape)


def _coarsened(array: Integers, axis: int, codes: Codes, size: int) -> Integers:
    moved = np.moveaxis(array, axis, 0)
    out = np.zeros((size, *moved.shape[1:]), dtype=np.int64)
    np.add.at(out, codes, moved)
    return np.moveaxis(out, 0, axis)


def _dense(histogram: Histogram) -> Integers:
    cells = np.zeros(prod(histogram.sizes), dtype=np.int64)
    at = np.ravel_multi_index(histogram.codes, histogram.sizes) if histogram.sizes else np.zeros(len(histogram), int)
    cells[at] = histogram.counts
    return cells.reshape(histogram.sizes)


def _unions(
    views: Sequence[Mapping[str, Level]], need: Mapping[str, Level]
) -> Iterator[tuple[int, Mapping[str, Level], dict[str, Level]]]:
    for at, view in enumerate(views):
        finer = {n: max((view.get(n, level), level), key=len) for n, level in need.items()}
        yield at, view, {**view, **finer}


def _view_answers(levels: Mapping[str, Level], need: Mapping[str, Level]) -> bool:
    return all(name in levels and len(levels[name]) >= len(level) for name, level in need.items())


def _cells(levels: Mapping[str, Level]) -> int:
    return prod(map(len, levels.values()))
