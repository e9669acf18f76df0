"""`crowdgate plan`: the privacy cost of a policy and its alternatives, without data."""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from crowdgate.accounting import pso
from crowdgate.candidate import Measurement
from crowdgate.forecast.outlook import _of_past, outlook
from crowdgate.kind import prior
from crowdgate.kind.forecast import Basis
from crowdgate.kinds.rows import outlook as rows_outlook
from crowdgate.kinds.rows import splits
from crowdgate.kinds.rows.expected_retention import ExpectedRetention
from crowdgate.kinds.rows.outlook import GOOD_SHARE
from crowdgate.number_text import Value
from crowdgate.releases.working_copy import DEMO_POLICY, DEMO_TABLES, bundled, init
from tests.forecast.chances.drawn import past_of
from tests.workshop import Workshop, crowdgate

POLICY = bundled("policies").parent / DEMO_POLICY
TABLE = bundled("data_contracts") / "census_income.parquet"
pytestmark = pytest.mark.usefixtures("few_simulations")

DEMOS = (DEMO_POLICY, DEMO_TABLES, "policies/census_income_synthetic.yaml")


def test_the_bundled_plan_states_both_bounds_and_what_releases_come_to() -> None:
    found = outlook(POLICY)
    assert [found.forecast.figure(name) for name in ("least_k.exact", "least_k.theorem5")] == [29, 50]
    assert number(found.forecast.figure("exact_delta")) <= 1e-9
    assert found.releases == 4
    assert [f"{middle.bound:.4f}" for _, middle, _ in found.pso_bounds] == ["0.0254", "0.0643", "0.1672", "0.4232"]


def test_the_bound_on_singling_out_is_told_over_all_weights_beside_what_a_blind_attacker_reaches() -> None:
    rows = outlook(POLICY).pso_curve.rows
    assert [row["releases"] for row in rows] == [1] * 7 + [4] * 7
    for row in rows:
        alone, sampled, whole = (number(row[name]) for name in ("baseline", "in_sample", "bound"))
        assert alone < sampled <= whole <= 1
        assert number(row["ratio"]) == pytest.approx(whole / alone)
        assert number(row["excess"]) == pytest.approx(whole - alone)
    last = rows[6]
    assert (number(last["weight"]), number(last["baseline"])) == pytest.approx((1 / 300_000, 0.36788), rel=1e-5)


def test_the_bounds_on_singling_out_are_the_least_over_the_joint_curve() -> None:
    """For all seven weights, in the listing and in the picture; at 1/n all are 1."""
    found = outlook(POLICY)
    points = found.plan.guarantee.points
    drawn = {point.at: point.value for point in found.singling_out.series[0].points}
    for row in found.pso_curve.rows[:7]:
        weight = row["weight"]
        assert isinstance(weight, Fraction)
        assert row["bound"] == min(pso.bound(300_000, weight, *point) for point in points) == drawn[float(weight)]
        assert row["in_sample"] == min(pso.bound_in_sample(300_000, weight, *point, "0.3") for point in points)
        assert number(row["bound"]) <= 0.97 * pso.bound(300_000, weight, 1, "1e-9") or weight == Fraction(1, 300_000)


def test_people_of_several_rows_count_with_all_of_them_in_every_bound(workshop: Workshop) -> None:
    workshop.edit(workshop.contract, "value: row}", "value: {person: patient, rows: 2}}")
    workshop.edit(workshop.budget, "unit: row", 'unit: "person:patient"')
    workshop.edit(workshop.policy, "delta: 0.01", "delta: 1e-9")
    found = outlook(workshop.policy)
    spent = found.plan.guarantee.epsilon, found.plan.guarantee.delta
    people = found.plan.bundle.budget.spec.people
    assert found.pso_bounds[0][1].bound == pso.bound(2 * people, Fraction(1, 100 * 2 * people), *spent)
    heaviest = found.pso_curve.rows[6]
    assert heaviest["weight"] == Fraction(1, 2 * people)
    assert all(row["in_sample"] == row["bound"] for row in found.pso_curve.rows)


def number(value: Value) -> float:
    assert isinstance(value, int | float | Fraction)
    return float(value)


@pytest.mark.thorough
def test_exact_k_is_never_above_theorem_5_and_falls_with_epsilon() -> None:
    rows = outlook(POLICY).forecast.rows("trade_offs")
    assert all(row["theorem5"] is None or number(row["exact"]) <= number(row["theorem5"]) for row in rows)
    for beta in {number(row["beta"]) for row in rows}:
        line = [number(row["exact"]) for row in rows if number(row["beta"]) == beta]
        assert line == sorted(line, reverse=True)


@pytest.mark.thorough
def test_coarser_levels_keep_more_and_the_recommended_ones_keep_enough() -> None:
    found = outlook(POLICY, TABLE).forecast
    (kept,), (recommended,) = found.rows("expected_kept_share"), found.rows("recommended")
    assert number(recommended["share"]) >= GOOD_SHARE
    assert number(recommended["classes"]) <= number(kept["classes"])
    for neighbour in found.rows("one_level_away"):
        coarser = number(neighbour["classes"]) <= number(kept["classes"])
        assert (number(neighbour["share"]) >= number(kept["share"]) - 1e-12) == coarser


@pytest.mark.thorough
def test_margins_that_cost_more_have_smaller_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "BETAS", (Fraction(1, 2),))
    errors = []
    for part in (1, 2, 4):
        monkeypatch.setattr(splits, "PARTS", (Fraction(part, 10),))
        (row,) = outlook(POLICY, TABLE).forecast.rows("recommended_margins")
        errors.append(number(row["margin_error"]))
    # gaussian noise: the variance falls with rho, and at so small a delta rho rises with nearly the square of epsilon
    assert [errors[0] / errors[1], errors[1] / errors[2]] == pytest.approx([2, 2], rel=0.1)


@pytest.mark.thorough
def test_the_recommended_split_is_planned_with_the_k_that_it_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A policy with the recommended share and rate has this k and this noise, by the joint cost of all its parts. No
    counts relate the attributes, so that without this patch there is no recommendation."""
    monkeypatch.setattr(ExpectedRetention, "is_known", True)
    policy = init(tmp_path / "copy", "test") / DEMO_POLICY
    (row,) = outlook(policy).forecast.rows("recommended_margins")
    text = policy.read_text(encoding="utf-8").replace("share: 0.3 ", f"share: {number(row['margins'])} ")
    policy.write_text(text.replace("beta: 0.3", f"beta: {number(row['beta'])}"), encoding="utf-8")
    found = outlook(policy)
    assert found.forecast.figure("k") == row["k"]
    _, planned = found.forecast.rows("margins")
    assert planned == row


def test_what_stays_of_too_many_classes_is_bounded_by_some_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = outlook(POLICY).forecast.retained().share
    monkeypatch.setattr(prior, "MOST_CLASSES", 1000)  # of 1,824
    bounds = []
    for most in (1000, 400, 2):
        monkeypatch.setattr(rows_outlook, "MOST_CELLS_FITTED", most)
        bounds.append(outlook(POLICY).forecast.retained().share)
    assert exact <= bounds[0] <= bounds[1] <= bounds[2] <= 0.3
    assert number(outlook(POLICY).forecast.figure("kept_share_at_most")) > 0.9999  # two sexes


@pytest.mark.thorough
def test_independence_of_several_attributes_is_no_answer() -> None:
    """Four runs retained 244 to 255 classes where independence expects 407: the number is unknown, with bounds."""
    found = outlook(POLICY)
    figures = {figure.name: figure for figure in found.forecast.figures}
    for name in ("kept_share", "classes"):
        assert figures[name].value is None
        assert figures[name].value_text == "unknown"
    assert number(figures["classes"].low) <= 244
    assert number(figures["classes"].high) >= 255
    assert 0.7 < number(figures["kept_share"].low) < 0.8
    for listing in ("expected_kept_share", "recommended", "one_level_away", "margins"):
        for row in found.forecast.rows(listing):
            assert row.get("share") is None
            assert row.get("kept_share") is None
            assert row.get("weighted_error") is None
    assert not found.forecast.rows("recommended_margins")
    assert "A public table or a pilot release tells it" in figures["classes"].basis
    (row,) = found.prediction.rows
    assert row["singletons"] is None
    assert number(row["low"]) <= 72 <= number(row["high"])


def test_past_runs_stand_in_for_an_unknown_number_of_classes() -> None:
    """The limits are those of Student's t (Geisser 1993), at most a sixth nearer: classes vary by at most the root of
    their number."""
    found, counts = outlook(POLICY), [244, 249, 255, 250]
    rule = next(each for each, _ in found.plan.gates if each.measure == "released_classes")
    past = past_of(rule, [Measurement.exact(each) for each in counts])
    unknown = next(each for each in found.forecast.figures if each.name == "classes")
    figure = _of_past(unknown, found.plan, past)
    apart = stats.t.ppf(0.975, 3) * np.std(counts, ddof=1) * (1 + 1 / 4) ** 0.5
    assert figure.basis is Basis.PAST
    assert figure.value == 249.5
    for limit in (figure.low, figure.high):
        assert 5 / 6 * apart <= abs(number(limit) - 249.5) <= 1.01 * apart
    assert _of_past(unknown, found.plan, past[:1]) is unknown


def test_without_margins_nothing_is_expected_but_at_any(workshop: Workshop) -> None:
    said = outlook(workshop.policy).to_json()
    assert (said["expected_kept_share"], said["recommended"]) == (None, None)
    assert [each["levels"] for each in said["one_level_away"]] == [{"age": "any", "ward": "exact"}]


@pytest.mark.thorough
def test_every_figure_says_what_it_rests_on_and_lies_in_its_range() -> None:
    for policy in DEMOS:
        said = outlook(POLICY.parents[1] / policy).to_json()
        assert said["figures"]
        for figure in said["figures"]:
            assert figure["basis"]
            assert figure["value"] is None or figure["low"] <= figure["value"] <= figure["high"]


@pytest.mark.thorough
@pytest.mark.parametrize("policy", DEMOS)
def test_a_page_of_every_kind_is_the_same_in_markdown_and_html(policy: str, tmp_path: Path) -> None:
    pages = [tmp_path / "plan.md", tmp_path / "plan.html"]
    for page in pages:
        assert crowdgate("plan", POLICY.parents[1] / policy, "--page", page) == 0
    text, html = (page.read_text(encoding="utf-8") for page in pages)
    for line in text.splitlines():
        if line.startswith("## "):
            assert re.search(rf"<h2( class=\"annex\")?>{re.escape(line[3:])}</h2>", html)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == html.count("<tr>")
    assert "STAND" not in text + html


@pytest.mark.thorough
def test_the_page_stands_alone_and_is_never_written_over(tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    assert crowdgate("plan", POLICY, "--page", page) == 0
    text = page.read_text(encoding="utf-8")
    assert "<svg" in text
    assert "Theorem 5" in text
    assert "src=" not in text
    assert "<script" not in text
    assert crowdgate("plan", POLICY, "--page", page) == 1
    assert page.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", ["plan.pdf", "plan"])
def test_a_page_of_another_format_is_refused(name: str, tmp_path: Path) -> None:
    assert crowdgate("plan", POLICY, "--page", tmp_path / name) == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.thorough
def test_names_on_the_page_are_escaped(workshop: Workshop, tmp_path: Path) -> None:
    workshop.edit(workshop.policy, "owner: board, description: Patients by age and ward.", "owner: board")
    page = tmp_path / "plan.html"
    workshop.edit(workshop.contract, "name: ward", 'name: "<b>ward"')
    workshop.edit(workshop.policy, "ward: exact", '"<b>ward": exact')
    workshop.edit(workshop.policy, "over: [ward]", 'over: ["<b>ward"]')
    workshop.edit(workshop.contract, "source: clinic handbook}}\n          - {property: levels",
                  "source: clinic handbook}}\n          - {property: margins, value: age.csv}\n"
                  "          - {property: levels")  # fmt: skip
    (workshop.contract.parent / "age.csv").write_text("value,count\n" + "".join(f"{i},1\n" for i in range(100)))
    assert crowdgate("plan", workshop.policy, "--page", page) == 0
    text = page.read_text(encoding="utf-8")
    assert "&lt;b&gt;ward" in text
    assert "<b>ward" not in text


@pytest.mark.thorough
def test_the_plan_as_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("plan", POLICY, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["least_k"] == {"exact": 29, "theorem5": 50}
    assert said["recommended"]["levels"]["age"] == "20 years"
    assert said["recommended"]["share"] is None
    assert said["recommended"]["least"] >= GOOD_SHARE
