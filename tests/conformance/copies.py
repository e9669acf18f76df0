"""A working copy for any kind of release, source, set of formats and ledger store, made from these tables."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from pydantic import BaseModel

from crowdgate.contracts.contract import Contract
from crowdgate.contracts.reading import read_contract
from crowdgate.formats import FORMATS
from crowdgate.kind.forecast import Axes
from crowdgate.kind.kind import Allowance
from crowdgate.kind.prior import Prior
from crowdgate.kinds import KINDS
from crowdgate.ledger import ledger
from crowdgate.ledger.stores import STORES
from crowdgate.policy.policy import MechanismSpec
from crowdgate.sources import SOURCES
from tests.databases import DATABASES, Tables, missing_postgres, patients
from tests.servers import PostgresqlServer
from tests.sources.s3_server import running_store
from tests.sources.table_files import WRITERS
from tests.workshop import BUDGET, CONTRACT, MARK, Row, Workshop, good_rows, write_csv, write_parquet

EPSILON, DELTA = Fraction(2), Fraction(1, 100)
SLOT = "2030-01-01"
LEVELS = {"age": "50 years", "ward": "exact"}
INGESTION = {"measure": "invalid_share", "of": "ward", "at_most": "0.5", "charge": {"epsilon": "0.1"}}
"""A gate that suits every kind; the share of marked rows is below its limit."""
SERVER = "{server: local, type: local, path: patients.parquet, format: parquet}"


def _file(name: str, write: Callable[[Path, Sequence[Row]], None]) -> Callable[[Path, Sequence[Row]], str]:
    def written(folder: Path, rows: Sequence[Row]) -> str:
        write(folder / f"patients.{name}", rows)
        return f"{{server: local, type: local, path: patients.{name}, format: {name}}}"

    return written


def _database(write: Callable[[Path, Tables], str]) -> Callable[[Path, Sequence[Row]], str]:
    return lambda folder, rows: write(folder, patients(rows))


def _form(name: str) -> Callable[[Path, Sequence[Row]], str]:
    """Return a writer of the rows, as texts, in a form of `table_files`."""
    kind, file, write = WRITERS[name]
    file = file.replace("t.", "patients.", 1)

    def written(folder: Path, rows: Sequence[Row]) -> str:
        write(folder / file, {column: [_text(row.get(column)) for row in rows] for column in rows[0]})
        return f"{{server: local, type: local, path: {file}, format: {kind}}}"

    return written


def _text(cell: object) -> str | None:
    return None if cell is None else str(cell)


def _stored(name: str) -> Callable[[Path, Sequence[Row]], str]:
    """Return a writer of the rows as an object of a store of this process."""

    def written(folder: Path, rows: Sequence[Row]) -> str:
        url, objects = running_store()
        TABLES[name](folder, rows)
        (path,) = folder.glob("patients*")
        key = f"{len(objects)}/{path.name}"
        objects[f"bucket/{key}"] = path.read_bytes()
        path.unlink()
        return f"{{server: store, type: s3, location: 's3://bucket/{key}', endpointUrl: '{url}', format: {name}}}"

    return written


TABLES: dict[str, Callable[[Path, Sequence[Row]], str]] = {
    "parquet": _file("parquet", write_parquet),
    "csv": _file("csv", write_csv),
    **{name: _database(write) for name, write in DATABASES.items()},
    **{name: _form(name) for name in ("arrow", "excel", "spss", "stata", "sas")},
    **{f"s3 {name}": _stored(name) for name in ("parquet", "csv", "arrow")},
}
"""By source: a function that writes rows (patient, age, ward, note) and returns the contract's line of its server.

Files in the contract's folder whose names start with `patients` are confidential.
"""


def _in_postgresql(root: Path) -> str:
    server = PostgresqlServer()
    return f"{server.url(server.new_database())}#{root / 'ledger'}"


LEDGERS: dict[str, Callable[[Path], str]] = {
    "sqlite": lambda root: f"sqlite:///{root / 'ledger' / 'ledger.db'}",
    "postgresql": _in_postgresql,
}
"""By store: the URL of a new ledger in the working copy."""


def missing() -> list[str]:
    """Return registered sources and stores that can't be tested yet, with instructions."""
    writer = "add to TABLES in tests/conformance/copies.py how a small table is written for it"
    url = "add to LEDGERS in tests/conformance/copies.py the URL of a new ledger of it"
    found = [f"source {name!r} has no writer: {writer}" for name in SOURCES if name not in TABLES]
    return found + [f"store {name!r} has no URL: {url}" for name in STORES if name not in LEDGERS]


@dataclass(frozen=True)
class Case:
    """One row of every table; a set of formats."""

    kind: str
    source: str
    formats: tuple[str, ...]
    store: str


def axes() -> tuple[Sequence[Hashable], ...]:
    """Return all rows of the tables of kinds, sources, formats and stores.

    Formats are tested one at a time and all together. A test names rows without a writer.
    """
    sets = [(name,) for name in FORMATS]
    every = sets if len(sets) == 1 else [*sets, tuple(FORMATS)]
    sources = [name for name in SOURCES if name in TABLES and not (name == "postgres" and missing_postgres())]
    return tuple(KINDS), sources, every, [name for name in STORES if name in LEDGERS]


def shown(value: object) -> str:
    """Return a value as part of a test's name."""
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True)
class Copy(Workshop):
    """A working copy with its case and the URL of its ledger."""

    case: Case
    url: str

    @property
    def ledger(self) -> str:
        return self.url

    def is_private(self, path: Path) -> bool:
        """Return whether a file is the confidential table, or in a folder that only the curator reads."""
        table = path.relative_to(self.root).parts[:2]
        return "private" in path.parts or (table[0] == "data_contracts" and table[1].startswith("patients"))

    def published(self) -> dict[str, bytes]:
        """Return every file of the release, by name; empty while there is none."""
        folder = self.release_dir(SLOT)
        return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def marked_rows(count: int = 600) -> list[Row]:
    """Return good rows, and some with a marker in every cell, whose ages and wards are invalid."""
    rows = good_rows(count)
    return rows + [{**rows[0], "age": f"{MARK} age {i}", "ward": f"{MARK} ward {i}"} for i in range(30)]


def working_copy(case: Case, root: Path, rows: Sequence[Row] | None = None, limit: str = "2") -> Copy:
    """Make a working copy with the kind's own proposal as policy; epsilon above the limit withholds."""
    for folder in ("policies/budgets", "data_contracts", "ledger"):
        (root / folder).mkdir(parents=True)
    copy = Copy(root, case, LEDGERS[case.store](root))
    made = ledger.create(copy.url, "clinic")
    budget = BUDGET.replace("LEDGER", made).replace("epsilon: 6, delta: 0.03", "epsilon: 60, delta: 0.3")
    (root / "crowdgate.toml").write_text(f'ledger = "{copy.url}"\n', encoding="utf-8")
    copy.budget.write_text(budget, encoding="utf-8")
    (root / "data_contracts" / "ward.csv").write_text("value,count\nnorth,5\nsouth,3\neast,2\n", encoding="utf-8")
    server = TABLES[case.source](root / "data_contracts", marked_rows() if rows is None else rows)
    assert SERVER in CONTRACT
    copy.contract.write_text(CONTRACT.replace(SERVER, server), encoding="utf-8")
    copy.policy.write_text(yaml.safe_dump(_policy(copy, limit)), encoding="utf-8")
    return copy


def _policy(copy: Copy, limit: str) -> dict[str, Any]:
    contract = read_contract(copy.contract, {name: reader.rule for name, reader in SOURCES.items()})
    spec = suited(copy.case.kind, contract)
    return {
        "apiVersion": "crowdgate/v1",
        "kind": "ReleasePolicy",
        "metadata": {"name": "clinic", "version": "1", "owner": "board", "description": "Patients by age and ward."},
        "spec": {
            "contract": "clinic",
            "budget": "clinic-patients",
            "privacy": {"epsilon": _plain(EPSILON), "delta": _plain(DELTA)},
            "mechanism": {**_plain(spec), "kind": copy.case.kind},
            "gates": [{"measure": "guarantee_epsilon", "at_most": limit}, INGESTION],
            "publish": {"to": "releases", "formats": list(copy.case.formats)},
        },
    }


def suited(kind: str, contract: Contract) -> MechanismSpec:
    """Return the kind's proposal for tables at these levels that keeps the guarantee with the least error."""
    prior = Prior(1000, contract.by_name)
    levels = {name: next(each for each in prior.levels(name) if each.name == level) for name, level in LEVELS.items()}
    found: list[tuple[float, MechanismSpec]] = []
    for spec in KINDS[kind].propose(levels):
        protection, _ = KINDS[kind].plan(spec, contract, Allowance(EPSILON, DELTA))
        if protection is not None:
            errors = KINDS[kind].outlook(protection.mechanism, prior).errors(_one(levels, "ward"))
            found.append((float("inf") if errors is None else float(np.mean(errors.error)), spec))
    assert found, f"{kind} proposes nothing that keeps epsilon {EPSILON} and delta {DELTA}"
    return min(found, key=lambda pair: pair[0])[1]


def _one(levels: Axes, name: str) -> Axes:
    return {name: levels[name]}


def _plain(value: object) -> Any:
    """Return a value of a policy as a file states it."""
    if isinstance(value, Fraction):
        return f"{float(value):.12g}"
    if isinstance(value, BaseModel):
        names = {name: type(value).model_fields[name].alias or name for name in value.model_fields_set}
        return {alias: _plain(getattr(value, name)) for name, alias in names.items()}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
