"""A contract's table, read once: what is counted in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crowdgate.contracts.contract import Contract
from crowdgate.hierarchy import Level, above
from crowdgate.histogram import Histogram, View, collapse, joint
from crowdgate.jobs.anonymity.asked import Chosen
from crowdgate.risk.anonymity_sets import (
    Group,
    Grouping,
    by_value,
    cover,
    measured,
    measured_of_people,
    of_people,
)
from crowdgate.sampling import KEY_BYTES, SecretKey
from crowdgate.sources.counting import Task, counted, histograms, serial
from crowdgate.sources.people import stayed
from crowdgate.sources.source import Source

WHOLE = "whole"
PERSON = ""
"""A column's name that no attribute has."""
_PUBLIC_KEY = bytes(KEY_BYTES)
"""Which rows of a person stay is decided by this key: nothing is released, and the figures are always the same."""


@dataclass(frozen=True, eq=False)
class Measured:
    """What was counted. `by` are the sets of all attributes together for each value of the attribute that was asked
    for; `whole` is the histogram of all attributes at finest levels, None where a person may have several rows."""

    people: int
    groupings: tuple[Grouping, ...]
    by: tuple[Group, ...]
    whole: Histogram | None


def measure(chosen: Chosen, source: Source) -> Measured:
    """Read the table and count. Raises FileFault when it can't be read to its end or changes meanwhile."""
    return _of_people(chosen, source) if chosen.several_rows else _of_rows(chosen, source)


def _of_rows(chosen: Chosen, source: Source) -> Measured:
    covering, view = cover(chosen.levels, chosen.up_to), _all(chosen)
    held = _counted(chosen.contract, {**covering.views, WHOLE: view}, source)
    whole = at_levels(held[WHOLE], view, list(chosen.finest.items()))
    by: tuple[Group, ...] = ()
    if chosen.by is not None:
        cells = at_levels(held[WHOLE], view, [chosen.by, *chosen.finest.items()])
        by = by_value(cells, _first(cells), chosen.by[1].labels)
    return Measured(whole.rows, tuple(measured(covering, held, whole)), by, whole)


def _of_people(chosen: Chosen, source: Source) -> Measured:
    view = _all(chosen)
    rows = entries(chosen.contract, view, source)
    own = at_levels(rows, view, list(chosen.finest.items()), persons=True)
    by: tuple[Group, ...] = ()
    if chosen.by is not None:
        cells = at_levels(rows, view, [chosen.by, *chosen.finest.items()], persons=True)
        places = Histogram(tuple(map(str, range(len(cells.names)))), cells.sizes, cells.codes, cells.counts)
        by = by_value(of_people(places, places.names[1:]), of_people(places, places.names[1:2]), chosen.by[1].labels)
    people = len(np.unique(own.codes[0]))
    return Measured(people, tuple(measured_of_people(own, chosen.levels, chosen.up_to)), by, None)


def _all(chosen: Chosen) -> View:
    """Every attribute at the finest level that is asked for."""
    return joint([View(chosen.finest), *([View(dict([chosen.by]))] if chosen.by else [])])


def _first(cells: Histogram) -> Histogram:
    return collapse(cells.names[:1], cells.sizes[:1], cells.codes[:1], cells.counts)


def at_levels(
    cells: Histogram, view: View, columns: Sequence[tuple[str, Level]], *, persons: bool = False
) -> Histogram:
    """The histogram of columns at these levels, of one of a view at finer ones; with `persons` after their column."""
    codes, sizes = [], []
    for name, level in columns:
        column, finer = cells.codes[cells.names.index(name)], view.levels[name]
        codes.append(column if finer is level else above(finer, level)[column])
        sizes.append(len(level))
    names = tuple(name for name, _ in columns)
    if persons:
        names, sizes, codes = (PERSON, *names), [cells.sizes[0], *sizes], [cells.codes[0], *codes]
    return collapse(names, tuple(sizes), codes, cells.counts)


def _counted(contract: Contract, views: Mapping[str, View], source: Source) -> Mapping[str, Histogram]:
    columns = tuple(dict.fromkeys(name for view in views.values() for name in view.names))
    task = Task(contract, columns, views)
    return histograms(counted(source, task, serial()), task, SecretKey(_PUBLIC_KEY, injected=True))


def entries(contract: Contract, view: View, source: Source) -> Histogram:
    """Rows of persons: the histogram of the person and the columns of a view, as many rows of each as the contract
    lets stay."""
    found = counted(source, Task(contract, view.names, {WHOLE: view}), serial())
    assert found.people is not None, "the privacy unit is a person"
    own = found.people.view
    of, codes, counts = stayed(found.people, contract.unit.rows, SecretKey(_PUBLIC_KEY, injected=True))
    names, sizes = (PERSON, *own.names), (max(1, len(found.people.ids)), *own.sizes)
    return collapse(names, sizes, [of, *codes], counts)


def people_at(contract: Contract, view: View, source: Source) -> Histogram:
    """How many people have each tuple of a view: rows, or persons, who may have several tuples."""
    if contract.unit.person is None or contract.unit.rows == 1:
        return _counted(contract, {WHOLE: view}, source)[WHOLE]
    return of_people(entries(contract, view, source), view.names)
