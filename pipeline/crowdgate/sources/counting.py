"""Counting: parts of the table become PartialCounts, which add up. This is the only loop over a table's rows.

`count` is a function of its parts and its task only: it draws no random numbers and can run anywhere, twice if
necessary. The sum does not depend on the division into parts; sampling happens on the sum.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import Any, Protocol

import numpy as np

from crowdgate.arrays import AnyIntegers, Bools, Integers
from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.histogram import Column, Histogram, Records, View, joint, merge, scan, split
from crowdgate.sampling import SecretKey
from crowdgate.sources.buckets import PeopleForm
from crowdgate.sources.encode import EncodedColumn, encode
from crowdgate.sources.facts import TableFacts
from crowdgate.sources.people import RowsByPerson, bounded_entries, bounded_histogram, merge_people, people_of
from crowdgate.sources.people_figures import PeopleFigures, figures_of, sum_of
from crowdgate.sources.persons import person_entries, person_histogram, row_view
from crowdgate.sources.source import Batch, Piece, Source, TablePart, table_changed
from crowdgate.sources.spill import (
    FULL,
    Bucket,
    MergedBucket,
    Spill,
    SpilledPeople,
    buckets_of,
    merged_bucket,
    people_in,
    spilled,
)
from crowdgate.system.freed_memory import return_freed_memory

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
    """The counts of some rows: one histogram for each view, or the rows by person if the privacy unit is a person.

    Rows by person that exceed memory are in files: `spilled` as they were read. `buckets` are the rows by person of the
    whole table, merged. `figures` are those about its people.
    """

    facts: TableFacts
    histograms: Mapping[str, Histogram]
    people: RowsByPerson | None = None
    spilled: tuple[SpilledPeople, ...] = ()
    buckets: tuple[MergedBucket, ...] = ()
    figures: PeopleFigures | None = None


class Counter(Protocol):
    """A function that counts some parts of the table, or merges some buckets of people, together. Picklable.

    `reads_table` says which.
    """

    @property
    def reads_table(self) -> bool: ...

    @property
    def spill(self) -> Spill | None:
        """The destination of rows by person that exceed memory; None if the counter writes no file."""

    @property
    def form(self) -> PeopleForm:
        """The form of rows by person."""

    def shared(self, processes: int, /) -> "Counter":
        """Return the counter of one of several processes, whose counts one process then holds together."""

    def with_spill(self, spill: Spill | None, /) -> "Counter":
        """Return the counter with another destination of rows by person that exceed memory."""

    def __call__(self, parts: Sequence[Any], progress: Progress | None = None, /) -> PartialCounts: ...


Executor = Callable[[Counter, Sequence[Piece]], Iterable[PartialCounts]]
"""A function that runs the counter on groups of parts that hold each part once, in any order and anywhere."""
ExecutorFor = Callable[[Progress | None], Executor]
"""A function that returns an executor which calls back with the bytes of the table that have been read."""


def serial(progress: Progress | None = None) -> Executor:
    """Return an executor that counts all parts together, one after another, in this process."""

    def run(counter: Counter, parts: Sequence[Piece]) -> Iterator[PartialCounts]:
        yield counter(parts, progress)

    return run


def count_table(source: Source, task: CountingTask, executor: Executor, spill: Spill | None = None) -> PartialCounts:
    """Count the whole table in one pass. With a spill, rows by person that exceed memory are in its files, and the
    counts serve as long as these exist.

    Raises FileFault if the table can't be read to its end or changes meanwhile, EnvironmentFault if the files can't be
    written or read.
    """
    before = source.fingerprint()
    total = _merged(executor(_Counter(task, spill), source.parts), task, spill)
    if source.fingerprint() != before:
        raise table_changed()
    if spill is not None and total.spilled:
        total = _in_buckets(total, task, executor, spill)
    if total.buckets:
        total = replace(total, people=None)
    if task.contract.unit.person is None:
        return total
    found = _people_figures(total, task)
    total.facts.add_people(found.named, found.people)
    return replace(total, figures=found)


def _in_buckets(total: PartialCounts, task: CountingTask, executor: Executor, spill: Spill) -> PartialCounts:
    """Return the counts with all rows by person in merged buckets."""
    found = executor(_Merger(task, spill), buckets_of(total.spilled, spill.division))
    buckets = tuple(chain.from_iterable(each.buckets for each in found))
    return PartialCounts(total.facts, {}, spilled=total.spilled, buckets=buckets)


def _people_figures(total: PartialCounts, task: CountingTask) -> PeopleFigures:
    """Return the figures about all people of a table whose privacy unit is a person."""
    if total.people is not None:
        return figures_of(total.people, task.contract.unit.rows)
    found = sum_of(bucket.figures for bucket in total.buckets)
    return replace(found, named=found.named + sum(each.named for each in total.spilled))


def histograms(total: PartialCounts, task: CountingTask, key: SecretKey) -> Mapping[str, Histogram]:
    """Return the histogram of each view; if the privacy unit is a person, of at most as many rows of each person as the
    contract allows, or of one row that is made of all of them.
    """
    if task.contract.unit.person is None:
        return total.histograms
    finest = joint(task.views.values())
    rows = _sum_of_histograms(_bounded(each, task, finest, key) for each in _people(total, task))
    return split(rows, finest, task.views)


def _people(total: PartialCounts, task: CountingTask) -> Iterator[RowsByPerson]:
    """Yield the rows by person of the whole table, of disjoint groups of people."""
    if total.people is not None:
        yield total.people
    for bucket in total.buckets:
        yield people_in(bucket, _form(task))


def _bounded(people: RowsByPerson, task: CountingTask, finest: View, key: SecretKey) -> Histogram:
    """Return the histogram of what counts of some people."""
    if task.contract.is_of_persons:
        return person_histogram(people, task.contract, finest)
    return bounded_histogram(people, task.contract.unit.rows, key)


def _sum_of_histograms(parts: Iterator[Histogram]) -> Histogram:
    """Return the sum of histograms (at least one). Those not added yet are added once they outnumber the total."""
    total = next(parts)
    held: list[Histogram] = []
    for each in parts:
        held.append(each)
        if sum(map(len, held)) >= len(total):
            total, held = merge([total, *held]), []
    return merge([total, *held])


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
    spill: Spill | None = None
    reads_table = True

    def shared(self, processes: int) -> "_Counter":
        return self if self.spill is None else replace(self, spill=self.spill.shared(processes))

    @property
    def form(self) -> PeopleForm:
        return _form(self.task)

    def with_spill(self, spill: Spill | None) -> "_Counter":
        return replace(self, spill=spill)

    def __call__(self, parts: Sequence[TablePart], progress: Progress | None = None) -> PartialCounts:
        return count(parts, self.task, progress, self.spill)


@dataclass(frozen=True, eq=False)
class _Merger:
    """The function that merges buckets of people, one after another."""

    task: CountingTask
    spill: Spill
    reads_table = False

    def shared(self, _: int) -> "_Merger":
        return self

    @property
    def form(self) -> PeopleForm:
        return _form(self.task)

    def with_spill(self, _: Spill | None) -> "_Merger":
        return self

    def __call__(self, parts: Sequence[Bucket], _: Progress | None = None) -> PartialCounts:
        merged = tuple(merged_bucket(each, self.form, self.spill) for each in parts)
        return PartialCounts(TableFacts(), {}, buckets=merged)


def count(
    parts: Sequence[TablePart], task: CountingTask, progress: Progress | None = None, spill: Spill | None = None
) -> PartialCounts:
    """Return the counts of some parts of the table. Of people, only those of some rows are in memory before they are
    merged with those before; with a spill, those that exceed memory are in files.
    """
    starts = accumulate((part.size for part in parts), initial=0)
    told = [None if progress is None else _from(progress, start) for start in starts]
    if task.contract.unit.person is not None:
        people = (_count_part(part, task, each, _entries(spill)) for part, each in zip(parts, told, strict=False))
        return _merged(chain.from_iterable(people), task, spill)
    facts = TableFacts()
    batches = chain.from_iterable(records(part, task, facts, each) for part, each in zip(parts, told, strict=False))
    return PartialCounts(facts, scan((found for _, found in batches), task.views))


def _from(progress: Progress, before: int) -> Progress:
    return lambda done: progress(before + done)


def _count_part(part: TablePart, task: CountingTask, progress: Progress | None, most: int) -> Iterator[PartialCounts]:
    """Yield the rows by person of one part of the table, about `most` rows at a time; the facts of all come last."""
    facts, person = TableFacts(), task.contract.unit.person
    assert person is not None, "only these tables are counted part by part"
    cells = ((batch.cells[person], found) for batch, found in records(part, task, facts, progress))
    for first in cells:
        yield PartialCounts(TableFacts(), {}, people_of(_row_view(task), _stretch(first, cells, most), task.watched))
    return_freed_memory()  # 50 MB of the peak at 40M rows
    yield replace(_empty_partial(task), facts=facts)


def _stretch(
    first: tuple[Any, Records], batches: Iterator[tuple[Any, Records]], most: int
) -> Iterator[tuple[Any, Records]]:
    """Yield the first batch and those after it, up to about `most` rows."""
    rows = first[1].rows
    yield first
    while rows < most and (batch := next(batches, None)) is not None:
        rows += batch[1].rows
        yield batch


def _row_view(task: CountingTask) -> View:
    """Return the view in which the rows of persons are counted. In a table of persons a person's value depends on the
    exact values of the rows.
    """
    finest = joint(task.views.values())
    return row_view(task.contract, finest) if task.contract.is_of_persons else finest


def _form(task: CountingTask) -> PeopleForm:
    return PeopleForm(_row_view(task), task.watched, task.contract.unit.rows)


def _merged(partials: Iterable[PartialCounts], task: CountingTask, spill: Spill | None = None) -> PartialCounts:
    """Return the sum of PartialCounts. Those not added yet are added once they outnumber the total, so each is sorted
    only a few times; of people also once they are so many that they fill memory. A sum of people that would soon be too
    large for memory is written to files.
    """
    held = [_empty_partial(task)]
    for each in partials:
        held.append(each)
        least = 0 if each.people is None else _entries(spill)
        before, more = _size(held[0]), sum(map(_size, held[1:]))
        if more >= max(before, least) or (spill is not None and before + more > spill.most):
            held = [added(held)]
            if spill is not None and _size(held[0]) > FULL * spill.most:
                held = [_spilled(held.pop(), task, spill)]
    total = added(held)
    return total if spill is None or not total.spilled else _spilled(total, task, spill)


def _entries(spill: Spill | None) -> int:
    """Return the number of entries of people that are not added yet."""
    return _ENTRIES if spill is None else min(_ENTRIES, spill.most)


def _spilled(total: PartialCounts, task: CountingTask, spill: Spill) -> PartialCounts:
    """Return the counts with all rows by person in files."""
    files = () if total.people is None else spilled(total.people, spill)
    return replace(total, people=_empty_partial(task).people, spilled=(*total.spilled, *files))


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
    files = tuple(chain.from_iterable(each.spilled for each in partials))
    buckets = tuple(chain.from_iterable(each.buckets for each in partials))
    partials.clear()
    return PartialCounts(facts, merged, merge_people(people) if people else None, files, buckets)


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
