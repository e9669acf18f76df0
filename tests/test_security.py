"""SECURITY.md: every numbered promise names tests, and every test that it names exists."""

import ast
import re
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


def functions(file: Path) -> set[str]:
    """Return the names of the tests in a file."""
    if not file.is_file():
        return set()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_every_promise_names_a_test() -> None:
    assert len(promises(TEXT)) >= 15
    assert unshown(TEXT) == []


@pytest.mark.thorough
def test_every_test_that_is_named_is_there() -> None:
    assert missing(TEXT) == []


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
