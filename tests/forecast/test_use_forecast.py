"""Forecasts of what weighted rows can be used for: unknown without counts, and near what releases then give."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crowdgate.candidate import Candidate, OutputType, WeightedRows
from crowdgate.kinds.rows.use_forecast import measured_rows, prediction_limits
from crowdgate.measures import MEASURES
from crowdgate.policy.policy import GateRule
from tests.kinds.margins import margins_workshop
from tests.measures.test_measures import static
from tests.measures.test_weighted_rows import MARGINS, ROWS, cells, measured
from tests.workshop import Workshop, crowdgate, good_rows

LESS = (cells((), [25], [70], [95]), cells(("x",), [20, 0, 5], [55, 0, 15], [57, 28, 10]))
"""The margins of another release of the same rows as those of the tests of measures."""


@pytest.mark.parametrize("name", [name for name, each in MEASURES.items() if each.shape is OutputType.MARGINS])
def test_limits_of_every_measure_of_weighted_rows_hold_its_values_and_lie_in_its_range(name: str) -> None:
    """A measure of whole numbers has whole limits, any other one has fractions, which are not rounded away."""
    measure = MEASURES[name]
    found = [each for each in (measured(name), measured(name, LESS)) if each is not None]
    values = [float(each.value) for each in found]
    assert values, "both releases have margins and a total"
    assert all(value.is_integer() for value in values) == measure.whole
    other = replace(measure, name="not_in_the_library")  # nothing may depend on the name
    low, high = (float(str(limit)) for limit in prediction_limits(other, values).values())
    assert measure.range[0] <= low <= min(values)
    assert max(values) <= high <= measure.range[1]


def test_a_listed_measure_has_the_options_of_the_gate_on_it() -> None:
    """30 people of x = 1 have no row: they are a value of at least 25 people, and none of at least 26."""
    release = Candidate(static=static(), rows=ROWS, weighted=WeightedRows(np.array([10_000, 10_000]), MARGINS))
    large = GateRule.model_validate({"measure": "absent_values", "at_most": "0", "with": {"size": "26"}})
    found = {
        name: values
        for gates in ((), (large,))
        for name, (_, values) in measured_rows((release,), gates).items()
        if name.startswith("absent_values")
    }
    assert found == {"absent_values": [1], "absent_values with size 26": [0]}
    assert "absent_values" not in measured_rows((release,), (large,))


@pytest.fixture
def bought(tmp_path: Path) -> Workshop:
    workshop = margins_workshop(tmp_path / "w")
    workshop.edit(workshop.policy, "privacy: {epsilon: 2, delta: 0.01}", "privacy: {epsilon: 1.5, delta: 0.001}")
    return workshop


def forecast(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> dict[str, tuple[float, float]]:
    """Return the least and the greatest forecast of each measure, from the first release."""
    capsys.readouterr()
    assert crowdgate("plan", workshop.policy, "--from", workshop.release_dir("2030-01-01"), "--json") == 0
    return {row["measure"]: (row["low"], row["high"]) for row in json.loads(capsys.readouterr().out)["use"]}


def test_without_counts_that_relate_the_columns_nothing_is_forecast(
    bought: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("plan", bought.policy) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "no counts relate these columns" in said
    assert "all unknown unknown unknown" in said
    assert crowdgate("plan", bought.policy, "--json") == 0
    assert [row["value"] for row in json.loads(capsys.readouterr().out)["use"]] == [None]


def test_a_policy_without_margins_has_no_such_forecast(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("plan", workshop.policy, "--json") == 0
    assert "use" not in json.loads(capsys.readouterr().out)


@pytest.mark.thorough
def test_the_forecast_from_a_release_is_near_what_the_next_one_measures(
    bought: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    """600 people, 100 of each of 6 classes: all are represented, and each share is right to a few people of noise."""
    assert crowdgate("release", bought.policy, "--as-of", "2030-01-01") == 0
    found = forecast(bought, capsys)
    assert found["represented_share"][0] > 0.7
    assert found["worst_share_error"][1] < 0.25
    assert found["absent_values"][1] <= 2, "noise may show people with an invalid value"
    assert 150 < found["effective_rows"][0] <= found["effective_rows"][1] < 450
    assert crowdgate("plan", bought.policy, "--from", bought.release_dir("2030-01-01")) == 0
    assert "Rows would mislead" not in capsys.readouterr().out


@pytest.mark.thorough
def test_a_plan_counts_the_simulated_releases_that_pass_each_gate_on_rows(
    bought: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    """By each gate's own limit: 6 classes of about 50 rows are released, and never 500 rows."""
    assert crowdgate("release", bought.policy, "--as-of", "2030-01-01") == 0
    limits = (("released_classes", 2), ("effective_rows", 500))
    gates = "".join(f"    - {{measure: {name}, at_least: {least}}}\n" for name, least in limits)
    bought.edit(bought.policy, "  gates:\n", f"  gates:\n{gates}")
    capsys.readouterr()
    assert crowdgate("plan", bought.policy, "--from", bought.release_dir("2030-01-01"), "--json") == 0
    basis = {each["gate"]: each["basis"] for each in json.loads(capsys.readouterr().out)["forecast"]["gates"]}
    assert basis["released_classes at least 2"].endswith("; 20 of 20 simulated releases pass")
    assert basis["effective_rows at least 500"].endswith("; 0 of 20 simulated releases pass")
    assert "simulated" not in basis["singletons at most 500"], "its gate reads the table, with noise"
    assert crowdgate("plan", bought.policy) == 0
    assert "simulated releases pass" not in capsys.readouterr().out


@pytest.mark.thorough
def test_rows_that_would_mislead_are_advised_against(bought: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    """Classes have 150 people at most, of whom 75 are sampled: almost none reaches k = 140."""
    rows = good_rows(900)
    north = [row for row in rows if row["ward"] == "north"][:60]
    bought.write([*north, *(row for row in rows if row["ward"] != "north")])
    assert crowdgate("release", bought.policy, "--as-of", "2030-01-01") == 0
    bought.edit(bought.policy, "attributes:", "k: 140\n    attributes:")
    assert crowdgate("plan", bought.policy, "--from", bought.release_dir("2030-01-01")) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Rows would mislead: publish fewer columns or coarser levels" in said
