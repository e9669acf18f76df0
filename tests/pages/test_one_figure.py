"""One figure has one value: on the page, at the terminal, in JSON and in the manifest, rounded to the safe side."""

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from crowdgate.kinds import KINDS
from crowdgate.manifest import GateFields
from crowdgate.number_text import FIGURE_DOWN, FIGURE_UP, format_value
from tests.conformance.copies import SLOT, Case, working_copy
from tests.workshop import crowdgate


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_is_the_same_everywhere(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = working_copy(Case(kind, "parquet", ("csv",), "sqlite"), tmp_path / "copy")
    monkeypatch.chdir(copy.root)
    assert crowdgate("release", copy.policy, "--as-of", SLOT) == 0
    terminal = capsys.readouterr().out
    assert crowdgate("report", "release", f"clinic/1/{SLOT}", "--json") == 0
    tables = [each for section in json.loads(capsys.readouterr().out)["sections"] for each in section["tables"]]
    printed = {row[0]: row[2] for each in tables if each["title"] == "Rules" for row in each["rows"]}
    assert crowdgate("report", "release", f"clinic/1/{SLOT}", "--page", "page.html") == 0
    page = (copy.root / "page.html").read_text()
    manifest = json.loads((copy.release_dir(SLOT) / "manifest.json").read_text())
    assert len(printed) == len(manifest["verdicts"]) == 2
    for said in manifest["verdicts"]:
        gate = GateFields.model_validate_json(json.dumps(said)).verdict.gate
        (reason,) = re.findall(rf"^  pass +{re.escape(gate)}[^:]*: (.*)$", terminal, re.M)
        assert f'data-label="Figure and limit">{reason}<' in page
        assert printed[gate] == reason
        end, least = (said["low"], True) if "at_least" in said else (said["high"], False)
        shown = Fraction(re.findall(r"-?[\d.]+(?:e-?\d+)?", reason.split(", must be")[0])[-1])
        assert shown <= Fraction(end) if least else shown >= Fraction(end)
    costs_agree(manifest, terminal, page)


def costs_agree(manifest: dict[str, Any], terminal: str, page: str) -> None:
    """Assert that the privacy cost and the budget left are the same on the page, at the terminal and in the manifest,
    and on the safe side: no less cost, no more left."""
    (cost,), (left,) = (
        re.findall(r"Privacy cost: (.*?)\. Budget", terminal),
        re.findall(r"Budget left: (.*?),? enough", terminal),
    )
    assert f'<p data-fact="cost"><strong>Privacy cost:</strong> {cost}.</p>' in page
    (shown,) = re.findall(r'<p data-fact="left"><strong>Budget left:</strong> (.*?)\.</p>', page)
    assert re.sub(r" of [\d.e-]+", "", shown) == left
    once, cap, spent = manifest["guarantee"], manifest["facts"]["budget"], manifest["facts"]["spent"]
    for name in ("epsilon", "delta"):
        of = {text: Fraction(re.findall(rf"{name} ([\d.e-]+)", text)[0]) for text in (cost, left)}
        assert of[cost] >= Fraction(once[name])
        assert of[left] <= Fraction(cap[name]) - Fraction(spent[name])


@pytest.mark.parametrize(
    ("figure", "up", "down"),
    [(0.00111523, "0.001116", "0.001115"), (0.0011, "0.0011", "0.0011"), (12345.0, "12345", "12345")],
)
def test_figures_of_series_are_rounded_as_those_of_rules(figure: float, up: str, down: str) -> None:
    """Regression: the table of a series once had the nearest number, and the rule's text the next greater one."""
    assert (format_value(figure, FIGURE_UP), format_value(figure, FIGURE_DOWN)) == (up, down)
