"""One figure has one value: on the page, at the terminal, in JSON and in the manifest, rounded to the safe side."""

import json
import re
from fractions import Fraction

import pytest

from crowdgate.manifest import GateFields
from crowdgate.number_text import FIGURE_DOWN, FIGURE_UP, format_value
from tests.workshop import Workshop, crowdgate

SLOT = "2026-01-01"


@pytest.mark.thorough
def test_a_figure_is_the_same_everywhere(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workshop.root)
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 0
    terminal = capsys.readouterr().out
    assert crowdgate("report", "release", f"clinic/1/{SLOT}", "--json") == 0
    tables = [each for section in json.loads(capsys.readouterr().out)["sections"] for each in section["tables"]]
    printed = {row[0]: row[2] for each in tables if each["title"] == "Rules" for row in each["rows"]}
    assert crowdgate("report", "release", f"clinic/1/{SLOT}", "--page", "page.html") == 0
    page = (workshop.root / "page.html").read_text()
    stated = json.loads((workshop.release_dir(SLOT) / "manifest.json").read_text())["verdicts"]
    assert len(printed) == len(stated) == 5
    for said in stated:
        gate = GateFields.model_validate_json(json.dumps(said)).verdict.gate
        (reason,) = re.findall(rf"^  pass +{re.escape(gate)}[^:]*: (.*)$", terminal, re.M)
        assert f'data-label="Figure and limit">{reason}<' in page
        assert printed[gate] == reason
        end, least = (said["low"], True) if "at_least" in said else (said["high"], False)
        shown = Fraction(re.findall(r"-?[\d.]+(?:e-?\d+)?", reason.split(", must be")[0])[-1])
        assert shown <= Fraction(end) if least else shown >= Fraction(end)


@pytest.mark.parametrize(
    ("figure", "up", "down"),
    [(0.00111523, "0.001116", "0.001115"), (0.0011, "0.0011", "0.0011"), (12345.0, "12345", "12345")],
)
def test_figures_of_series_are_rounded_as_those_of_rules(figure: float, up: str, down: str) -> None:
    """Regression: the table of a series once had the nearest number, and the rule's text the next greater one."""
    assert (format_value(figure, FIGURE_UP), format_value(figure, FIGURE_DOWN)) == (up, down)
