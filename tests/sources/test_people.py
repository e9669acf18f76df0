"""The bound on rows per person: a uniformly random choice of each person's rows, independent of their order."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.histogram import Column, Histogram, Records, View
from crowdgate.sampling import _PERSONS, SecretKey, row_draws
from crowdgate.sources import people
from crowdgate.sources.people import RowsByPerson, bounded_histogram, merge_people, people_of, smallest
from tests.core_strategies import level_of
from tests.examples import examples

KEY = SecretKey(bytes(range(32)), injected=True)
VIEW = View({"x": level_of([0, 1, 2, 3]), "y": level_of([0, 1])})
Row = tuple[bytes | None, int, int]
ids = st.none() | st.sampled_from([b"a", b"b", b"aa", b"", b"\xff", "é".encode()])
rows_of_people = st.lists(st.tuples(ids, st.integers(0, 3), st.integers(0, 1)), max_size=25)


def usable(person: bytes | None) -> bool:
    try:
        return bool(person) and bool(person.decode()) if person else False
    except UnicodeDecodeError:
        return False


def batch(rows: Sequence[Row], keep: Sequence[bool] | None = None) -> tuple[Any, Records]:
    columns = {name: Column(np.array([row[at] for row in rows], dtype=np.int32)) for at, name in ((1, "x"), (2, "y"))}
    kept = None if keep is None else np.array(keep, dtype=np.bool_)
    return pa.array([row[0] for row in rows], pa.binary()), Records(len(rows), columns, kept)


def counted(*parts: Sequence[Row]) -> RowsByPerson:
    return merge_people([people_of(VIEW, [batch(part)]) for part in parts])


def counted_cells(cells: Any, records: Records) -> RowsByPerson:
    return merge_people([people_of(VIEW, [(cells, records)])])


def listed(found: Histogram) -> dict[tuple[int, int], int]:
    return {(int(x), int(y)): int(count) for x, y, count in zip(*found.codes, found.counts, strict=True)}


@settings(max_examples=examples(150), deadline=None)
@given(rows=rows_of_people, most=st.integers(1, 4))
def test_of_each_person_so_many_rows_stay_and_no_other_rows_appear(rows: list[Row], most: int) -> None:
    found = bounded_histogram(counted(rows), most, KEY)
    owned = Counter(person for person, *_ in rows if usable(person))
    assert found.rows == sum(min(most, count) for count in owned.values())
    there = Counter((x, y) for person, x, y in rows if usable(person))
    assert all(count <= there[cell] for cell, count in listed(found).items())


@settings(max_examples=examples(150), deadline=None)
@given(rows=rows_of_people, most=st.integers(1, 3), data=st.data())
def test_the_choice_depends_on_no_order_and_on_no_partition(rows: list[Row], most: int, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(rows))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    edges = [0, *cuts, len(rows)]
    parts = [shuffled[start:stop] for start, stop in itertools.pairwise(edges)]
    assert listed(bounded_histogram(counted(*parts), most, KEY)) == listed(bounded_histogram(counted(rows), most, KEY))
    whole, cut = counted(rows), counted(*parts)
    assert (whole.named, sorted(whole.ids.to_pylist())) == (cut.named, sorted(cut.ids.to_pylist()))


@settings(max_examples=examples(60), deadline=None)
@given(rows=rows_of_people, most=st.integers(1, 3), extra=st.integers(0, 3))
def test_another_persons_rows_change_no_choice(rows: list[Row], most: int, extra: int) -> None:
    without = Counter(listed(bounded_histogram(counted(rows), most, KEY)))
    added = [(b"somebody else", 0, 0)] * extra
    with_it = Counter(listed(bounded_histogram(counted([*added, *rows]), most, KEY)))
    assert with_it == without + Counter({(0, 0): min(extra, most)} if extra else {})


@pytest.mark.parametrize("rows", [[(b"p", 0, 0), (b"p", 0, 0), (b"p", 1, 0)], [(b"p", x, 0) for x in range(4)]])
@pytest.mark.parametrize("most", [1, 2])
def test_every_choice_of_a_persons_rows_is_equally_likely(
    rows: list[Row], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exactly, over all orders of the draws: equal rows are chosen as often as different ones."""
    kept: Counter[tuple[int, int]] = Counter()
    orders = list(itertools.permutations(range(len(rows))))
    for order in orders:
        monkeypatch.setattr(people, "row_draws", lambda *_, order=order: np.array(order, dtype=np.uint64))
        kept.update(listed(bounded_histogram(counted(rows), most, KEY)))
    there = Counter((x, y) for _, x, y in rows)
    for cell, count in there.items():
        assert Fraction(kept[cell], len(orders)) == Fraction(most * count, len(rows))


def test_rows_that_cleaning_drops_take_no_place_but_their_people_are_known() -> None:
    rows: list[Row] = [(b"p", 0, 0), (b"p", 1, 0), (b"q", 2, 0), (None, 3, 0)]
    found = counted_cells(*batch(rows, [False, True, False, True]))
    assert listed(bounded_histogram(found, 1, KEY)) == {(1, 0): 1}
    assert (found.named, sorted(found.ids.to_pylist())) == (3, [b"p", b"q"])


UUIDS = [UUID(int=2**127 + 3 * number) for number in range(2)]
TYPES = {
    "text": pa.array(["a", None, "b", "a"]),
    "large text": pa.array(["a", None, "b", "a"], pa.large_string()),
    "dictionary": pa.array(["a", None, "b", "a"]).dictionary_encode(),
    "view": pa.array(["a", None, "b", "a"], pa.string_view()),
    "fixed size": pa.array([b"a", None, b"b", b"a"], pa.binary(1)),
    "numbers": pa.array([1, None, 2, 1]),
    "floats": pa.array([1.0, float("nan"), 2.0, 1.0]),
    "uuid": pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([UUIDS[0].bytes, None, UUIDS[1].bytes, UUIDS[0].bytes], pa.binary(16))
    ),
    "duration": pa.array([1, None, 2, 1], pa.duration("us")),
}


@pytest.mark.parametrize("kind", TYPES)
def test_a_person_may_be_named_by_any_type_that_has_a_text(kind: str) -> None:
    _, records = batch([(None, 0, 0), (None, 1, 0), (None, 2, 0), (None, 3, 0)])
    found = counted_cells(TYPES[kind], records)
    assert (len(found.ids), found.named, bounded_histogram(found, 1, KEY).rows) == (2, 3, 2)


def test_a_person_is_the_same_where_one_null_turned_ids_into_floats() -> None:
    _, records = batch([(None, 0, 0), (None, 0, 0)])
    parts = [pa.array([7, 8]), pa.array([7.0, float("nan")]), pa.array(["7", "07"])]
    found = merge_people([people_of(VIEW, [(cells, records)]) for cells in parts])
    assert sorted(found.ids.to_pylist()) == [b"07", b"7", b"8"]


MOMENT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
ONE_PERSON = {
    "a large number": (
        pa.array([2**53 - 1]),
        pa.array([2.0**53 - 1, None]),
        pa.array([Decimal(2**53 - 1)], pa.decimal128(30, 2)),
    ),
    "a number": (
        pa.array([70]),
        pa.array([70.0]),
        pa.array([Decimal("70.00")], pa.decimal128(10, 2)),
        pa.array(["70"]),
    ),
    "a fraction": (pa.array([0.5]), pa.array([Decimal("0.50")], pa.decimal128(10, 2))),
    "a moment": tuple(pa.array([MOMENT], pa.timestamp(unit, "UTC")) for unit in ("s", "ms", "us", "ns")),
}


@pytest.mark.parametrize("case", ONE_PERSON)
def test_a_person_is_the_same_whatever_type_a_file_gives_its_id(case: str) -> None:
    found = merge_people([people_of(VIEW, [(cells, rows_alike(len(cells)))]) for cells in ONE_PERSON[case]])
    assert len(found.ids) == 1
    assert bounded_histogram(found, 1, KEY).rows == 1


@pytest.mark.parametrize(("kind", "digits"), [(pa.float16(), 11), (pa.float32(), 24), (pa.float64(), 53)])
def test_an_id_that_its_type_may_have_merged_with_another_names_nobody(kind: pa.DataType, digits: int) -> None:
    cells = pa.array([2.0**digits - 1, 2.0**digits, -(2.0**digits), 2.0 ** (digits + 1)]).cast(kind)
    found = counted_cells(cells, rows_alike(4))
    assert (found.ids.to_pylist(), found.named) == ([str(2**digits - 1).encode()], 1)


@settings(max_examples=examples(60), deadline=None)
@given(
    parts=st.lists(st.lists(st.tuples(st.none() | st.integers(3, 9), st.booleans()), max_size=8), max_size=3),
    step=st.sampled_from([1, 2, 1 << 40]),
)
def test_people_with_faults_are_marked_whatever_the_gaps_between_their_ids(
    parts: list[list[tuple[int | None, bool]]], step: int
) -> None:
    made, marked = [people_of(VIEW, [], ("x", "y"))], set()
    for part in parts:
        ids, faults = [person and step * person for person, _ in part], [fault for _, fault in part]
        records = replace(rows_alike(len(part)), invalid={"x": np.array(faults, dtype=np.bool_)})
        made.append(people_of(VIEW, [(pa.array(ids, pa.int64()), records)], ("x", "y")))
        marked |= set(itertools.compress(ids, faults))
    found = merge_people(made)
    wanted = sorted(person for person in marked if person is not None)
    assert [found.ids.filter(pa.array(line)).to_pylist() for line in found.faults] == [wanted, wanted, []]


def rows_alike(rows: int) -> Records:
    return batch([(None, 0, 0)] * rows)[1]


def test_usable_ids_are_told_from_others_in_every_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "_SLICE", 2)
    rows: list[Row] = [(name, 0, 0) for name in (b"a", b"b", b"", b"c", b"\xff", b"dd", b"e", b"a")]
    assert sorted(counted(rows).ids.to_pylist()) == [b"a", b"b", b"c", b"dd", b"e"]


def test_of_equal_draws_the_first_is_taken() -> None:
    assert smallest(np.array([1, 0, 1, 0]), np.full(4, 7, dtype=np.uint64), 1).tolist() == [True, True, False, False]


@settings(max_examples=examples(100), deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0, 1, 2, 7, 8, 1 << 61, 1 << 63])), max_size=30),
    most=st.integers(1, 4),
)
def test_the_smallest_draws_of_each_owner_are_taken(rows: list[tuple[int, int]], most: int) -> None:
    """Some draws differ in their last bits only."""
    owner, draws = np.array([row[0] for row in rows], dtype=np.int64), np.array([row[1] for row in rows], np.uint64)
    first = [sorted((row[1], at) for at, row in enumerate(rows) if row[0] == each)[:most] for each in range(6)]
    taken = {at for each in first for _, at in each}
    assert np.flatnonzero(smallest(owner, draws, most)).tolist() == sorted(taken)


@pytest.mark.parametrize("entries", [1, 3])
def test_no_choice_depends_on_how_many_people_are_looked_at_at_once(
    entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = [(x, y) for x in range(4) for y in range(2) for _ in range(x)]
    rows: list[Row] = [(name, *cell) for name in (b"a", b"b", b"c") for cell in each]
    whole = listed(bounded_histogram(counted(rows), 3, KEY))
    monkeypatch.setattr(people, "_ENTRIES", entries)
    assert listed(bounded_histogram(counted(rows), 3, KEY)) == whole
    assert sum(whole.values()) == 9


def _ids(*texts: bytes) -> Any:
    return pa.array(texts, pa.large_binary())


def _plain_draw(person: bytes, numbers: Sequence[int]) -> int:
    """Return the CBC-MAC of an id and numbers, block by block: what `row_draws` states."""
    cipher = Cipher(algorithms.AES256(KEY.stream(_PERSONS, 0).update(bytes(32))), modes.ECB()).encryptor()
    blocks = [len(person), *(int.from_bytes(person[at : at + 16], "little") for at in range(0, len(person), 16))]
    state = 0
    for block in blocks + list(numbers):
        state = int.from_bytes(cipher.update((state ^ block).to_bytes(16, "little")), "little")
    return state % 2**64


@settings(max_examples=examples(60), deadline=None)
@given(
    names=st.lists(st.binary(min_size=0, max_size=70) | st.integers(1, 70).map(bytes), min_size=1, max_size=6),
    first=st.integers(0, 2),
    numbers=st.tuples(st.integers(0, 2**62), st.integers(0, 9)),
)
def test_draws_are_the_cbc_mac_of_length_id_and_numbers(
    names: list[bytes], first: int, numbers: tuple[int, int]
) -> None:
    people = pa.concat_arrays([_ids(b"x" * 20, b""), _ids(*names)]).slice(first)
    place = np.arange(len(people))
    draws = row_draws(KEY, people, place, [np.full(len(people), each) for each in numbers])
    assert draws.tolist() == [_plain_draw(name, numbers) for name in people.to_pylist()]


INTEGERS = [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64]


@settings(max_examples=examples(100), deadline=None)
@given(data=st.data(), kind=st.sampled_from(INTEGERS), far=st.booleans())
def test_whole_numbers_are_numbered_alike_whether_they_lie_close_or_far_apart(
    data: st.DataObject, kind: type[np.signedinteger[Any]], far: bool
) -> None:
    least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    start = data.draw(st.integers(least, most))
    near = st.integers(start, min(most, start + 20))
    values = st.none() | (near | st.integers(least, most) if far else near)
    parts = data.draw(st.lists(st.lists(values, min_size=1, max_size=30), min_size=1, max_size=3))
    cells = [pa.array(part, pa.from_numpy_dtype(kind)) for part in parts]
    made = [people._numbered([each]) for each in cells]
    numbering = people._numbering([own for own, _ in made])
    ids = numbering.ids.to_pylist()
    assert ids == sorted({value for part in parts for value in part if value is not None})
    for part, (own, numbers), at in zip(parts, made, numbering.numbers, strict=True):
        known = [None if number < 0 else own[number].as_py() for number in numbers.tolist()]
        assert known == part
        assert [ids[place] for place in numbering.places(at)] == own.to_pylist()


def test_a_draw_depends_on_key_person_tuple_and_copy_and_on_nothing_else() -> None:
    of, tuples = np.array([0, 0, 1, 0]), [np.array([5, 6, 5, 5]), np.array([0, 0, 0, 1])]
    draws = row_draws(KEY, _ids(b"p", b"q"), of, tuples)
    assert len(set(draws.tolist())) == 4
    assert row_draws(KEY, _ids(b"q", b"p"), 1 - of, tuples).tolist() == draws.tolist()
    assert row_draws(KEY, _ids(b"p"), np.array([0]), [np.array([6]), np.array([0])]).tolist() == [draws[1]]
    other = SecretKey(bytes(32), injected=True)
    assert not set(row_draws(other, _ids(b"p", b"q"), of, tuples).tolist()) & set(draws.tolist())


# N = 40,000 draws of one person, in 16 bins: chi-square with 15 degrees of freedom, false-alarm rate 1e-6 (limit 59.5).
# Power above 1 - 1e-9 against a bin that is a tenth too likely (noncentrality 40,000/16 * .01 * 16/15 is 26 only; a
# fifth: 107). Seeded by the key: one fixed outcome.
@pytest.mark.statistical
@pytest.mark.parametrize("byte", range(8))
def test_draws_are_uniform_in_every_byte(byte: int) -> None:
    count = 40_000
    tuples = [np.arange(count) % 200, np.arange(count) // 200]
    draws = row_draws(KEY, _ids(b"p"), np.zeros(count, dtype=np.int64), tuples)
    bins = np.bincount((draws >> np.uint64(8 * byte + 4)).astype(np.int64) & 15, minlength=16)
    expected = count / 16
    assert math.fsum((bins - expected) ** 2 / expected) < 59.5
