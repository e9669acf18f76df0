"""Generators: batches of coded rows under a view, with the tuples that they encode."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from crowdgate.hierarchy import Level
from crowdgate.histogram import Column, Records, View

NAMES = ("a", "a,b", "b", "", "c d")


@dataclass(frozen=True, eq=False)
class Batches:
    """Batches of one table, its view, and the tuples of level codes of all retained rows."""

    view: View
    records: tuple[Records, ...]
    tuples: tuple[tuple[int, ...], ...]


def level_of(codes: list[int], size: int | None = None) -> Level:
    count = max(codes, default=-1) + 1 if size is None else size
    return Level("a level", tuple(map(str, range(count))), np.array(codes, dtype=np.int32))


@st.composite
def levels(draw: st.DrawFn, domain: int) -> Level:
    """A level over a domain of that size; some of its values may have no domain value."""
    size = draw(st.integers(1, 5))
    return level_of(draw(st.lists(st.integers(0, size - 1), min_size=domain, max_size=domain)), size)


@st.composite
def batches(draw: st.DrawFn) -> Batches:
    """Up to four columns and three batches, with and without lookup and keep mask; dropped rows may be invalid."""
    names = NAMES[: draw(st.integers(0, 4))]
    domains = {name: draw(st.integers(1, 6)) for name in names}
    view = View({name: draw(levels(domain)) for name, domain in domains.items()})
    records: list[Records] = []
    tuples: list[tuple[int, ...]] = []
    for _ in range(draw(st.integers(0, 3))):
        rows = draw(st.integers(0, 12))
        keep = draw(st.none() | st.lists(st.booleans(), min_size=rows, max_size=rows))
        kept = [True] * rows if keep is None else keep
        cells = {name: [draw(_cell(domains[name], kept[i])) for i in range(rows)] for name in names}
        columns = {name: _column(draw(st.booleans()), cells[name]) for name in names}
        records.append(Records(rows, columns, None if keep is None else np.array(keep, dtype=np.bool_)))
        mapped = [[int(view.levels[name].codes[code]) for code in cells[name]] for name in names]
        tuples += [tuple(column[i] for column in mapped) for i in range(rows) if kept[i]]
    return Batches(view, tuple(records), tuple(tuples))


def _cell(domain: int, kept: bool) -> st.SearchStrategy[int]:
    return st.integers(0 if kept else -1, domain - 1)


def _column(with_lookup: bool, codes: list[int]) -> Column:
    if not with_lookup:
        return Column(np.array(codes, dtype=np.int32))
    lookup = sorted(set(codes), reverse=True)
    indices = np.array([lookup.index(code) for code in codes], dtype=np.int8)
    return Column(indices, np.array(lookup, dtype=np.int32))
