"""A contract's table, read once: what is counted in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdgate.contracts.contract import Contract
from crowdgate.hierarchy import Level, above
from crowdgate.histogram import Histogram, View, collapse, joint
from crowdgate.jobs.anonymity.asked import Chosen
from crowdgate.risk.anonymity_sets import (
    Group,
    Grouping,
    Summary,
    by_value,
    by_value_of_people,
    cover,
    measured,
    measured_of_people,
    of_people,
    summary,
    summary_of_people,
)
from crowdgate.sampling import KEY_BYTES, SecretKey
from crowdgate.sources.counting import Task, counted, histograms, serial
from crowdgate.sources.ingested import described
from crowdgate.sources.people import stayed
from crowdgate.sources.source import Source

WHOLE = "whole"
PERSON = ""
"""A column's name that no attribute has."""
_PUBLIC_KEY = bytes(KEY_BYTES)
"""Which rows of a person stay is decided by this key and the cells of the columns that are read, at the levels that are
asked for: the same question has the same figures, but another one may keep other rows. Nothing is released."""


@dataclass(frozen=True, eq=False)
class Read:
    """Counts of a table that was read, and what became of its rows on the way in (`sources.ingested.described`)."""

    counts: Histogram
    ingested: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Measured:
    """What was counted. `by` are the sets of all attributes together for each value of the attribute that was asked
    for; `whole` is the histogram of all attributes at finest levels, None where a person may have several rows.
    `together` are the sets of all attributes together at finest levels, `ingested` what became of the table's rows on
    the way in."""

    people: int
    groupings: tuple[Grouping, ...]
    by: tuple[Group, ...]
    whole: Histogram | None
    together: Summary
    ingested: Mapping[str, Any]


def measure(chosen: Chosen, source: Source) -> Measured:
    """Read the table and count. Raises FileFault when it can't be read to its end or changes meanwhile."""
    return _of_people(chosen, source) if chosen.several_rows else _of_rows(chosen, source)


def _of_rows(chosen: Chosen, source: Source) -> Measured:
    covering, view = cover(chosen.levels, chosen.up_to), _all(chosen)
    held, ingested = _counted(chosen.contract, {**covering.views, WHOLE: view}, source)
    whole = at_levels(held[WHOLE], view, list(chosen.finest.items()))
    by: tuple[Group, ...] = ()
    if chosen.by is not None:
        cells = at_levels(held[WHOLE], view, [chosen.by, *chosen.finest.items()])
        by = by_value(cells, _first(cells), chosen.by[1].labels)
    return Measured(whole.rows, tuple(measured(covering, held, whole)), by, whole, summary(whole.counts), ingested)


def _of_people(chosen: Chosen, source: Source) -> Measured:
    view = _all(chosen)
    read = entries(chosen.contract, view, source)
    rows = read.counts
    own = at_levels(rows, view, list(chosen.finest.items()), persons=True)
    by: tuple[Group, ...] = ()
    if chosen.by is not None:
        cells = at_levels(rows, view, [chosen.by, *chosen.finest.items()], persons=True)
        by = by_value_of_people(cells, chosen.by[1].labels)
    people = len(np.unique(own.codes[0]))
    groupings = tuple(measured_of_people(own, chosen.levels, chosen.up_to))
    return Measured(people, groupings, by, None, summary_of_people(own), read.ingested)


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


def _counted(
    contract: Contract, views: Mapping[str, View], source: Source
) -> tuple[Mapping[str, Histogram], Mapping[str, Any]]:
    columns = tuple(dict.fromkeys(name for view in views.values() for name in view.names))
    task = Task(contract, columns, views)
    total = counted(source, task, serial())
    return histograms(total, task, SecretKey(_PUBLIC_KEY, injected=True)), described(total, task)


def entries(contract: Contract, view: View, source: Source) -> Read:
    """Rows of persons: the histogram of the person and the columns of a view, as many rows of each as the contract
    lets stay."""
    task = Task(contract, view.names, {WHOLE: view})
    total = counted(source, task, serial())
    assert total.people is not None, "the privacy unit is a person"
    own = total.people.view
    of, codes, counts = stayed(total.people, contract.unit.rows, SecretKey(_PUBLIC_KEY, injected=True))
    names, sizes = (PERSON, *own.names), (max(1, len(total.people.ids)), *own.sizes)
    return Read(collapse(names, sizes, [of, *codes], counts), described(total, task))


def people_at(contract: Contract, view: View, source: Source) -> Read:
    """How many people have each tuple of a view: rows, or persons, who may have several tuples."""
    if contract.unit.person is None or contract.unit.rows == 1:
        held, ingested = _counted(contract, {WHOLE: view}, source)
        return Read(held[WHOLE], ingested)
    read = entries(contract, view, source)
    return Read(of_people(read.counts, view.names), read.ingested)
