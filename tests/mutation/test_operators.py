"""Mutation operators: faults that change the behaviour of a source, and none of its texts."""

import ast
from pathlib import Path

import pytest

from crowdgate import guarantee
from tests.mutation.operators import at, lines

SOURCE = Path(guarantee.__file__).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        ("x = a + rows * step", {"a - rows * step", "a", "rows * step", "a + rows / step", "a + rows", "a + step"}),
        ("x = a < 1", {"a <= 1", "a < 2", "a < 0"}),
        ("x = not a or b", {"not a and b", "not a", "b", "a or b"}),
        ("x = raised(max(a, b))", {"lowered(max(a, b))", "max(a, b)", "raised(min(a, b))"}),
        ("x = f(exist_ok=True)", {"f(exist_ok=False)"}),
        ("x: Literal[1] = a", set()),
        ("x = f'{a + 1}'", set()),
    ],
)
def test_the_faults_of_a_line_are_these(line: str, faults: set[str]) -> None:
    assert {mutant.source.partition(" = ")[2] for mutant in at(line, 1)} == faults


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("raise ValueError(f'{a + 1}')", "pass"),
        ("f(a)", "pass"),
        ("a += b", "pass"),
        ("return a", "return None"),
        ("if a:\n    b = c", "if not a:\n    b = c"),
        ("'says so'", None),
        ("return None", None),
    ],
)
def test_the_fault_of_a_statement_is_this(line: str, fault: str | None) -> None:
    source = f"def f():\n    {line.replace(chr(10), chr(10) + '    ')}"
    found = {mutant.source.partition("\n")[2] for mutant in at(source, 2)}
    assert found == (set() if fault is None else {f"    {fault.replace(chr(10), chr(10) + '    ')}"})


@pytest.mark.thorough
def test_a_mutant_is_a_source_of_its_own_with_one_fault() -> None:
    plain = ast.unparse(ast.parse(SOURCE)).splitlines()
    for line in sorted(lines(SOURCE))[::7]:
        for mutant in at(SOURCE, line):
            changed = mutant.source.splitlines()
            assert changed != plain
            assert len({*changed} - {*plain}) <= 1
