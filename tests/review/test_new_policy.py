"""`init --policy`: a policy from every template is valid at once, and no existing file is changed."""

import json
from collections.abc import Callable
from math import prod
from pathlib import Path

import jsonschema_rs
import pytest
import yaml
from typer.testing import CliRunner

from crowdgate.api import read_contract
from crowdgate.cli import new_policy
from crowdgate.cli.app import app
from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import ConfigurationError, EnvironmentFault
from crowdgate.measures import MEASURES
from crowdgate.measures.base import Aspect
from crowdgate.planning.plan import plan_policy
from crowdgate.releases.rehearsal.rehearse import RehearsalRequest, rehearse
from crowdgate.releases.working_copy import init
from crowdgate.review.cases import case_results
from crowdgate.review.check import check
from crowdgate.review.schemas.schemas import schemas
from crowdgate.review.templates.new_policy import NewPolicy, NewPolicyRequest, create_policy, scalar
from crowdgate.review.templates.templates import TEMPLATES
from tests.contracts.clinic import write as write_visits
from tests.workshop import Workshop, attest_sample, crowdgate, make_workshop


def census(root: Path) -> tuple[Path, str]:
    return init(root, "board"), "census-income"


def clinic(root: Path) -> tuple[Path, str]:
    return make_workshop(root).root, "clinic"


def visits(root: Path) -> tuple[Path, str]:
    """Write a contract of persons with an id column, without a budget."""
    copy = make_workshop(root)
    copy.contract.unlink()
    copy.policy.unlink()
    copy.budget.unlink()
    write_visits(copy.root / "data_contracts")
    return copy.root, "clinic"


def sampled(root: Path) -> tuple[Path, str]:
    """Write a contract of a table that is a sample already."""
    copy = make_workshop(root)
    attest_sample(copy)
    copy.policy.unlink()
    return copy.root, "clinic"


Copy = Callable[[Path], tuple[Path, str]]
COPIES: list[Copy] = [census, clinic, visits]


def made(copy: Copy, template: str, folder: Path) -> NewPolicy:
    root, contract = copy(folder / "copy")
    people = 5000 if copy is visits else None
    return create_policy(root, NewPolicyRequest(template, contract, "the board", f"new-{template}", people))


OF_SAMPLES = [name for name, each in TEMPLATES.items() if each.of_samples]
ALL = [(copy, template) for copy in COPIES for template in TEMPLATES] + [(sampled, each) for each in OF_SAMPLES]


@pytest.mark.thorough
@pytest.mark.parametrize(("copy", "template"), ALL)
def test_a_new_policy_is_allowed_without_a_warning_and_its_cases_hold(
    copy: Copy, template: str, tmp_path: Path
) -> None:
    found = made(copy, template, tmp_path)
    policy, cases, *_ = found.files
    checked = check(policy, header=False)
    assert checked.allowed
    # a step without a precision, a file with semicolons, rows beyond 1 of a person
    known = {"CG229", "CG232", *(() if template == "pilot" else {"CG236"})} if copy is visits else set()
    assert {each.code for each in checked.warnings} == {"CG224"} | known  # only its owner knows the context
    ends = list(case_results(cases))
    assert [(each.name, each.differences) for each in ends if not each.holds] == []
    plan = plan_policy(policy)
    blocking = {rule.measure for rule, _ in plan.gates if rule.severity == "block"}
    refused = {verdict.rule.measure for each in ends for verdict in each.verdicts if each.outcome == "withheld"
               and str(verdict.outcome) == "fail"}  # fmt: skip
    assert blocking == refused
    assert any(MEASURES[name].aspect is Aspect.SINGLING_OUT for name in blocking)
    assert all(rule.reason for rule, _ in plan.gates if rule.severity == "block")


@pytest.mark.thorough
@pytest.mark.parametrize("template", ["public-use", "research", "tables"])
def test_persons_of_many_rows_leave_room_below_the_bound(template: str, tmp_path: Path) -> None:
    """The bound is for the greatest possible number of rows."""
    root, contract = visits(tmp_path / "copy")
    path = root / "data_contracts" / "clinic.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("rows: 2", "rows: 1000").replace("rows: 1}", "rows: 1000}"), encoding="utf-8")
    found = create_policy(root, NewPolicyRequest(template, contract, "board", "new", 20_000))
    assert plan_policy(found.files[0]).bundle.contract.unit.rows == 1000
    assert found.checked.allowed


@pytest.mark.parametrize("template", sorted({*TEMPLATES} - {*OF_SAMPLES}))
def test_of_a_sample_nothing_else_is_made_than_what_it_serves(template: str, tmp_path: Path) -> None:
    root, _ = sampled(tmp_path / "copy")
    before = {*root.rglob("*.yaml")}
    with pytest.raises(ConfigurationError, match="is the sample 'spring' already; expected public-use or research"):
        create_policy(root, NewPolicyRequest(template, "clinic", "the board", "new"))
    assert {*root.rglob("*.yaml")} == before


@pytest.mark.parametrize("people", [999_999, 1_000_000, 4_000_000, 20_000_000])
def test_a_gate_on_singling_out_protects_populations_of_every_size(people: int, tmp_path: Path) -> None:
    """A fixed limit of 2 % let the bound reach one half for some sizes above a million."""
    root, contract = visits(tmp_path)
    path = root / "data_contracts" / f"{contract}.yaml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("{property: rowsAtMost", "{vendor: x, property: x"), "utf-8"
    )
    made = create_policy(root, NewPolicyRequest("tables", contract, "the board", "large", people))
    assert not {"CG204", "CG205"} & {warning.code for warning in made.checked.warnings}


def test_no_gate_asks_for_more_rows_than_the_contract_allows(tmp_path: Path) -> None:
    """A budget bounds all people that there ever are; the table has at most 1,000 rows."""
    root, _ = visits(tmp_path / "copy")
    found = create_policy(root, NewPolicyRequest("research", "clinic", "board", "new", 5_000_000))
    gate = next(rule for rule, _ in plan_policy(found.files[0]).gates if rule.measure == "released_rows")
    assert gate.at_least is not None
    most = plan_policy(found.files[0]).bundle.contract.rows_at_most
    assert most is not None
    assert gate.at_least <= most / 20


@pytest.mark.thorough
@pytest.mark.parametrize("template", TEMPLATES)
def test_what_is_written_has_its_schema_and_tells_what_to_change(template: str, tmp_path: Path) -> None:
    for path in made(visits, template, tmp_path).files:
        text = path.read_text()
        schema = (path.parent / text.splitlines()[0].removeprefix("# yaml-language-server: $schema=")).resolve()
        validator = jsonschema_rs.validator_for(json.loads(schemas()[schema.name]))
        assert list(validator.iter_errors(read_document(path).typed)) == []
        assert schema.parent.name == "schema"
        assert "CHANGE" in text or path.parent.name == "cases"
        assert max(map(len, text.splitlines())) <= 120
        assert "\n\n" not in text


def test_a_new_policy_can_be_planned_and_rehearsed_through(tmp_path: Path) -> None:
    found = made(clinic, "tables", tmp_path)
    assert crowdgate("plan", found.files[0]) == 0
    result = rehearse(RehearsalRequest(found.files[0], 1000)).result
    assert result.outcome in ("published", "withheld")
    assert {str(verdict.outcome) for verdict in result.verdicts} <= {"pass", "fail"}


def test_a_population_without_a_budget_gets_one_of_the_ledger_that_is_there(tmp_path: Path) -> None:
    found = made(visits, "tables", tmp_path)
    stated = yaml.safe_load(found.files[2].read_text())
    assert stated["metadata"]["name"] == "clinic-patients"
    assert (stated["spec"]["people"], stated["spec"]["unit"]) == (5000, "person:patient")
    assert stated["spec"]["ledger"].startswith("clinic-")


@pytest.mark.thorough
def test_what_a_paid_gate_may_find_stays_above_its_noise(workshop: Workshop, tmp_path: Path) -> None:
    """The limit is above the noise's 95 % quantile of 2.4 / epsilon, whatever the budget left, and below the greatest
    count.

    If no such limit exists, there is no gate.
    """
    for epsilon in ("6", "0.2"):
        workshop.edit(workshop.budget, "epsilon: 6", f"epsilon: {epsilon}")
        found = create_policy(workshop.root, NewPolicyRequest("public-use", "clinic", "board", f"new-{epsilon[0]}"))
        assert not [rule for rule, _ in plan_policy(found.files[0]).gates if rule.charge is not None]
    root, contract = census(tmp_path / "census")
    plan = plan_policy(create_policy(root, NewPolicyRequest("public-use", contract, "board", "new")).files[0])
    gate = next(rule for rule, _ in plan.gates if rule.charge is not None)
    assert gate.at_most is not None
    assert gate.charge is not None
    assert gate.at_most * gate.charge.epsilon >= 5
    assert gate.at_most < prod(map(len, plan.first_release_facts().levels.values()))


def contents(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and "ledger" not in path.parts}


@pytest.mark.parametrize("there", ["policies/new-tables.yaml", "policies/cases/new-tables.yaml"])
def test_nothing_is_overwritten_and_nothing_is_left_behind(there: str, workshop: Workshop) -> None:
    (workshop.root / there).parent.mkdir(exist_ok=True)
    (workshop.root / there).write_text("mine")
    before = contents(workshop.root)
    with pytest.raises(EnvironmentFault, match="exists already"):
        create_policy(workshop.root, NewPolicyRequest("tables", "clinic", "board", "new-tables"))
    assert contents(workshop.root) == before


def test_what_a_policy_can_not_be_made_of_leaves_nothing_behind(workshop: Workshop) -> None:
    before = contents(workshop.root)
    for wanted, said in (
        (NewPolicyRequest("tables", "clinik", "board", "new"), "'clinik'"),
        (NewPolicyRequest("tables", "clinic", "board", "clinic"), "clinic.yaml"),
        (NewPolicyRequest("tables", "clinic", "board", "new", None, ("age", "patient")), "patient can't be published"),
        (NewPolicyRequest("synthetic", "clinic", "board", "new", None, ("age",)), "1 column"),
        (NewPolicyRequest("tables", "clinic", "board", "new", 999), "--people"),
    ):
        with pytest.raises(ConfigurationError, match=said):
            create_policy(workshop.root, wanted)
    assert contents(workshop.root) == before


def test_a_policy_that_check_refuses_leaves_nothing_behind(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdgate.review.templates.new_policy.exact_text", lambda _: "no number")
    before = contents(workshop.root)
    with pytest.raises(ConfigurationError):
        create_policy(workshop.root, NewPolicyRequest("tables", "clinic", "board", "new"))
    assert contents(workshop.root) == before


def test_columns_that_are_named_are_those_that_are_published(workshop: Workshop) -> None:
    assert crowdgate(
        "init", workshop.root, "--policy", "--template", "public-use", "--contract", "clinic", "--owner", "board",
        "--attributes", "ward",
    ) == 0  # fmt: skip
    stated = yaml.safe_load((workshop.root / "policies" / "public-use-clinic.yaml").read_text())
    assert stated["spec"]["mechanism"]["attributes"] == {"ward": "exact"}


def test_without_a_terminal_all_that_is_missing_comes_in_one_error(workshop: Workshop) -> None:
    workshop.budget.unlink()
    before = contents(workshop.root)
    with pytest.raises(ConfigurationError) as caught:
        CliRunner().invoke(
            app, ["init", str(workshop.root), "--policy", "--contract", "clinic"], catch_exceptions=False
        )
    assert [problem.where for problem in caught.value.problems] == ["--template", "--owner", "--people"]
    assert contents(workshop.root) == before


def test_options_of_a_policy_without_it_are_refused(tmp_path: Path) -> None:
    assert crowdgate("init", tmp_path / "new", "--template", "tables") == 2
    assert not (tmp_path / "new").exists()


def test_a_terminal_is_asked_for_what_no_option_says(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_policy, "_is_interactive", lambda: True)
    workshop.budget.unlink()
    answers = "table\ntables\nclinic\nThe board\nour-tables\nmany\n700\n"
    done = CliRunner().invoke(app, ["init", str(workshop.root), "--policy"], input=answers, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    stated = yaml.safe_load((workshop.root / "policies" / "our-tables.yaml").read_text())
    assert stated["metadata"]["owner"] == "The board"
    budget = yaml.safe_load((workshop.root / "policies" / "budgets" / "clinic-patients.yaml").read_text())
    assert budget["spec"]["people"] == 700


@pytest.mark.parametrize(
    "text", ["plain words", "yes", "1e-9", "a: b", "# no", '"', "l'été", "{x}", "- x", "x\\n", " x"]
)
def test_every_text_stays_the_text_that_it_is(text: str) -> None:
    assert yaml.safe_load(f"a: {scalar(text)}") == {"a": text}


def test_columns_that_are_named_have_no_more_classes_than_without_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The finest levels of these five have 6,480 classes."""
    home, few = tmp_path / "home", "age,education,race,sex,income"
    assert crowdgate("init", home) == 0
    line = ("init", home, "--policy", "--template", "public-use", "--contract", "census-income", "--owner", "board")
    assert crowdgate(*line, "--name", "few", "--attributes", few) == 0
    stated = yaml.safe_load((home / "policies" / "few.yaml").read_text())["spec"]["mechanism"]["attributes"]
    contract = read_contract(home / "data_contracts" / "census_income.yaml")
    hierarchies = {each.name: each.hierarchy for each in contract.attributes if each.hierarchy is not None}
    assert list(stated) == few.split(",")
    assert prod(len(hierarchies[name].level(level)) for name, level in stated.items()) <= 500
    capsys.readouterr()
    many = f"{few},marital_status,hispanic_origin"
    assert crowdgate(*line, "--name", "many", "--attributes", many) == 2
    assert "at most 500 classes" in capsys.readouterr().err
    assert not (home / "policies" / "many.yaml").exists()


def test_laplace_noise_is_not_accounted_jointly(tmp_path: Path) -> None:
    """Its joint law gains nothing in few tables at a small delta, and is not known of wide means that a user adds."""
    root, contract = visits(tmp_path / "copy")
    found = create_policy(root, NewPolicyRequest("tables", contract, "board", "new", 5000))
    text = found.files[0].read_text(encoding="utf-8")
    assert ("noise: laplace" in text, "accounting: joint" in text) == (True, False)
    assert found.checked.allowed
