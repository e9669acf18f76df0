"""Estimates of the time, memory and traffic of a release, from measured unit costs and public figures.

The number of combinations of values that occur is unknown. Estimates take the greatest possible one: each row its own,
or all cells of a view. So sums are never larger than estimated. If the privacy unit is a person, they are combinations
with a person, so each row has its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from crowdgate.kind.plan import Plan
from crowdgate.kind.unit_costs import UNITS
from crowdgate.limits import DENSE_CELLS
from crowdgate.sources.cluster import SUMMANDS
from crowdgate.sources.cluster_shuffle import buckets_for
from crowdgate.sources.spill import FULL, MOST_ENTRIES
from crowdgate.sources.workers import GROUPS_PER_WORKER


@dataclass(frozen=True)
class Step:
    """A step of a release: its name, and the seconds that it takes if each worker has a core (None: unknown)."""

    name: str
    seconds: float | None


@dataclass(frozen=True)
class ComputingCost:
    """The estimated cost of counting a table of `rows` with workers on a cluster, and of the release made of it: steps
    in order, bytes of memory of a worker and of the run's process, bytes read from files and sent between processes.

    If the privacy unit is a person, processes of one machine (`--workers`) hold `process_memory` bytes each, and the
    run writes `temporary_files` bytes to its disk; both are None otherwise.
    """

    rows: int
    workers: int
    steps: tuple[Step, ...]
    worker_memory: float
    run_memory: float
    bytes_read: float
    bytes_sent: float
    process_memory: float | None
    temporary_files: float | None

    @property
    def seconds(self) -> float | None:
        """The sum over all steps; None if one is unknown."""
        known = [step.seconds for step in self.steps if step.seconds is not None]
        return sum(known) if len(known) == len(self.steps) else None

    @property
    def bottleneck(self) -> Step:
        """The step that takes longest, of those that are known."""
        return max(self.steps, key=lambda step: step.seconds or 0.0)


@dataclass(frozen=True)
class CountedViews:
    """The public figures on which the cost of counting depends: the columns that are read, the cells of each view, and
    whether people are counted."""

    columns: int
    cells: tuple[int, ...]
    of_people: bool = False

    def combinations(self, rows: float) -> float:
        """Return the greatest number of combinations of so many rows, over all views."""
        return sum(min(rows, cells) for cells in self.cells)

    @property
    def row_seconds(self) -> float:
        """The CPU seconds of a row."""
        return self.columns * UNITS.cell + max(0, len(self.cells) - 1) * UNITS.view


def views_of(plan: Plan) -> CountedViews:
    """Return the public figures of a plan on which the cost of counting depends."""
    contract = plan.bundle.contract
    columns = len(contract.columns_of(plan.columns))
    if contract.unit.person is not None:
        return CountedViews(columns + 1, (), of_people=True)
    return CountedViews(columns, tuple(view.cells for view in plan.protection.views.values()))


def computing_cost(plan: Plan, rows: int, workers: int) -> ComputingCost:
    """Return the estimated cost of a release of a table with so many rows, counted by so many workers."""
    counted = views_of(plan)
    cells = sum(view.cells for view in plan.protection.views.values())
    release = Step("protect, judge and write", plan.protection.kind.release_seconds(rows, cells))
    steps = (*counting_steps(counted, rows, workers), release)
    read = rows * counted.columns * UNITS.stored_cell
    if counted.of_people:
        return ComputingCost(rows, workers, steps, *_people_memory(rows, workers, read), read, *_people_files(rows))
    return ComputingCost(
        rows,
        workers,
        steps,
        UNITS.process + _tallies(counted, rows / (GROUPS_PER_WORKER * workers)) + _sums(counted, rows),
        UNITS.process + counted.combinations(rows) * UNITS.held_combination,
        read,
        sum(number * counted.combinations(rows / number) for number in levels(workers)) * UNITS.sent_combination,
        None,
        None,
    )


def _people_memory(rows: int, workers: int, size: float) -> tuple[float, float]:
    """Return the bytes of memory of a worker, which holds its groups and its buckets, and of the run's process, which
    holds as many buckets as may be in memory, and one more.
    """
    bucket = rows / buckets_for(workers, ceil(size))
    held = min(rows, FULL * MOST_ENTRIES)
    worker, run = 2 * rows / workers + bucket, held + bucket
    return UNITS.process + worker * UNITS.held_entry, UNITS.process + run * UNITS.held_entry


def _people_files(rows: int) -> tuple[float, float, float]:
    """Return the bytes of rows by person that are sent, those of memory of a process with `--workers`, and those of
    temporary files.
    """
    entries = rows * UNITS.spilled_entry
    return entries, UNITS.process + min(rows, MOST_ENTRIES) * UNITS.held_entry, entries


def counting_steps(counted: CountedViews, rows: int, workers: int) -> Iterator[Step]:
    """Yield the steps up to the sum of all counts."""
    yield Step("start", UNITS.start)
    yield Step("read and count", rows * counted.row_seconds / workers)
    if counted.of_people:
        yield Step("merge people", rows * (UNITS.shuffled_entry / workers + UNITS.taken_entry))
        return
    yield Step("add up counts", sum(_level_seconds(counted, rows, workers)))


def levels(workers: int) -> list[int]:
    """Return the numbers of sums in the tree, from the groups of parts to the one sum."""
    found = [GROUPS_PER_WORKER * workers]
    while found[-1] > 1:
        found.append(ceil(found[-1] / SUMMANDS))
    return found


def _level_seconds(counted: CountedViews, rows: int, workers: int) -> Iterator[float]:
    """Yield the seconds of each level of the tree: its tasks share the workers, and each adds up several sums."""
    tree = levels(workers)
    for below, number in pairwise(tree):
        summands = min(below, SUMMANDS)
        yield ceil(number / workers) * summands * counted.combinations(rows / below) * UNITS.addition


def _tallies(counted: CountedViews, rows: float) -> float:
    """Return the bytes of the counters of a group."""
    return sum(
        cells * UNITS.dense_cell if cells <= DENSE_CELLS else 2 * min(rows, cells) * UNITS.held_combination
        for cells in counted.cells
    )


def _sums(counted: CountedViews, rows: int) -> float:
    """Return the bytes of the sums that one task adds up, and of their sum."""
    return (SUMMANDS * counted.combinations(rows / SUMMANDS) + counted.combinations(rows)) * UNITS.held_combination


def lines(cost: ComputingCost) -> Sequence[tuple[str, str]]:
    """Return the figures of a cost as pairs of label and text."""
    total = "unknown" if cost.seconds is None else _time(cost.seconds)
    place = "" if cost.process_memory is None else " on a cluster"
    of_people = (
        ("memory of each process with --workers, at most (if ids are whole numbers)", cost.process_memory),
        ("temporary files, at most (if ids are whole numbers)", cost.temporary_files),
    )
    return [
        *((step.name, "unknown" if step.seconds is None else _time(step.seconds)) for step in cost.steps),
        ("in all", total),
        (f"memory of a worker{place}, at most", _size(cost.worker_memory)),
        (f"memory of the run's own process{place}, at most", _size(cost.run_memory)),
        ("read from files (Parquet)", _size(cost.bytes_read)),
        ("sent between processes, at most", _size(cost.bytes_sent)),
        *((label, _size(size)) for label, size in of_people if size is not None),
    ]


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def _size(size: float) -> str:
    for unit, name in ((1e12, "TB"), (1e9, "GB")):
        if size >= unit:
            return f"{size / unit:.2g} {name}"
    return f"{size / 1e6:.0f} MB"
