"""Docstrings of the library, the flows and the tests open as the rules say; outputs lead with the outcome."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.style.rules import Scope, faults
from tests.workshop import Workshop, crowdgate

ROOT = Path(__file__).parents[2]
FOLDERS = ("pipeline", "flows", "tests")
MOST_LINES, MOST_CHARACTERS, MOST_WORDS = 13, 1420, 20
"""Limits of the output of `check` for a good policy, and of the first line of every command."""


def docstrings(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of every docstring of a folder, those of attributes too."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield from ((f"{path.relative_to(ROOT)}:{line}", text) for line, text in _texts(node))


def _texts(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[int, str]]:
    before: ast.stmt | None = None
    for statement in node.body:
        text = statement.value if isinstance(statement, ast.Expr) else None
        documents = before is None or isinstance(before, ast.Assign | ast.AnnAssign)
        if documents and isinstance(text, ast.Constant) and isinstance(text.value, str):
            yield statement.lineno, text.value.strip()
        before = statement


STORED = (
    "gate.py", "manifest/text_of_format_2.py", "manifest/estimand.py", "kinds/tables/page.py", "ledger/schema.py",
)  # fmt: skip
"""Files with texts that releases and ledgers hold: they change with a format only."""


def messages() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of every string of the library of four words at least; values read "X"."""
    root = ROOT / "pipeline" / "crowdgate"
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).as_posix() not in STORED:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield from (
                (f"{path.relative_to(ROOT)}:{line}", text) for line, text in _strings(tree) if text.count(" ") > 2
            )


def _strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the strings of a module that are no docstrings, those with values in them as one."""
    inside = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(each) for each in ast.walk(node)}
            yield (
                node.lineno,
                "".join(str(each.value) if isinstance(each, ast.Constant) else "X" for each in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.lineno, node.value


@pytest.mark.thorough
def test_messages_use_the_terms_of_the_field_in_short_sentences() -> None:
    every = list(messages())
    assert len(every) > 2000
    assert [(place, found) for place, text in every if (found := list(faults(text, Scope.MESSAGE)))] == []


@pytest.mark.thorough
@pytest.mark.parametrize("folder", FOLDERS)
def test_no_docstring_opens_with_a_fragment(folder: str) -> None:
    found = {place: list(faults(text, Scope.DOCSTRING)) for place, text in docstrings(folder)}
    assert {place: each for place, each in found.items() if each} == {}


def test_check_of_a_good_policy_is_short(capsys: pytest.CaptureFixture[str]) -> None:
    for policy in ("census_income", "census_income_tables", "census_income_synthetic"):
        assert crowdgate("check", ROOT / "policies" / f"{policy}.yaml") == 0
        printed = capsys.readouterr().out.replace(f"{ROOT}/", "").splitlines()
        lines = [line.removesuffix(", 1 warning") for line in printed if not line.startswith("  Warning")]
        assert len(lines) <= MOST_LINES
        assert len("\n".join(lines)) <= MOST_CHARACTERS
        assert "allowed" in lines[0]


@pytest.mark.parametrize("command", ["check", "plan", "explain", "release"])
def test_the_first_line_is_short(command: str, workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate(command, workshop.policy) == 0
    assert len(capsys.readouterr().out.splitlines()[0].split()) <= MOST_WORDS
