"""Rows by person in temporary files: the same counts as in memory, with any limit, parts and processes."""

import os
import pickle
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.contracts.contract import Contract
from crowdgate.errors import EnvironmentFault
from crowdgate.histogram import Histogram, joint
from crowdgate.sampling import SecretKey, id_numbers, row_draws
from crowdgate.sources import buckets as division
from crowdgate.sources.counting import (
    Counter,
    CountingTask,
    Executor,
    PartialCounts,
    count_table,
    histograms,
    serial,
)
from crowdgate.sources.ingested import ingestion_figures, units
from crowdgate.sources.people import id_texts
from crowdgate.sources.sealed_file import SealedFile, write_sealed
from crowdgate.sources.source import Batch, Piece
from crowdgate.sources.spill import Spill, spill_to
from crowdgate.system import permissions
from tests.examples import examples
from tests.sources.test_ingested import Lines, Row, Table, rows_of_table, task
from tests.sources.test_ingested import contract as contract_of
from tests.sources.test_persons import contract as contract_of_persons
from tests.sources.test_persons import view_of

assert contract_of_persons, "pytest finds the fixture by this name"
KEY = SecretKey(bytes(range(32)), injected=True)
MARK = b"ZZMARKZZ"


def separate(_: object = None) -> Executor:
    """Return an executor that sends each part, and each bucket, to a process of its own, in reverse order."""

    def run(counter: Counter, parts: Sequence[Piece]) -> Iterator[PartialCounts]:
        for part in reversed(parts):
            there: Any = pickle.loads(pickle.dumps((counter.shared(len(parts)), part)))
            yield pickle.loads(pickle.dumps(there[0]([there[1]], None)))

    return run


EXECUTORS: dict[str, Callable[[], Executor]] = {"one process": serial, "a process for each part": separate}


def result(total: PartialCounts, of: CountingTask) -> list[object]:
    """Return all that a run takes from the counts of a table."""
    found = histograms(total, of, KEY)
    facts = {**vars(total.facts)}
    return [units(total, of), ingestion_figures(total, of), facts, {name: listed(found[name]) for name in found}]


def listed(found: Histogram) -> list[object]:
    return [found.names, found.sizes, [each.tolist() for each in found.codes], found.counts.tolist()]


def limited(folder: str, most: int) -> Spill:
    return replace(spill_to(Path(folder)), most=most)


def parts_of(rows: Sequence[Row], owners: Sequence[int]) -> Table:
    return Table(tuple(Lines([row for row, own in zip(rows, owners, strict=True) if own == i]) for i in range(3)))


@settings(max_examples=examples(100), deadline=None)
@given(
    rows=rows_of_table, owners=st.lists(st.integers(0, 2), min_size=20, max_size=20), rows_each=st.integers(1, 3),
    most=st.integers(0, 6), executor=st.sampled_from(sorted(EXECUTORS)),
)  # fmt: skip
def test_rows_of_people_in_files_count_as_those_in_memory(
    rows: list[Row], owners: list[int], rows_each: int, most: int, executor: str
) -> None:
    of = task(contract_of(rows_each))
    expected = result(count_table(Table((Lines(rows),)), of, serial()), of)
    with TemporaryDirectory() as folder:
        table = parts_of(rows, owners[: len(rows)])
        total = count_table(table, of, EXECUTORS[executor](), limited(folder, most))
        assert result(total, of) == expected
        assert total.figures is not None
        assert bool(total.buckets) == bool(list(Path(folder).iterdir()))
        if not most and total.figures.people and executor == "one process":
            assert len(total.buckets) == division.MOST_BUCKETS


WARDS, ILLS = (b"north", b"south", b"moon"), (b"no", b"yes")


@dataclass(frozen=True)
class RowsOfKind:
    """A part of rows of persons, whose ids are numbers or texts."""

    own: Sequence[tuple[int, ...]]
    kind: str
    size: int = 1

    def read(self, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        del unique
        cells = {
            "patient": ids_of_kind(self.kind, [row[0] for row in self.own]),
            "ward": pa.array([WARDS[row[1]] for row in self.own], pa.binary()),
            "ill": pa.array([ILLS[row[2]] for row in self.own], pa.binary()),
            "day": pa.array([str(row[3]).encode() for row in self.own], pa.binary()),
        }
        yield Batch(len(self.own), 0, {name: cells[name] for name in columns}, 1)


def table_of_kinds(rows: Sequence[tuple[int, ...]], kinds: Sequence[str]) -> Any:
    """Return a table with a part for each kind of ids."""
    parts: Any = tuple(RowsOfKind(rows[at :: len(kinds)], kind) for at, kind in enumerate(kinds))
    return Table(parts)


def task_of_persons(contract: Contract) -> CountingTask:
    views = {"all": view_of(contract, ward="exact", first_day="exact", visits="exact", ever_north="exact")}
    return CountingTask(contract, joint(views.values()).names, views)


def ids_of_kind(kind: str, numbers: Sequence[int]) -> Any:
    return pa.array(numbers, pa.int64()) if kind == "numbers" else pa.array(list(map(str, numbers)))


@settings(max_examples=examples(40), deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2), st.integers(0, 1), st.integers(0, 3)), max_size=40),
    kinds=st.lists(st.sampled_from(["numbers", "texts"]), min_size=4, max_size=4), most=st.integers(0, 8),
)  # fmt: skip
def test_persons_in_files_have_the_values_of_those_in_memory(
    contract_of_persons: Contract, rows: list[tuple[int, ...]], kinds: list[str], most: int
) -> None:
    """Ids of one person are numbers in some parts and texts in others."""
    of = task_of_persons(contract_of_persons)
    table = table_of_kinds(rows, kinds)
    expected = result(count_table(table, of, serial()), of)
    with TemporaryDirectory() as folder:
        assert result(count_table(table, of, serial(), limited(folder, most)), of) == expected


@pytest.mark.parametrize("buckets", [1, 2, 256])
def test_any_number_of_buckets_gives_the_same_counts(buckets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[Row] = [(person, age, b"north") for age in (b"10", b"20", b"-1") * 2 for person in (b"a", b"b", b"c")]
    of = task(contract_of(2))
    expected = result(count_table(Table((Lines(rows),)), of, serial()), of)
    monkeypatch.setattr(division, "_PEOPLE", 2)
    with TemporaryDirectory() as folder:
        total = count_table(Table((Lines(rows),)), of, serial(), limited(folder, 2).divided(buckets))
        assert len(total.buckets) == buckets
        assert result(total, of) == expected


def test_a_person_has_one_bucket_by_the_secret_whatever_the_type_of_the_id() -> None:
    numbers, texts = pa.array([7, 10**12, 3]), pa.array([b"7", b"1000000000000", b"3"], pa.large_binary())
    found = [id_numbers(bytes(32), id_texts(ids), 1 << 16).tolist() for ids in (numbers, texts)]
    assert found[0] == found[1]
    assert id_numbers(bytes(32), texts.slice(1), 1 << 16).tolist() == found[0][1:]
    assert id_numbers(bytes([1] * 32), texts, 1 << 16).tolist() != found[0]
    many = pa.array([str(number).encode() for number in range(100_000)], pa.large_binary())
    sizes = np.bincount(id_numbers(bytes(32), many, 16), minlength=16)
    assert abs(sizes - 6250).max() < 500  # 6.5 standard deviations of a uniform choice


def test_draws_of_a_slice_of_ids_are_those_of_the_ids() -> None:
    ids = pa.array([b"a" * 40, b"b", b"", b"c" * 17], pa.large_binary())
    zero = [np.zeros(3, dtype=np.int64)]
    whole = row_draws(KEY, ids, np.arange(1, 4), zero).tolist()
    assert row_draws(KEY, ids.slice(1), np.arange(3), zero).tolist() == whole


@pytest.fixture
def file(tmp_path: Path) -> SealedFile:
    return write_sealed(tmp_path, [MARK * 9, b"", b"last"])


def test_a_file_is_encrypted_for_its_owner_and_read_by_its_key_alone(file: SealedFile) -> None:
    assert [file.read(at) for at in range(3)] == [MARK * 9, b"", b"last"]
    content = file.path.read_bytes()
    assert MARK not in content
    assert file.key not in content
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert MARK.decode() not in repr(file)
    assert repr(file.key) not in repr(file)
    assert write_sealed(file.path.parent, [MARK * 9]).key != file.key
    with pytest.raises(EnvironmentFault, match="was changed or can't be read"):
        replace(file, key=bytes(32)).read(0)


@pytest.mark.parametrize("damage", ["changed", "cut", "gone", "another block"])
def test_a_damaged_file_is_refused(file: SealedFile, damage: str) -> None:
    content, first = bytearray(file.path.read_bytes()), file.size(0)
    if damage == "changed":
        content[first - 1] ^= 1
    file.path.write_bytes(content[: first - 1] if damage == "cut" else content)
    if damage == "gone":
        file.path.unlink()
    if damage == "another block":
        file = replace(file, edges=file.edges[2:])
    with pytest.raises(EnvironmentFault, match="was changed or can't be read"):
        file.read(0)


def test_of_a_file_for_which_the_disk_is_too_small_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, *_: object) -> int:
        path.touch()
        return os.open("/dev/full", os.O_WRONLY)

    monkeypatch.setattr(permissions, "open_file", full)
    with pytest.raises(EnvironmentFault, match="No space left on device; free some space there"):
        write_sealed(tmp_path, [b"x"])
    assert list(tmp_path.iterdir()) == []
