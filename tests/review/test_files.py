"""Any file of a working copy is read as its stated kind; an unknown kind is refused with the known ones."""

import json
from pathlib import Path

import pytest

from crowdgate.errors import Code
from crowdgate.review.files import ERROR, FILES, LEVELS, REFUSED, WARNING, files_in, lint, lint_files
from tests.review.test_codes import WRONG
from tests.workshop import MARK, Workshop, crowdgate

CASES = """\
apiVersion: crowdgate/v1
kind: PolicyCases
metadata: {name: clinic, owner: board}
spec:
  policy: clinic.yaml
  cases:
    - {name: too-few, measured: [{gate: released_rows, value: -1}], expect: {outcome: withheld}}
"""
FORM = """\
apiVersion: crowdgate/v1
kind: Questionnaire
metadata: {name: form, title: A form}
spec:
  population: {people: 100, who: people of the town}
  questions:
    - {name: pets, answers: {cat: 0.4, dog: 0.6}}
"""


@pytest.fixture
def town(workshop: Workshop) -> Workshop:
    """Make a working copy with a file of each kind except decisions."""
    for name, text in (("cases", CASES), ("questionnaires", FORM)):
        folder = workshop.root / "policies" / name
        folder.mkdir()
        (folder / "clinic.yaml").write_text(text, encoding="utf-8")
    return workshop


def files(town: Workshop) -> dict[str, Path]:
    policies = town.root / "policies"
    return {
        "ReleasePolicy": town.policy,
        "PrivacyBudget": town.budget,
        "DataContract": town.contract,
        "PolicyCases": policies / "cases" / "clinic.yaml",
        "Questionnaire": policies / "questionnaires" / "clinic.yaml",
        LEVELS: town.root / "data_contracts" / "ward.csv",
    }


def test_every_kind_of_file_is_read_as_what_it_is(town: Workshop) -> None:
    found = {kind: lint(path) for kind, path in files(town).items()}
    assert {kind: each.kind for kind, each in found.items()} == {kind: kind for kind in found}
    assert {*found} | {"CollectionDecision"} == {*FILES}
    assert [each.problems for each in found.values()] == [()] * len(found)
    assert [kind for kind, each in found.items() if each.checked is not None] == ["ReleasePolicy"]


@pytest.mark.parametrize("kind", [kind for kind in FILES if kind not in (LEVELS, "CollectionDecision")])
def test_a_file_without_its_kind_is_known_by_what_it_alone_has_and_a_misspelled_kind_by_its_name(
    kind: str, town: Workshop
) -> None:
    path = files(town)[kind]
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f"kind: {kind}\n", ""), encoding="utf-8")
    assert lint(path).kind == kind
    assert any("kind" in problem.where or "kind" in problem.found for problem in lint(path).problems)
    path.write_text(text.replace(f"kind: {kind}\n", f"kind: {kind[:-1]}\n"), encoding="utf-8")
    (problem,) = lint(path).problems
    assert problem.corrected == f"kind: {kind}"


@pytest.mark.parametrize(("text", "code"), [("kind: Deployment\n", Code.VALUE), ("a: 1\n", Code.MISSING_KEY)])
def test_an_unknown_kind_is_refused_with_those_that_there_are(text: str, code: Code, town: Workshop) -> None:
    town.policy.write_text(text, encoding="utf-8")
    (problem,) = lint(town.policy).problems
    assert problem.code is code
    for kind in FILES:
        assert (kind in problem.expected) == (kind != LEVELS)


def test_a_folder_is_all_that_is_in_it_and_a_working_copy_its_policies_and_contracts(town: Workshop) -> None:
    named = {path for kind, path in files(town).items() if kind != LEVELS}
    (town.root / "schedules").mkdir()
    (town.root / "schedules" / "prefect.yaml").write_text("a: 1\n", encoding="utf-8")
    assert {*files_in(town.root)} == named
    assert {*files_in(town.root / "policies")} == named - {town.contract}
    assert files_in(town.root / "nothing") == [town.root / "nothing"]


def test_a_problem_of_a_file_that_others_name_is_told_once(
    town: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    town.edit(town.contract, "top: true", "tpo: true")
    monkeypatch.chdir(town.root)
    assert [bool(each.problems) for each in lint_files([Path()])] == [False, True, True, False, True]
    assert crowdgate("check", ".", "--format", "json") == 2
    said = capsys.readouterr()
    (remark,) = json.loads(said.out)["remarks"]
    assert remark["path"] == "data_contracts/clinic.yaml"
    assert said.err.startswith("crowdgate: data_contracts/clinic.yaml:22:57: age.domain.tpo: an unknown key")
    assert said.err.count("tpo") == 1


def test_a_file_that_is_named_twice_is_read_once(town: Workshop) -> None:
    found = [each.path for each in lint_files([town.policy, town.policy.parent, town.policy])]
    assert sorted(found) == sorted({*found})
    assert town.policy in found


def test_a_problem_of_a_file_under_two_names_is_told_once(town: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    ward = files(town)[LEVELS]
    ward.with_name("link.csv").symlink_to(ward.name)
    town.edit(ward, "north,5", "north,five")
    second = """\
          - {property: domain, value: {values: [north, south, east], source: clinic handbook}}
          - {property: margins, value: link.csv}
"""
    other = "          - {property: privacyRole, value: other}\n"
    town.edit(town.contract, other, other + second)
    monkeypatch.chdir(town.root)
    (problem,) = lint(town.contract.relative_to(town.root)).problems
    assert (problem.file, problem.line) == ("data_contracts/ward.csv", 2)


TWO = {"PrivacyBudget": "metadata.name", "DataContract": "id"}


@pytest.mark.parametrize("kind", TWO)
def test_two_files_of_one_name_are_told_with_each(kind: str, town: Workshop) -> None:
    path = files(town)[kind]
    (path.parent / "second.yaml").write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    (problem,) = lint(path).problems
    assert (problem.code, problem.where) == (Code.TWICE, TWO[kind])
    assert "second.yaml" in problem.found


def test_a_table_of_levels_is_what_the_contract_says_that_reads_it(town: Workshop) -> None:
    ward = files(town)[LEVELS]
    town.edit(ward, "north,5", "north,five")
    (problem,) = lint(ward).problems
    assert (problem.file, problem.line, problem.code) == (str(ward), 2, Code.TABLE)
    nobodys = ward.with_name("nobodys.csv")
    nobodys.write_text("a,b\n", encoding="utf-8")
    (problem,) = lint(nobodys).problems
    assert problem.found == "no contract reads it"


def test_a_wrong_case_is_found_and_none_is_run(town: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdgate.review.cases._case_outcome", None)
    path = files(town)["PolicyCases"]
    assert lint(path).problems == ()
    town.edit(path, "gate: released_rows", "gate: released_rosw")
    (problem,) = lint(path).problems
    assert (problem.code, problem.line, problem.column) == (Code.UNKNOWN_NAME, 7, 35)


def test_why_a_policy_is_withheld_is_among_its_remarks(town: Workshop) -> None:
    town.edit(town.policy, "pso_bound, at_most: 1", "pso_bound, at_most: 0.1")
    (told,) = [each for each in lint(town.policy).remarks if each.severity == REFUSED]
    assert (told.line, told.column, told.code) == (13, 7, None)
    assert told.message.startswith("pso_bound at most 0.1: ")


def test_a_policy_that_no_data_can_pass_is_withheld(town: Workshop) -> None:
    town.edit(town.policy, "released_rows, at_least: 0", "released_rows, at_least: 1e9")
    found = {(each.severity, each.code): each.message for each in lint(town.policy).remarks}
    assert found[REFUSED, None] == "a gate that blocks can't pass"
    assert (WARNING, "CG206") in found


@pytest.mark.thorough
@pytest.mark.parametrize(("code", "file", "old", "new"), WRONG, ids=[f"{case[0]} {case[3][:40]}" for case in WRONG])
def test_no_record_s_value_is_told(code: Code, file: str, old: str, new: str, workshop: Workshop) -> None:
    """The cells of the table are marked."""
    workshop.edit(workshop.root / file, old, new)
    told = [remark for each in lint_files([workshop.root]) for remark in each.remarks]
    assert code in {each.code for each in told}
    assert {each.severity for each in told} <= {ERROR, WARNING, REFUSED}
    assert MARK not in str(told)


def test_no_row_of_the_table_is_needed(workshop: Workshop) -> None:
    before = [each.remarks for each in lint_files([workshop.root])]
    workshop.write(())
    assert [each.remarks for each in lint_files([workshop.root])] == before
    workshop.data.unlink()
    others = [[each for each in file.remarks if each.code != "CG217"] for file in lint_files([workshop.root])]
    assert others == before
    assert crowdgate("check", workshop.root) == 0
