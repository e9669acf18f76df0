"""A small working copy for tests: a clinic's table, a contract, a policy, a budget and a ledger."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from crowdgate.ledger import ledger
from crowdgate.verification.release import verify
from crowdgate_flows.command import main

MARK = "ZZMARKZZ"
"""Planted in confidential cells; must never be seen outside the private folders."""

PATIENT = """\
      - name: patient
        logicalType: string
        customProperties:
          - {property: privacyRole, value: direct-identifier}
      - name: age
        logicalType: integer
        customProperties:
          - {property: privacyRole, value: quasi-identifier}
"""
"""The first columns of the clinic's table and of its town's register."""

CONTRACT = (
    """\
apiVersion: v3.1.0
kind: DataContract
id: clinic
version: 1.0.0
status: active
servers: [{server: local, type: local, path: patients.parquet, format: parquet}]
schema:
  - name: patients
    customProperties:
      - {property: privacyUnit, value: row}
      - {property: population, value: clinic-patients}
      - {property: rowsAtMost, value: 1000}
    properties:
"""
    + PATIENT
    + """\
          - {property: domain, value: {from: 0, to: 99, top: true, source: clinic handbook}}
          - {property: levels, value: [{name: 10 years, width: 10}, {name: 50 years, width: 50}]}
      - name: ward
        logicalType: string
        customProperties:
          - {property: privacyRole, value: quasi-identifier}
          - {property: domain, value: {values: [north, south, east], source: clinic handbook}}
          - {property: invalid, value: level}
          - {property: margins, value: ward.csv}
      - name: note
        logicalType: string
        customProperties:
          - {property: privacyRole, value: other}
"""
)

POLICY = """\
apiVersion: crowdgate/v1
kind: ReleasePolicy
metadata: {name: clinic, version: 1, owner: board, description: Patients by age and ward.}
spec:
  contract: clinic
  budget: clinic-patients
  privacy: {epsilon: 2, delta: 0.01}
  mechanism:
    kind: safe_k_anonymity
    sampling: {beta: 0.5}
    attributes: {age: 50 years, ward: exact}
  gates:
    - {measure: pso_bound, at_most: 1}
    - {measure: expected_singletons, at_most: 4, over: [ward]}
    - {measure: singletons, at_most: 500, charge: {epsilon: 0.5}}
    - {measure: released_rows, at_least: 0}
    - {measure: smallest_class, at_least: 1}
    - {measure: suppressed_share, at_most: 0.5, severity: advise}
  publish: {to: releases, formats: [parquet, csv]}
  spend: {"chance_at_least": 0}
"""

BUDGET = """\
apiVersion: crowdgate/v1
kind: PrivacyBudget
metadata: {name: clinic-patients, owner: board}
spec: {ledger: LEDGER, epsilon: 6, delta: 0.03, people: 1000, unit: row, relation: add-remove}
"""

Row = dict[str, object]


@dataclass(frozen=True)
class Workshop:
    """A working copy in a folder of its own."""

    root: Path

    @property
    def policy(self) -> Path:
        return self.root / "policies" / "clinic.yaml"

    @property
    def contract(self) -> Path:
        return self.root / "data_contracts" / "clinic.yaml"

    @property
    def budget(self) -> Path:
        return self.root / "policies" / "budgets" / "clinic.yaml"

    @property
    def data(self) -> Path:
        return self.root / "data_contracts" / "patients.parquet"

    @property
    def ledger(self) -> str:
        return f"sqlite:///{self.root / 'ledger' / 'ledger.db'}"

    def release_dir(self, slot: str) -> Path:
        return self.root / "releases" / "clinic" / "1" / slot

    def edit(self, path: Path, old: str, new: str) -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def write(self, rows: Iterable[Row]) -> None:
        write_parquet(self.data, rows)


def make_workshop(root: Path) -> Workshop:
    """A working copy with 600 good rows."""
    workshop = Workshop(root)
    for folder in ("policies/budgets", "data_contracts", "ledger"):
        (root / folder).mkdir(parents=True)
    ledger_id = ledger.create(workshop.ledger, "clinic")
    (root / "crowdgate.toml").write_text('ledger = "sqlite:///ledger/ledger.db"\n', encoding="utf-8")
    workshop.contract.write_text(CONTRACT, encoding="utf-8")
    workshop.policy.write_text(POLICY, encoding="utf-8")
    workshop.budget.write_text(BUDGET.replace("LEDGER", ledger_id), encoding="utf-8")
    (root / "data_contracts" / "ward.csv").write_text("value,count\nnorth,5\nsouth,3\neast,2\n", encoding="utf-8")
    workshop.write(good_rows(600))
    return workshop


def good_rows(count: int) -> list[Row]:
    """Rows without a fault; their identifiers and notes are marked."""
    wards = ("north", "south", "east")
    return [
        {"patient": f"{MARK}-{i}", "age": 17 * i % 100, "ward": wards[i % 3], "note": f"{MARK} note {i}"}
        for i in range(count)
    ]


def write_parquet(path: Path, rows: Iterable[Row]) -> None:
    """Rows as Parquet; cells of mixed kinds become text."""
    columns: dict[str, list[object]] = {"patient": [], "age": [], "ward": [], "note": []}
    for row in rows:
        for name, cells in columns.items():
            cells.append(row[name])
    pq.write_table(pa.table({name: _array(name, cells) for name, cells in columns.items()}), path)


def write_csv(path: Path, rows: Iterable[Row]) -> None:
    """Rows as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["patient", "age", "ward", "note"])
        out.writerows([row["patient"], row["age"], row["ward"], row["note"]] for row in rows)


def _array(name: str, cells: list[object]) -> pa.Array:
    if name == "age" and all(isinstance(cell, int) for cell in cells):
        return pa.array(cells, pa.int64())
    return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())


SAMPLE = "{name: spring, method: bernoulli, beta: 0.5, secret: true, size: unpublished}"


def attest_sample(workshop: "Workshop") -> None:
    """The table is a sample already."""
    bound = "      - {property: rowsAtMost"
    workshop.edit(workshop.contract, bound, f"      - {{property: sample, value: {SAMPLE}}}\n{bound}")


def crowdgate(*arguments: object) -> int:
    """Run the command line in this process and return its exit code."""
    import sys

    before = sys.argv
    sys.argv = ["crowdgate", *map(str, arguments)]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = before
    return 0


def verified(folder: Path, ledger: str | None = None) -> dict[str, Any]:
    """Return the manifest of a release after verifying it."""
    return verify(folder, ledger).manifest.to_json()
