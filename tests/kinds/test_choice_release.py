"""Levels chosen from the table, from the policy file to the verified release."""

import json
from fractions import Fraction
from typing import Any

import pyarrow.parquet as pq
import pytest

from crowdgate import manifest
from crowdgate.errors import ConfigurationError, VerificationFailed
from crowdgate.forecast.outlook import outlook
from crowdgate.kind.plan import Plan
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.kind.run import Request, ReservedRun, Run
from crowdgate.ledger.key import draw_key
from crowdgate.mechanisms.rows.scores import SENSITIVITY
from crowdgate.planning.plan import plan_policy
from crowdgate.releases import release as job
from crowdgate.releases.release import prepare, protect, read, reserve
from crowdgate.sources.counting import serial
from crowdgate.verification.release import verify
from tests.forging import Change, Claims, reseal, reseal_with_page, reword
from tests.workshop import Workshop, crowdgate, verified

SLOT = "2030-01-01"
FIXED = "attributes: {age: 50 years, ward: exact}"
LISTS = "attributes: {age: {choose: [50 years, exact, 10 years]}, ward: {choose: [exact, any]}}"
FULL, SAMPLE = "choose: {epsilon: 0.25}", "choose: {epsilon: 0.05, on: sample}"


def choosing(workshop: Workshop, choose: str = FULL, attributes: str = LISTS) -> Workshop:
    workshop.edit(workshop.policy, FIXED, f"{attributes}\n    {choose}" if choose else attributes)
    return workshop


def plan(workshop: Workshop) -> Plan:
    return plan_policy(workshop.policy)


def test_the_choice_and_the_gates_leave_the_mechanism_the_rest(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, "{epsilon: 2, delta: 0.01}", "{epsilon: 1, delta: 1e-9}")
    workshop.edit(workshop.policy, "charge: {epsilon: 0.5}", "charge: {epsilon: 0.05}")
    found = plan(choosing(workshop, "choose: {epsilon: 0.1, score: expected_kept_rows}"))
    assert found.protection.figures.least_class == 69
    assert [(part.name, part.epsilon, part.delta) for part in found.guarantee.parts] == [
        ("mechanism", Fraction("0.85"), Fraction("1e-9")),
        ("choice of levels", Fraction("0.1"), 0),
        ("gate singletons", Fraction("0.05"), 0),
    ]
    assert {name: level.name for name, level in found.protection.figures.levels.items()} == {
        "age": "exact",
        "ward": "exact",
    }
    static = found.first_release_facts()
    assert static.cells == 100 * 4


def test_on_the_same_sample_one_part_pays_for_both_and_k_is_larger(workshop: Workshop) -> None:
    found = plan(choosing(workshop, SAMPLE))
    assert [(part.name, part.epsilon) for part in found.guarantee.parts] == [
        ("mechanism and choice of levels on its sample", Fraction("1.5")),
        ("gate singletons", Fraction("0.5")),
    ]
    joint = outlook(workshop.policy).forecast
    assert float(str(joint.figure("exact_delta"))) <= 0.01
    workshop.edit(workshop.policy, SAMPLE, "choose: {epsilon: 0.05}")
    assert plan(workshop).protection.figures.least_class < int(str(joint.figure("k")))


@pytest.mark.thorough
@pytest.mark.parametrize("choose", [FULL, SAMPLE, "choose: {epsilon: 0.25, score: expected_kept_information}"])
def test_a_release_at_chosen_levels_is_published_and_verifies(workshop: Workshop, choose: str) -> None:
    choosing(workshop, choose)
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 0
    path = workshop.release_dir(SLOT)
    claims = verified(path, workshop.ledger)
    levels = claims["mechanism"]["attributes"]
    assert levels["age"] in ("exact", "10 years", "50 years")
    assert levels["ward"] in ("exact", "any")
    told = [(name, level) for name, level in levels.items() if level != "any"]
    assert [(column["name"], column["level"]) for column in claims["data"]["columns"]] == told
    assert claims["mechanism"]["choice"]["candidates"] == 6
    assert pq.read_table(path / "data.parquet").column_names == [name for name, _ in told]
    page = (path / "README.md").read_text()
    assert "chosen from the data by a private selection" in page
    assert "Levels of age, ward are chosen among 6 combinations" in page


def test_a_fixed_release_says_nothing_of_a_choice(workshop: Workshop) -> None:
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 0
    path = workshop.release_dir(SLOT)
    assert "choice" not in json.loads((path / "manifest.json").read_text())["mechanism"]
    assert "which were fixed before the data were seen" in (path / "README.md").read_text()


def test_the_release_is_at_the_selected_levels_and_nothing_else_of_the_choice_leaves(workshop: Workshop) -> None:
    """Select each scheme in turn; scores reach the selector with their sensitivity and the privacy cost."""
    choosing(workshop)
    run = prepare(Request(workshop.policy, SLOT))
    assert isinstance(run, Run)
    reserved, key = reserve(run), draw_key()
    assert isinstance(reserved, ReservedRun)
    counted = read(reserved, key, serial())
    for i in range(6):
        asked: list[tuple[int, int, Fraction]] = []

        def select(scores: Any, sensitivity: int, epsilon: Fraction, i: int = i, asked: Any = asked) -> int:
            asked.append((len(scores), sensitivity, epsilon))
            return i

        candidate = protect(reserved, counted, KeyedRandomness(draw_key(), select=select))
        assert asked == [(6, SENSITIVITY, Fraction(1, 4))]
        levels = candidate.static.levels
        assert [level.name for level in levels.values()] == [
            ("exact", "10 years", "50 years")[i // 2],
            ("exact", "any")[i % 2],
        ]
        assert candidate.rows is not None
        assert candidate.table is not None
        assert candidate.rows.sizes == tuple(map(len, levels.values())) == candidate.table.sizes
        assert candidate.table.rows == 600


def test_plan_says_what_is_chosen_and_for_how_much(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    choosing(workshop)
    words = (
        "Levels of age, ward are chosen among 6 combinations by expected kept rows on the full table, for epsilon 0.25"
    )
    assert crowdgate("plan", workshop.policy) == 0
    assert words in capsys.readouterr().out
    assert crowdgate("plan", workshop.policy, "--json") == 0
    mechanism = json.loads(capsys.readouterr().out)["mechanism"]
    assert mechanism["attributes"] == {"age": ["exact", "10 years", "50 years"], "ward": ["exact", "any"]}
    choice = {"epsilon": "0.25", "score": "expected_kept_rows", "on": "full", "candidates": 6}
    assert mechanism["choice"] == {**choice, "chosen": ["age", "ward"]}


def test_the_guarantee_for_replaced_rows_does_not_take_a_choice_on_the_sample_for_a_fixed_release(
    workshop: Workshop,
) -> None:
    found = plan(choosing(workshop, SAMPLE))
    _, replaced = manifest.guarantee_sentences(found.guarantee, found.protection.figures.beta)
    assert "e^4 " in replaced


CLASSIFIED = "choose: {epsilon: 0.25, score: classification, target: ward}"
ONE_LIST = "attributes: {age: {choose: [exact, 10 years]}, ward: exact}"


def test_a_target_inside_the_key_is_classified(workshop: Workshop) -> None:
    choosing(workshop, CLASSIFIED, ONE_LIST)
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 0
    claims = verified(workshop.release_dir(SLOT), workshop.ledger)
    assert claims["mechanism"]["choice"]["target"] == "ward"


WRONG: list[tuple[str, str, str, str, str, str | None]] = [
    # choose, attributes, where, found, expected, the right word
    (FULL, FIXED, "choose", "a choice without candidates", "attributes with several levels", None),
    (FULL, "attributes: {age: {choose: [exact]}, ward: exact}", "choose", "there is nothing to choose: every "
        "attribute has one level",
     "attributes with several levels", None),
    ("", ONE_LIST, "attributes.age", "several levels are listed, and the mechanism has no "
        "`choose`", "`choose: {epsilon: ...}` beside", None),
    (FULL, "attributes: {age: {choose: []}, ward: exact}", "attributes.age.choose", "a list", "at least 1 item", None),
    (FULL, "attributes: {age: [exact, any], ward: exact}", "attributes.age", "a list", "{choose: [...]}", None),
    (FULL, "attributes: {age: {choose: exact}, ward: exact}", "attributes.age.choose", "'exact'", "list", None),
    (FULL, "attributes: {age: {choose: [exact, 10 year]}, ward: exact}", "attributes.age.choose.1",
     "unknown level '10 year'", "one of exact, 10 years, 50 years, any", "10 years"),
    (FULL, "attributes: {age: {choose: [exact, any, exact]}, ward: exact}", "attributes.age.choose.2",
     "level 'exact' is listed twice", "each candidate once", None),
    ("choose: {epsilon: 0.25, score: expected_kept_row}", ONE_LIST, "choose.score", "'expected_kept_row'",
     "'expected_kept_rows'", "expected_kept_rows"),
    ("choose: {epsilon: 0.25, on: smple}", ONE_LIST, "choose.on", "'smple'", "'full' or 'sample'", "sample"),
    ("choose: {epsilon: 0}", ONE_LIST, "choose.epsilon", "'0'", "a number above 0", None),
    ("choose: {epsilon: inf}", ONE_LIST, "choose.epsilon", "'inf'", "a finite decimal number", None),
    ("choose: {epsilon: 0.25, price: 1}", ONE_LIST, "choose.price", "unknown key",
     "one of epsilon, share, score", None),
    ("choose: {score: expected_kept_rows}", ONE_LIST, "choose", "the keys score",
     "either an epsilon, or a share", None),
    ("choose: {epsilon: 0.25, score: classification, target: wards}", ONE_LIST, "choose.target",
     "'wards' is not released, and a target must be", "a released attribute", "ward"),
    ("choose: {epsilon: 0.25, score: classification, target: note}", ONE_LIST, "choose.target",
     "'note' is not released", "a released attribute", None),
    ("choose: {epsilon: 0.25, score: classification}", ONE_LIST, "choose", "no target", "a released attribute", None),
    (CLASSIFIED, LISTS, "choose.target", "the level of 'ward' is chosen too", "a target at one level", None),
    ("choose: {epsilon: 0.25, target: ward}", ONE_LIST, "choose.target", "a target with the score expected_kept_rows",
     "no target", None),
    ("choose: {epsilon: 0.25, weights: {age: 2}}", ONE_LIST, "choose.weights", "weights with the score "
        "expected_kept_rows",
     "no weights", "expected_kept_information"),
    ("choose: {epsilon: 0.25, score: expected_kept_information, weights: {agee: 2}}", ONE_LIST, "choose.weights.agee",
     "'agee' is not released", "a released attribute", "age"),
    ("choose: {epsilon: 0.25, score: expected_kept_information, weights: {age: -1}}", ONE_LIST, "choose.weights.age",
     "'-1'", "a number from 0 to", None),
    ("choose: {epsilon: 0.25, score: expected_kept_information, weights: {age: 0, ward: 0}}", ONE_LIST,
     "choose.weights", "all weights are 0", "a weight above 0 for at least one attribute", None),
    ("choose: {epsilon: 1.4, on: sample}", ONE_LIST, "choose.on", "with the choice of levels on the same sample",
     "`on: full`", "full"),
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("choose", "attributes", "where", "found", "expected", "instead"), WRONG, ids=[f"{c[0]} {c[1]}" for c in WRONG]
)
def test_one_slip_in_a_choice_is_one_problem_with_its_line(
    workshop: Workshop, choose: str, attributes: str, where: str, found: str, expected: str, instead: str | None
) -> None:
    workshop.data.unlink()  # no data are read
    choosing(workshop, choose, attributes)
    with pytest.raises(ConfigurationError) as caught:
        plan(workshop)
    (problem,) = caught.value.problems
    assert (problem.file, problem.where) == (str(workshop.policy), f"spec.mechanism.{where}")
    lines = workshop.policy.read_text().splitlines()
    assert problem.line is not None
    assert lines[problem.line - 1].strip().startswith(where.split(".")[0])
    assert found in problem.found
    assert expected in problem.expected
    assert problem.instead == instead
    assert crowdgate("check", workshop.policy) == 2


def test_parts_that_exceed_the_total_are_one_problem(workshop: Workshop) -> None:
    choosing(workshop, "choose: {epsilon: 1.5}")
    with pytest.raises(ConfigurationError) as caught:
        plan(workshop)
    (problem,) = caught.value.problems
    assert problem.where == "spec.privacy.epsilon"
    assert problem.found == "the choice of levels and the charged gates take 2 of epsilon, which leaves nothing"


def test_too_many_candidates_are_refused(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    from crowdgate.mechanisms.rows import choice

    monkeypatch.setattr(choice, "MOST_CANDIDATES", 5)
    choosing(workshop)
    with pytest.raises(ConfigurationError) as caught:
        plan(workshop)
    (problem,) = caught.value.problems
    assert (problem.found, problem.expected) == ("6 combinations of levels", "at most 5 candidates")


def test_a_misspelt_key_of_candidates_is_shown_with_the_right_word(workshop: Workshop) -> None:
    choosing(workshop, FULL, "attributes: {age: {chose: [exact, any]}, ward: exact}")
    with pytest.raises(ConfigurationError) as caught:
        plan(workshop)
    (unknown,) = [problem for problem in caught.value.problems if problem.found == "unknown key"]
    assert (unknown.where, unknown.instead) == ("spec.mechanism.attributes.age.chose", "choose")


def _drop(claims: Claims, name: str) -> None:
    stated = claims["guarantee"]
    stated["parts"] = [part for part in stated["parts"] if part["name"] != name]
    stated["epsilon"] = "1.75"
    reword(claims, Fraction(1, 2))


def _free(claims: Claims) -> None:
    """Forge a choice that costs nothing, with a part that states it."""
    claims["mechanism"]["choice"].update(epsilon="0")
    (part,) = (part for part in claims["guarantee"]["parts"] if part["name"] == "choice of levels")
    part.update(epsilon="0")
    claims["guarantee"]["epsilon"] = "1.75"
    reword(claims, Fraction(1, 2))


FORGED: dict[str, tuple[Change, str]] = {
    "no choice": (
        lambda claims: claims["mechanism"].pop("choice"),
        "step 5, guarantee: the guarantee does not charge the choice of levels",
    ),
    "a cheaper choice": (
        lambda claims: claims["mechanism"]["choice"].update(epsilon="0.2"),
        "step 5, guarantee: the guarantee does not charge the choice of levels",
    ),
    "on the sample": (
        lambda claims: claims["mechanism"]["choice"].update(on="sample"),
        "step 5, guarantee: the guarantee does not charge the choice of levels",
    ),
    "elsewhere": (
        lambda claims: claims["mechanism"]["choice"].update(on="moon"),
        "step 2, manifest: .*mechanism.choice.on: ",
    ),
    "no candidates": (
        lambda claims: claims["mechanism"]["choice"].update(candidates=0),
        "step 2, manifest: .*mechanism.choice.candidates: ",
    ),
    "another level": (
        lambda claims: claims["mechanism"]["attributes"].update(age="any"),
        "step 5, guarantee: the columns or levels of the data differ from those of the mechanism",
    ),
    "a free choice": (
        lambda claims: _drop(claims, "choice of levels"),
        "step 5, guarantee: the guarantee does not charge the choice of levels",
    ),
    "a choice of nothing": (_free, "step 5, guarantee: the guarantee does not charge the choice of levels"),
    "chosen elsewhere": (
        lambda claims: claims["mechanism"]["choice"]["chosen"].append("note"),
        "step 5, guarantee: the manifest says that a level was chosen for a column that is not released",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_choice_is_found(workshop: Workshop, forgery: str) -> None:
    choosing(workshop)
    path = job.release(Request(workshop.policy, SLOT), draw_key).path
    assert path is not None
    change, found = FORGED[forgery]
    reseal(path, change)
    with pytest.raises(VerificationFailed, match=found):
        verify(path)


JOINT: dict[str, tuple[Claims, str]] = {
    "a price that no candidates can keep": (
        {"epsilon": "0.5"},
        "step 5, guarantee: k 13 is too small for the stated epsilon and delta",
    ),
    "more candidates": ({"candidates": 10**5}, "step 5, guarantee: k 13 is too small for the stated epsilon and delta"),
    "too many candidates": ({"candidates": 10**6}, "step 2, manifest: .*mechanism.choice.candidates: "),
    "on the full table": ({"on": "full"}, "step 5, guarantee: the guarantee does not charge the choice of levels"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", JOINT)
def test_a_forged_choice_on_the_sample_is_found(workshop: Workshop, name: str) -> None:
    choosing(workshop, SAMPLE)
    path = job.release(Request(workshop.policy, SLOT), draw_key).path
    assert path is not None
    change, found = JOINT[name]
    reseal(path, lambda claims: claims["mechanism"]["choice"].update(change))
    with pytest.raises(VerificationFailed, match=found):
        verify(path)


def test_a_further_part_beside_the_joint_one_is_found(workshop: Workshop) -> None:
    """The mechanism on its own sample is one part with the choice; a further part is an error."""
    choosing(workshop, SAMPLE)
    path = job.release(Request(workshop.policy, SLOT), draw_key).path
    assert path is not None

    def further(claims: Claims) -> None:
        claims["guarantee"]["parts"].append({"name": "mechanism", "epsilon": "0", "delta": "0"})
        reword(claims, Fraction(1, 2))

    reseal_with_page(path, further)
    with pytest.raises(
        VerificationFailed, match="step 5, guarantee: the guarantee does not charge the choice of levels"
    ):
        verify(path)
