"""Counting: parts of the table become PartialCounts, which add up. This is the only loop over a table's rows.

`count` is a function of its parts and its task only: it draws no random numbers and can run anywhere, twice if
necessary. The sum does not depend on the division into parts; sampling happens on the sum.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np

from crowdgate.arrays import AnyIntegers, Bools, Integers
from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.histogram import Column, Histogram, Records, View, joint, merge, scan, split
from crowdgate.sampling import SecretKey
from crowdgate.sources.encode import EncodedColumn, encode
from crowdgate.sources.facts import TableFacts
from crowdgate.sources.people import RowsByPerson, bounded_entries, bounded_histogram, merge_people, people_of
from crowdgate.sources.persons import person_entries, person_histogram, row_view
from crowdgate.sources.source import Batch, Source, TablePart, table_changed

_ENTRIES = 3 << 22
"""Entries of people that are not added yet: some 350 MB with their ids."""
Progress = Callable[[int], None]
"""A callback with the number of bytes of some parts that have been read."""


@dataclass(frozen=True, eq=False)
class CountingTask:
    """A task: count the table's rows in these views, from these columns, cleaned by the contract's rules.

    If the privacy unit is a person, the task also marks the people with an invalid cell in the `watched` columns.
    """

    contract: Contract
    columns: tuple[str, ...]
    views: Mapping[str, View]
    watched: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PartialCounts:
    """The counts of some rows: one histogram for each view, or the rows by person if the privacy unit is a person."""

    facts: TableFacts
    histograms: Mapping[str, Histogram]
    people: RowsByPerson | None = None


Counter = Callable[[Sequence[TablePart], Progress | None], PartialCounts]
"""A function that counts some parts of the table together."""
Executor = Callable[[Counter, Sequence[TablePart]], Iterable[PartialCounts]]
"""A function that runs the counter on groups of parts that hold each part once, in any order and anywhere."""
ExecutorFor = Callable[[Progress | None], Executor]
"""A function that returns an executor which calls back with the bytes of the table that have been read."""


def serial(progress: Progress | None = None) -> Executor:
    """Return an executor that counts all parts together, one after another, in this process."""

    def run(counter: Counter, parts: Sequence[TablePart]) -> Iterator[PartialCounts]:
        yield counter(parts, progress)

    return run


def count_table(source: Source, task: CountingTask, executor: Executor) -> PartialCounts:
    """Count the whole table in one pass. Raises FileFault if it can't be read to its end or changes meanwhile."""
    before = source.fingerprint()
    total = _merged(executor(_Counter(task), source.parts), task)
    if source.fingerprint() != before:
        raise table_changed()
    if total.people is not None:
        total.facts.add_people(total.people.named, len(total.people.ids))
    return total


def histograms(total: PartialCounts, task: CountingTask, key: SecretKey) -> Mapping[str, Histogram]:
    """Return the histogram of each view; if the privacy unit is a person, of at most as many rows of each person as the
    contract allows, or of one row that is made of all of them.
    """
    if total.people is None:
        return total.histograms
    finest = joint(task.views.values())
    if task.contract.is_of_persons:
        rows = person_histogram(total.people, task.contract, finest)
    else:
        rows = bounded_histogram(total.people, task.contract.unit.rows, key)
    return split(rows, finest, task.views)


def retained_entries(
    people: RowsByPerson, contract: Contract, view: View, key: SecretKey
) -> tuple[AnyIntegers, list[AnyIntegers], Integers]:
    """Return what counts of each person, as entries of a view: their people, their codes (one array per attribute) and
    their numbers of rows. At most as many rows of each person as the contract allows, or the one row that is made of
    all of them, in a table of persons.
    """
    if contract.is_of_persons:
        return person_entries(people, contract, view)
    return bounded_entries(people, contract.unit.rows, key)


@dataclass(frozen=True, eq=False)
class _Counter:
    """The function `count` with its task, as a value that can be sent to another process."""

    task: CountingTask

    def __call__(self, parts: Sequence[TablePart], progress: Progress | None = None) -> PartialCounts:
        return count(parts, self.task, progress)


def count(parts: Sequence[TablePart], task: CountingTask, progress: Progress | None = None) -> PartialCounts:
    """Return the counts of some parts of the table. Only the people of one part are in memory before they are merged
    with those of the parts before.
    """
    starts = accumulate((part.size for part in parts), initial=0)
    told = [None if progress is None else _from(progress, start) for start in starts]
    if task.contract.unit.person is not None:
        people = (_count_part(part, task, each) for part, each in zip(parts, told, strict=False))
        return _merged(people, task)
    facts = TableFacts()
    batches = chain.from_iterable(records(part, task, facts, each) for part, each in zip(parts, told, strict=False))
    return PartialCounts(facts, scan((found for _, found in batches), task.views))


def _from(progress: Progress, before: int) -> Progress:
    return lambda done: progress(before + done)


def _count_part(part: TablePart, task: CountingTask, progress: Progress | None) -> PartialCounts:
    """Return the rows by person of one part of the table."""
    facts, person = TableFacts(), task.contract.unit.person
    assert person is not None, "only these tables are counted part by part"
    cells = ((batch.cells[person], found) for batch, found in records(part, task, facts, progress))
    return PartialCounts(facts, {}, people_of(_row_view(task), cells, task.watched))


def _row_view(task: CountingTask) -> View:
    """Return the view in which the rows of persons are counted. In a table of persons a person's value depends on the
    exact values of the rows.
    """
    finest = joint(task.views.values())
    return row_view(task.contract, finest) if task.contract.is_of_persons else finest


def _merged(partials: Iterable[PartialCounts], task: CountingTask) -> PartialCounts:
    """Return the sum of PartialCounts. Those not added yet are added once they outnumber the total, so each is sorted
    only a few times; of people also once they are so many that they fill memory.
    """
    held = [_empty_partial(task)]
    for each in partials:
        held.append(each)
        least = 0 if each.people is None else _ENTRIES
        if sum(map(_size, held[1:])) >= max(_size(held[0]), least):
            held = [added(held)]
    return added(held)


def _empty_partial(task: CountingTask) -> PartialCounts:
    """Return the PartialCounts of no rows."""
    if task.contract.unit.person is None:
        return PartialCounts(TableFacts(), scan([], task.views))
    return PartialCounts(TableFacts(), {}, people_of(_row_view(task), [], task.watched))


def _size(partial: PartialCounts) -> int:
    people = partial.people
    held = 0 if people is None else max(len(people.counts), len(people.ids))
    return sum(map(len, partial.histograms.values())) + held


def added(partials: list[PartialCounts]) -> PartialCounts:
    """Return the sum of the PartialCounts (at least one), and empty the list, so that their memory is free where it is
    needed.
    """
    facts = TableFacts()
    for each in partials:
        facts.add(each.facts)
    merged = {name: merge([each.histograms[name] for each in partials]) for name in partials[0].histograms}
    people = [each.people for each in partials if each.people is not None]
    partials.clear()
    return PartialCounts(facts, merged, merge_people(people) if people else None)


def records(
    part: TablePart, task: CountingTask, facts: TableFacts, progress: Progress | None = None
) -> Iterator[tuple[Batch, Records]]:
    """Yield each batch of a part with the domain codes of its cells, and add its facts to `facts`."""
    person = task.contract.unit.person
    unique = [] if person is None else [person]
    read = task.contract.columns_of(task.columns)
    attributes = [task.contract.columns[name] for name in read]
    for batch in part.read(tuple(dict.fromkeys([*read, *unique])), unique):
        facts.add_ragged(batch.ragged)
        if batch.rows:
            yield batch, cleaned(batch, attributes, task.contract, facts)
        if progress is not None:
            progress(batch.done)


def cleaned(batch: Batch, attributes: Iterable[Attribute], contract: Contract, facts: TableFacts) -> Records:
    """Return the domain codes of a batch's cells; `keep` is False for rows that the contract drops. Add the batch's
    facts to `facts`.
    """
    columns: dict[str, Column] = {}
    invalid: dict[str, Bools] = {}
    broken: Bools | None = None
    dropped: Bools | None = None
    for attribute in attributes:
        encoded: EncodedColumn = encode(batch.cells[attribute.name], attribute, batch.counts)
        facts.add_cells(attribute, encoded, contract, batch.counts)
        columns[attribute.name] = encoded.column
        if encoded.invalid is not None:
            invalid[attribute.name] = encoded.invalid
        broken = _either(broken, encoded.invalid)
        dropped = _either(dropped, encoded.invalid if attribute.invalid == "drop" else None)
    facts.add_rows(batch.rows, broken, dropped, batch.counts)
    facts.add_combinations(columns, invalid, contract, batch.counts)
    return Records(batch.rows, columns, None if dropped is None else ~dropped, invalid, batch.counts)


def _either(first: Bools | None, second: Bools | None) -> Bools | None:
    if first is None or second is None:
        return second if first is None else first
    return np.logical_or(first, second)
