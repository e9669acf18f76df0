"""Counting: a part of the table to a Partial, and Partials to one. The only loop over a table's rows.

`count` is a function of its part and its task alone: it draws nothing and can run anywhere, twice if it must. Partials
add up to the same counts whichever parts they are of; coins are thrown on what they add up to.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crowdgate.arrays import Bools
from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.histogram import Column, Histogram, Records, View, joint, merge, scan, split
from crowdgate.sampling import SecretKey
from crowdgate.sources.encode import EncodedColumn, encode
from crowdgate.sources.facts import TableFacts
from crowdgate.sources.people import RowsByPerson, bounded_histogram, count_people, merge_people
from crowdgate.sources.source import Batch, Source, TablePart, table_changed

Progress = Callable[[int], None]
"""Told the bytes of a part that are read."""


@dataclass(frozen=True, eq=False)
class CountingTask:
    """What is counted: these columns, cleaned as the contract says, in these views; and where the privacy unit is a
    person, who has an invalid cell in the `watched` ones of the columns."""

    contract: Contract
    columns: tuple[str, ...]
    views: Mapping[str, View]
    watched: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PartialCounts:
    """What some rows add to the counts: the views' histograms, or the rows by person where the privacy unit is one."""

    facts: TableFacts
    histograms: Mapping[str, Histogram]
    people: RowsByPerson | None = None


Counter = Callable[[TablePart, Progress | None], PartialCounts]
Executor = Callable[[Counter, Sequence[TablePart]], Iterable[PartialCounts]]
"""Runs the counter on every part, in any order and anywhere."""


def serial(progress: Progress | None = None) -> Executor:
    """One part after another in this process. `progress` is told the bytes of the table that are read so far."""

    def run(counter: Counter, parts: Sequence[TablePart]) -> Iterator[PartialCounts]:
        before = 0
        for part in parts:
            yield counter(part, None if progress is None else _from(progress, before))
            before += part.size

    return run


def _from(progress: Progress, before: int) -> Progress:
    return lambda done: progress(before + done)


def count_table(source: Source, task: CountingTask, executor: Executor) -> PartialCounts:
    """The whole table, counted in one pass. Raises FileFault when it can't be read to its end or changes meanwhile."""
    before = source.fingerprint()
    total = _merged(executor(_Counter(task), source.parts), task)
    if source.fingerprint() != before:
        raise table_changed()
    if total.people is not None:
        total.facts.add_people(total.people.named, len(total.people.ids))
    return total


def histograms(total: PartialCounts, task: CountingTask, key: SecretKey) -> Mapping[str, Histogram]:
    """The views' histograms; where the unit is a person, of at most as many rows of each as the contract says."""
    if total.people is None:
        return total.histograms
    rows = bounded_histogram(total.people, task.contract.unit.rows, key)
    return split(rows, total.people.view, task.views)


@dataclass(frozen=True, eq=False)
class _Counter:
    """`count` with its task: a value, so that it can be sent elsewhere."""

    task: CountingTask

    def __call__(self, part: TablePart, progress: Progress | None = None) -> PartialCounts:
        return count(part, self.task, progress)


def count(part: TablePart, task: CountingTask, progress: Progress | None = None) -> PartialCounts:
    """What one part adds."""
    facts, person = TableFacts(), task.contract.unit.person
    batches = records(part, task, facts, progress)
    if person is None:
        return PartialCounts(facts, scan((found for _, found in batches), task.views))
    cells = ((batch.cells[person], found) for batch, found in batches)
    people = count_people(joint(task.views.values()), cells, task.watched)
    return PartialCounts(facts, {}, people)


def _merged(partials: Iterable[PartialCounts], task: CountingTask) -> PartialCounts:
    """The sum of Partials, added up when they outnumber what was added before: each is sorted a few times only."""
    held = [_empty_partial(task)]
    for each in partials:
        held.append(each)
        if sum(map(_size, held[1:])) >= _size(held[0]):
            held = [_sum(held)]
    return _sum(held)


def _empty_partial(task: CountingTask) -> PartialCounts:
    """The Partial of no rows."""
    if task.contract.unit.person is None:
        return PartialCounts(TableFacts(), scan([], task.views))
    return PartialCounts(TableFacts(), {}, count_people(joint(task.views.values()), [], task.watched))


def _size(partial: PartialCounts) -> int:
    return sum(map(len, partial.histograms.values())) + (len(partial.people.counts) if partial.people else 0)


def _sum(partials: Sequence[PartialCounts]) -> PartialCounts:
    facts = TableFacts()
    for each in partials:
        facts.add(each.facts)
    merged = {name: merge([each.histograms[name] for each in partials]) for name in partials[0].histograms}
    people = [each.people for each in partials if each.people is not None]
    return PartialCounts(facts, merged, merge_people(people) if people else None)


def records(
    part: TablePart, task: CountingTask, facts: TableFacts, progress: Progress | None = None
) -> Iterator[tuple[Batch, Records]]:
    """The batches of a part with their codes; `facts` are told of them."""
    person = task.contract.unit.person
    unique = [] if person is None else [person]
    attributes = [task.contract.by_name[name] for name in task.columns]
    for batch in part.read(tuple(dict.fromkeys([*task.columns, *unique])), unique):
        facts.add_ragged(batch.ragged)
        if batch.rows:
            yield batch, cleaned(batch, attributes, task.contract, facts)
        if progress is not None:
            progress(batch.done)


def cleaned(batch: Batch, attributes: Iterable[Attribute], contract: Contract, facts: TableFacts) -> Records:
    """The codes of a batch's cells; `keep` is False where the contract drops a row."""
    columns: dict[str, Column] = {}
    invalid: dict[str, Bools] = {}
    broken: Bools | None = None
    dropped: Bools | None = None
    for attribute in attributes:
        encoded: EncodedColumn = encode(batch.cells[attribute.name], attribute)
        facts.add_cells(attribute, encoded, contract)
        columns[attribute.name] = encoded.column
        if encoded.invalid is not None:
            invalid[attribute.name] = encoded.invalid
        broken = _either(broken, encoded.invalid)
        dropped = _either(dropped, encoded.invalid if attribute.invalid == "drop" else None)
    facts.add_rows(batch.rows, broken, dropped)
    return Records(batch.rows, columns, None if dropped is None else ~dropped, invalid)


def _either(first: Bools | None, second: Bools | None) -> Bools | None:
    if first is None or second is None:
        return second if first is None else first
    return np.logical_or(first, second)
