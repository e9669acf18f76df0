"""Counts of a contract's table, which is read once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdgate.anonymity.measure.request import AttributeSelection
from crowdgate.contracts.contract import Contract
from crowdgate.hierarchy import Level, coarser_codes
from crowdgate.histogram import Histogram, View, collapse, joint
from crowdgate.risk.anonymity_sets import (
    Grouping,
    SizeSummary,
    ValueGroup,
    by_value,
    by_value_of_people,
    cover,
    measure_groupings,
    measure_groupings_of_people,
    people_by_cell,
    summary,
    summary_of_people,
)
from crowdgate.sampling import KEY_BYTES, SecretKey
from crowdgate.sources.counting import CountingTask, count_table, histograms, retained_entries, serial
from crowdgate.sources.ingested import ingestion_figures
from crowdgate.sources.source import Source

WHOLE = "whole"
PERSON = ""
"""Name of the person's column; no attribute can have it."""
_PUBLIC_KEY = bytes(KEY_BYTES)
"""Key that decides, with the cells of the columns read at the requested levels, which rows of a person are retained. A
repeated question has the same figures, but another question may retain other rows. Nothing is released."""


@dataclass(frozen=True, eq=False)
class TableCounts:
    """Counts of a table, with its ingestion summary (`sources.ingested.described`)."""

    counts: Histogram
    ingested: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class AnonymitySets:
    """Anonymity sets of a table. `by` are the sets of all attributes together for each value of the grouping attribute;
    `whole` is the histogram of all attributes at finest levels, None where a person may have several rows. `together`
    are the sets of all attributes together at finest levels, `ingested` is the ingestion summary."""

    people: int
    groupings: tuple[Grouping, ...]
    by: tuple[ValueGroup, ...]
    whole: Histogram | None
    together: SizeSummary
    ingested: Mapping[str, Any]


def count_anonymity_sets(chosen: AttributeSelection, source: Source) -> AnonymitySets:
    """Read the table and count. Raises FileFault if it can't be read to its end or changes meanwhile."""
    return _sets_of_people(chosen, source) if chosen.several_rows else _sets_of_rows(chosen, source)


def _sets_of_rows(chosen: AttributeSelection, source: Source) -> AnonymitySets:
    covering, view = cover(chosen.levels, chosen.up_to), _all_attributes_view(chosen)
    held, ingested = _count_views(chosen.contract, {**covering.views, WHOLE: view}, source)
    whole = at_levels(held[WHOLE], view, list(chosen.finest.items()))
    by: tuple[ValueGroup, ...] = ()
    if chosen.by is not None:
        cells = at_levels(held[WHOLE], view, [chosen.by, *chosen.finest.items()])
        by = by_value(cells, _first_column(cells), chosen.by[1].labels)
    return AnonymitySets(
        whole.rows, tuple(measure_groupings(covering, held, whole)), by, whole, summary(whole.counts), ingested
    )


def _sets_of_people(chosen: AttributeSelection, source: Source) -> AnonymitySets:
    view = _all_attributes_view(chosen)
    read = rows_by_person(chosen.contract, view, source)
    rows = read.counts
    own = at_levels(rows, view, list(chosen.finest.items()), persons=True)
    by: tuple[ValueGroup, ...] = ()
    if chosen.by is not None:
        cells = at_levels(rows, view, [chosen.by, *chosen.finest.items()], persons=True)
        by = by_value_of_people(cells, chosen.by[1].labels)
    people = len(np.unique(own.codes[0]))
    groupings = tuple(measure_groupings_of_people(own, chosen.levels, chosen.up_to))
    return AnonymitySets(people, groupings, by, None, summary_of_people(own), read.ingested)


def _all_attributes_view(chosen: AttributeSelection) -> View:
    """Return one view of every attribute at its finest requested level, together with the grouping attribute."""
    return joint([View(chosen.finest), *([View(dict([chosen.by]))] if chosen.by else [])])


def _first_column(cells: Histogram) -> Histogram:
    return collapse(cells.names[:1], cells.sizes[:1], cells.codes[:1], cells.counts)


def at_levels(
    cells: Histogram, view: View, columns: Sequence[tuple[str, Level]], *, persons: bool = False
) -> Histogram:
    """Return the histogram of columns at these levels, from the histogram of a view at finer ones; with `persons` the
    person's column comes first."""
    codes, sizes = [], []
    for name, level in columns:
        column, finer = cells.codes[cells.names.index(name)], view.levels[name]
        codes.append(column if finer is level else coarser_codes(finer, level)[column])
        sizes.append(len(level))
    names = tuple(name for name, _ in columns)
    if persons:
        names, sizes, codes = (PERSON, *names), [cells.sizes[0], *sizes], [cells.codes[0], *codes]
    return collapse(names, tuple(sizes), codes, cells.counts)


def _count_views(
    contract: Contract, views: Mapping[str, View], source: Source
) -> tuple[Mapping[str, Histogram], Mapping[str, Any]]:
    columns = tuple(dict.fromkeys(name for view in views.values() for name in view.names))
    task = CountingTask(contract, columns, views)
    total = count_table(source, task, serial())
    return histograms(total, task, SecretKey(_PUBLIC_KEY, injected=True)), ingestion_figures(total, task)


def rows_by_person(contract: Contract, view: View, source: Source) -> TableCounts:
    """Return the histogram of the person and the columns of a view, with as many rows of each person as the contract
    retains."""
    task = CountingTask(contract, view.names, {WHOLE: view})
    total = count_table(source, task, serial())
    assert total.people is not None, "the privacy unit is a person"
    of, codes, counts = retained_entries(total.people, contract, view, SecretKey(_PUBLIC_KEY, injected=True))
    names, sizes = (PERSON, *view.names), (max(1, len(total.people.ids)), *view.sizes)
    return TableCounts(collapse(names, sizes, [of, *codes], counts), ingestion_figures(total, task))


def people_by_tuple(contract: Contract, view: View, source: Source) -> TableCounts:
    """Return the number of people with each tuple of a view: rows, or persons, who may have several tuples."""
    if contract.unit.person is None or contract.unit.rows == 1:
        held, ingested = _count_views(contract, {WHOLE: view}, source)
        return TableCounts(held[WHOLE], ingested)
    read = rows_by_person(contract, view, source)
    return TableCounts(people_by_cell(read.counts, view.names), read.ingested)
