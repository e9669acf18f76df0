"""Several tables: a row gets columns of other tables by keys, and one person changes at most m rows of each view."""

import itertools
import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from crowdgate.contracts.contract import Contract
from crowdgate.contracts.reading import BrokenContract, read_contract
from crowdgate.errors import FileFault
from crowdgate.histogram import View
from crowdgate.sampling import SecretKey
from crowdgate.sources import SOURCES, open_source
from crowdgate.sources.counting import CountingTask, count_table, histograms, serial
from crowdgate.sources.sql import query, table
from tests.databases import DATABASES

RULES = {name: reader.rule for name, reader in SOURCES.items()}
MOST = 2
CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: clinic
version: 1.0.0
status: active
servers: [SERVER]
schema:
  - name: visits
    physicalName: encounters
    customProperties:
      - {property: privacyUnit, value: {person: patient, rows: 2}}
      - {property: population, value: clinic-patients}
      - property: joins
        value:
          - {table: persons, key: id, by: patient, columns: {sex: sex, home: home_id}, of: unit}
          - {table: households, key: id, by: home, columns: {region: region}, of: groups}
    properties:
      - name: patient
        physicalName: who
        logicalType: string
        customProperties: [{property: privacyRole, value: direct-identifier}]
      - name: ward
        logicalType: string
        customProperties:
          - {property: privacyRole, value: quasi-identifier}
          - {property: domain, value: {values: [n, s], source: handbook}}
          - {property: invalid, value: level}
      - name: sex
        logicalType: string
        customProperties:
          - {property: privacyRole, value: quasi-identifier}
          - {property: domain, value: {values: [f, m], source: handbook}}
          - {property: invalid, value: level}
      - name: region
        logicalType: string
        customProperties:
          - {property: privacyRole, value: quasi-identifier}
          - {property: domain, value: {values: [r, q], source: handbook}}
          - {property: invalid, value: level}
"""
Rows = list[tuple[Any, ...]]


def clinic(folder: Path, engine: str, visits: Rows, persons: Rows, homes: Rows) -> Contract:
    """Write three tables and return the contract over them."""
    for old in (*folder.glob("*.sqlite"), *folder.glob("*.duckdb")):
        old.unlink()
    tables = {
        "encounters": _table(("who", "ward"), visits),
        "persons": _table(("id", "sex", "home_id"), persons),
        "households": _table(("id", "region"), homes),
    }
    path = folder / "clinic.yaml"
    path.write_text(CONTRACT.replace("SERVER", DATABASES[engine](folder, tables)), encoding="utf-8")
    return read_contract(path, RULES)


def _table(names: tuple[str, ...], rows: Rows) -> pa.Table:
    return pa.table({name: pa.array([row[at] for row in rows], pa.string()) for at, name in enumerate(names)})


def counts(contract: Contract) -> Counter[tuple[str, ...]]:
    """Return the numbers of rows by labels, after the bound on rows per person."""
    names = ("ward", "sex", "region")
    levels = {name: contract.by_name[name].hierarchy.finest for name in names}  # type: ignore[union-attr]
    task = CountingTask(contract, names, {"all": View(levels)})
    total = count_table(open_source(contract, names), task, serial())
    found = histograms(total, task, SecretKey(bytes(range(32)), injected=True))["all"]
    labels = [[levels[name].labels[code] for code in codes] for name, codes in zip(names, found.codes, strict=True)]
    return Counter(dict(zip(zip(*labels, strict=True), found.counts.tolist(), strict=True)))


HOMES: Rows = [("h1", "r"), ("h2", "q")]


@pytest.mark.thorough
@pytest.mark.parametrize("engine", DATABASES)
def test_rows_get_columns_of_other_tables_by_their_keys(engine: str, tmp_path: Path) -> None:
    visits: Rows = [("a", "n"), ("a", "s"), ("b", "n"), (None, "n"), ("A", "s")]
    found = counts(clinic(tmp_path, engine, visits, [("a", "f", "h1"), ("b", "m", "h2")], HOMES))
    # the row without a person is left out, and keys differ in case
    assert found == {("n", "f", "r"): 1, ("s", "f", "r"): 1, ("n", "m", "q"): 1, ("s", "(invalid)", "(invalid)"): 1}


@pytest.mark.thorough
@pytest.mark.parametrize("engine", DATABASES)
def test_a_key_that_a_table_has_twice_or_not_at_all_gives_no_cells(engine: str, tmp_path: Path) -> None:
    """A plain join would give the first person two rows for one and the second none."""
    visits: Rows = [("a", "n"), ("orphan", "s")]
    found = counts(clinic(tmp_path, engine, visits, [("a", "f", "h1"), ("a", "m", "h1")], HOMES))
    assert found == {("n", "(invalid)", "(invalid)"): 1, ("s", "(invalid)", "(invalid)"): 1}


OWN_VISITS: list[Rows] = [[], [("p", "n")], [("p", "n"), ("p", "s"), ("p", "n")], [("p", None), ("p", "s")]]
OWN_PERSONS: list[Rows] = [[], [("p", "f", "h1")], [("p", "f", "h1"), ("p", "m", "h2")], [("p", "m", "nowhere")]]
OTHERS: list[tuple[Rows, Rows]] = [
    ([], []),
    ([("a", "n"), ("a", "n"), ("a", "s"), ("b", "s")], [("a", "f", "h1"), ("b", "m", "h2")]),
    ([("a", "n"), ("orphan", "s")], [("a", "f", "h1"), ("a", "f", "h1")]),
]


@pytest.mark.thorough
def test_one_person_changes_at_most_m_rows(tmp_path: Path) -> None:
    """All combinations of a person's rows in all tables, beside all tables of others: N = 48."""
    for (visits, persons), own_visits, own_persons in itertools.product(OTHERS, OWN_VISITS, OWN_PERSONS):
        without = counts(clinic(tmp_path, "sqlite", visits, persons, HOMES))
        with_person = counts(clinic(tmp_path, "sqlite", own_visits + visits, persons + own_persons, HOMES))
        changed = sum(((with_person - without) + (without - with_person)).values())
        assert changed <= MOST
        assert not without - with_person  # nobody else's rows change


def test_a_plain_join_would_change_more_than_m_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: without the rule for repeated keys one row of a person multiplies rows."""
    contract = clinic(tmp_path, "sqlite", [("a", "n")], [("a", "f", "h1")] * 5, HOMES)

    def rows() -> list[int]:
        (part,) = open_source(contract, ("ward",)).parts
        return [int(batch.counts.sum()) for batch in part.read(("ward",), ()) if batch.counts is not None]

    assert rows() == [1]
    good = query.counting_query
    monkeypatch.setattr(table, "counting_query", lambda *given: good(*given).replace("AND t1.copies = 1", ""))
    assert rows() == [5]


def test_keys_that_are_equal_to_the_engine_count_as_one_key(tmp_path: Path) -> None:
    """SQLite has 1 = 1.0, so both rows of this table would join."""
    contract = clinic(tmp_path, "sqlite", [("1", "n")], [("1", "f", "h1")], HOMES)
    with closing(sqlite3.connect(tmp_path / "patients.sqlite")) as connection:
        connection.executescript("""
            DELETE FROM encounters; INSERT INTO encounters VALUES (1, 'n');
            DELETE FROM persons; INSERT INTO persons VALUES (1, 'f', 'h1'), (1.0, 'm', 'h1');
        """)
    assert counts(contract) == {("n", "(invalid)", "(invalid)"): 1}


def test_a_query_holds_names_and_no_value(tmp_path: Path) -> None:
    contract = clinic(tmp_path, "sqlite", [("a", "n")], [("a", "f", "h1")], HOMES)
    (part,) = open_source(contract, ("ward", "sex", "region")).parts
    assert isinstance(part, table.DatabasePart)
    text = query.counting_query(part.dialect, part.settings, part.layout, ("patient", "ward", "region"), ("patient",))
    words = set(re.findall(r"'([^']*)'", text))
    assert words == {"text", "blob", "real"}  # types of SQLite
    assert not any(word in text for word in ("WHERE", "LIMIT", str(tmp_path)))


WRONG = {
    "by: patient": ("by: home", "the person column as `by`"),
    "columns: {region: region}": ("columns: {sex: region}", "each column once"),
    "columns: {sex: sex, home: home_id}": ("columns: {patient: sex, home: home_id}", "the contract's own table"),
    "by: home,": ("by: region,", "of an earlier join"),
    "by: home, columns: {region: region}, of: groups}": (
        "by: ward_id, columns: {region: region}, of: groups}\n"
        "          - {table: wards, key: id, by: ward, columns: {ward_id: id}, of: groups}",
        "of an earlier join",
    ),
}


def test_a_table_joined_by_the_person_may_be_of_groups(tmp_path: Path) -> None:
    path = tmp_path / "clinic.yaml"
    line = "{server: local, type: local, path: patients.sqlite, format: sqlite}"
    path.write_text(CONTRACT.replace("SERVER", line).replace("of: unit", "of: groups"), encoding="utf-8")
    assert read_contract(path, RULES).database is not None


@pytest.mark.parametrize("old", WRONG)
def test_a_join_by_which_one_person_changes_others_is_refused(old: str, tmp_path: Path) -> None:
    new, why = WRONG[old]
    line = "{server: local, type: local, path: patients.sqlite, format: sqlite}"
    path = tmp_path / "clinic.yaml"
    path.write_text(CONTRACT.replace("SERVER", line).replace(old, new), encoding="utf-8")
    with pytest.raises(BrokenContract, match=why):
        read_contract(path, RULES)


def test_joins_and_other_names_of_columns_need_a_database(tmp_path: Path) -> None:
    line = "{server: local, type: local, path: patients.csv, format: csv}"
    path = tmp_path / "clinic.yaml"
    path.write_text(CONTRACT.replace("SERVER", line), encoding="utf-8")
    with pytest.raises(BrokenContract, match="physicalName differs from name") as found:
        read_contract(path, RULES)
    assert "joins of a table in files" in str(found.value)


def test_keys_of_different_types_are_a_file_fault(tmp_path: Path) -> None:
    contract = clinic(tmp_path, "duckdb", [("a", "n")], [("a", "f", "h1")], HOMES)
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "patients.duckdb")) as connection:
        connection.execute("DROP TABLE persons")
        connection.execute("CREATE TABLE persons (id BIGINT, sex VARCHAR, home_id VARCHAR)")
    with pytest.raises(FileFault, match="have different types"):
        open_source(contract, ("ward",))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("engine", "kind", "least"), [("sqlite", pa.float64(), 2**53), ("duckdb", pa.float32(), 2**24)]
)
def test_keys_that_a_float_type_merges_join_nothing(engine: str, kind: Any, least: int, tmp_path: Path) -> None:
    """Otherwise the row of one person in `persons` would decide cells of another person."""
    contract = clinic(tmp_path, engine, [], [], HOMES)
    for old in (*tmp_path.glob("*.sqlite"), *tmp_path.glob("*.duckdb")):
        old.unlink()
    ids = pa.array([float(least), 7.0], kind)
    tables = {
        "encounters": pa.table({"who": ids, "ward": ["n", "s"]}),
        "persons": pa.table({"id": ids, "sex": ["f", "m"], "home_id": ["h1", "h2"]}),
        "households": _table(("id", "region"), HOMES),
    }
    DATABASES[engine](tmp_path, tables)
    assert counts(contract) == {("s", "m", "q"): 1}  # the first id names no person either


def test_the_own_table_and_that_of_the_unit_are_no_tables_of_groups(tmp_path: Path) -> None:
    for old, new in (("table: households", "table: Encounters"), ("table: households", "table: persons")):
        path = tmp_path / "bad.yaml"
        server = "{server: a, type: local, path: a.sqlite, format: sqlite}"
        path.write_text(CONTRACT.replace("SERVER", server).replace(old, new), encoding="utf-8")
        with pytest.raises(BrokenContract, match=r"own table|of the unit and of groups"):
            read_contract(path, RULES)


def test_a_virtual_table_is_no_table(tmp_path: Path) -> None:
    contract = clinic(tmp_path, "sqlite", [("a", "n")], [("a", "f", "h1")], HOMES)
    with closing(sqlite3.connect(next(tmp_path.glob("*.sqlite")))) as connection, connection:
        connection.execute("DROP TABLE households")
        connection.execute("CREATE VIRTUAL TABLE households USING fts5(id, region)")
    with pytest.raises(FileFault, match="has a view of this name"):
        open_source(contract, ("ward", "region"))


@pytest.mark.thorough
def test_a_macro_of_a_file_replaces_no_function(tmp_path: Path) -> None:
    import duckdb

    contract = clinic(tmp_path, "duckdb", [("a", "n"), ("b", "s")], [("a", "f", "h1"), ("b", "m", "h2")], HOMES)
    with duckdb.connect(str(next(tmp_path.glob("*.duckdb")))) as connection:
        for macro in ("encode(x) AS 'zz'::BLOB", "\"left\"(x, y) AS 'zz'", "count() AS 9", '"count"(x) AS 9'):
            connection.execute(f"CREATE OR REPLACE MACRO {macro}")
    assert counts(contract) == {("n", "f", "r"): 1, ("s", "m", "q"): 1}
