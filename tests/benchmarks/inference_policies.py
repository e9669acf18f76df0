"""Two public tables and six policies of each, in a working copy: rows and tables of five attributes at three epsilons.

Of everybody seven attributes are known, as far as they are not what is asked. Of these, four are released, coarser;
income is released as it is. Income and marital status are secret.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from tests.benchmarks.planning import ADULT, _read

EPSILONS = ("0.5", "1", "3")
DELTA, BETA = "1e-9", "0.3"
SECRETS = ("income", "marital_status")
BUDGET = "policies/budgets/us_cps_1994_95.yaml"
TABLES = CENSUS, ADULTS = "census-income", "adult"
KNOWN = ("age", "sex", "race", "education", "marital_status", "class_of_worker", "occupation")
RELEASED = {
    "age": "10 years", "sex": "exact", "education": "4 groups", "marital_status": "4 groups", "income": "exact",
}  # fmt: skip
MECHANISMS: Mapping[str, Mapping[str, Any]] = {
    "safe_k_anonymity": {"sampling": {"beta": float(BETA)}, "k": "least", "attributes": RELEASED},
    "dp_tables": {"noise": "gaussian", "levels": RELEASED, "tables": [{"all": 2}, {"attributes": [*RELEASED]}]},
}

Tree = Mapping[str, list[str]]
SCHOOL = ["Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"]
EDUCATION: Tree = {
    "School": SCHOOL,
    "High school": ["HS-grad"],
    "College": ["Some-college", "Assoc-voc", "Assoc-acdm"],
    "Degree": ["Bachelors", "Masters", "Prof-school", "Doctorate"],
}
MARITAL: Tree = {
    "Never married": ["Never-married"],
    "Married living together": ["Married-civ-spouse", "Married-AF-spouse"],
    "Married living apart": ["Married-spouse-absent", "Separated"],
    "Divorced or widowed": ["Divorced", "Widowed"],
}
VALUES = {
    "sex": ["Female", "Male"],
    "race": ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"],
    "class_of_worker": [
        "?", "Federal-gov", "Local-gov", "Never-worked", "Private", "Self-emp-inc", "Self-emp-not-inc", "State-gov",
        "Without-pay",
    ],
    "occupation": [
        "?", "Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial", "Farming-fishing", "Handlers-cleaners",
        "Machine-op-inspct", "Other-service", "Priv-house-serv", "Prof-specialty", "Protective-serv", "Sales",
        "Tech-support", "Transport-moving",
    ],
    "income": ["<=50K", ">50K"],
}  # fmt: skip
COLUMNS = {"marital_status": "marital-status", "class_of_worker": "workclass", "income": "income-per-year"}
"""Names of Adult's columns where they are not ours."""


@dataclass(frozen=True)
class Audited:
    """One policy of one table."""

    table: str
    mechanism: str
    epsilon: str
    policy: Path


def write_policies(copy: Path, data: Path, units: int, releases: int) -> Iterator[Audited]:
    """Into a working copy; Adult's where the table is there. As many units are attacked, or all of a table of fewer."""
    _edit(copy / "data_contracts" / "census_income.yaml", _ask)
    tables = {CENSUS: 299_285}
    if (data / ADULT[0]).is_file():
        tables[ADULTS] = _write_adult(copy, [row for name in ADULT for row in _read(data / name)])
    for table, rows in tables.items():
        for mechanism in MECHANISMS:
            for epsilon in EPSILONS:
                policy = _policy(table, mechanism, epsilon, min(units, rows), releases)
                path = copy / "policies" / f"{policy['metadata']['name']}.yaml"
                _write(path, policy)
                yield Audited(table, mechanism, epsilon, path)


def _policy(table: str, mechanism: str, epsilon: str, units: int, releases: int) -> dict[str, Any]:
    name = f"{table}-{mechanism.replace('_', '-')}-{epsilon.replace('.', '-')}"
    spec = {
        "contract": table,
        "budget": "us-cps-1994-95" if table == CENSUS else ADULTS,
        "privacy": {"epsilon": float(epsilon), "delta": float(DELTA)},
        "mechanism": {"kind": mechanism, **MECHANISMS[mechanism]},
        "gates": [{"measure": "guarantee_epsilon", "at_most": float(epsilon)}],
        "publish": {"to": "releases", "formats": ["parquet"]},
        "audit": {"units": units, "inference": {"releases": releases}},
    }
    metadata = {"name": name, "version": 1, "owner": "benchmark", "description": "One of a table of audits."}
    return {"apiVersion": "crowdgate/v1", "kind": "ReleasePolicy", "metadata": metadata, "spec": spec}


def _ask(contract: Any) -> None:
    """Say of the bundled contract what is known and what is secret."""
    for attribute in contract["schema"][0]["properties"]:
        name = attribute["name"]
        attribute["customProperties"] += _asked(name)


def _asked(name: str) -> list[dict[str, Any]]:
    return [
        {"property": "secret", "value": name in SECRETS},
        {"property": "knownToAttackers", "value": name in KNOWN},
    ]


def _write_adult(copy: Path, rows: list[dict[str, str]]) -> int:
    """Adult's rows, contract and budget; the number of rows."""
    columns: dict[str, list[Any]] = {
        name: [row[COLUMNS.get(name, name)] for row in rows] for name in dict.fromkeys((*KNOWN, *RELEASED))
    }
    columns["age"] = [int(age) for age in columns["age"]]
    pq.write_table(pa.table(columns), copy / "data_contracts" / "adult.parquet")
    _write(copy / "data_contracts" / "adult.yaml", _adult(list(columns)))
    bundled = (copy / BUDGET).read_text(encoding="utf-8")
    (copy / "policies/budgets/adult.yaml").write_text(bundled.replace("us-cps-1994-95", ADULTS), encoding="utf-8")
    return len(rows)


def _adult(names: list[str]) -> dict[str, Any]:
    unit = {"privacyUnit": "row", "population": ADULTS, "public": True, "rowsAtMost": 50_000}
    said = [{"property": name, "value": value} for name, value in unit.items()]
    table = {"name": "persons", "customProperties": said, "properties": [_attribute(name) for name in names]}
    server = {"server": "own", "type": "local", "path": "adult.parquet", "format": "parquet"}
    return {
        "apiVersion": "v3.1.0", "kind": "DataContract", "id": ADULTS, "version": "1.0.0", "status": "active",
        "name": "Adult", "servers": [server], "schema": [table],
    }  # fmt: skip


def _attribute(name: str) -> dict[str, Any]:
    trees = {"education": EDUCATION, "marital_status": MARITAL}
    if name == "age":
        domain: dict[str, Any] = {"from": 0, "to": 90, "top": True}
        levels: list[dict[str, Any]] = [{"name": "10 years", "width": 10}]
    elif name in trees:
        domain = {"values": [label for labels in trees[name].values() for label in labels]}
        levels = [{"name": "4 groups", "tree": dict(trees[name])}]
    else:
        domain, levels = {"values": VALUES[name]}, []
    said: dict[str, Any] = {
        "privacyRole": "quasi-identifier",
        "domain": {**domain, "source": "UCI Adult"},
        "invalid": "drop",
    }
    if levels:
        said["levels"] = levels
    properties = [{"property": key, "value": value} for key, value in said.items()]
    kind = "integer" if name == "age" else "string"
    return {"name": name, "logicalType": kind, "customProperties": [*properties, *_asked(name)]}


def _edit(path: Path, change: Any) -> None:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(document)
    _write(path, document)


def _write(path: Path, document: Any) -> None:
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
