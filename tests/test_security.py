"""SECURITY.md: every numbered promise names tests, and every test that it names exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
PROMISE = re.compile(r"^\d+\. ", flags=re.MULTILINE)


def promises(text: str) -> list[str]:
    """Return the numbered promises, each up to the next one or the next heading."""
    section = text.partition("\n## Promises\n")[2].partition("\n## ")[0]
    return [part.partition("\n#")[0] for part in PROMISE.split(section)[1:]]


def unshown(text: str) -> list[str]:
    return [" ".join(each.split()[:12]) for each in promises(text) if not NAMED.search(each)]


def missing(text: str) -> list[str]:
    return [f"{file}::{name}" for file, name in NAMED.findall(text) if name not in functions(ROOT / file)]


@cache
def functions(file: Path) -> dict[str, bool]:
    """Return the names of the tests in a file, and whether `.ci/run` runs them: not if all of a test is `soak`."""
    if not file.is_file():
        return {}
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tests = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return {test.name: "pytest.mark.soak" not in map(ast.unparse, test.decorator_list) for test in tests}


def left_to_long_runs(text: str) -> list[str]:
    """Return the first words of the promises that no test of `.ci/run` shows."""
    return [
        " ".join(each.split()[:12])
        for each in promises(text)
        if not any(functions(ROOT / file).get(name) for file, name in NAMED.findall(each))
    ]


def test_every_promise_names_a_test() -> None:
    assert len(promises(TEXT)) >= 15
    assert unshown(TEXT) == []


def test_every_test_that_is_named_is_there() -> None:
    assert missing(TEXT) == []


def test_every_promise_has_a_test_that_ci_runs() -> None:
    assert left_to_long_runs(TEXT) == []
    named = "`tests/accounting/test_directions.py::test_all_fixed_cases_are_on_their_side_of_the_truth`"
    assert left_to_long_runs(f"\n## Promises\n1. Sides. {named}\n") == [f"Sides. {named}"]


def test_promises_are_counted_from_one() -> None:
    assert [int(found[:-2]) for found in PROMISE.findall(TEXT)] == list(range(1, len(promises(TEXT)) + 1))


def test_no_name_of_a_test_is_written_in_another_way() -> None:
    """A name without a match would not be checked."""
    assert TEXT.count("::") == len(NAMED.findall(TEXT))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("test_no_table_at_any_levels", "test_no_table_at_all"),
        ("tests/system/test_permissions.py", "tests/test_mode.py"),
    ],
)
def test_a_test_that_is_gone_is_told(old: str, new: str) -> None:
    assert old in TEXT
    assert len(missing(TEXT.replace(old, new))) == 1


def test_a_promise_without_a_test_is_told() -> None:
    promise = "16. Everything will be fine.\n\n## What does not hold\n"
    assert unshown(TEXT.replace("## What does not hold\n", promise)) == ["Everything will be fine."]
