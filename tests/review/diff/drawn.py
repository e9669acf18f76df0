"""Policies and budgets to compare: one of every kind with all fields, and random ones."""

from copy import deepcopy
from typing import Any

import numpy as np
import yaml
from hypothesis import strategies as st

from crowdgate.planning.bundle import KNOWN
from crowdgate.policy.policy import PrivacyBudget, ReleasePolicy
from crowdgate.review.diff.level_order import level_order_by_codes

HEAD = """\
apiVersion: crowdgate/v1
kind: ReleasePolicy
metadata: {name: clinic, version: 1, owner: board, description: Patients.}
spec:
  contract: clinic
  budget: clinic-patients
  privacy: {epsilon: 1, delta: 1e-6}
  publish: {to: releases, formats: [parquet], deployments_may_set: [to]}
  audit: {limit: 0.01, inference: {limit: 0.1}, membership: {skew: 30, limit: 0.5}}
  register: {contract: town}
  gates:
    - {measure: pso_bound, at_most: 0.02, with: {weight: 1e-9}}
    - {measure: singletons, at_most: 500, charge: {epsilon: 0.05}}
    - {measure: released_rows, at_least: 100}
    - {measure: smallest_class, at_least: 5, severity: advise}
    - {measure: expected_singletons, at_most: 1, over: [age, ward]}
  mechanism:
"""
ROWS = """\
    kind: safe_k_anonymity
    sampling: {beta: 0.3}
    k: 40
    attributes: {age: 10 years, ward: {choose: [exact, any]}, sex: exact}
    choose: {epsilon: 0.1, target: sex}
    margins: {epsilon: 0.3, tables: [{all: 1}]}
"""
TABLES = """\
    kind: dp_tables
    sampling: {beta: 0.5}
    levels: {age: 10 years, ward: exact}
    tables:
      - {total: true, share: 0.1}
      - {all: 2}
      - {attributes: [age, ward]}
      - {sum: age, by: [ward], low: 0, high: 90}
      - {mean: age}
      - {quantiles: age, level: 10 years, at: [0.5]}
"""
SYNTHETIC = """\
    kind: dp_synthetic
    attributes: {age: 10 years, ward: exact, sex: exact}
    triples: [[age, ward, sex]]
"""
BUDGET = """\
apiVersion: crowdgate/v1
kind: PrivacyBudget
metadata: {name: clinic-patients, owner: board}
spec: {ledger: clinic-0a1b2c3d, epsilon: 4, delta: 1e-5, people: 1000, unit: row, relation: add-remove}
"""
AGE = np.arange(100, dtype=np.int32)
COARSER = level_order_by_codes({"age": {"exact": AGE, "10 years": AGE // 10, "50 years": AGE // 50, "odd": AGE % 2}})


def data_of(mechanism: str) -> Any:
    """Return a policy as in its file: every scalar is text."""
    return yaml.load(HEAD + mechanism, yaml.BaseLoader)


def policy(data: Any) -> ReleasePolicy:
    """Return the policy of a file's content."""
    return KNOWN.policy.model_validate(data)


def budget(data: Any) -> PrivacyBudget:
    """Return the budget of a file's content."""
    return PrivacyBudget.model_validate(data)


def edited(data: Any, path: str, value: Any) -> Any:
    """Return the file with another value at a path; None removes it, `+` at the end of a list adds it."""
    made = deepcopy(data)
    *way, last = [int(part) if part.isdigit() else part for part in path.split("/")]
    at = made
    for part in way:
        at = at.setdefault(part, {}) if isinstance(at, dict) else at[part]
    if last == "+":
        at.append(value)
    elif value is None:
        del at[last]
    else:
        at[last] = value
    return made


GATES: tuple[dict[str, Any], ...] = (
    {"measure": "pso_bound", "with": {"weight": "1e-9"}, "side": "at_most"},
    {"measure": "pso_bound", "with": {"weight": "1e-6"}, "side": "at_most"},
    {"measure": "released_rows", "side": "at_least"},
    {"measure": "singletons", "charge": {"epsilon": "0.05"}, "side": "at_most"},
    {"measure": "expected_singletons", "over": ["age"], "side": "at_most"},
)


@st.composite
def gates(draw: st.DrawFn) -> list[Any]:
    """Draw some gates, each with a limit of three."""
    chosen = draw(st.lists(st.sampled_from(GATES), min_size=1, max_size=4, unique_by=repr))
    made = []
    for each in chosen:
        rule: dict[str, Any] = {**each}
        rule[rule.pop("side")] = draw(st.sampled_from(["1", "2", "3"]))
        made.append({**rule, "severity": draw(st.sampled_from(["block", "block", "advise"]))})
    return made


LISTS = [[], ["to"], ["input"], ["to", "input"], ["to", "input", "ledger"]]
POOLS: dict[str, list[Any]] = {
    "spec/privacy/epsilon": ["0.5", "1", "2"],
    "spec/privacy/delta": ["0", "1e-9", "1e-6"],
    "spec/mechanism/sampling/beta": ["0.1", "0.3", "1"],
    "spec/mechanism/k": ["least", "20", "40"],
    "spec/mechanism/attributes/age": [
        "exact", "10 years", "50 years", "odd", "any", {"choose": ["exact", "10 years"]}, {"choose": ["odd", "any"]},
    ],
    "spec/mechanism/attributes/ward": ["exact", "regions", "any"],
    "spec/mechanism/margins/epsilon": ["0.1", "0.2"],
    "spec/mechanism/margins/tables": [[{"all": "3"}], [{"all": "2"}], [{"all": "3"}, {"all": "2"}]],
    "spec/gates/1/at_most": ["400", "500", "600"],
    "spec/gates/2/at_least": ["50", "100", "200"],
    "spec/gates/3/severity": ["advise", "block"],
    "spec/publish/deployments_may_set": LISTS,
    "spec/audit/limit": ["0.01", "0.1"],
    "spec/contract": ["clinic", "hospital"],
    "metadata/owner": ["board", "bored"],
}  # fmt: skip
"""Values of single fields of releases of rows; all triples of them are few."""
AGES = ["exact", "10 years", "50 years", "odd", "any"]
FLAGS = ["true", "false"]
RATES = [{"beta": "0.1"}, {"beta": "0.5"}, {"beta": "1"}]
OTHER_POOLS: list[tuple[str, str, list[Any]]] = [
    (TABLES, "spec/mechanism/sampling", RATES),
    (TABLES, "spec/mechanism/levels/age", AGES),
    (TABLES, "spec/mechanism/tables", [[{"all": "1"}], [{"all": "1"}, {"total": "true"}], [{"total": "true"}]]),
    (TABLES, "spec/mechanism/tables/3/clamps", FLAGS),
    (TABLES, "spec/mechanism/tables/5/at", [["0.5"], ["0.25", "0.5"], ["0.75"], ["0.25", "0.5", "0.75"]]),
    (TABLES, "spec/mechanism/suppress", FLAGS),
    (TABLES, "spec/mechanism/raw", FLAGS),
    (TABLES, "spec/mechanism/noise", ["laplace", "gaussian"]),
    (SYNTHETIC, "spec/mechanism/sampling", RATES),
    (SYNTHETIC, "spec/mechanism/attributes/age", AGES),
    (
        SYNTHETIC,
        "spec/mechanism/triples",
        [[], [["age", "ward", "sex"]], [["age", "ward", "sex"], ["sex", "age", "race"]]],
    ),
    (SYNTHETIC, "spec/mechanism/pair_error", ["0.05", "0.1", "0.2"]),
]
"""Edits of the policies of other kinds of release."""
MOVES: dict[str, st.SearchStrategy[Any]] = {
    **{path: st.sampled_from(values) for path, values in POOLS.items() if not path.startswith("spec/gates")},
    "spec/gates": gates(),
}
MOVED = st.lists(st.sampled_from(sorted(MOVES)), max_size=3, unique=True)


@st.composite
def moved(draw: st.DrawFn, data: Any) -> Any:
    """Draw up to three fields of the file anew."""
    for path in draw(MOVED):
        data = edited(data, path, draw(MOVES[path]))
    return data
