"""A histogram equals a plain group-by, however its keys are made."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate import histogram as h
from crowdgate import keys
from crowdgate.arrays import AnyIntegers, Integers
from crowdgate.histogram import Histogram, Records, View
from tests.core_strategies import Batches, batches, level_of, levels
from tests.examples import examples

Table = dict[tuple[int, ...], int]
PATHS: dict[str, dict[str, int]] = {
    "by the number of rows": {},
    "dense": {"CELLS_PER_ROW": 1 << 40},
    "dense after some rows": {"CELLS_PER_ROW": 1},
    "sparse": {"DENSE_CELLS": 1},
    "a word for every column": {"DENSE_CELLS": 1, "WORD_LIMIT": 1},
    "a word for two columns": {"DENSE_CELLS": 1, "WORD_LIMIT": 12},
    "merged after every batch": {"DENSE_CELLS": 1, "LEAST_PENDING": 0},
    "merged after every batch, in words": {"DENSE_CELLS": 1, "LEAST_PENDING": 0, "WORD_LIMIT": 12},
}
every_path = pytest.mark.parametrize("path", PATHS)


@contextmanager
def taking(path: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(h.DenseCounter, "CHUNK", 3)
        for name, value in PATHS[path].items():
            patch.setattr(keys if name == "WORD_LIMIT" else h, name, value)
        yield


def grouped(tuples: list[tuple[int, ...]] | tuple[tuple[int, ...], ...], weights: list[int] | None = None) -> Table:
    """Tuples and their counts in lexicographic order, as pandas counts them."""
    frame = pd.DataFrame(list(tuples)).assign(weight=1 if weights is None else weights)
    by = [name for name in frame.columns if name != "weight"]
    if not by or not len(frame):
        return {(): len(tuples) if weights is None else sum(weights)} if len(frame) else {}
    counts = frame.groupby(by, sort=True)["weight"].sum()
    return {key if isinstance(key, tuple) else (key,): int(count) for key, count in counts.items()}


def listed(histogram: Histogram) -> list[tuple[tuple[int, ...], int]]:
    assert all(len(column) == len(histogram.counts) for column in histogram.codes)
    rows = np.column_stack([*histogram.codes, histogram.counts]).tolist()
    return [(tuple(row[:-1]), row[-1]) for row in rows]


def expanded(histogram: Histogram, name: str) -> list[int]:
    """The code of each row in one column."""
    return np.repeat(histogram.codes[histogram.names.index(name)], histogram.counts).tolist()


def counted(table: Batches, path: str) -> Histogram:
    with taking(path):
        return h.scan(table.records, {"it": table.view})["it"]


def made(rows: Sequence[tuple[int, ...]], sizes: tuple[int, ...]) -> Histogram:
    columns = [np.array([row[i] for row in rows], dtype=np.int64) for i in range(len(sizes))]
    return h.collapse(tuple(map(str, sizes)), sizes, columns, np.ones(len(rows), dtype=np.int64))


@pytest.mark.thorough
@every_path
@settings(max_examples=examples(40), deadline=None)
@given(table=batches())
def test_a_scan_counts_the_kept_rows_as_a_group_by_does_in_lexicographic_order(path: str, table: Batches) -> None:
    found = counted(table, path)
    assert listed(found) == list(grouped(table.tuples).items())
    assert (found.names, found.sizes) == (table.view.names, table.view.sizes)
    assert found.rows == len(table.tuples)


@every_path
@settings(max_examples=examples(40), deadline=None)
@given(table=batches())
def test_merging_the_histograms_of_parts_gives_the_histogram_of_the_whole(path: str, table: Batches) -> None:
    with taking(path):
        parts = [h.scan([], {"it": table.view})["it"]]
        parts += [h.scan([batch], {"it": table.view})["it"] for batch in table.records]
        assert listed(h.merge(parts)) == list(grouped(table.tuples).items())


@pytest.mark.thorough
@every_path
@settings(max_examples=examples(40), deadline=None)
@given(table=batches(), data=st.data())
def test_a_projection_is_the_group_by_of_fewer_columns_in_the_given_order(
    path: str, table: Batches, data: st.DataObject
) -> None:
    at = data.draw(st.permutations(range(len(table.view.names))).map(lambda order: order[: len(order) // 2 + 1]))
    whole = counted(table, "dense")
    with taking(path):
        found = h.project(whole, [table.view.names[i] for i in at])
    assert listed(found) == list(grouped([tuple(row[i] for i in at) for row in table.tuples]).items())
    assert found.sizes == tuple(table.view.sizes[i] for i in at)


@every_path
@settings(max_examples=examples(40), deadline=None)
@given(table=batches(), data=st.data())
def test_generalising_a_histogram_counts_the_generalised_rows(path: str, table: Batches, data: st.DataObject) -> None:
    coarser = {
        name: data.draw(levels(size))
        for name, size in zip(table.view.names, table.view.sizes, strict=True)
        if data.draw(st.booleans())
    }
    whole = counted(table, "dense")
    with taking(path):
        found = h.generalise(whole, coarser)
    maps = [coarser[name].codes if name in coarser else np.arange(99) for name in table.view.names]
    rows = [tuple(int(codes[code]) for codes, code in zip(maps, row, strict=True)) for row in table.tuples]
    assert listed(found) == list(grouped(rows).items())
    assert all(size == len(coarser[n]) for n, size in zip(found.names, found.sizes, strict=True) if n in coarser)


@given(table=batches(), data=st.data())
def test_subsampling_keeps_so_many_rows_of_each_class_and_drops_empty_classes(
    table: Batches, data: st.DataObject
) -> None:
    whole = counted(table, "dense")
    heads = [data.draw(st.integers(0, count)) for _, count in listed(whole)]
    seen: list[list[int]] = []

    def heads_of(sizes: Integers) -> Integers:
        seen.append(sizes.tolist())
        return np.array(heads, dtype=np.int64)

    sample = h.subsample(whole, heads_of)
    assert seen == [[count for _, count in listed(whole)]]
    expected = [(row, head) for (row, _), head in zip(listed(whole), heads, strict=True) if head]
    assert listed(sample) == expected


@given(table=batches(), k=st.integers(1, 6))
def test_suppression_leaves_exactly_the_classes_of_at_least_k_rows(table: Batches, k: int) -> None:
    whole = counted(table, "dense")
    assert listed(h.at_least(whole, k)) == [(row, count) for row, count in listed(whole) if count >= k]


@given(table=batches())
def test_expanding_gives_the_rows_back_in_sorted_order(table: Batches) -> None:
    whole = counted(table, "dense")
    columns = [expanded(whole, name) for name in table.view.names]
    if columns:
        assert list(zip(*columns, strict=True)) == sorted(table.tuples)


@every_path
@settings(max_examples=examples(40), deadline=None)
@given(rows=st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=30), data=st.data())
def test_equal_tuples_add_their_counts_and_distinct_ones_never_collide(
    path: str, rows: list[tuple[int, ...]], data: st.DataObject
) -> None:
    weights = [data.draw(st.integers(1, 9)) for _ in rows]
    columns = [np.array([row[i] for row in rows], dtype=np.int32) for i in range(3)]
    with taking(path):
        found = h.collapse(("x", "y", "z"), (3, 3, 3), columns, np.array(weights, dtype=np.int64))
    assert listed(found) == list(grouped(rows, weights).items())


@given(table=batches(), rows=st.integers(1, 9))
def test_parts_cut_from_a_histogram_expand_one_after_another_to_the_whole(table: Batches, rows: int) -> None:
    whole = counted(table, "dense")
    parts = list(h.cut(whole, rows))
    assert [part.rows for part in parts[:-1]] == [rows] * (len(parts) - 1)
    assert sum(part.rows for part in parts) == whole.rows
    assert all(0 < part.rows <= rows and part.counts.min() > 0 for part in parts)
    for name in table.view.names:
        pieces = [code for part in parts for code in expanded(part, name)]
        assert pieces == expanded(whole, name)


WIDE = (1 << 21,) * 4
wide_rows = st.lists(
    st.tuples(*[st.one_of(st.integers(0, (1 << 21) - 1), st.sampled_from([0, 1, 2, (1 << 21) - 1]))] * 4), max_size=12
)


@given(wide_rows)
def test_tuples_wider_than_63_bits_stay_exact(rows: list[tuple[int, ...]]) -> None:
    assert listed(made(rows, WIDE)) == list(grouped(rows).items())


def test_a_tuple_of_84_bits_in_one_word_would_be_another_tuple(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(0, 0, 0, 0), (2, 0, 0, 0), (1, 0, 0, 0)]
    assert len(made(rows, WIDE)) == 3
    monkeypatch.setattr(keys, "WORD_LIMIT", 1 << 100)
    monkeypatch.setattr(keys.Packing, "_word", wrapping)
    assert len(made(rows, WIDE)) < 3


def wrapping(_: keys.Packing, span: tuple[int, ...], columns: Iterator[AnyIntegers], rows: int) -> keys.Word:
    word = np.zeros(rows, dtype=np.int64)
    for size in span:
        word = word * size + next(columns)
    return word


@given(rows=st.lists(st.tuples(*[st.integers(0, 40)] * 3), max_size=40), limit=st.sampled_from([1, 2000, 1 << 63]))
def test_packed_tuples_unpack_to_the_same_and_order_as_tuples_do(rows: list[tuple[int, ...]], limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "WORD_LIMIT", limit)
        patch.setattr(keys, "_STRETCH", 7)
        packing = keys.Packing.of((41, 41, 41))
        columns = [np.array([row[at] for row in rows], dtype=np.int64) for at in range(3)]
        words = packing.pack(iter(columns), len(rows))
        assert [column.tolist() for column in packing.unpack(words)] == [column.tolist() for column in columns]
        assert [rows[at] for at in keys.in_order(words)] == sorted(rows)


@settings(max_examples=examples(60), deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from([0, 1, 33, 40]), st.sampled_from([0, 1 << 20]), st.integers(1, 9)), max_size=40
    ),
    bits=st.sampled_from([62, 28, 25, 0]),
    stretch=st.integers(1, 4),
)
def test_tuples_collapse_to_sums_of_their_counts(rows: list[tuple[int, int, int]], bits: int, stretch: int) -> None:
    """By numbers where a tuple and its count fit into one, or all but a few leading bits; else by places. In stretches
    of any length."""
    words: list[AnyIntegers] = [
        np.array([row[0] for row in rows], dtype=np.int8),
        np.array([row[1] for row in rows], dtype=np.int32),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "_BITS", bits)
        patch.setattr(keys, "_SHARING", 0)
        patch.setattr(keys, "_STRETCH", stretch)
        found, counts = keys.collapsed(words, np.array([row[2] for row in rows], dtype=np.int64))
    expected: Counter[tuple[int, int]] = Counter()
    for first, second, count in rows:
        expected[first, second] += count
    assert list(zip(*(each.tolist() for each in (*found, counts)), strict=True)) == [
        (*cell, count) for cell, count in sorted(expected.items())
    ]
    assert [each.dtype for each in (*found, counts)] == [np.int8, np.int32, np.int64]


@pytest.mark.parametrize("sharing", [0, 1 << 9])
@pytest.mark.parametrize("bits", [29, 30, 31, 33, 43])
def test_tuples_and_counts_of_62_bits_and_more_stay_apart(
    bits: int, sharing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bits that are left over are sorted before the rest, if enough tuples share them; else places are sorted."""
    monkeypatch.setattr(keys, "_STRETCH", 1)
    monkeypatch.setattr(keys, "_SHARING", sharing)
    most, second = (1 << bits) - 1, (1 << 31) - 1
    firsts = [most, 0, most, most >> 1]
    words: list[AnyIntegers] = [np.array(firsts), np.array([second, second - 1, second, 5])]
    found, counts = keys.collapsed(words, np.array([2, 2, 1, 1], dtype=np.int64))
    assert [each.tolist() for each in found] == [[0, most >> 1, most], [second - 1, 5, second]]
    assert counts.tolist() == [2, 1, 3]


SIZES = [
    1,
    2,
    127,
    128,
    129,
    255,
    256,
    257,
    32767,
    32768,
    32769,
    1 << 16,
    (1 << 31) - 1,
    1 << 31,
    1 << 62,
    (1 << 63) - 1,
]


@pytest.mark.thorough
@given(sizes=st.lists(st.sampled_from(SIZES), max_size=6), data=st.data())
def test_columns_of_any_size_are_packed_and_unpacked(sizes: list[int], data: st.DataObject) -> None:
    """This holds even if a word's integers hold its codes, but not the size that they are divided by."""
    rows = data.draw(st.lists(st.tuples(*(st.sampled_from([0, size // 2, size - 1]) for size in sizes)), max_size=5))
    columns = [[row[at] for row in rows] for at in range(len(sizes))]
    packing = keys.Packing.of(sizes)
    words = packing.pack(iter([np.array(column, dtype=np.int64) for column in columns]), len(rows))
    assert [column.tolist() for column in packing.unpack(words)] == columns


@given(table=batches())
def test_the_views_of_a_joint_histogram_are_those_of_a_scan(table: Batches) -> None:
    names = table.view.names
    coarse = {name: level_of([0] * len(table.view.levels[name].codes)) for name in names[:1]}
    views = {
        "first": View(dict(list(table.view.levels.items())[:2])),
        "last": View(dict(list(table.view.levels.items())[1:])),
    }
    views |= {"coarse": View({**table.view.levels, **coarse})}
    finest = h.joint([table.view, *views.values()])
    whole = h.scan(table.records, {"it": finest})["it"]
    found, scanned = h.split(whole, finest, views), h.scan(table.records, views)
    assert {name: listed(each) for name, each in found.items()} == {n: listed(each) for n, each in scanned.items()}


def test_one_scan_fills_views_of_any_kind_in_the_same_pass() -> None:
    level, constant = level_of([0, 1, 1]), level_of([0, 0, 0])
    views = {"fine": View({"a": level}), "one label": View({"a": constant}), "no column": View({})}
    batch = Records(4, {"a": h.Column(np.array([0, 1, 2, 1]))})
    found = h.scan(iter([batch, batch]), views)
    assert {name: listed(one) for name, one in found.items()} == {
        "fine": [((0,), 2), ((1,), 6)],
        "one label": [((0,), 8)],
        "no column": [((), 8)],
    }


@every_path
@pytest.mark.parametrize("empty", [[], [Records(0, {"a": h.Column(np.zeros(0, dtype=np.int32))})]])
def test_an_empty_table_has_an_empty_histogram_that_every_operation_takes(path: str, empty: list[Records]) -> None:
    view = View({"a": level_of([0, 1])})
    with taking(path):
        found = h.scan(empty, {"it": view})["it"]
        made_of_it = [h.merge([found, found]), h.project(found, ["a"]), h.generalise(found, {"a": level_of([0, 0])})]
    made_of_it += [h.subsample(found, lambda sizes: sizes), h.at_least(found, 3)]
    assert [len(one) for one in (found, *made_of_it)] == [0] * 6
    assert (found.rows, expanded(found, "a")) == (0, [])


def test_a_column_has_one_domain_code_a_row_with_and_without_lookup() -> None:
    lookup = np.array([5, -1], dtype=np.int32)
    assert h.Column(np.array([1, 0, 1]), lookup).codes.tolist() == [-1, 5, -1]
    assert h.Column(np.array([1, 0, 1])).codes.tolist() == [1, 0, 1]
