"""The layout of the library: subpackages by subject, imports in one direction, and names that say what they hold."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import pytest

from crowdgate.cli.app import COMMANDS
from crowdgate.kinds import KINDS
from tests.layout import PACKAGE, import_graph, lines_by_subpackage, modules

LARGEST_SHARE = Fraction(1, 5)
DEEPEST = 2
PARTICIPLES = {
    "asked", "told", "found", "drawn", "said", "shown", "held", "made", "seen", "kept", "known", "foretold", "whose",
    "beside", "alone", "looks", "own", "wish", "standing", "came_in", "pen", "tells", "ends", "later", "knowing",
}  # fmt: skip
"""Words that do not name the content of a file, a class or a public function."""


def definitions() -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    """Yield each class and function at the top of a module, with the module."""
    for name, path in modules().items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield name, node


def test_no_subpackage_holds_more_than_a_fifth_of_the_lines() -> None:
    lines = lines_by_subpackage()
    assert {name for name, count in lines.items() if Fraction(count, lines.total()) > LARGEST_SHARE} == set()


def test_no_folder_is_deeper_than_two_below_the_package() -> None:
    packages = [name for name, path in modules().items() if path.name == "__init__.py"]
    assert [name for name in packages if name.count(".") > DEEPEST] == []


@pytest.mark.thorough
def test_a_class_name_is_used_once() -> None:
    places = defaultdict(list)
    for module, node in definitions():
        if isinstance(node, ast.ClassDef):
            places[node.name].append(module)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


@pytest.mark.thorough
def test_names_are_nouns_and_verbs_of_the_subject() -> None:
    files = [name for name in modules() if name.rpartition(".")[2] in PARTICIPLES]
    assert files == []
    public = [f"{module}.{node.name}" for module, node in definitions() if not node.name.startswith("_")]
    words = [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.rpartition(".")[2]).lower() for name in public]
    assert [name for name, word in zip(public, words, strict=True) if word in PARTICIPLES] == []


def test_imports_of_the_two_tables_run_in_one_direction_too() -> None:
    """`cli.app` names the modules of commands as text, which no tool treats as imports; `kinds` imports its own."""
    graph, siblings = import_graph(), {f"{PACKAGE}.cli.{entry.module}" for entry in COMMANDS.values()}
    assert siblings <= graph.modules
    for name in siblings:
        graph.add_import(importer=f"{PACKAGE}.cli.app", imported=name)
    assert not graph.nominate_cycle_breakers(f"{PACKAGE}.cli")
    folders = {type(kind).__module__.rpartition(".")[0] for kind in KINDS.values()}
    assert folders <= graph.find_modules_directly_imported_by(f"{PACKAGE}.kinds")
