"""Methods of kinds import what they call; kinds travel to other processes."""

import ast
import inspect
import pickle
from importlib import import_module
from pathlib import Path

import pytest

from crowdgate.kinds import KINDS


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
