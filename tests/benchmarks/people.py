"""Generated people for benchmarks: a table of 12 columns, and a working copy that releases it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROW_GROUP = 1_000_000


@dataclass(frozen=True)
class Column:
    """A column of `size` values, released in groups of `width` of them (0: at `any`)."""

    name: str
    size: int
    width: int
    number: bool = False
    even: bool = False
    """The choice that every value is equally likely, as numbers are."""


COLUMNS = (
    Column("age", 91, 10, number=True),
    Column("sex", 2, 1),
    Column("race", 5, 1),
    Column("education", 17, 3),
    Column("marital_status", 7, 2),
    Column("state", 50, 6),
    Column("income", 2, 1),
    Column("union", 2, 1),
    Column("occupation", 15, 3),
    Column("citizenship", 5, 0),
    Column("weeks", 53, 0, number=True),
    Column("household", 8, 0, number=True),
)
"""10 x 2 x 5 x 6 x 4 x 9 x 2 x 2 x 5 = 432,000 classes that could occur."""


MOST_ROWS = 2
"""The number of rows of a person that count, of 10 / 3 rows on average."""


def write_people(path: Path, rows: int, seed: int = 1, columns: Sequence[Column] = COLUMNS) -> None:
    """Rows drawn independently; in every column a value is likelier the earlier it comes. The number of their person
    is drawn from 3 in 10 rows."""
    random = np.random.default_rng(seed)
    known = [(column.name, pa.int64() if column.number else pa.string()) for column in columns]
    schema = pa.schema([*known, ("person", pa.int64())])
    with pq.ParquetWriter(path, schema, compression="snappy") as out:
        for start in range(0, rows, ROW_GROUP):
            count = min(ROW_GROUP, rows - start)
            persons = pa.array(random.integers(10**9, 10**9 + max(1, rows * 3 // 10), count))
            cells = [*(_cells(column, count, random) for column in columns), persons]
            out.write_table(pa.table(cells, schema=schema), ROW_GROUP)


def write_files(data: Path, folder: Path, rows: int) -> Path:
    """Write the table at `data` into a new folder, as files of so many rows each; returns the folder."""
    folder.mkdir()
    table = pq.read_table(data)
    for number, start in enumerate(range(0, table.num_rows, rows)):
        pq.write_table(table.slice(start, rows), folder / f"{number:06}.parquet", compression="snappy")
    return folder


def _cells(column: Column, count: int, random: np.random.Generator) -> pa.Array:
    weights = (1.0 if column.number or column.even else 0.75) ** np.arange(column.size)
    codes = random.choice(column.size, count, p=weights / weights.sum()).astype(np.int32)
    if column.number:
        return pa.array(codes.astype(np.int64))
    return pa.DictionaryArray.from_arrays(codes, pa.array(_labels(column))).cast(pa.string())


def _labels(column: Column) -> list[str]:
    return [f"{column.name} {i}" for i in range(column.size)]


def make_people_workshop(
    root: Path, data: Path, beta: str, *, persons: bool = False, columns: Sequence[Column] = COLUMNS
) -> Path:
    """A working copy that releases the table, of rows or of persons; returns its policy."""
    from crowdgate.ledger import ledger

    for folder in ("policies/budgets", "data_contracts", "ledger"):
        (root / folder).mkdir(parents=True)
    url = f"sqlite:///{root / 'ledger' / 'ledger.db'}"
    ledger_id = ledger.create(url, "bench")
    (root / "crowdgate.toml").write_text(f'ledger = "{url}"\n')
    (root / "data_contracts" / "people.yaml").write_text(_contract(data, persons, columns))
    unit = "person:person" if persons else "row"
    (root / "policies" / "budgets" / "people.yaml").write_text(_BUDGET.format(ledger=ledger_id, unit=unit))
    policy = root / "policies" / "people.yaml"
    policy.write_text(_policy(beta, columns))
    return policy


def _contract(data: Path, persons: bool, columns: Sequence[Column]) -> str:
    unit = f"{{person: person, rows: {MOST_ROWS}}}" if persons else "row"
    head = _CONTRACT.format(data=data, unit=unit, rows=max(1000, pq.read_metadata(data).num_rows))
    return head + "".join(_attribute(column) for column in columns)


def _attribute(column: Column) -> str:
    labels = _labels(column)
    groups: dict[str, list[str]] = {f"{column.name} group {i // max(column.width, 1)}": [] for i in range(column.size)}
    for i, label in enumerate(labels):
        groups[f"{column.name} group {i // max(column.width, 1)}"].append(label)
    if column.number:
        domain = f"{{from: 0, to: {column.size - 1}, top: true, source: generated}}"
        levels = f"[{{name: grouped, width: {column.width or 10}}}]"
    else:
        domain = f"{{values: [{', '.join(labels)}], source: generated}}"
        members = ", ".join(f"{name}: [{', '.join(held)}]" for name, held in groups.items())
        levels = f"[{{name: grouped, tree: {{{members}}}}}]"
    kind = "integer" if column.number else "string"
    return _ATTRIBUTE.format(name=column.name, kind=kind, domain=domain, levels=levels)


def _policy(beta: str, columns: Sequence[Column]) -> str:
    attributes = "".join(f"      {column.name}: {'grouped' if column.width else 'any'}\n" for column in columns)
    return _POLICY.format(beta=beta, attributes=attributes)


_CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: people
version: 1.0.0
status: active
servers: [{{server: local, type: local, path: {data}, format: parquet}}]
schema:
  - name: people
    customProperties:
      - {{property: privacyUnit, value: {unit}}}
      - {{property: rowsAtMost, value: {rows}}}
      - {{property: population, value: people}}
    properties:
      - name: person
        logicalType: integer
        customProperties: [{{property: privacyRole, value: direct-identifier}}]
"""
_ATTRIBUTE = """\
      - name: {name}
        logicalType: {kind}
        customProperties:
          - {{property: privacyRole, value: quasi-identifier}}
          - {{property: domain, value: {domain}}}
          - {{property: levels, value: {levels}}}
"""
_BUDGET = """\
apiVersion: crowdgate/v1
kind: PrivacyBudget
metadata: {{name: people, owner: bench}}
spec: {{ledger: {ledger}, unit: {unit}, epsilon: 1000, delta: 0.001, people: 1000000000}}
"""
_POLICY = """\
apiVersion: crowdgate/v1
kind: ReleasePolicy
metadata: {{name: people, version: 1, owner: bench}}
spec:
  contract: people
  budget: people
  privacy: {{epsilon: 1, delta: 1e-6}}
  mechanism:
    kind: safe_k_anonymity
    sampling: {{beta: {beta}}}
    attributes:
{attributes}
  gates:
    - {{measure: guarantee_epsilon, at_most: 1}}
    - {{measure: pso_bound, at_most: 1}}
    - {{measure: singletons, at_most: 1000000, charge: {{epsilon: 0.05}}}}
    - {{measure: released_rows, at_least: 0}}
    - {{measure: released_classes, at_least: 0}}
    - {{measure: smallest_class, at_least: 1}}
    - {{measure: suppressed_share, at_most: 1, severity: advise}}
    - {{measure: sample_uniques, at_most: 1, severity: advise}}
  publish: {{to: releases, formats: [parquet]}}
"""
