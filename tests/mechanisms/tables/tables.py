"""A small contract, its tables of rows, and plans over it, for tests of differentially private tables."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.contracts.contract import Attribute, Contract, PrivacyUnit, Role
from crowdgate.domain import Domain, categories, numbers
from crowdgate.guarantee import Part
from crowdgate.hierarchy import by_width, hierarchy
from crowdgate.histogram import Column, Histogram, Records, scan
from crowdgate.mechanisms.tables import consistency
from crowdgate.mechanisms.tables.accuracy import Cells
from crowdgate.mechanisms.tables.answers import QuantileAnswer, TableAnswer
from crowdgate.mechanisms.tables.consistency import Axes, common_margin
from crowdgate.mechanisms.tables.dp_tables import DpTables, plan_dp_tables
from crowdgate.mechanisms.tables.workload import Item
from tests.reading import file_server

NUMERIC = numbers(Fraction(-1), Fraction(4), Fraction(1, 2), "a codebook")


def _category(name: str, values: list[str], grouped: list[str] | None = None) -> Attribute:
    domain = categories(values, "a codebook")
    named = [] if grouped is None else [("grouped", grouped)]
    return Attribute(
        name, Role.QUASI_IDENTIFIER, domain=domain, hierarchy=hierarchy(domain, named, invalid_level=False)
    )


def _numeric(name: str, domain: Domain, invalid: bool = False) -> Attribute:
    ends = ["end" if code in (0, len(domain) - 1) else "middle" for code in range(len(domain))]
    named = [("ones", by_width(domain, Fraction(1)))] if name == "hours" else [("ends", ends)]
    levels = hierarchy(domain, named, invalid_level=invalid)
    return Attribute(name, Role.OTHER, domain=domain, hierarchy=levels, invalid="level" if invalid else "drop")


def contract(rows: int = 1, rows_at_most: int | None = None) -> Contract:
    """Return a contract: sex (2 values), town (4, grouped to 2), hours (-1 to 4 in halves), pay (like hours, with a
    level for invalid)."""
    attributes = (
        _category("sex", ["f", "m"]),
        _category("town", ["a", "b", "c", "d"], grouped=["x", "x", "y", "x"]),
        _numeric("hours", NUMERIC),
        _numeric("pay", NUMERIC, invalid=True),
        Attribute("name", Role.DIRECT_IDENTIFIER),
        Attribute("note", Role.OTHER),
    )
    unit = PrivacyUnit() if rows == 1 else PrivacyUnit("name", rows)
    return Contract("clinic", "1", "town", unit, file_server(Path("x"), "csv"), attributes, rows_at_most=rows_at_most)


COLUMNS = ("sex", "town", "hours", "pay")


def records(rows: Sequence[Sequence[int]]) -> Records:
    """Return a batch of rows of domain codes (sex, town, hours, pay)."""
    array = np.array(rows, dtype=np.int32).reshape(len(rows), 4)
    return Records(len(rows), {name: Column(array[:, i].copy()) for i, name in enumerate(COLUMNS)})


def plan(items: Sequence[Item], epsilon: str = "1", delta: str = "1e-6", rows: int = 1, **how: Any) -> DpTables:
    """Return the mechanism; an assertion names the findings against it."""
    part = Part("mechanism", Fraction(epsilon), Fraction(delta))
    mechanism, findings = plan_dp_tables(items, contract(rows), part, **{"noise": "laplace", **how})
    assert mechanism is not None, findings
    return mechanism


def disagreement(axes: Sequence[Axes], tables: Sequence[np.ndarray[Any, Any]]) -> float:
    """Return the greatest difference between two tables on their common margins."""
    worst = 0.0
    for i, j in combinations(range(len(axes)), 2):
        join = common_margin(axes[i], axes[j])
        left, right = (margin(axes[at], np.asarray(tables[at], dtype=np.float64), join) for at in (i, j))
        worst = max(worst, float(np.abs(left - right).max()))
    return worst


def counted(mechanism: DpTables, *batches: Sequence[Sequence[int]]) -> Mapping[str, Histogram]:
    """Return the mechanism's views of some rows."""
    return scan(map(records, batches), mechanism.views)


def cells_of(answer: TableAnswer | QuantileAnswer) -> Cells:
    """Return the cells of an answer without quantiles."""
    assert isinstance(answer, TableAnswer)
    return answer.cells


def margin(axes: Axes, table: Floats, margin_axes: Axes) -> Floats:
    """Return a table's margin, flat."""
    size = prod(len(level) for level in margin_axes.values())
    out: Floats = np.bincount(consistency.cells_of(axes, margin_axes), table.reshape(-1), size).astype(np.float64)
    return out
