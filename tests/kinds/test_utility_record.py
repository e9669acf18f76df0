"""The custodian's figures are in the private record of each run that read data, and nowhere else."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from crowdgate.kind.run import Request
from crowdgate.kinds.rows import release as rows_release
from crowdgate.ledger.key import draw_key
from crowdgate.releases import release as job
from tests.workshop import Workshop, crowdgate, good_rows

SLOT = "2030-01-01"
SENSITIVE = (
    "name: ward\n        logicalType: string\n        customProperties:\n          - {property: privacyRole, value: "
)


def record(workshop: Workshop) -> dict[str, Any]:
    (path,) = (workshop.root / "ledger" / "private").iterdir()
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def with_a_sensitive_ward(workshop: Workshop) -> None:
    workshop.edit(workshop.contract, f"{SENSITIVE}quasi-identifier", f"{SENSITIVE}sensitive")


def withheld(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, "released_rows, at_least: 0", "released_rows, at_least: 900")


@pytest.mark.parametrize("end", ["published", "withheld"])
def test_figures_and_marked_values_leave_the_private_record_nowhere(
    workshop: Workshop, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = good_rows(611)
    workshop.write([*rows, {**rows[0], "age": 97, "ward": "nowhere"}])
    with_a_sensitive_ward(workshop)
    if end == "withheld":
        withheld(workshop)
    assert crowdgate("release", workshop.policy, "--as-of", SLOT, "--json") == (0 if end == "published" else 3)
    private = record(workshop)
    assert private["outcome"] == end
    assert set(private["utility"]["classifiers"]) == {"ward"}
    figures = {text for number in _numbers(private["utility"]) if len(text := repr(number)) > 8}
    assert len(figures) > 10
    said = capsys.readouterr()
    for text in (said.out, said.err, *_public(workshop)):
        assert not any(figure in text for figure in figures)
        assert not re.search(r"discernib|kept|classifier|divergence(?!s)|total variation", text)


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, dict):
        for found in value.values():
            yield from _numbers(found)
    elif isinstance(value, list):
        for found in value:
            yield from _numbers(found)
    elif isinstance(value, float):
        yield value


def _public(workshop: Workshop) -> Iterator[str]:
    for path in workshop.root.rglob("*"):
        if path.is_file() and "ledger" not in path.relative_to(workshop.root).parts:
            if path.suffix in (".md", ".csv", ".json"):
                yield re.sub(r"was kept with probability", "", path.read_text(encoding="utf-8"))
            elif path.parent.name == SLOT:
                yield path.read_bytes().decode("latin-1")
    yield (workshop.root / "ledger" / "ledger.db").read_bytes().decode("latin-1")


@pytest.mark.parametrize("end", ["published", "withheld"])
def test_a_fault_in_the_figures_decides_nothing(workshop: Workshop, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: object) -> object:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(rows_release, "utility", faulty)
    if end == "withheld":
        withheld(workshop)
    assert job.release(Request(workshop.policy, SLOT), draw_key).outcome == end
    assert record(workshop)["utility"] == {"fault": "ZeroDivisionError"}


def test_an_empty_table_has_figures_too(workshop: Workshop) -> None:
    workshop.write([])
    path = job.release(Request(workshop.policy, SLOT), draw_key).path
    assert path is not None
    assert record(workshop)["utility"]["kept"] == {"of the sample": None, "of the table": None}
    assert (path / "counts.csv").read_text() == "column,label,at_least\n"
    assert crowdgate("verify", path, "--ledger", workshop.ledger) == 0
