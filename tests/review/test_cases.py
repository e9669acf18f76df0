"""Cases of policies: they end as the policy would, and each blocking gate of a bundled policy has a refusing case."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.candidate import Measurement
from crowdgate.documents.yaml_text import read_document
from crowdgate.gate import Outcome, gate_text, judge
from crowdgate.planning.plan import plan_policy
from crowdgate.policy.cases import PolicyCases
from crowdgate.policy.parsing import parse
from crowdgate.review import cases as trying
from crowdgate.review.cases import case_results, files_of
from tests.examples import examples
from tests.workshop import Workshop, crowdgate, make_workshop

BUNDLED = Path(__file__).parents[2] / "policies"
FILES = sorted((BUNDLED / "cases").glob("*.yaml"))
HEAD = """\
apiVersion: crowdgate/v1
kind: PolicyCases
metadata: {name: clinic, owner: board}
spec:
  policy: clinic.yaml
  cases:
"""
HOLDS = HEAD + "    - {name: few, measured: [{gate: smallest_class, value: 0}], expect: {outcome: withheld}}\n"


@pytest.fixture
def clinic(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.chdir(workshop.root)
    (workshop.root / "policies" / "cases").mkdir()
    return workshop


def write(clinic: Workshop, text: str) -> Path:
    file = clinic.root / "policies" / "cases" / "clinic.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_each_blocking_gate_of_a_bundled_policy_has_a_case_that_refuses(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every case with numbers exactly one gate fails, and the release is withheld."""
    cases = parse(PolicyCases, read_document(file))
    numbers = [each.name for each in cases.spec.cases if each.rows is None]
    spec = cases.spec.model_copy(update={"cases": [each for each in cases.spec.cases if each.name in numbers]})
    monkeypatch.setattr(trying, "parse", lambda *_: cases.model_copy(update={"spec": spec}))
    refused = set()
    for found in case_results(file):
        assert found.holds, found
        failed = {one.gate for one in found.verdicts if one.outcome is Outcome.FAIL}
        assert len(failed) == (found.outcome == "withheld")
        refused |= failed
    blocking = {
        gate_text(rule) for rule, _ in plan_policy(BUNDLED / cases.spec.policy).gates if rule.severity == "block"
    }
    assert refused == blocking


@pytest.mark.thorough
def test_every_bundled_policy_has_cases_and_one_that_is_rehearsed() -> None:
    policies = {file.name for file in BUNDLED.glob("*.yaml")}
    assert policies == {parse(PolicyCases, read_document(file)).spec.policy for file in FILES}
    (table,) = [file for file in FILES if file.stem == "census_income_tables"]
    (found,) = [each for each in case_results(table) if each.name == "a-small-population"]
    assert found.holds
    assert found.outcome == "withheld"


def test_a_case_that_does_not_hold_is_told_with_file_line_and_reason(
    clinic: Workshop, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = HOLDS + (
        "    - name: enough\n      measured: [{gate: smallest_class, value: 0}]\n"
        "      expect: {outcome: published, gates: {smallest_class: pass}}\n"
    )
    file = write(clinic, text)
    assert crowdgate("test", "--junit", tmp_path / "report.xml") == 3
    told = capsys.readouterr().out
    assert "FAILED clinic.yaml: enough (withheld, if" in told
    assert "policies/cases/clinic.yaml:8: expected published, would be withheld" in told
    assert "smallest_class: expected pass, is fail: 0, must be at least 1" in told
    assert told.splitlines()[-1] == "2 cases, 1 failed"
    suite = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert crowdgate("test", file, "--json") == 3
    said = json.loads(capsys.readouterr().out)["cases"]
    assert [(each["case"], each["holds"]) for each in said] == [("few", True), ("enough", False)]


def test_a_gate_that_got_no_number_has_no_verdict(clinic: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    """The gate is assumed to pass, which is reported; a case's expectation of it does not hold."""
    file = write(clinic, HOLDS.replace("{outcome: withheld}", "{outcome: withheld, gates: {singletons: pass}}"))
    (found,) = case_results(file)
    assert "singletons at most 500" in found.assumed
    assert "singletons at most 500" not in [each.gate for each in found.verdicts]
    assert not found.holds
    assert crowdgate("test", "--json") == 3
    (said,) = json.loads(capsys.readouterr().out)["cases"]
    assert said["taken_to_pass"] == list(found.assumed)
    assert "was not judged" in said["differences"][0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("gate: smallest_class", "gate: smallest_clas", "write 'smallest_class'"),
        ("value: 0", "value: few", "a finite decimal number"),
        ("value: 0", "value: 0, low: 1", "low, value and high in order"),
        ("policy: clinic.yaml", "policy: none.yaml", "none.yaml"),
        ("outcome: withheld", "outcome: refused", "'published' or 'withheld'"),
        ("expect:", "rows: {people: 5}, expect:", "either measured numbers or rows"),
        ("outcome: withheld}}", "outcome: withheld}}\n" + HOLDS.splitlines()[-1], "a second case 'few'"),
    ],
)
def test_a_wrong_file_is_refused(
    clinic: Workshop, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    write(clinic, HOLDS.replace(old, new, 1))
    assert crowdgate("test") in (2, 4)
    assert said in capsys.readouterr().err


def test_a_case_that_names_a_measure_of_two_gates_is_told_which_names_to_use_and_the_others_run(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    clinic.edit(clinic.policy, "  gates:\n", "  gates:\n    - {measure: released_rows, at_most: 900}\n")
    case = "    - {name: one, measured: [{gate: released_rows, value: 9}], "
    write(clinic, f"{HOLDS}{case}expect: {{outcome: published, gates: {{released_rows: pass}}}}}}\n")
    capsys.readouterr()
    assert crowdgate("test") == 2
    said = capsys.readouterr()
    assert "holds  clinic.yaml: few (withheld" in said.out
    names = "'released_rows at most 900', 'released_rows at least 0'"
    assert said.err.count("'released_rows' is the measure of 2 gates") == 1
    assert f"; expected one of {names} [CG" in said.err


def test_an_unknown_gate_lists_each_gate_once(clinic: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    write(clinic, HOLDS.replace("gate: smallest_class", "gate: zzz"))
    assert crowdgate("test") == 2
    said = capsys.readouterr().err
    assert "'smallest_class'" in said
    assert "'smallest_class at" not in said


def test_a_wrong_policy_is_refused_and_no_case_is_no_success(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("test") == 1
    assert "no file of cases" in capsys.readouterr().err
    write(clinic, HOLDS)
    clinic.edit(clinic.policy, "beta: 0.5", "beta: 5")
    assert crowdgate("test") == 2
    assert "sampling.beta" in capsys.readouterr().err


@settings(max_examples=examples(30), deadline=None)
@given(value=st.integers(0, 1000), wide=st.integers(0, 500))
def test_a_number_is_judged_as_a_measured_one(tmp_path_factory: pytest.TempPathFactory, value: int, wide: int) -> None:
    """The gate judges the unfavourable confidence limit: `singletons` is at most 500."""
    clinic = make_workshop(tmp_path_factory.mktemp("clinic") / "workshop")
    (clinic.root / "policies" / "cases").mkdir()
    case = f"    - {{name: one, measured: [{{gate: singletons, value: {value}, high: {value + wide}}}], "
    file = write(clinic, HEAD + case + "expect: {outcome: published}}\n")
    (found,) = case_results(file)
    (rule,) = [rule for rule, _ in plan_policy(clinic.policy).gates if rule.measure == "singletons"]
    assert judge(rule, Measurement(value, value, value + wide)) in [each.outcome for each in found.verdicts]
    assert found.outcome == ("published" if value + wide <= 500 else "withheld")


def test_folders_and_files_are_found(clinic: Workshop) -> None:
    file = write(clinic, HOLDS)
    assert files_of([file.parent]) == files_of([file]) == [file]


def test_a_number_is_given_once_and_a_drawn_one_has_the_ends_of_its_noise(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    """`singletons` at most 500 with epsilon .5 is judged at the noisy number plus 5."""
    given = "measured: [{{gate: singletons, value: {0}}}], expect: {{outcome: {1}}}"
    cases = "".join(f"    - {{name: c{i}, {given.format(*each)}}}\n" for i, each in enumerate(NUMBERS))
    write(clinic, HEAD + cases)
    assert crowdgate("test", "policies/cases") == 0
    write(clinic, HEAD + cases.replace("{gate: singletons, value: 499}", "{gate: singletons, value: 499, high: 499}"))
    assert crowdgate("test", "policies/cases") == 3
    twice = "measured: [{gate: singletons, value: 1}, {gate: 'singletons at most 500', value: 501}]"
    write(clinic, f"{HEAD}    - {{name: twice, {twice}, expect: {{outcome: withheld}}}}\n")
    capsys.readouterr()
    assert crowdgate("test", "policies/cases") == 2
    assert "a second number for singletons at most 500; expected one number for each [CG105]" in capsys.readouterr().err


NUMBERS = [(490, "published"), (499, "withheld"), (501, "withheld")]


def test_cases_in_folders_below_are_tried(clinic: Workshop) -> None:
    fails = HOLDS.replace("withheld", "published")
    for name in ("deep/one.yaml", "two.yml"):
        file = clinic.root / "policies" / "cases" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(fails, encoding="utf-8")
        assert crowdgate("test") == 3
        file.unlink()


def test_a_case_of_more_people_than_there_are_is_wrong_where_it_stands(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(clinic, f"{HEAD}    - {{name: many, rows: {{people: 1001}}, expect: {{outcome: withheld}}}}\n")
    for command in ("test", "check"):
        assert crowdgate(command, file) == 2
        said = capsys.readouterr().err
        assert f"{file}:7:" in said
        assert "spec.cases.0.rows.people: 1001; expected at most 1000, the people of the budget [CG103]" in said
