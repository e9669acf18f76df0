"""Codes of problems: a faulty file produces each of them, and a page explains it."""

import ast
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.review.check import check
from crowdgate.review.lint.codes import explanations
from crowdgate.review.lint.warnings import RULES
from crowdgate.settings import trusted_keys
from tests.workshop import Workshop, crowdgate

PIPELINE = Path(__file__).parents[2] / "pipeline" / "crowdgate"
ELSEWHERE = {"command line", "arguments", "standard input"}
"""The places that a problem may name other than a file."""

POLICY, CONTRACT, BUDGET = "policies/clinic.yaml", "data_contracts/clinic.yaml", "policies/budgets/clinic.yaml"
WRONG: list[tuple[Code, str, str, str]] = [
    # the code; the file, what it says, what it says instead
    (Code.UNKNOWN_KEY, POLICY, "owner: board", "owner: board, onwer: x"),
    (Code.UNKNOWN_KEY, POLICY, "pso_bound, at_most: 1", "pso_bound, at_most: 1, with: {wait: 1}"),
    (Code.UNKNOWN_KEY, CONTRACT, "property: rowsAtMost", "property: rowsAtMots"),
    (Code.UNKNOWN_KEY, CONTRACT, "top: true", "tpo: true"),
    (Code.UNKNOWN_KEY, CONTRACT, "status: active", "status: active\nstats: x"),
    (Code.MISSING_KEY, POLICY, ", owner: board", ""),
    (Code.MISSING_KEY, POLICY, "kind: safe_k_anonymity", "beta: 1"),
    (Code.MISSING_KEY, POLICY, "released_rows, at_least", "j_tons, charge: {epsilon: 0.1}, at_most"),
    (Code.MISSING_KEY, CONTRACT, "      - {property: privacyUnit, value: row}\n", ""),
    (Code.MISSING_KEY, CONTRACT, "top: true, source: clinic handbook", "top: true"),
    (Code.MISSING_KEY, CONTRACT, "kind: DataContract\n", ""),
    (Code.VALUE, POLICY, "epsilon: 2", "epsilon: two"),
    (Code.VALUE, BUDGET, "people: 1000", "people: many"),
    (Code.VALUE, CONTRACT, "top: true", "top: maybe"),
    (Code.VALUE, CONTRACT, "apiVersion: v3.1.0", "apiVersion: v2.0.0"),
    (Code.UNKNOWN_NAME, POLICY, "contract: clinic", "contract: clinc"),
    (Code.UNKNOWN_NAME, POLICY, "released_rows", "released_rosw"),
    (Code.UNKNOWN_NAME, POLICY, "age: 50 years", "age: 50 yers"),
    (Code.UNKNOWN_NAME, POLICY, "over: [ward]", "over: [wrad]"),
    (Code.TWICE, POLICY, "owner: board", "owner: board, owner: board"),
    (Code.TWICE, POLICY, "[parquet, csv]", "[csv, csv]"),
    (Code.TWICE, POLICY, "smallest_class", "released_rows"),
    (Code.TWICE, CONTRACT, "[north, south, east]", "[north, south, east, east]"),
    (Code.NO_YAML, POLICY, "[parquet, csv]", "[parquet, csv"),
    (Code.NO_YAML, POLICY, "owner: board", "owner: &b board"),
    (Code.CONTRADICTION, BUDGET, "unit: row", "unit: person"),
    (Code.MECHANISM, POLICY, "beta: 0.5", "beta: 1"),
    (Code.MECHANISM, POLICY, "charge: {epsilon: 0.5}", "charge: {epsilon: 2}"),
    (Code.GATE, POLICY, ", severity: advise", ""),
    (Code.GATE, POLICY, "smallest_class, at_least: 1", "trusted_share, at_least: 1"),
    (Code.CONTRACT, CONTRACT, "{name: 50 years, width: 50}", "{name: 50 years, width: 15}"),
    (Code.TABLE, "data_contracts/ward.csv", "north,5", "north,five"),
    (Code.DESTINATION, POLICY, "to: releases", "to: ../releases"),
    (Code.DESTINATION, POLICY, "to: releases", "to: ledger"),
    (Code.UNDECIDED, CONTRACT, "rowsAtMost, value: 1000", "rowsAtMost, value: CHANGE (a bound)"),
    (Code.HEADER, CONTRACT, "      - name: note", "      - name: notes"),
    (Code.NOT_PUBLIC, POLICY, "  publish:", "  audit: {trials: 100}\n  publish:"),
]  # fmt: skip


def codes_of(run: Callable[[], object]) -> list[Code]:
    with pytest.raises(ConfigurationError) as caught:
        run()
    told = [str(problem) for problem in caught.value.problems]
    assert all(line.endswith(f"[{found.code}]") for line, found in zip(told, caught.value.problems, strict=True))
    return [problem.code for problem in caught.value.problems]


@pytest.mark.thorough
@pytest.mark.parametrize(("code", "file", "old", "new"), WRONG, ids=[f"{case[0]} {case[3][:40]}" for case in WRONG])
def test_a_mistake_has_the_code_of_its_kind(code: Code, file: str, old: str, new: str, workshop: Workshop) -> None:
    workshop.edit(workshop.root / file, old, new)
    assert {*codes_of(lambda: check(workshop.policy))} == {code}


def test_what_is_not_there_has_a_code(workshop: Workshop) -> None:
    assert codes_of(lambda: check(workshop.root / "policies" / "nothing.yaml")) == [Code.UNREADABLE]
    shutil.rmtree(workshop.root / "data_contracts")
    assert codes_of(lambda: check(workshop.policy)) == [Code.UNREADABLE]


def test_a_decision_that_the_ledger_does_not_know_has_a_code(workshop: Workshop) -> None:
    folder = workshop.root / "policies" / "decisions"
    folder.mkdir()
    (folder / "note.txt").write_text("no decision", encoding="utf-8")
    assert codes_of(lambda: check(workshop.policy)) == [Code.DECISION]


def test_a_setting_that_can_not_be_used_has_a_code(workshop: Workshop) -> None:
    (workshop.root / "crowdgate.toml").write_text("trusted_keys = 1\n", encoding="utf-8")
    assert codes_of(lambda: trusted_keys(workshop.root)) == [Code.SETTING]


def test_every_code_is_made_by_a_test_and_has_its_section_and_no_other_has() -> None:
    made = {code for code, _, _, _ in WRONG} | {Code.UNREADABLE, Code.DECISION, Code.SETTING, Code.ASKED}
    assert made == {*Code}
    assert [*explanations()] == [*Code, *RULES]
    assert all(explanations().values())


@pytest.mark.thorough
def test_every_problem_with_a_file_says_its_code() -> None:
    """A problem that is made without a code would have that of the command line."""
    without = [
        f"{path.name}:{call.lineno}"
        for path in PIPELINE.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == Problem.__name__
        if not (isinstance(call.args[0], ast.Constant) and call.args[0].value in ELSEWHERE)
        if len(call.args) < 7 and all(keyword.arg != "code" for keyword in call.keywords)
    ]
    assert without == []


def test_a_code_is_explained_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("check", "--explain", "cg101") == 0
    assert capsys.readouterr().out.startswith("A key (or an option")
    assert crowdgate("check", "--explain", "CG1001") == 2
    assert "expected a code such as CG101; write 'CG101'" in capsys.readouterr().err
