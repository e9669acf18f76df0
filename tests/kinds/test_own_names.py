"""A column named like one of the release's own is refused before the charge, or released like any other."""

import pyarrow.parquet as pq
import pytest

from crowdgate.kinds.rows.estimates import COLUMNS
from crowdgate.kinds.rows.files import COUNT_COLUMNS
from crowdgate.kinds.rows.margins import margins_schema
from crowdgate.ledger.ledger import open_ledger
from crowdgate.mechanisms.rows.charge_names import WEIGHT
from crowdgate.mechanisms.tables.columns import RESERVED
from crowdgate.publish.levels import COARSER_COLUMNS
from tests.workshop import Workshop, crowdgate

OWN = sorted({WEIGHT, *COUNT_COLUMNS, *COLUMNS, *margins_schema(1).names, *COARSER_COLUMNS, *RESERVED, "data"})
SOAK = pytest.mark.soak
CASES = [
    *(pytest.param(name, "tables", marks=() if name in RESERVED else SOAK) for name in OWN),
    *(pytest.param(name, "margins", marks=SOAK if name in RESERVED and name != WEIGHT else ()) for name in OWN),
    (WEIGHT, "rows"),
]
"""Each name in the kind that reserves it, or in rows with margins; the product under `soak`."""
TABLES = """\
    kind: dp_tables
    levels: {age: 50 years, ward: exact}
    tables: [{total: true, share: 0.2}, {all: 1}, {all: 2}]
  gates:
    - {measure: total_relative_error, at_most: 50}
  publish: {to: releases, formats: [csv, parquet]}
"""


def of_kind(workshop: Workshop, kind: str) -> None:
    if kind == "margins":
        workshop.edit(workshop.policy, "  gates:", "    margins: {epsilon: 0.5, tables: [{all: 2}]}\n  gates:")
    if kind == "tables":
        text = workshop.policy.read_text(encoding="utf-8")
        workshop.policy.write_text(text[: text.index("    kind: safe_k")] + TABLES, encoding="utf-8")


def called(workshop: Workshop, name: str) -> None:
    """Rename the column `ward` in all files."""
    for path in (workshop.contract, workshop.policy):
        text = path.read_text(encoding="utf-8").replace("ward", name).replace(f"{name}.csv", "ward.csv")
        path.write_text(text, encoding="utf-8")
    table = pq.read_table(workshop.data)
    names = [name if each == "ward" else each for each in table.column_names]
    pq.write_table(table.rename_columns(names), workshop.data)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_no_name_of_a_column_costs_a_budget(name: str, kind: str, workshop: Workshop) -> None:
    of_kind(workshop, kind)
    called(workshop, name)
    ended = crowdgate("release", workshop.policy, "--as-of", "2030-01-01")
    reserved = (kind, name) == ("margins", WEIGHT) or (kind == "tables" and name in RESERVED)
    assert ended == (2 if reserved else 0)
    assert len(open_ledger(workshop.ledger, None).entries()) == (ended == 0)
    assert crowdgate("check", workshop.policy) == ended
