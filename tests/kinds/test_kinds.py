"""Each kind has each member of `Kind`; methods import what they call; kinds can be pickled to other processes."""

import ast
import inspect
import pickle
from importlib import import_module
from pathlib import Path

import pytest

from crowdgate.kind.kind import Kind
from crowdgate.kinds import KINDS
from crowdgate.kinds.synthetic.kind import SyntheticKind


@pytest.mark.parametrize("member", sorted(Kind.__abstractmethods__))
def test_a_kind_that_lacks_a_member_can_not_be_made(member: str) -> None:
    lacking = type("LackingKind", (SyntheticKind,), {member: getattr(Kind, member)})
    with pytest.raises(TypeError, match=f"abstract method {member}$"):
        lacking()


def test_a_kind_refits_where_it_says_how() -> None:
    assert [name for name, kind in KINDS.items() if kind.refits] == ["dp_synthetic"]


@pytest.mark.parametrize("name", KINDS)
def test_every_function_that_a_kind_imports_is_there(name: str) -> None:
    module = ast.parse(Path(inspect.getfile(type(KINDS[name]))).read_text("utf-8"))
    bodies = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
    imports = [node for body in bodies for node in body.body if isinstance(node, ast.ImportFrom)]
    assert len(imports) > 15
    assert all(hasattr(import_module(str(each.module)), alias.name) for each in imports for alias in each.names)


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_travels_to_another_process(name: str) -> None:
    assert pickle.loads(pickle.dumps(KINDS[name])) == KINDS[name]
    assert len(set(KINDS.values())) == len(KINDS)
