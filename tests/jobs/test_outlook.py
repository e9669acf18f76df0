"""`crowdgate plan`: the price of a policy and its alternatives, without data."""

import json
from pathlib import Path

import pytest

from crowdgate.kinds.rows.outlook import GOOD_SHARE, outlook
from crowdgate.jobs.workspace import DEMO_POLICY, bundled
from tests.workshop import Workshop, crowdgate

POLICY = bundled() / DEMO_POLICY


def test_the_bundled_plan_states_both_bounds_and_what_releases_come_to() -> None:
    found = outlook(POLICY)
    assert (found.least_k_exact, found.least_k_theorem5) == (62, 73)
    assert found.exact_delta <= 1e-9
    assert found.releases == 4
    assert [f"{bound:.4f}" for bound in found.pso_bounds] == ["0.0011", "0.0028", "0.0069", "0.0176"]


def test_exact_k_is_never_above_theorem_5_and_falls_with_epsilon() -> None:
    rows = outlook(POLICY).trade_offs
    assert all(row.theorem5 is None or row.exact <= row.theorem5 for row in rows)
    for beta in {row.beta for row in rows}:
        line = [row.exact for row in rows if row.beta == beta]
        assert line == sorted(line, reverse=True)


def test_coarser_levels_keep_more_and_the_recommended_ones_keep_enough() -> None:
    found = outlook(POLICY)
    assert found.kept is not None
    assert found.recommended is not None
    assert found.recommended.share >= GOOD_SHARE > found.kept.share
    for neighbour in found.neighbours:
        coarser = neighbour.classes <= found.kept.classes
        assert (neighbour.share >= found.kept.share - 1e-12) == coarser


def test_without_margins_nothing_is_expected(workshop: Workshop) -> None:
    found = outlook(workshop.policy)
    assert (found.kept, found.neighbours, found.recommended) == (None, (), None)


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


def test_the_plan_as_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("plan", POLICY, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["least_k"] == {"exact": 62, "theorem5": 73}
    assert said["recommended"]["levels"]["age"] == "5 years"
