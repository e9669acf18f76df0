"""A table is public only if every contract that can describe it says so: in files of this machine, under any name."""

from pathlib import Path

import pytest

from crowdgate.contracts.contract import Contract
from crowdgate.contracts.reading import read_contract
from crowdgate.planning.bundle import KNOWN
from crowdgate.planning.public_tables import public_table, why_private

SERVERS = {
    "parquet": "{server: a, type: local, path: t.parquet, format: parquet}",
    "sqlite": "{server: a, type: local, path: t.sqlite, format: sqlite}",
    "duckdb": "{server: a, type: duckdb, database: t.duckdb, schema: main}",
    "duckdb on parquet": "{server: a, type: duckdb, database: t.parquet, schema: main}",
    "postgres": "{server: a, type: postgres, host: db, port: 5432, database: town, schema: public}",
    "s3": '{server: a, type: s3, format: parquet, location: "s3://bucket/t.parquet"}',
}
WHY = {"parquet": None, "s3": "in a store of objects"}
CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: ID
version: 1.0.0
status: active
servers: [SERVER]
schema:
  - name: people
    customProperties:
      - {property: privacyUnit, value: row}
      - {property: population, value: town}
      - {property: public, value: PUBLIC}
    properties:
      - name: age
        logicalType: integer
        customProperties:
          - {property: privacyRole, value: quasi-identifier}
          - {property: domain, value: {from: 0, to: 99, source: register}}
"""


def town(root: Path, name: str, server: str, public: bool) -> Contract:
    """Write a contract into a working copy, and return it."""
    (root / "policies").mkdir(exist_ok=True)
    (root / "data_contracts").mkdir(exist_ok=True)
    text = CONTRACT.replace("ID", name).replace("SERVER", SERVERS[server]).replace("PUBLIC", str(public).lower())
    path = root / "data_contracts" / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return read_contract(path, KNOWN.servers)


@pytest.mark.parametrize("server", SERVERS)
def test_only_a_table_in_files_of_this_machine_can_be_public(server: str, tmp_path: Path) -> None:
    why, expected = why_private(town(tmp_path, "town", server, public=True), KNOWN), WHY.get(server, "in a database")
    assert why is None if expected is None else expected in (why or "")


def test_a_file_that_a_database_engine_reads_as_confidential_is_not_public(tmp_path: Path) -> None:
    contract = town(tmp_path, "town", "parquet", public=True)
    town(tmp_path, "clinic", "duckdb on parquet", public=False)
    assert why_private(contract, KNOWN) == "contract clinic does not say that it is public"


def test_a_database_engine_shows_no_file_to_be_public(tmp_path: Path) -> None:
    contract = town(tmp_path, "town", "duckdb on parquet", public=True)
    found = public_table(tmp_path / "data_contracts" / "t.parquet", contract, KNOWN)
    assert isinstance(found, str)
    assert "in a database" in found
