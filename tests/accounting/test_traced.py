"""Every printed number leads to a function, every public function of the room to a line of its README."""

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import pytest

from tests.accounting.printed import Field, Fields, printed_fields

ROOM = Path(__file__).parents[2] / "pipeline" / "crowdgate" / "accounting"
FIELDS = (ROOM / "FIELDS.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Row:
    """A row of FIELDS.md: of which documents, which fields, and by which files and functions."""

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


def test_every_printed_number_has_one_row(printed: Fields) -> None:
    found = {(name, field): [row for row in ROWS if row.tells(name, field)] for name in printed for field in printed[name]}
    assert not [f"{name}: {'.'.join(field)}: {len(rows)}" for (name, field), rows in found.items() if len(rows) != 1]


def test_every_row_is_of_a_printed_number(printed: Fields) -> None:
    assert not [row for row in ROWS if not any(row.tells(name, field) for name in printed for field in printed[name])]
    assert {name for row in ROWS for name in row.documents} == set(printed)


def named(cell: str) -> Iterator[tuple[str, str]]:
    """Files and functions: names that follow a file are its."""
    file = ""
    for each in NAMED.findall(cell):
        if "/" in each or each.endswith(".py"):
            file = each
        else:
            yield file, each


def is_there(file: str, name: str) -> bool:
    """Whether the file itself defines the function, class, method or property."""
    path = f"crowdgate.{file.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
    try:
        module = importlib.import_module(path)
        reduce(getattr, name.split("."), module)
        return vars(module)[name.partition(".")[0]].__module__ == path
    except (ImportError, AttributeError, KeyError):
        return False


@pytest.mark.parametrize("cell", sorted({row.functions for row in ROWS}))
def test_the_functions_of_a_row_are_there(cell: str) -> None:
    functions = list(named(cell))
    assert functions
    assert not [each for each in functions if not is_there(*each)]
