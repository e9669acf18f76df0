"""Tables of persons: one value a person made of all rows, and what one person changes, by enumeration."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from crowdgate.contracts.contract import Contract
from crowdgate.contracts.reading import read_contract
from crowdgate.histogram import Column, Histogram, Records, View, joint
from crowdgate.planning.bundle import KNOWN
from crowdgate.sampling import SecretKey
from crowdgate.sources.counting import CountingTask, PartialCounts, histograms
from crowdgate.sources.facts import TableFacts
from crowdgate.sources.people import merge_people, people_of
from crowdgate.sources.persons import person_entries, row_view

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: visits
version: 1.0.0
status: active
servers: [{server: local, type: local, path: visits.csv, format: csv}]
schema:
  - name: visits
    customProperties:
      - {property: privacyUnit, value: {person: patient}}
      - {property: population, value: patients}
      - property: personValues
        value:
          ward: {same: ward}
          first_day: {least: day}
          last_day: {greatest: day}
          ever_north: {any: ward, values: [north]}
          always_ill: {all: ill, values: "yes"}
          visits: {count: day, most: 2, levels: [{name: some, cuts: [1]}]}
          ill_visits: {count: ill, values: ["yes"], most: 1}
    properties:
      - {name: patient, logicalType: string, customProperties: [{property: privacyRole, value: direct-identifier}]}
      - name: ward
        logicalType: string
        customProperties:
          - {property: privacyRole, value: quasi-identifier}
          - {property: domain, value: {values: [north, south], source: book}}
          - {property: invalid, value: level}
      - name: ill
        logicalType: string
        customProperties:
          - {property: privacyRole, value: sensitive}
          - {property: domain, value: {values: ["no", "yes"], source: book}}
      - name: day
        logicalType: integer
        customProperties:
          - {property: privacyRole, value: quasi-identifier}
          - {property: domain, value: {from: 0, to: 3, source: book}}
          - {property: levels, value: [{name: half, width: 2}]}
"""
KEY = SecretKey(bytes(range(32)), injected=True)
NAMES = ("ward", "ill", "day")
Row = tuple[int, int, int]
"""Ward (2: invalid), ill and day of a row, as codes."""
Person = tuple[Row, ...]


@pytest.fixture(scope="module")
def contract(tmp_path_factory: pytest.TempPathFactory) -> Contract:
    path = tmp_path_factory.mktemp("persons") / "visits.yaml"
    path.write_text(CONTRACT, encoding="utf-8")
    return read_contract(path, KNOWN.servers)


def view_of(contract: Contract, **levels: str) -> View:
    found = {name: contract.by_name[name].hierarchy for name in levels}
    return View({name: each.level(levels[name]) for name, each in found.items() if each is not None})


def batch(persons: Sequence[Person]) -> tuple[pa.Array, Records]:
    rows = [(str(at).encode(), *row) for at, person in enumerate(persons) for row in person]
    columns = {name: Column(np.array([row[1 + at] for row in rows], dtype=np.int32)) for at, name in enumerate(NAMES)}
    return pa.array([row[0] for row in rows], pa.binary()), Records(len(rows), columns)


def tables(contract: Contract, views: dict[str, View], persons: Sequence[Person]) -> dict[str, Histogram]:
    finest = joint(views.values())
    counted = merge_people([people_of(row_view(contract, finest), [batch(persons)])])
    task = CountingTask(contract, finest.names, views)
    return dict(histograms(PartialCounts(TableFacts(), {}, counted), task, KEY))


def cells(found: Histogram) -> Counter[tuple[int, ...]]:
    return Counter({tuple(map(int, key)): int(n) for *key, n in zip(*found.codes, found.counts, strict=True)})


EXPECTED: dict[str, Callable[[Person], int]] = {
    "ward": lambda rows: next(iter(known)) if len(known := {ward for ward, *_ in rows} - {2}) == 1 else 2,
    "first_day": lambda rows: min(day for *_, day in rows),
    "last_day": lambda rows: max(day for *_, day in rows),
    "ever_north": lambda rows: int(any(ward == 0 for ward, *_ in rows)),
    "always_ill": lambda rows: int(all(ill == 1 for _, ill, _ in rows)),
    "visits": lambda rows: min(len(rows), 2),
    "ill_visits": lambda rows: min(sum(ill for _, ill, _ in rows), 1),
}
"""The code of each attribute of persons at its exact level, by its definition."""


def every_person(days: Sequence[int], most: int) -> list[Person]:
    rows = list(itertools.product(range(3), range(2), days))
    return [each for n in range(1, most + 1) for each in itertools.combinations_with_replacement(rows, n)]


def test_every_value_of_a_person_is_that_of_its_definition(contract: Contract) -> None:
    view = view_of(contract, **dict.fromkeys(EXPECTED, "exact"))
    persons = every_person((0, 2, 3), 2)
    counted = merge_people([people_of(row_view(contract, view), [batch(persons)])])
    of, codes, counts = person_entries(counted, contract, view)
    assert of.tolist() == list(range(len(persons)))
    assert set(counts.tolist()) == {1}
    place = {name.as_py(): at for at, name in enumerate(counted.ids)}
    for name, own in zip(view.names, codes, strict=True):
        found = [int(own[place[str(at).encode()]]) for at in range(len(persons))]
        assert found == [EXPECTED[name](person) for person in persons], name


def test_one_person_with_any_rows_changes_one_cell_of_each_table_by_one(contract: Contract) -> None:
    views = {
        "coarse": view_of(contract, ward="exact", first_day="half", visits="some"),
        "any": view_of(contract, ever_north="exact", last_day="exact"),
        "all": view_of(contract, always_ill="exact", ill_visits="exact", ward="any"),
    }
    others = every_person((0, 3), 1)
    for table in ([], others[:3], [others[0], others[0], (others[1] + others[5] + others[7])]):
        before = {name: cells(found) for name, found in tables(contract, views, table).items()}
        for person in [*every_person((0, 3), 2), others[2] * 40]:
            after = {name: cells(found) for name, found in tables(contract, views, [*table, person]).items()}
            for name in views:
                assert sum((after[name] - before[name]).values()) == 1, (table, person, name)
                assert not before[name] - after[name]


def test_a_person_whose_rows_differ_is_left_out_where_invalid_cells_are_dropped(contract: Contract) -> None:
    text = CONTRACT.replace("          - {property: invalid, value: level}\n", "")
    path = Path(contract.files[0]).with_name("dropping.yaml")
    path.write_text(text, encoding="utf-8")
    dropping = read_contract(path, KNOWN.servers)
    both: Person = ((0, 1, 1), (1, 1, 1))
    found = tables(dropping, {"": view_of(dropping, ward="exact", visits="exact")}, [both, ((0, 1, 1),)])[""]
    assert cells(found) == {(0, 1): 1}


def test_values_do_not_depend_on_the_division_of_a_persons_rows_into_parts(contract: Contract) -> None:
    view = view_of(contract, **dict.fromkeys(EXPECTED, "exact"))
    person: Person = ((0, 1, 3), (1, 0, 0), (2, 1, 2))
    whole = merge_people([people_of(row_view(contract, view), [batch([person])])])
    parts = merge_people([people_of(row_view(contract, view), [batch([(row,)])]) for row in person])
    for one, other in zip(
        person_entries(whole, contract, view)[1], person_entries(parts, contract, view)[1], strict=True
    ):
        assert one.tolist() == other.tolist()
