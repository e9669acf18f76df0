"""Rows by person in a shuffle: the counts of one process, whatever is missing in whichever bucket."""

import os
import random
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.contracts.contract import Contract
from crowdgate.sources import cluster, cluster_connection
from crowdgate.sources.cluster_shuffle import buckets_for
from crowdgate.sources.cluster_tasks import Sealed, bucket_share, divide_group, merge_bucket, sealed, versions
from crowdgate.sources.counting import Counter, CountingTask, Executor, PartialCounts, count_table, serial
from crowdgate.sources.shuffle import InconsistentShuffleError, Share, ShuffledBucket, gathered
from crowdgate.sources.source import Piece
from crowdgate.sources.spill import HeldBlock
from tests.examples import examples
from tests.sources.test_ingested import Row, rows_of_table, task
from tests.sources.test_ingested import contract as contract_of
from tests.sources.test_persons import contract as contract_of_persons
from tests.sources.test_spill import limited, parts_of, result, table_of_kinds, task_of_persons

assert contract_of_persons, "pytest finds the fixture by this name"
distributed = pytest.importorskip("distributed")
OTHER = ("Python 3",)
"""The versions of another worker."""
Shares = list[Sealed]


@pytest.fixture(autouse=True, scope="module")
def inside_a_worker() -> Iterator[None]:
    """Let tasks run in this process."""
    manager = SimpleNamespace(memory_target_fraction=False, memory_spill_fraction=False, data={})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed, "get_worker", lambda: SimpleNamespace(memory_manager=manager))
        yield


@dataclass(frozen=True)
class Losses:
    """Losses of workers: groups in buckets, and whole buckets. Buckets end in a random order."""

    shares: frozenset[tuple[int, int]] = frozenset()
    buckets: frozenset[int] = frozenset()
    order: int = 0


def divided(counter: Counter, parts: Sequence[Piece]) -> list[Shares]:
    """Return the shares of each part, a group of its own, in all buckets."""
    assert counter.spill is not None
    task, division = sealed(counter.with_spill(None)), sealed(counter.spill.division)
    return [divide_group(at, versions(), task, division, sealed([part])) for at, part in enumerate(parts)]


def merged(counter: Counter, number: int, shares: Shares, stated: Sequence[str] = versions()) -> ShuffledBucket:
    found: ShuffledBucket = merge_bucket(number, tuple(stated), sealed(counter.form), shares).value
    return found


def tasks_run(counter: Counter, parts: Sequence[Piece], losses: Losses) -> Iterator[ShuffledBucket]:
    """Yield the buckets as the tasks of a cluster give them."""
    shares = divided(counter, parts)
    numbers = list(range(len(shares[0])))
    random.Random(losses.order).shuffle(numbers)
    for number in numbers:
        own = [bucket_share(each, number) for each in shares]
        kept = [sealed(None) if (group, number) in losses.shares else each for group, each in enumerate(own)]
        yield merged(counter, number, kept, OTHER if number in losses.buckets else versions())


def shuffling(buckets: int, losses: Losses) -> Executor:
    """Return the executor that runs the tasks of a cluster in this process."""

    def run(counter: Counter, parts: Sequence[Piece]) -> Iterator[PartialCounts]:
        assert counter.reads_table, "no bucket is merged again"
        assert counter.spill is not None
        here = counter.with_spill(counter.spill.divided(buckets))
        found = gathered(tasks_run(here, parts, losses), [[part] for part in parts], here)
        assert found.recounted == bool(losses.shares or losses.buckets)
        yield found.counts

    return run


BUCKETS = st.sampled_from([1, 2, 4, 16])


@st.composite
def losses_of(draw: st.DrawFn, groups: int, buckets: int) -> Losses:
    numbers = st.integers(0, buckets - 1)
    shares = draw(st.frozensets(st.tuples(st.integers(0, groups - 1), numbers), max_size=6))
    lost = draw(st.frozensets(st.integers(0, groups - 1), max_size=1))
    everywhere = {(group, number) for group in lost for number in range(buckets)}
    return Losses(shares | everywhere, draw(st.frozensets(numbers, max_size=2)), draw(st.integers(0, 9)))


@settings(max_examples=examples(150), deadline=None)
@given(
    rows=rows_of_table, owners=st.lists(st.integers(0, 2), min_size=20, max_size=20), rows_each=st.integers(1, 3),
    most=st.integers(0, 9), buckets=BUCKETS, data=st.data(),
)  # fmt: skip
def test_a_shuffle_counts_as_one_process(
    rows: list[Row], owners: list[int], rows_each: int, most: int, buckets: int, data: st.DataObject
) -> None:
    of, table = task(contract_of(rows_each)), parts_of(rows, owners[: len(rows)])
    expected = result(count_table(table, of, serial()), of)
    losses = data.draw(losses_of(3, buckets))
    with TemporaryDirectory() as folder:
        total = count_table(table, of, shuffling(buckets, losses), limited(folder, most))
        assert result(total, of) == expected
        assert len(total.buckets) == buckets


@settings(max_examples=examples(40), deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2), st.integers(0, 1), st.integers(0, 3)), max_size=40),
    kinds=st.lists(st.sampled_from(["numbers", "texts"]), min_size=4, max_size=4), buckets=BUCKETS, data=st.data(),
)  # fmt: skip
def test_persons_in_a_shuffle_have_the_values_of_those_in_memory(
    contract_of_persons: Contract, rows: list[tuple[int, ...]], kinds: list[str], buckets: int, data: st.DataObject
) -> None:
    """Ids of one person are numbers in some groups and texts in others."""
    of, table = task_of_persons(contract_of_persons), table_of_kinds(rows, kinds)
    expected = result(count_table(table, of, serial()), of)
    losses = data.draw(losses_of(4, buckets))
    with TemporaryDirectory() as folder:
        assert result(count_table(table, of, shuffling(buckets, losses), limited(folder, 5)), of) == expected


ROWS: list[Row] = [(person, age, b"north") for age in (b"10", b"20") for person in (b"a", b"b", b"c")]
OF = task(contract_of(2))
TABLE = parts_of(ROWS, [0, 1, 2, 2, 1, 0])


def counter_in(folder: str, buckets: int = 2, of: CountingTask = OF) -> Counter:
    """Return the counter of a table, as an executor gets it."""
    taken: list[Counter] = []

    def run(counter: Counter, parts: Sequence[Piece]) -> Iterator[PartialCounts]:
        taken.append(counter)
        yield counter(parts, None)

    spill = replace(limited(folder, 100), division=replace(limited(folder, 0).division, secret=bytes(32)))
    count_table(TABLE, of, run, spill.divided(buckets))
    return taken[0]


def ignored(share: Sealed) -> Sealed:
    """Return the share of a group that has no row."""
    return sealed(Share(share.value.place, (), None))


FAULTS: dict[str, Callable[[Counter, list[Shares]], list[ShuffledBucket]]] = {
    "a bucket comes twice": lambda c, s: [*_all(c, s), merged(c, 1, [each[1] for each in s])],
    "a bucket comes in place of another": lambda c, s: [merged(c, 0, [each[0] for each in s])] * 2,
    "a bucket does not come": lambda c, s: _all(c, s)[:1],
    "a share is merged twice": lambda c, s: [_all(c, s)[0], merged(c, 1, [each[1] for each in (*s, s[0])])],
    "a share is ignored": lambda c, s: [_all(c, s)[0], merged(c, 1, [ignored(s[0][1]), s[1][1], s[2][1]])],
    "a group is ignored": lambda c, s: [
        merged(c, number, [ignored(s[0][number]), s[1][number], s[2][number]]) for number in range(2)
    ],
    "a group is missing that is none": lambda c, s: [
        _all(c, s)[0], replace(_all(c, s)[1], missing=(3,))
    ],
    "an empty bucket misses only some groups": lambda c, s: [
        _all(c, s)[0], replace(_all(c, s)[1], block=None, missing=(1,))
    ],
}  # fmt: skip
"""Results of an inconsistent cluster, for a table of three groups and two buckets."""


MISPLACED: dict[str, Callable[[list[Shares]], Shares]] = {
    "a share in place of another": lambda s: [s[0][1], s[0][1], s[2][1]],
    "shares of another bucket": lambda s: [each[0] for each in s],
}
"""Shares of the second bucket that do not belong there."""


@pytest.mark.parametrize("fault", MISPLACED)
def test_shares_in_a_wrong_place_are_merged_nowhere(fault: str) -> None:
    with TemporaryDirectory() as folder:
        counter = counter_in(folder)
        found = merged(counter, 1, MISPLACED[fault](divided(counter, TABLE.parts)))
    assert (found.block, found.missing) == (None, (0, 1, 2))


def _all(counter: Counter, shares: list[Shares]) -> list[ShuffledBucket]:
    return [merged(counter, number, [each[number] for each in shares]) for number in range(2)]


@pytest.mark.parametrize("fault", FAULTS)
def test_an_inconsistent_shuffle_is_refused(fault: str) -> None:
    with TemporaryDirectory() as folder:
        counter = counter_in(folder)
        shares, groups = divided(counter, TABLE.parts), [[part] for part in TABLE.parts]
        assert not gathered(_all(counter, shares), groups, counter).recounted
        with pytest.raises(InconsistentShuffleError):
            gathered(FAULTS[fault](counter, shares), groups, counter)


@pytest.mark.parametrize("trouble", ["inconsistent", "lost"])
def test_of_a_shuffle_that_fails_this_process_counts_the_table(trouble: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(_: object, counter: Counter, groups: Sequence[Sequence[Piece]], *__: object) -> Iterator[ShuffledBucket]:
        here = counter.with_spill(None if counter.spill is None else counter.spill.divided(4))
        yield from list(tasks_run(here, [part for group in groups for part in group], Losses()))[:3]
        if trouble == "lost":
            raise TimeoutError

    monkeypatch.setattr(cluster_connection, "connected", lambda _: nullcontext())
    monkeypatch.setattr(cluster, "threads_of", lambda _: 1)
    monkeypatch.setattr(cluster, "shuffled_buckets", found)
    expected = result(count_table(TABLE, OF, serial()), OF)
    with TemporaryDirectory() as folder:
        run = cluster.cluster_executor("tcp://localhost:1", None)
        with pytest.warns(cluster.ClusterWarning, match=r"did not count the table \(\w+\)"):
            total = count_table(TABLE, OF, run, limited(folder, 0))
        assert result(total, OF) == expected
        blocks: list[Any] = [each.block for each in total.buckets]
        files = {each.file.path for each in (*total.spilled, *blocks)}
        assert set(Path(folder).iterdir()) == files, "the files of the shuffle are removed"


def test_buckets_stay_in_memory_while_they_fit_and_then_are_in_files() -> None:
    kinds = []
    with TemporaryDirectory() as folder:
        for most in (0, 5, 100):
            total = count_table(TABLE, OF, shuffling(16, Losses()), limited(folder, most))
            kinds.append({type(each.block) is HeldBlock for each in total.buckets if each.figures.people})
    assert kinds == [{False}, {False, True}, {True}]


def drawing(*_: object, **__: object) -> Any:
    raise AssertionError("a task draws random numbers")


def test_a_repeated_task_has_the_same_bytes_draws_nothing_and_writes_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    with TemporaryDirectory() as folder:
        counter = counter_in(folder)
    for owner, name in ((os, "urandom"), (secrets, "token_bytes"), (np.random, "default_rng"), (os, "open")):
        monkeypatch.setattr(owner, name, drawing)
    once, twice = (divided(counter, TABLE.parts) for _ in range(2))
    assert once == twice
    assert all(share.value is not None for shares in once for share in shares)
    first, second = (
        merge_bucket(0, versions(), sealed(counter.form), [each[0] for each in shares]) for shares in (once, twice)
    )
    assert first == second
    assert first.value.missing == ()


def test_a_worker_that_is_unfit_divides_and_merges_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with TemporaryDirectory() as folder:
        counter = counter_in(folder)
        shares = divided(counter, TABLE.parts)
        form, own = sealed(counter.form), [each[0] for each in shares]
        assert counter.spill is not None
        arguments = sealed(counter.with_spill(None)), sealed(counter.spill.division), sealed(TABLE.parts)
    found = [divide_group(0, OTHER, *arguments), [merge_bucket(0, OTHER, form, own)]]
    spilling = SimpleNamespace(memory_target_fraction=0.6, memory_spill_fraction=False, data={})
    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(memory_manager=spilling))
    found += [divide_group(0, versions(), *arguments), [merge_bucket(0, versions(), form, own)]]
    for groups, (bucket,) in zip(found[::2], found[1::2], strict=True):
        assert [each.value for each in groups] == [None, None]
        assert (bucket.value.block, bucket.value.missing) == (None, (0, 1, 2))


def test_buckets_are_a_power_of_two_and_grow_with_workers_and_bytes() -> None:
    assert [buckets_for(threads, 0) for threads in (1, 2, 3, 16, 1000)] == [4, 8, 16, 64, 128]
    assert [buckets_for(1, size << 30) for size in (0, 1, 2, 1000)] == [4, 16, 32, 128]


def test_shares_and_buckets_do_not_show_their_content() -> None:
    with TemporaryDirectory() as folder:
        counter = counter_in(folder)
        (found, *_) = tasks_run(counter, TABLE.parts, Losses())
        (share, *_) = divided(counter, TABLE.parts)[0]
    assert repr(share.value) == "Share(place=(0, 0))"
    assert repr(found) == f"ShuffledBucket(number={found.number}, missing=())"
    assert counter.spill is not None
    assert repr(counter.spill.division) == "Division(buckets=2)"
