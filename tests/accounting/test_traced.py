"""Each printed number leads to a function, each public function of the room to a line of its README."""

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import pytest

from tests.accounting.printed import Field, Fields, printed_fields
from tests.accounting.test_directions import rooms

ROOT = Path(__file__).parents[2]
ROOM = ROOT / "pipeline" / "crowdgate" / "accounting"
FIELDS = (ROOM / "FIELDS.md").read_text(encoding="utf-8")
README = "".join(
    (ROOM / f"{each}.md").read_text("utf-8") for each in ("README", "PARTS", "JOINT", "LIFETIME", "SERIES")
)
PROOFS = sorted({*ROOM.glob("*.py"), *ROOM.glob("*.md"), ROOM.parent / "guarantee.py"})
"""Files that name tests."""
TEST = re.compile(r"(tests/(?:[\w/]*/)?)?((?:test_)\w+\.py)(?:::(\w+))?")
NAMED = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Row:
    """A row of FIELDS.md: its documents, its fields, and the files and functions that compute them."""

    documents: tuple[str, ...]
    pattern: Field
    functions: str

    def tells(self, document: str, field: Field) -> bool:
        return document in self.documents and len(field) == len(self.pattern) and all(
            part in ("*", key) for part, key in zip(self.pattern, field, strict=True)
        )  # fmt: skip


def rows_of(text: str) -> Iterator[Row]:
    for section in text.split("\n## ")[1:]:
        title, *lines = section.splitlines()
        documents = tuple(NAMED.findall(title.partition(":")[0]))
        for line in (line for line in lines if line.startswith("| `")):
            fields, functions, _ = line.strip("| ").split(" | ")
            yield from (Row(documents, tuple(each.split(".")), functions) for each in NAMED.findall(fields))


ROWS = list(rows_of(FIELDS))


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Fields:
    return printed_fields(tmp_path_factory.mktemp("printed"))


@pytest.mark.thorough
def test_every_printed_number_has_one_row(printed: Fields) -> None:
    found = {
        (name, field): [row for row in ROWS if row.tells(name, field)] for name in printed for field in printed[name]
    }
    assert not [f"{name}: {'.'.join(field)}: {len(rows)}" for (name, field), rows in found.items() if len(rows) != 1]


@pytest.mark.thorough
def test_every_row_is_of_a_printed_number(printed: Fields) -> None:
    assert not [row for row in ROWS if not any(row.tells(name, field) for name in printed for field in printed[name])]
    assert {name for row in ROWS for name in row.documents} == set(printed)


def named(cell: str) -> Iterator[tuple[str, str]]:
    """Yield files and functions: names that follow a file belong to it."""
    file = ""
    for each in NAMED.findall(cell):
        if each.endswith(".py"):
            file = each
        elif file and each.replace(".", "").isidentifier():
            yield file, each


def is_there(file: str, name: str) -> bool:
    """Return whether the file itself defines the function, class, method or property."""
    path = f"crowdgate.{file.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
    try:
        module = importlib.import_module(path)
        reduce(getattr, name.split("."), module)
        return bool(vars(module)[name.partition(".")[0]].__module__ == path)
    except (ImportError, AttributeError, KeyError):
        return False


def functions_in(text: str) -> set[tuple[str, str]]:
    rows = (line.split(" | ") for line in text.splitlines() if line.startswith("|"))
    return {each for cells in rows for cell in cells for each in named(cell)}


def test_every_function_of_the_tables_is_there() -> None:
    assert all(list(named(row.functions)) for row in ROWS)
    assert not [each for each in functions_in(FIELDS) | functions_in(README) if not is_there(*each)]


def test_a_function_that_is_not_there_is_seen() -> None:
    """No function, no file, of another file."""
    for file, name in (
        ("pso.py", "bounds"),
        ("psos.py", "bound"),
        ("safe_k.py", "theorem5_delta"),
        ("pso_curve.py", "Point.most"),
    ):
        assert list(named(f"`accounting/{file}` `{name}`")) == [(f"accounting/{file}", name)]
        assert not is_there(f"accounting/{file}", name)


def test_every_public_function_of_the_room_stands_in_its_readme() -> None:
    known = {(f"{file}.py", name) for file, name in map(placed, rooms()) if not file.startswith("risk/")}
    assert not known - functions_in(README)


def placed(function: str) -> tuple[str, str]:
    """Return the file of a public function, and its name there."""
    first, second, *rest = function.split(".")
    return (first, ".".join([second, *rest])) if first == "guarantee" else (f"{first}/{second}", ".".join(rest))


def named_tests(text: str) -> Iterator[tuple[str, str]]:
    """Yield files of tests, and functions in them: a name without a folder belongs to the one before."""
    folder = ""
    for found in TEST.finditer(text):
        folder = found[1] or folder
        yield f"{folder}{found[2]}", found[3] or ""


@pytest.mark.parametrize("path", PROOFS, ids=lambda path: path.name)
def test_every_test_that_a_proof_names_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    missing = [(file, name) for file, name in named_tests(text) if not exists(file, name)]
    missing += [
        (folder, "") for folder in re.findall(r"tests/[\w/]+\b(?!\.py|/)", text) if not (ROOT / folder).exists()
    ]
    assert not missing


def exists(file: str, name: str) -> bool:
    path = ROOT / file
    return path.is_file() and (not name or f"def {name}(" in path.read_text(encoding="utf-8"))
