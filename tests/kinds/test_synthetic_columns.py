"""Synthetic rows of columns of every odd kind, from a table to a release that verifies."""

import csv
import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.releases import release as job
from tests.kinds.synthetic import MECHANISM, synthetic_workshop
from tests.workshop import Workshop, verified

LABELS = [
    "a,b",
    'quote"d',
    "semi;colon",
    "NULL",
    "NaN",
    "true",
    "\u65e5\u672c\u8a9e",
    "L" * 240,
    "<b>x</b>",
    "x|y",
    "a\\b",
]
COLUMNS: dict[str, tuple[str, str, str]] = {
    "select": ("string", "{values: [yes, no], source: s}", ""),
    'group by, "x"': ("string", f"{{values: {LABELS!r}, source: s}}", ""),
    "day": ("date", "{from: 2023-12-01, to: 2024-02-29, source: s}", "{name: month, part: month}"),
    "flag": ("boolean", "{values: [true, false], source: s}", ""),
    "ratio": ("number", "{from: 0, to: 1, step: 0.05, top: true, source: s}", "{name: bins, cuts: [0.1, 0.25, 0.7]}"),
    "temp": ("number", "{from: -30, to: 30, step: 5, precision: 0.01, top: true, bottom: true, source: s}", ""),
    "one": ("string", "{values: [same, other], source: s}", ""),
}
"""Logical type, domain and level."""
LEVELS = {"day": "month", "ratio": "bins"}


def rows(number: int) -> dict[str, pa.Array]:
    """Missing, unknown and outlying cells among good ones."""
    days = [datetime.date(2023, 12, 1) + datetime.timedelta(days=7 * i % 90) for i in range(number)]
    return {
        "select": pa.array(["=1+1" if i % 50 == 0 else ("yes", "no")[i % 2] for i in range(number)]),
        'group by, "x"': pa.array([LABELS[i % 7 * (i % 3) % len(LABELS)] for i in range(number)]),
        "day": pa.array([None if i % 40 == 1 else day for i, day in enumerate(days)]),
        "flag": pa.array([None if i % 30 == 2 else i % 3 == 0 for i in range(number)]),
        "ratio": pa.array([float("nan") if i % 60 == 3 else i % 13 / 10 for i in range(number)]),
        "temp": pa.array([f"{(i * 37 % 9001) / 100 - 45:.2f}" for i in range(number)]),
        "one": pa.array(["same"] * number),
    }


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """The clinic with such columns alone."""
    return synthetic_workshop(tmp_path / "w")


def _contract(workshop: Workshop, names: list[str]) -> None:
    text = workshop.contract.read_text(encoding="utf-8")
    head = text[: text.index("    properties:")]
    columns = "    properties:\n" + "".join(_column(name) for name in names)
    workshop.contract.write_text(head + columns, encoding="utf-8")
    released = ", ".join(f"{_quoted(name)}: {LEVELS.get(name, 'exact')}" for name in names)
    workshop.edit(workshop.policy, MECHANISM.splitlines()[1], f"    attributes: {{{released}}}")


def _column(name: str) -> str:
    kind, domain, level = COLUMNS[name]
    levels = f"          - {{property: levels, value: [{level}]}}\n" if level else ""
    return (
        f"      - name: {_quoted(name)}\n        logicalType: {kind}\n        customProperties:\n"
        "          - {property: privacyRole, value: other}\n          - {property: invalid, value: level}\n"
        f"          - {{property: domain, value: {domain}}}\n{levels}"
    )


def _quoted(name: str) -> str:
    return f"'{name}'"


@pytest.mark.thorough
@pytest.mark.parametrize("names", [[*COLUMNS], ["flag", "select"]], ids=["every kind", "two columns"])
def test_odd_columns_are_released_with_the_values_of_their_domains(workshop: Workshop, names: list[str]) -> None:
    _contract(workshop, names)
    pq.write_table(pa.table({name: column for name, column in rows(800).items() if name in names}), workshop.data)
    workshop.edit(workshop.policy, "synthetic_pair_error, at_most: 0.9", "synthetic_pair_error, at_most: 1")
    result = job.release(Request(workshop.policy, "2030-01-01"), draw_key)
    assert result.path is not None
    claims = verified(result.path, workshop.ledger)
    assert [each["name"] for each in claims["data"]["columns"]] == names
    with (result.path / "dictionary.csv").open(newline="", encoding="utf-8") as file:
        known = {(line["column"], line["level"], line["label"]) for line in csv.DictReader(file)}
    with (result.path / "data.csv").open(newline="", encoding="utf-8") as file:
        made = list(csv.DictReader(file))
    assert len(made) == claims["data"]["rows"] == pytest.approx(800, abs=80)
    assert all((name, LEVELS.get(name, "exact"), row[name]) in known for row in made for name in names)
    table = pq.read_table(result.path / "data.parquet")
    assert [{name: str(cell) for name, cell in row.items()} for row in table.to_pylist()] == made
