"""Ingestion summary, counted in one pass: independent of source and parts, and equal to a count by hand."""

import csv
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.candidate import Input
from crowdgate.contracts.contract import Attribute, Contract, PrivacyUnit, Role
from crowdgate.domain import categories, numbers
from crowdgate.hierarchy import hierarchy
from crowdgate.histogram import View
from crowdgate.sources import open_source
from crowdgate.sources.counting import CountingTask, PartialCounts, count_table, serial
from crowdgate.sources.ingested import ingestion_figures, units
from crowdgate.sources.source import Batch
from tests.examples import examples
from tests.reading import file_server
from tests.workshop import MARK

AGES: dict[bytes | None, str | None] = {
    b"10": None, b"20.0": None, None: "missing", b" ": "missing", b"x": "unreadable", b"\xff": "unreadable",
    b"-1": "outside the domain", b"10.5": "outside the domain", b"13": "against a row rule",
}  # fmt: skip
WARDS: dict[bytes | None, str | None] = {
    b"north": None, b"": "missing", MARK.encode(): "outside the domain", b"\xff": "unreadable",
    b"east": "against a row rule",
}  # fmt: skip
PEOPLE = (b"a", b"b", b"c", b"", b"\xff", None)
Row = tuple[bytes | None, bytes | None, bytes | None]
rows_of_table = st.lists(
    st.tuples(st.sampled_from(PEOPLE), st.sampled_from([*AGES]), st.sampled_from([*WARDS])), max_size=20
)


def contract(most: int | None, path: Path = Path("x.csv"), reader: str = "csv") -> Contract:
    """Return a contract of persons with at most so many rows, or of rows."""
    age, ward = numbers(Fraction(0), Fraction(99), Fraction(1), "book"), categories(["north", "east"], "book")
    accepted = np.ones(100, dtype=np.bool_)
    accepted[13] = False
    attributes = (
        Attribute("person", Role.DIRECT_IDENTIFIER),
        Attribute("age", Role.OTHER, "", age, hierarchy(age, [], invalid_level=False), "drop", accepted),
        Attribute(
            "ward", Role.OTHER, "", ward, hierarchy(ward, [], invalid_level=True), "level", np.array([True, False])
        ),
    )
    unit = PrivacyUnit() if most is None else PrivacyUnit("person", most)
    return Contract("c", "1", "p", unit, file_server(path, reader), attributes)


def task(of: Contract) -> CountingTask:
    trees = {each.name: each.hierarchy for each in of.attributes if each.hierarchy is not None}
    view = View({name: tree.level("exact") for name, tree in trees.items()})
    return CountingTask(of, ("age", "ward"), {"all": view}, ("age", "ward"))


@dataclass(frozen=True)
class Lines:
    """A part of some rows, in batches of three."""

    rows: Sequence[Row]
    ragged: int = 0

    @property
    def size(self) -> int:
        return len(self.rows)

    def read(self, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        del unique
        at = {"person": 0, "age": 1, "ward": 2}
        for start in range(0, max(1, len(self.rows)), 3):
            rows = self.rows[start : start + 3]
            cells = {name: pa.array([row[at[name]] for row in rows], pa.binary()) for name in columns}
            yield Batch(len(rows), 0 if start else self.ragged, cells, self.size)


@dataclass(frozen=True)
class Table:
    parts: tuple[Lines, ...]

    def fingerprint(self) -> object:
        return None


def total(of: Contract, *parts: Lines) -> PartialCounts:
    return count_table(Table(parts), task(of), serial())


def by_hand(rows: Sequence[Row], ragged: int, most: int | None) -> Input:
    """Return the summary, counted unit by unit."""
    if most is None:
        faults = [(AGES[age] is not None, WARDS[ward] is not None) for _, age, ward in rows] + [(True, True)] * ragged
        return _input(faults, [0] * len(faults), 0)
    owned = {person: [row[1:] for row in rows if row[0] == person] for person in (b"a", b"b", b"c")}
    owned = {person: own for person, own in owned.items() if own}
    faults = [
        (any(AGES[age] is not None for age, _ in own), any(WARDS[ward] is not None for _, ward in own))
        for own in owned.values()
    ]
    return _input(faults, [sum(AGES[age] is None for age, _ in own) for own in owned.values()], most)


def _input(faults: Sequence[tuple[bool, bool]], rows: Sequence[int], most: int) -> Input:
    each = {"age": sum(age for age, _ in faults), "ward": sum(ward for _, ward in faults)}
    return Input(len(faults), sum(map(any, faults)), each, sum(count > most for count in rows))


@settings(max_examples=examples(150), deadline=None)
@given(rows=rows_of_table, ragged=st.integers(0, 2), most=st.none() | st.integers(1, 3), data=st.data())
def test_what_came_in_is_what_counting_by_hand_gives_in_any_parts(
    rows: list[Row], ragged: int, most: int | None, data: st.DataObject
) -> None:
    of, whole = contract(most), Lines(rows, ragged)
    owners = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    parts = [Lines([row for row, own in zip(rows, owners, strict=True) if own == i]) for i in range(3)]
    cut = total(of, *parts, Lines([], ragged))
    expected = by_hand(rows, ragged, most)
    assert units(cut, task(of)) == units(total(of, whole), task(of)) == expected
    assert ingestion_figures(cut, task(of)) == ingestion_figures(total(of, whole), task(of))
    _is_the_record_of(ingestion_figures(cut, task(of)), rows, ragged, most)


def _is_the_record_of(found: dict[str, Any], rows: Sequence[Row], ragged: int, most: int | None) -> None:
    for name, at, known in (("age", 1, AGES), ("ward", 2, WARDS)):
        reasons = Counter(reason for row in rows if (reason := known[row[at]]) is not None)
        column = found["columns"][name]
        assert {each["reason"]: each["cells"] for each in column["reasons"]} == reasons
        assert [each["cells"] for each in column["reasons"]] == sorted(reasons.values(), reverse=True)
        assert column["invalid"] == reasons.total() == round(column["share"] * len(rows))
    dropped = ragged + sum(AGES[age] is not None for _, age, _ in rows)
    assert (found["rows"]["in the files"], found["rows"]["dropped"]) == (len(rows) + ragged, dropped)
    if most is not None:
        kept = Counter(person for person, age, _ in rows if AGES[age] is None)
        assert found["rows"]["truncated"] == sum(max(0, kept[person] - most) for person in (b"a", b"b", b"c"))
        assert found["rows"]["that name no person"] == sum(row[0] in (b"", b"\xff", None) for row in rows)
    assert MARK not in json.dumps(found)


WAYS = ("csv", "parquet of text", "parquet of numbers", "ten files")


@pytest.mark.parametrize("most", [None, 2])
def test_what_came_in_is_the_same_from_every_source(tmp_path: Path, most: int | None) -> None:
    draw = random.Random(1)
    ages = [10, 20, 13, -1, 150, None]
    rows = [(draw.choice("abcdef"), draw.choice(ages), draw.choice(["north", "east", MARK])) for _ in range(400)]
    found = []
    for way in WAYS:
        of = contract(most, _written(tmp_path / way, way, rows), "csv" if way == "csv" else "parquet")
        source = open_source(of, ("age", "ward"))
        partial = count_table(source, task(of), serial())
        found.append((units(partial, task(of)), ingestion_figures(partial, task(of))))
    assert found == [found[0]] * len(WAYS)
    assert found[0][0].truncated == (0 if most is None else 6)


def _written(folder: Path, way: str, rows: Sequence[tuple[object, ...]]) -> Path:
    folder.mkdir()
    if way == "csv":
        with (folder / "t.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("person", "age", "ward"), *rows])
        return folder / "t.csv"
    pieces = [rows] if way != "ten files" else [rows[i::10] for i in range(10)]
    for i, piece in enumerate(pieces):
        columns = dict(zip(("person", "age", "ward"), map(list, zip(*piece, strict=True)), strict=True))
        table = pa.table(columns)
        if way == "parquet of text":
            table = table.set_column(1, "age", table["age"].cast(pa.string()))
        pq.write_table(table, folder / f"{i}.parquet")
    return folder


def test_a_person_counts_once_whatever_their_rows_hold_and_wherever_they_lie() -> None:
    of = contract(2)
    bad: Row = (b"a", b"x", b"east")
    good: Row = (b"a", b"10", b"north")
    parts = [Lines([bad] * 5), Lines([good] * 5), Lines([bad, (b"b", b"10", b"north")])]
    assert units(total(of, *parts), task(of)) == Input(2, 1, {"age": 1, "ward": 1}, 1)
    alone = replace(of, unit=PrivacyUnit())
    assert units(total(alone, *parts), task(alone)) == Input(12, 6, {"age": 6, "ward": 6}, 0)
