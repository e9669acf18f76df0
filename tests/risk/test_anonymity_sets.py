"""Anonymity sets equal those of a plain group-by, for each subset at each level and each way of counting."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.hierarchy import Level
from crowdgate.histogram import Column, Histogram, Records, View, collapse, project, scan
from crowdgate.risk import anonymity_sets as sets
from crowdgate.risk.anonymity_sets import (
    Grouping,
    SizeSummary,
    by_value,
    correlation,
    cover,
    groupings,
    measure_groupings,
    summary,
)
from tests.examples import examples

CELLS = st.sampled_from([(1 << 17, 1 << 20), (8, 30), (4, 4), (1, 1)])
"""Cells of a cube and of a dense subset: all dense, some dense, few dense, all sparse."""


@dataclass(frozen=True, eq=False)
class Made:
    """A table in domain codes with nested levels of each column, finest first."""

    levels: Mapping[str, tuple[Level, ...]]
    frame: pd.DataFrame

    @property
    def records(self) -> list[Records]:
        cut = len(self.frame) // 2
        return [
            Records(len(part), {name: Column(part[name].to_numpy(np.int32)) for name in self.levels})
            for part in (self.frame[:cut], self.frame[cut:])
        ]

    def at(self, chosen: Mapping[str, str]) -> pd.DataFrame:
        """Return the columns at these levels."""
        level = {name: next(e for e in self.levels[name] if e.name == chosen[name]) for name in chosen}
        return pd.DataFrame({name: level[name].codes[self.frame[name]] for name in chosen}, index=self.frame.index)


@st.composite
def tables(draw: st.DrawFn) -> Made:
    """Draw one to four columns of up to six values, each with up to three nested levels in no order."""
    names = ("a", "b", "c,a", "d")[: draw(st.integers(1, 4))]
    levels = {name: draw(nested()) for name in names}
    rows = draw(st.integers(0, 40))
    columns = {
        name: draw(st.lists(st.integers(0, len(levels[name][0].codes) - 1), min_size=rows, max_size=rows))
        for name in names
    }
    return Made(levels, pd.DataFrame(columns, dtype=np.int64))


@st.composite
def nested(draw: st.DrawFn) -> tuple[Level, ...]:
    codes = np.arange(draw(st.integers(1, 6)), dtype=np.int32)
    found = []
    for number in range(draw(st.integers(1, 3))):
        if number:
            many = int(codes.max()) + 1
            groups = np.array(draw(st.lists(st.integers(0, 2), min_size=many, max_size=many)))
            codes = np.unique(groups, return_inverse=True)[1].astype(np.int32)[codes]
        found.append(Level(f"level {number}", tuple(map(str, range(codes.max() + 1))), codes))
    return tuple(found)


def brute(table: Made, up_to: int) -> list[tuple[dict[str, str], pd.Series]]:
    """Return each grouping with its sizes, by pandas."""
    found = []
    for size in range(1, up_to + 1):
        for names in combinations(table.levels, size):
            for chosen in product(*(table.levels[name] for name in names)):
                levels = {name: level.name for name, level in zip(names, chosen, strict=True)}
                counts = table.at(levels).groupby(list(names)).size() if len(table.frame) else pd.Series(dtype=int)
                found.append((levels, counts))
    return found


def of_pandas(sizes: pd.Series) -> SizeSummary:
    within = tuple(int(sizes[sizes <= most].sum()) for most in sets.SIZES)
    if not len(sizes):
        return SizeSummary(0, 0, None, None, None, None, None, None, within)
    quartiles = np.quantile(sizes, [0.25, 0.5, 0.75])  # type 7 is numpy's default
    mean = sizes.sum() / len(sizes)
    return SizeSummary(int(sizes.sum()), len(sizes), int(sizes.min()), quartiles[0], quartiles[1], mean, quartiles[2],
                   int(sizes.max()), within)  # fmt: skip


def counted(table: Made, up_to: int, cells: tuple[int, int]) -> list[Grouping]:
    covering = cover(table.levels, up_to, *cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sets, "DENSE_SUBSET", cells[1])
        held = scan(table.records, {**covering.views, "\0": View({n: e[0] for n, e in table.levels.items()})})
        return list(measure_groupings(covering, held, held["\0"]))


@settings(max_examples=examples(40), deadline=None)
@given(table=tables(), up_to=st.integers(1, 4), cells=CELLS)
def test_all_groupings_are_those_of_a_plain_group_by(table: Made, up_to: int, cells: tuple[int, int]) -> None:
    up_to = min(up_to, len(table.levels))
    found, expected = counted(table, up_to, cells), brute(table, up_to)
    assert [dict(each.levels) for each in found] == [levels for levels, _ in expected]
    assert [each.summary for each in found] == [of_pandas(sizes) for _, sizes in expected]
    assert len(found) == groupings(table.levels, up_to)


@settings(max_examples=examples(60), deadline=None)
@given(table=tables(), up_to=st.integers(1, 4), cells=CELLS)
def test_a_cover_holds_every_subset_in_a_cube_that_is_not_too_wide(
    table: Made, up_to: int, cells: tuple[int, int]
) -> None:
    covering = cover(table.levels, up_to, *cells)
    size = {name: len(each[0]) for name, each in table.levels.items()}
    for many in range(1, up_to + 1):
        for names in combinations(table.levels, many):
            wide = np.prod([size[name] for name in names]) > cells[1]
            assert (names in covering.wide) == wide
            assert wide or any(set(names) <= set(cube) for cube in covering.cubes)
    assert all(np.prod([size[name] for name in cube]) <= max(cells) for cube in covering.cubes)


def test_a_planted_fault_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes of a coarser level that are added up without being sorted first."""
    codes = [np.array(each, dtype=np.int32) for each in ([0, 1, 2, 3], [0, 1, 0, 1])]
    levels = Level("level 0", tuple("0123"), codes[0]), Level("level 1", tuple("01"), codes[1])
    table = Made({"a": levels}, pd.DataFrame({"a": [0, 1, 2, 2, 3]}))
    assert counted(table, 1, (8, 8))[1].summary == of_pandas(pd.Series([3, 2]))
    monkeypatch.setattr(sets, "_coarser", lambda cube, axis, _: np.add.reduceat(cube, [0, 1], axis))
    assert counted(table, 1, (8, 8))[1].summary != of_pandas(pd.Series([3, 2]))


@pytest.mark.thorough
@settings(max_examples=examples(20), deadline=None)
@given(table=tables(), owners=st.lists(st.integers(0, 5), min_size=40, max_size=40), up_to=st.integers(1, 2))
def test_a_person_in_several_sets_counts_once_in_each_and_by_the_smallest(
    table: Made, owners: list[int], up_to: int
) -> None:
    up_to = min(up_to, len(table.levels))
    who = pd.Series(owners[: len(table.frame)], dtype=np.int64)
    codes = [who.to_numpy(), *(table.levels[name][0].codes[table.frame[name]] for name in table.levels)]
    sizes = (6, *(len(each[0]) for each in table.levels.values()))
    entries = collapse(("", *table.levels), sizes, codes, np.ones(len(who), dtype=np.int64))
    found = list(sets.measure_groupings_of_people(entries, table.levels, up_to))
    for each, (levels, _) in zip(found, brute(table, up_to), strict=True):
        assert (dict(each.levels), each.summary) == (levels, of_persons(table.at(levels).assign(**{"": who})))
    first, names = table.levels[next(iter(table.levels))][0], list(table.levels)
    by = at_front(entries, names[0])
    own = table.at({name: each[0].name for name, each in table.levels.items()}).assign(**{"": who})
    each_value = {value: of_persons(rows) for value, rows in own.groupby(names[0])}
    found_by = sets.by_value_of_people(by, first.labels)
    assert {group.value: group.summary for group in found_by} == {str(v): each for v, each in each_value.items()}


def of_persons(rows: pd.DataFrame) -> SizeSummary:
    """Return sets of distinct persons, with each person counted by the smallest set."""
    distinct, names = rows.drop_duplicates(), [name for name in rows if name]
    if not len(rows):
        return of_pandas(pd.Series(dtype=int))
    smallest = distinct.groupby(names)[""].transform("size").groupby(distinct[""]).min()
    within = tuple(int((smallest <= most).sum()) for most in sets.SIZES)
    return replace(of_pandas(distinct.groupby(names).size()), people=len(smallest), within=within)


def at_front(entries: Histogram, name: str) -> Histogram:
    """Return the person, this column, and then all columns."""
    at = entries.names.index(name)
    names, sizes = ("", "by", *entries.names[1:]), (entries.sizes[0], entries.sizes[at], *entries.sizes[1:])
    return Histogram(names, sizes, (entries.codes[0], entries.codes[at], *entries.codes[1:]), entries.counts)


@settings(max_examples=examples(25), deadline=None)
@given(table=tables())
def test_sets_by_value_and_their_correlation_are_those_of_pandas(table: Made) -> None:
    names = list(table.levels)
    cells = scan(table.records, {"": View({name: each[0] for name, each in table.levels.items()})})[""]
    found = by_value(cells, project(cells, names[:1]), table.levels[names[0]][0].labels)
    expected = {value: own.groupby(names).size() for value, own in table.frame.groupby(names[0])}
    assert [each.value for each in found] == [str(value) for value in expected]
    assert [each.summary for each in found] == [of_pandas(sizes) for sizes in expected.values()]
    assert [each.people for each in found] == [sizes.sum() for sizes in expected.values()]
    pairs = np.array([[sizes.sum(), sizes.median()] for sizes in expected.values()]).reshape(-1, 2)
    together = correlation(found)
    if len(pairs) < 2 or not np.ptp(pairs, axis=0).all():
        assert together is None
    else:
        assert together == pytest.approx(np.corrcoef(pairs.T)[0, 1])


def test_the_two_populations_of_the_thesis_with_the_same_mean() -> None:
    """Koot, footnote 5 of chapter 3: 500 people in five sets of 100, or in four of 1 and one of 496."""
    even, skewed = summary(np.full(5, 100)), summary(np.array([1, 1, 1, 1, 496]))
    assert even == SizeSummary(500, 5, 100, 100, 100, 100, 100, 100, (0, 0, 0, 0, 500))
    assert skewed == SizeSummary(500, 5, 1, 1, 1, 100, 1, 496, (4, 4, 4, 4, 4))


def test_quartiles_lie_between_sizes_as_those_of_r() -> None:
    """R: quantile(c(1, 2, 4, 8)) is 1.00 1.75 3.00 5.00 8.00 (type 7, the default)."""
    found = summary(np.array([8, 1, 4, 2]))
    assert (found.least, found.lower, found.median, found.upper, found.most) == (1, 1.75, 3, 5, 8)
