"""A small contract, its tables of rows, and plans over it, for tests of differentially private tables."""

from fractions import Fraction
from pathlib import Path

import numpy as np

from crowdgate.contracts.contract import Attribute, Contract, PrivacyUnit, Role, Source
from crowdgate.domain import categories, numbers
from crowdgate.guarantee import Part
from crowdgate.hierarchy import by_width, hierarchy
from crowdgate.histogram import Column, Records
from crowdgate.mechanisms.tables.dp_tables import plan_dp_tables

NUMERIC = numbers(Fraction(-1), Fraction(4), Fraction(1, 2), "a codebook")


def _category(name, values, role=Role.QUASI_IDENTIFIER, grouped=None, invalid=False):
    domain = categories(values, "a codebook")
    named = [] if grouped is None else [("grouped", grouped)]
    levels = hierarchy(domain, named, invalid_level=invalid)
    return Attribute(name, role, domain=domain, hierarchy=levels, invalid="level" if invalid else "drop")


def _numeric(name, domain, invalid=False):
    ends = ["end" if code in (0, len(domain) - 1) else "middle" for code in range(len(domain))]
    named = [("ones", by_width(domain, Fraction(1)))] if name == "hours" else [("ends", ends)]
    levels = hierarchy(domain, named, invalid_level=invalid)
    return Attribute(name, Role.OTHER, domain=domain, hierarchy=levels, invalid="level" if invalid else "drop")


def contract(rows=1, rows_at_most=None):
    """sex (2 values), town (4, grouped to 2), hours (-1 to 4 in halves), pay (the same, with a level for invalid)."""
    attributes = (
        _category("sex", ["f", "m"]),
        _category("town", ["a", "b", "c", "d"], grouped=["x", "x", "y", "x"]),
        _numeric("hours", NUMERIC),
        _numeric("pay", NUMERIC, invalid=True),
        Attribute("name", Role.DIRECT_IDENTIFIER),
        Attribute("note", Role.OTHER),
    )
    unit = PrivacyUnit() if rows == 1 else PrivacyUnit("name", rows)
    return Contract("clinic", "1", "town", unit, Source(Path("x"), "csv"), attributes, rows_at_most=rows_at_most)


COLUMNS = ("sex", "town", "hours", "pay")


def records(rows):
    """A batch of rows of domain codes (sex, town, hours, pay)."""
    array = np.array(rows, dtype=np.int32).reshape(len(rows), 4)
    return Records(len(rows), {name: Column(array[:, i].copy()) for i, name in enumerate(COLUMNS)})


def plan(items, epsilon="1", delta="1e-6", rows=1, **how):
    """The mechanism; an assertion names what stands against it."""
    part = Part("mechanism", Fraction(epsilon), Fraction(delta))
    mechanism, findings = plan_dp_tables(items, contract(rows), part, **{"noise": "laplace", **how})
    assert mechanism is not None, findings
    return mechanism
