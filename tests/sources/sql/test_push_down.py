"""A database counts as a file does: the same codes, the same row faults, whatever the cells are."""

import datetime as dt
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdgate.contracts.contract import Attribute, Contract, DatabaseTable, Fact, PrivacyUnit, Role, Server, TableRule
from crowdgate.domain import Domain, categories, dates, numbers
from crowdgate.hierarchy import hierarchy
from crowdgate.histogram import View
from crowdgate.limits import LONGEST_CELL, LONGEST_ID
from crowdgate.sampling import SecretKey
from crowdgate.sources import SOURCES, open_source
from crowdgate.sources.counting import CountingTask, count_table, histograms, serial
from crowdgate.sources.ingested import ingestion_figures, units
from crowdgate.sources.sql.postgres import Postgres
from tests.databases import DATABASES
from tests.examples import examples

WORDS = ("1", "1.0", "a", "A", "a ", "é", "true", "2024-01-05", "x'y", "\\x61", "NaN", "")
few = settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))


def _domain(kind: str) -> Domain:
    match kind:
        case "whole":
            return numbers(Fraction(-3), Fraction(9), Fraction(1), "test", top=True)
        case "number":
            return numbers(Fraction(-3), Fraction(9), Fraction(1, 2), "test", whole=False)
        case "day":
            return dates(dt.date(2024, 1, 1), dt.date(2024, 1, 20), "test")
        case _:
            return categories([word for word in WORDS if word.strip() == word and word], "test")


texts = st.sampled_from([*WORDS, "é" * (LONGEST_CELL // 2 + 1)]) | st.text("aA1. é\\'\"-", max_size=3)
days = st.dates(dt.date(2023, 12, 28), dt.date(2024, 1, 25))
COLUMNS: dict[str, tuple[str, Any, st.SearchStrategy[Any]]] = {
    "text": ("text", pa.string(), texts),
    "number as text": ("whole", pa.string(), st.integers(-9, 20).map(str) | st.sampled_from(["1.0", " 2", "3e0", "x"])),
    "small": ("whole", pa.int16(), st.integers(-9, 20)),
    "whole": ("whole", pa.int64(), st.integers(-9, 20) | st.integers(-(2**63), 2**63 - 1)),
    "code": ("text", pa.int64(), st.integers(0, 2)),
    "float": (
        "number",
        pa.float64(),
        st.sampled_from([0.5, 1.0, -0.0, 1e300, float("inf"), float("nan"), 2**53 + 2.0]),
    ),
    "whole float": ("whole", pa.float64(), st.integers(-9, 20).map(float) | st.just(float("nan"))),
    "decimal": ("number", pa.decimal128(10, 2), st.integers(-400, 1200).map(lambda cents: Decimal(cents) / 100)),
    "flag": ("text", pa.bool_(), st.booleans()),
    "day": ("day", pa.date32(), days),
    "moment": ("day", pa.timestamp("us"), days.map(lambda day: dt.datetime(day.year, day.month, day.day))),
}
NAMES = tuple(COLUMNS)
FLAGS = {True: "true", False: "false"}
rows_of_cells = st.lists(st.tuples(*(st.none() | cells for _, _, cells in COLUMNS.values())), max_size=12)


@cache
def attribute(name: str, kind: str, invalid: Any) -> Attribute:
    domain = _domain(kind)
    accepted = np.arange(domain.size) != 1
    levels = hierarchy(domain, [], invalid_level=invalid == "level")
    return Attribute(name, Role.QUASI_IDENTIFIER, "", domain, levels, invalid, accepted)


def contract_of(unit: PrivacyUnit, base: Path) -> Contract:
    attributes = [
        attribute(name, kind, "drop" if name == "small" else "level") for name, (kind, _, _) in COLUMNS.items()
    ]
    person = [] if unit.person is None else [Attribute(unit.person, Role.DIRECT_IDENTIFIER)]
    rules = [
        TableRule("rows", Fact.ROWS, None, None, None),
        TableRule("mean", Fact.MEAN, "whole", None, None),
        TableRule("bad", Fact.INVALID_SHARE, "text", None, None),
        TableRule("all bad", Fact.INVALID_SHARE, None, None, None),
    ]
    file = Server("parquet", {"path": "patients.parquet"}, base)
    return Contract("c", "1", "p", unit, file, (*person, *attributes), table_rules=tuple(rules))


def in_database(contract: Contract, line: str) -> Contract:
    """Return the contract with a server that a line of YAML states."""
    stated = {key: str(value) for key, value in yaml.safe_load(line).items()} | {"timeout": "60"}
    reader = "sqlite" if stated.get("format") == "sqlite" else stated["type"]
    table = DatabaseTable("patients", False, {each.name: each.name for each in contract.attributes})
    return replace(contract, server=Server(reader, stated, contract.server.base), database=table)


def counted(contract: Contract) -> Mapping[str, object]:
    """Return everything that counting finds: histograms under one key, facts, faults."""
    views = {
        "all": View({name: contract.by_name[name].hierarchy.finest for name in NAMES}),  # type: ignore[union-attr]
        "two": View({name: contract.by_name[name].hierarchy.finest for name in NAMES[:2]}),  # type: ignore[union-attr]
    }
    task = CountingTask(contract, NAMES, views, ("text",))
    total = count_table(open_source(contract, NAMES), task, serial())
    tables = histograms(total, task, SecretKey(bytes(range(32)), injected=True))
    found = {name: list(zip(*(c.tolist() for c in (*h.codes, h.counts)), strict=True)) for name, h in tables.items()}
    return {
        "histograms": found,
        "facts": dict(total.facts.values(contract)),
        "distinct": total.facts.distinct(contract, NAMES),
        "units": repr(units(total, task)),
        "ingestion": ingestion_figures(total, task),
    }


def written(rows: Sequence[Sequence[Any]], folder: Path, engine: str, ids: Sequence[Any] | None = None) -> str:
    """Write rows as a Parquet file and as a table of the engine; return the engine's server."""
    columns = {name: pa.array([row[at] for row in rows], COLUMNS[name][1]) for at, name in enumerate(NAMES)}
    table = pa.table(columns if ids is None else {"id": pa.array(ids), **columns})
    pq.write_table(table, folder / "patients.parquet")
    for old in (*folder.glob("*.sqlite"), *folder.glob("*.duckdb")):
        old.unlink()
    if engine == "sqlite":  # it has no type for flags
        flags = pa.array([FLAGS.get(cell) for cell in columns["flag"].to_pylist()], pa.string())
        table = table.set_column(table.column_names.index("flag"), "flag", flags)
    return DATABASES[engine](folder, {"patients": table})


@pytest.mark.thorough
@pytest.mark.parametrize("engine", DATABASES)
@few
@given(rows=rows_of_cells)
def test_push_down_agrees_with_the_file_on_dirty_rows(engine: str, tmp_path: Path, rows: list[tuple[Any, ...]]) -> None:
    rows = rows + rows[::2]  # rows recur
    line = written(rows, tmp_path, engine)
    contract = contract_of(PrivacyUnit(), tmp_path)
    assert counted(in_database(contract, line)) == counted(contract)


IDS = {
    "text": st.sampled_from(["a", "A", "a ", "", "é", "1", "1.0", "x" * LONGEST_ID, "x" * (LONGEST_ID + 1)]),
    "whole": st.integers(0, 2) | st.sampled_from([2**53, 2**53 + 1]),
    "float": st.sampled_from([1.0, 2.0, float("nan"), 0.5, 2.0**53, -0.0, 0.0]),
    "decimal": st.sampled_from([Decimal("1.00"), Decimal("1.50"), Decimal("10.00")]),
}


@pytest.mark.thorough
@pytest.mark.parametrize("engine", DATABASES)
@few
@given(data=st.data())
def test_push_down_agrees_with_the_file_on_persons(engine: str, tmp_path: Path, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([each for each in IDS if (engine, each) != ("sqlite", "decimal")]))
    few_rows = st.lists(st.tuples(*(st.none() | cells for _, _, cells in COLUMNS.values())), min_size=1, max_size=3)
    rows = data.draw(few_rows) * 4
    ids = [data.draw(st.none() | IDS[kind]) for _ in rows]
    line = written(rows, tmp_path, engine, pa.array(ids, {"decimal": pa.decimal128(10, 2)}.get(kind)))
    contract = contract_of(PrivacyUnit("id", 2), tmp_path)
    assert counted(in_database(contract, line)) == counted(contract)


_READ = """
import sys
from crowdgate.sources.sql.duckdb import DuckDB
engine = DuckDB()
with engine.session({"database": sys.argv[1], "schema": "main"}) as session:
    (column,) = session.relation("t").columns
    query = f"SELECT {engine.cell('seen', column, 50)} AS seen FROM main.t"
    print(*(cell for batch in session.rows(query) for cell in batch.column(0).to_pylist()))
"""


def test_a_moment_is_read_in_utc_as_from_a_file_whatever_the_time_zone_of_the_machine(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE t (seen TIMESTAMPTZ)")
        connection.execute("INSERT INTO t VALUES ('2024-01-05 00:00:00+00'), ('2024-01-05 03:30:01.5+03'), (NULL)")
    call = [sys.executable, "-c", _READ, str(tmp_path / "t.duckdb")]
    done = subprocess.run(call, env={**os.environ, "TZ": "America/New_York"}, check=True, capture_output=True)
    assert done.stdout.decode().strip() == "b'2024-01-05 00:00:00Z' b'2024-01-05 00:30:01.5Z' None"


@pytest.mark.thorough
def test_a_moment_of_postgresql_is_one_of_utc(tmp_path: Path) -> None:
    moments = pa.array([dt.datetime(2024, 1, 5, tzinfo=dt.UTC), None], pa.timestamp("us", "UTC"))
    line = yaml.safe_load(DATABASES["postgres"](tmp_path, {"t": pa.table({"seen": moments})}))
    engine, stated = Postgres(), {key: str(value) for key, value in line.items()} | {"timeout": "60"}
    with engine.session(stated) as session:
        relation = session.relation("t")
        assert relation is not None
        query = f"SELECT {engine.cell('seen', relation.columns[0], 50)} AS seen FROM {engine.relation(stated, 't')}"
        cells = [cell for batch in session.rows(query) for cell in batch.column(0).to_pylist()]
    assert cells == [b"2024-01-05 00:00:00Z", None]


def test_every_database_has_a_writer() -> None:
    assert {name for name, reader in SOURCES.items() if reader.rule.is_database} == set(DATABASES)
