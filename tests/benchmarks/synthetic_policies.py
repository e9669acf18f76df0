"""Three public tables and the policies of synthetic rows of the benchmark, written into a working copy.

Adult is its training part of 32,561 rows in 13 columns (fnlwgt, and education-num, which education says as well, left
out). Of NIST's national excerpt and of Census-Income four fifths of the rows are taken, drawn with seed 0: 21,802 and
239,428. NIST's 19 columns leave out weights, INDP and DENSITY, which INDP_CAT and PUMA say coarser or as well, and
PINCP, of which there is the decile. Census-Income has the bundled contract.

Ages and hours are released as single years and hours, with widths of 5, 10 and 20 above them; of capital gains and
losses ten bands, nothing and nine others, or (`adult-raw`) every value that occurs, with these bands above them; POVPIP
in bands of 50. Everything else is released as it is, some of it with groups above it.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from tests.benchmarks.inference_policies import EDUCATION, MARITAL, VALUES, Tree
from tests.benchmarks.planning import ADULT, NIST, _read

DELTA = "1e-9"
BUNDLED = "census_income"
CENSUS, BUDGET, POPULATION = "census-income", "policies/budgets/us_cps_1994_95.yaml", "us-cps-1994-95"
SIX = {
    "age": "exact", "sex": "exact", "marital_status": "2 groups", "employment": "4 groups", "occupation": "2 groups",
    "income": "exact",
}  # fmt: skip
"""Those of the bundled policy, whose age is in years here as in the figures of the prototype."""
TAKEN, SEED = 0.8, 0

COUNTRIES: Tree = {
    "United States": ["United-States", "Outlying-US(Guam-USVI-etc)", "Puerto-Rico"],
    "Canada": ["Canada"],
    "Latin America": [
        "Columbia", "Cuba", "Dominican-Republic", "Ecuador", "El-Salvador", "Guatemala", "Haiti", "Honduras",
        "Jamaica", "Mexico", "Nicaragua", "Peru", "Trinadad&Tobago",
    ],
    "Europe": [
        "England", "France", "Germany", "Greece", "Holand-Netherlands", "Hungary", "Ireland", "Italy", "Poland",
        "Portugal", "Scotland", "Yugoslavia",
    ],
    "Asia": [
        "Cambodia", "China", "Hong", "India", "Iran", "Japan", "Laos", "Philippines", "Taiwan", "Thailand", "Vietnam",
    ],
    "Not known": ["?", "South"],
}  # fmt: skip
WORK: Tree = {
    "Private": ["Private"],
    "Government": ["Federal-gov", "Local-gov", "State-gov"],
    "Self-employed": ["Self-emp-inc", "Self-emp-not-inc"],
    "Not known or not paid": ["?", "Never-worked", "Without-pay"],
}
OCCUPATIONS: Tree = {
    "Managerial and professional": ["Exec-managerial", "Prof-specialty"],
    "Technical, sales, administrative": ["Adm-clerical", "Sales", "Tech-support"],
    "Service": ["Armed-Forces", "Other-service", "Priv-house-serv", "Protective-serv"],
    "Manual": ["Craft-repair", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Transport-moving"],
    "Not known": ["?"],
}
RELATIONSHIPS = ["Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife"]
CUTS = {
    "capital-gain": (1, 1000, 2000, 3000, 5000, 7500, 10000, 20000, 99999),
    "capital-loss": (1, 1000, 1500, 1700, 1800, 1900, 2000, 2250, 2500),
}
GREATEST = {"capital-gain": 99999, "capital-loss": 4999}
AMOUNTS = tuple(CUTS)
LEFT_OUT = ("DENSITY", "INDP", "PINCP", "PWGTP", "WGTP")

Column = Mapping[str, Any]
Rows = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Wanted:
    """A policy, and what it must show: mean total variation of tables of two and three attributes, CPU seconds and
    megabytes at most; None where nothing is asked."""

    table: str
    epsilon: str
    two: float
    three: float | None = None
    cpu: float | None = None
    memory: float | None = None

    @property
    def name(self) -> str:
        """A name for files, and for people."""
        return f"{self.table}-{self.epsilon.replace('.', '-')}"


WANTED = (
    Wanted("adult", "1", 0.038, 0.092, 7, 200),
    Wanted("adult", "0.3", 0.067),
    Wanted("adult", "3", 0.026),
    Wanted("adult-raw", "1", 0.038, 0.092, 7, 200),
    Wanted("nist", "1", 0.044, 0.094, 7, 200),
    Wanted("census-income", "1", 0.019, None, 15, 300),
    Wanted("six", "1", 0.0035),
    Wanted("six", "0.3", 0.009),
)


TABLES = tuple(dict.fromkeys(each.table for each in WANTED))
EPSILONS = tuple(dict.fromkeys(each.epsilon for each in WANTED))
LEARNED = WANTED[0]
"""Policies from whose rows a model learns income, to guess it in the test table of policy TEST."""
TEST = "adult-test"


def write_policies(copy: Path, data: Path, only: Collection[str] = TABLES) -> Iterator[tuple[Wanted, Path]]:
    """Into a working copy: contracts and policies of some tables, but of those that are not there."""
    made: dict[str, tuple[str, Mapping[str, str]]] = {"six": (CENSUS, SIX)}
    if {"census-income", "six"} & {*only}:
        made["census-income"] = _census(copy)
    if all((data / name).is_file() for name in ADULT):
        made |= _adult(copy, [*_read(data / ADULT[0])], [*_read(data / ADULT[1])])
        _write(copy / "policies" / f"{TEST}.yaml", _policy(replace(LEARNED, table=TEST), *made[TEST]))
    if (data / NIST).is_file():
        made["nist"] = _nist(copy, [*_read(data / NIST)])
    for wanted in WANTED:
        if wanted.table in made and wanted.table in only:
            path = copy / "policies" / f"{wanted.name}.yaml"
            _write(path, _policy(wanted, *made[wanted.table]))
            yield wanted, path


def _policy(wanted: Wanted, contract: str, levels: Mapping[str, str]) -> dict[str, Any]:
    spec = {
        "contract": contract,
        "budget": POPULATION if contract == CENSUS else contract,
        "privacy": {"epsilon": float(wanted.epsilon), "delta": float(DELTA)},
        "mechanism": {"kind": "dp_synthetic", "attributes": dict(levels)},
        "gates": [{"measure": "guarantee_epsilon", "at_most": float(wanted.epsilon)}],
        "publish": {"to": "releases", "formats": ["parquet"]},
    }
    metadata = {"name": wanted.name, "version": 1, "owner": "benchmark", "description": "One of a table of releases."}
    return {"apiVersion": "crowdgate/v1", "kind": "ReleasePolicy", "metadata": metadata, "spec": spec}


def taken(rows: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The places of four fifths of the rows, in their order."""
    return np.sort(np.random.default_rng(SEED).permutation(rows)[: int(TAKEN * rows)])


def _census(copy: Path) -> tuple[str, Mapping[str, str]]:
    """All 16 attributes of the bundled contract as they are."""
    path = copy / "data_contracts" / f"{BUNDLED}.parquet"
    table = pq.read_table(path)
    pq.write_table(table.take(taken(table.num_rows)), path)
    return CENSUS, dict.fromkeys(table.column_names, "exact")


def _adult(copy: Path, rows: Rows, test: Rows) -> dict[str, tuple[str, Mapping[str, str]]]:
    columns: dict[str, Column] = {
        "age": _years(17, 90),
        "workclass": _tree(("4 groups", WORK)),
        "education": _tree(("4 groups", EDUCATION)),
        "marital-status": _tree(("4 groups", MARITAL)),
        "occupation": _tree(("5 groups", OCCUPATIONS)),
        "relationship": _values(RELATIONSHIPS),
        "race": _values(VALUES["race"]),
        "sex": _values(VALUES["sex"]),
        "capital-gain": _amounts("capital-gain"),
        "capital-loss": _amounts("capital-loss"),
        "hours-per-week": _years(1, 99),
        "native-country": _tree(("6 regions", COUNTRIES)),
        "income-per-year": _values(VALUES["income"]),
    }
    levels = dict.fromkeys(columns, "exact")
    raw = {**columns, **{name: _listed(name, rows) for name in AMOUNTS}}
    banded = {**levels, **dict.fromkeys(AMOUNTS, "10 bands")}
    return {
        "adult": (_table(copy, "adult", columns, rows), banded),
        TEST: (_table(copy, TEST, columns, test), banded),
        "adult-raw": (_table(copy, "adult-raw", raw, rows), levels),
    }


def _nist(copy: Path, rows: Rows) -> tuple[str, Mapping[str, str]]:
    kept = [rows[at] for at in taken(len(rows))]
    columns = {name: _values(sorted({row[name] for row in rows})) for name in rows[0] if name not in LEFT_OUT}
    columns["AGEP"] = _years(0, 99)
    columns["PUMA"] = _tree(("state", _grouped(columns["PUMA"]["domain"]["values"], lambda value: value[:2])))
    columns["POVPIP"] = _tree(("bands", _grouped(["N", *map(str, range(502))], _band)))
    return _table(copy, "nist", columns, kept), {**dict.fromkeys(columns, "exact"), "POVPIP": "bands"}


def _band(value: str) -> str:
    return "N" if value == "N" else "500 and more" if int(value) >= 500 else f"{int(value) // 50 * 50} on"


def _grouped(values: Sequence[str], group: Callable[[str], str]) -> Tree:
    found: dict[str, list[str]] = {}
    for value in values:
        found.setdefault(group(value), []).append(value)
    return found


def _years(least: int, greatest: int) -> Column:
    domain = {"from": least, "to": greatest, "top": True}
    return {"kind": "integer", "domain": domain, "levels": [{"name": f"{w} wide", "width": w} for w in (5, 10, 20)]}


def _values(values: Sequence[str]) -> Column:
    return {"kind": "string", "domain": {"values": list(values)}}


def _tree(*levels: tuple[str, Tree]) -> Column:
    values = [value for group in levels[0][1].values() for value in group]
    return {**_values(values), "levels": [{"name": name, "tree": dict(tree)} for name, tree in levels]}


def _amounts(name: str) -> Column:
    domain = {"from": 0, "to": GREATEST[name]}
    return {"kind": "integer", "domain": domain, "levels": [{"name": "10 bands", "cuts": list(CUTS[name])}]}


def _listed(name: str, rows: Rows) -> Column:
    values = sorted({row[name] for row in rows}, key=int)
    cuts = np.array(CUTS[name])
    bands = _grouped(values, lambda value: f"band {np.searchsorted(cuts, int(value), side='right')}")
    return _tree(("10 bands", bands))


def _table(copy: Path, name: str, columns: Mapping[str, Column], rows: Rows) -> str:
    """The rows, a contract and a budget of that name."""
    cells = {column: [_cell(row[column], each["kind"]) for row in rows] for column, each in columns.items()}
    pq.write_table(pa.table(cells), copy / "data_contracts" / f"{name}.parquet")
    _write(copy / "data_contracts" / f"{name}.yaml", _contract(name, columns))
    bundled = (copy / BUDGET).read_text(encoding="utf-8")
    (copy / "policies" / "budgets" / f"{name}.yaml").write_text(bundled.replace(POPULATION, name), encoding="utf-8")
    return name


def _cell(text: str, kind: str) -> str | int:
    return int(text) if kind == "integer" else text


def _contract(name: str, columns: Mapping[str, Column]) -> dict[str, Any]:
    unit = {"privacyUnit": "row", "population": name, "public": True, "rowsAtMost": 50_000}
    said = [{"property": key, "value": value} for key, value in unit.items()]
    properties = [_attribute(column, each) for column, each in columns.items()]
    table = {"name": "persons", "customProperties": said, "properties": properties}
    server = {"server": "own", "type": "local", "path": f"{name}.parquet", "format": "parquet"}
    return {
        "apiVersion": "v3.1.0", "kind": "DataContract", "id": name, "version": "1.0.0", "status": "active",
        "name": name, "servers": [server], "schema": [table],
    }  # fmt: skip


def _attribute(name: str, column: Column) -> dict[str, Any]:
    said = {"privacyRole": "quasi-identifier", "domain": {**column["domain"], "source": "public table"}}
    said |= {"levels": column["levels"]} if "levels" in column else {}
    properties = [{"property": key, "value": value} for key, value in {**said, "invalid": "drop"}.items()]
    return {"name": name, "logicalType": column["kind"], "customProperties": properties}


def _write(path: Path, document: Any) -> None:
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
