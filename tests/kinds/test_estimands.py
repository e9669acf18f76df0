"""Estimands of tables: README and manifest state the quantity that the tables estimate.

The truth is recomputed from raw rows by the stated rules, where people have several rows, numbers are clamped and
rounded, and cells are invalid.
"""

import csv
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.kind.run import Request
from crowdgate.mechanisms.tables import sums, workload
from crowdgate.noise import NoiseSource
from crowdgate.releases import release as job
from crowdgate.sampling import SecretKey
from crowdgate.sources.counting import serial
from tests.workshop import Workshop, make_workshop, write_parquet

Said = dict[str, Any]
SILENT = NoiseSource(lambda values, *_: values, lambda values, *_: values)
WARDS = ("north", "south", "east")
INVALID = "(invalid)"
TABLES = """\
    tables:
      - {total: true}
      - {all: 1}
      - {sum: age, by: {ward: exact}, low: 10, high: 60, clamps: true}
      - {mean: age, by: {ward: exact}}
      - {mean: age, low: 20, high: 70, clamps: true}
      - {quantiles: age, level: 10 years, at: [0.1, 0.5, 0.9], by: {ward: exact}}
"""
FORMS = {
    "rounded to the nearest, dropped where invalid": ("step: 10, precision: 0.5", "drop", 2),
    "taken for their interval, invalid ones kept": ("step: 10", "level", 3),
}
"""Domain of the numbers, treatment of an invalid one, rows of a person."""


@dataclass(frozen=True)
class Raw:
    """A row of the source table; `age` and `ward` are None if the cell is outside the contract's domain."""

    patient: str
    age: Fraction | None
    ward: str | None


def raw_rows() -> list[Raw]:
    """Return up to five equal rows of a person, so that the choice among them does not matter. Every tenth age and ward
    is invalid, and some people of few rows have one more with an invalid age. One row in forty names nobody."""
    rows: list[Raw] = []
    for i in range(300):
        age = None if i % 10 == 3 else Fraction(i * 37 % 1210, 10)
        ward = None if i % 10 == 7 else WARDS[i * i % 3]
        person = Raw("" if i % 40 == 5 else f"p{i}", age, ward)
        rows += [person] * (1 + i % 5)
        rows += [Raw(person.patient, None, ward)] * (i % 7 == 0 and i % 5 < 2)
    return rows


def cells(rows: Sequence[Raw]) -> list[dict[str, object]]:
    wrong = ("", "none", "-3", "1e999")
    ages = [wrong[i % 4] if row.age is None else str(float(row.age)) for i, row in enumerate(rows)]
    return [
        {"patient": row.patient, "age": age, "ward": row.ward or "attic", "note": ""}
        for row, age in zip(rows, ages, strict=True)
    ]


def working_copy(root: Path, form: str) -> Workshop:
    domain, invalid, m = FORMS[form]
    made = make_workshop(root)
    made.edit(made.contract, "value: row}", f"value: {{person: patient, rows: {m}}}}}")
    made.edit(made.budget, "unit: row", "unit: 'person:patient'")
    made.edit(made.contract, "logicalType: integer", "logicalType: number")
    extra = f"          - {{property: invalid, value: {invalid}}}\n          - {{property: levels"
    made.edit(made.contract, "          - {property: levels", extra)
    made.edit(made.contract, "{from: 0, to: 99, top", f"{{from: 0, to: 100, {domain}, top")
    policy = made.policy.read_text()
    start = policy.index("    kind: safe_k")
    levels = "    kind: dp_tables\n    levels: {age: 10 years, ward: exact}\n"
    gates = "  gates: [{measure: guarantee_epsilon, at_most: 2}]\n"
    publish = policy[policy.index("  publish:") :]
    made.policy.write_text(policy[:start] + levels + TABLES + gates + publish, encoding="utf-8")
    write_parquet(made.data, cells(raw_rows()))
    return made


def staged(root: Path, form: str) -> Path:
    """Return a release without noise, as it would be published."""
    reserved = job.reserve(job.prepare(Request(working_copy(root, form).policy, "2030-01-01")))  # type: ignore[arg-type]
    key = SecretKey(bytes(32), injected=True)
    counted = job.read(reserved, key, serial())  # type: ignore[arg-type]
    silent = KeyedRandomness(key, vectors=SILENT)
    judged = job.judge(reserved, counted, job.protect(reserved, counted, silent), silent)  # type: ignore[arg-type]
    return job.stage(reserved, counted, judged).staged.folder  # type: ignore[arg-type]


# the rules, as README and manifest state them

Rules = tuple[int, set[str], dict[str, Said]]
"""Rows of a person, columns that drop a row, and the treatment of the numbers of each table."""


def rules_of_manifest(folder: Path) -> Rules:
    said = json.loads((folder / "manifest.json").read_text())
    numbers = {each["file"]: each.get("numbers", {}) | {"end": each.get("end")} for each in said["data"]["tables"]}
    return said["estimand"]["rows"], set(said["estimand"]["dropped"]), numbers


TAKEN = re.compile(
    r"- (\S+): The (?:sum|mean) of age over the rows of a cell where it is valid, numbers of its domain "
    r"below (\S+) taken for \2, "
    r"above (\S+) for \3(?:, rounded to the nearest of (\S+) and steps of (\S+) from there, of two the greater|, each "
    r"taken for the lower end of its interval of (\S+))\."
)
AT_END = re.compile(r"- (\S+): The rows of a cell whose age, rounded as in sums and means, is (\S+) or (less|more): ")


def rules_of_readme(folder: Path) -> Rules:
    page = " ".join((folder / "README.md").read_text().split())
    (rows,) = re.findall(r"A person counts with at most (\d+) rows: of more, \1 are chosen by secret coins\.", page)
    dropped = re.findall(r"Rows are left out whose (.*?) is missing, not in its domain", page)
    numbers: dict[str, Said] = {}
    for file, low, high, first, step, down in TAKEN.findall(page):
        assert first in ("", low)
        numbers[file] = {"low": low, "high": high, "precision": step or down, "rounding": "nearest" if step else "down"}
    for file, bound, beyond in AT_END.findall(page):
        numbers[file] = {"end": "low" if beyond == "less" else "high", "low": bound, "high": bound}
    return int(rows), {name for each in dropped for name in re.split(", | or ", each)}, numbers


def taken(age: Fraction, numbers: Said) -> Fraction:
    low, high, step = (Fraction(numbers[name]) for name in ("low", "high", "precision"))
    half = Fraction(1, 2) if numbers["rounding"] == "nearest" else 0
    return min(max(low + math.floor((age - low) / step + half) * step, low), high)


def kept(rows: Sequence[Raw], rules: Rules) -> list[Raw]:
    """Return the rows that count: with a name, without any invalid cell in a dropping column, at most so many of a
    person."""
    most, dropped, _ = rules
    out: list[Raw] = []
    for row in rows:
        bad = any(getattr(row, name) is None for name in dropped)
        if row.patient and not bad and sum(other.patient == row.patient for other in out) < most:
            out.append(row)
    return out


def truth(table: Said, cell: Said, rows: Sequence[Raw], rules: Rules) -> object:
    """Return the true value of a number of a table."""
    inside = [row for row in rows if cell.get("ward") in (None, row.ward or INVALID)]
    if table["kind"] == "count":
        return sum(cell.get("age") in (None, interval(row.age, rules)) for row in inside)
    ages = [row.age for row in inside if row.age is not None]
    if table["kind"] == "quantiles":
        return interval(sorted(ages)[math.ceil(Fraction(cell["probability"]) * len(ages)) - 1], rules) if ages else ""
    numbers = rules[2][table["file"]]
    if table["kind"] == "clamped":
        return sum(at_end(rounded(age, rules), numbers) for age in ages)
    values = [taken(age, numbers) for age in ages]
    return sum(values) if table["kind"] == "sum" else sum(values) / Fraction(len(values)) if values else None


def rounded(age: Fraction, rules: Rules) -> Fraction:
    """Return a number rounded as sums and means state it, before clamping."""
    stated = next(each for each in rules[2].values() if each.get("rounding"))
    return taken(age, {**stated, "low": 0, "high": 100})


def at_end(age: Fraction, numbers: Said) -> bool:
    return age <= Fraction(numbers["low"]) if numbers["end"] == "low" else age >= Fraction(numbers["high"])


def interval(age: Fraction | None, rules: Rules) -> str:
    if age is None:
        return INVALID
    low = math.floor(rounded(age, rules) / 10) * 10
    return "100+" if low >= 100 else str(low)


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
def test_every_number_is_what_readme_and_manifest_say_that_it_estimates(form: str, tmp_path: Path) -> None:
    folder, raw = staged(tmp_path, form), raw_rows()
    nearest = "precision" in FORMS[form][0]
    said = json.loads((folder / "manifest.json").read_text())
    from_manifest, from_readme = rules_of_manifest(folder), rules_of_readme(folder)
    assert from_manifest[:2] == from_readme[:2] == (FORMS[form][2], {"age"} if nearest else set())
    assert {each["kind"] for each in said["data"]["tables"]} == {"count", "sum", "mean", "clamped", "quantiles"}
    for rules in (from_manifest, from_readme):
        rows = kept(raw, rules)
        for table in said["data"]["tables"]:
            with (folder / f"{table['file']}.csv").open(encoding="utf-8") as file:
                for cell in csv.DictReader(file):
                    found, expected = cell.get("value", cell.get("bin")), truth(table, cell, rows, rules)
                    if table["kind"] == "quantiles" or expected is None:
                        assert found == (expected or ""), (table, cell)
                    else:
                        assert float(found or "nan") == pytest.approx(float(expected)), (table, cell)  # type: ignore[arg-type]


def test_a_number_that_is_taken_otherwise_than_stated_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted fault: means around another middle than the manifest's offset."""

    def moved(grid: sums.IntegerGrid) -> sums.IntegerGrid:
        centred = sums.centred(grid)
        return replace(centred, offset=centred.offset + 1)

    monkeypatch.setattr(workload, "centred", moved)
    with pytest.raises(AssertionError, match="mean"):
        test_every_number_is_what_readme_and_manifest_say_that_it_estimates(next(iter(FORMS)), tmp_path)
