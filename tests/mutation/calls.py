"""The tests that call a function: recorded once, without a fault, and stored with the results."""

import ast
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.mutation.trial import Ran, recorded

MOST_SECONDS = 120.0
"""CPU seconds of the quickest tests that call a function, in total."""


class Calls:
    """The recorded calls of every test so far, by test file."""

    def __init__(self, root: Path, kept: Path) -> None:
        self.root, self.kept = root, kept
        self._ran: dict[str, list[Ran]] = {}
        if kept.exists():
            found = json.loads(kept.read_text(encoding="utf-8"))
            self._ran = {file: [Ran(*ran) for ran in said] for file, said in found.items()}

    def tests(self, files: Sequence[str], path: str, line: int) -> list[str]:
        """Return those of the tests that call the function of a line, the quickest first.

        If no function has the line, return those that call anything in its module. Tests that fail without a fault are
        left out.
        """
        source = (self.root / path).read_text(encoding="utf-8")
        begins = _function(ast.parse(source), line)
        found = [ran for file in files for ran in self._of(file) if ran.passed and _calls(ran, path, begins)]
        return list(_quickest(found))

    def _of(self, file: str) -> list[Ran]:
        if file not in self._ran:
            self._ran[file] = recorded(self.root, [file])
            self.kept.write_text(json.dumps(self._ran), encoding="utf-8")
        return self._ran[file]


def _calls(ran: Ran, path: str, begins: int | None) -> bool:
    return any(file == path and begins in (None, line) for file, line in ran.calls)


def _quickest(found: list[Ran]) -> Iterator[str]:
    spent = 0.0
    for ran in sorted(found, key=lambda ran: ran.seconds):
        spent += ran.seconds
        if spent > MOST_SECONDS:
            return
        yield ran.test


def _function(tree: ast.Module, line: int) -> int | None:
    """Return the first line of the innermost function around a line, including its decorators."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.body[0].lineno <= line <= (node.end_lineno or node.lineno)
    ]
    if not around:
        return None
    inner = max(around, key=lambda node: node.lineno)
    return min([inner.lineno, *(decorator.lineno for decorator in inner.decorator_list)])
