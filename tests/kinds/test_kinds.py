"""Kinds name functions of modules that are imported later; they travel to other processes all the same."""

import pickle
from dataclasses import fields
from importlib import import_module

import pytest

from crowdgate.kinds import KINDS
from crowdgate.later import Function


@pytest.mark.parametrize("name", KINDS)
def test_every_function_that_a_kind_names_is_there(name: str) -> None:
    kind = KINDS[name]
    named = [value for each in fields(kind) if isinstance(value := getattr(kind, each.name), Function)]  # type: ignore[arg-type]
    assert len(named) > 15
    assert all(callable(getattr(import_module(each.module), each.name)) for each in named)


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_travels_to_another_process(name: str) -> None:
    assert pickle.loads(pickle.dumps(KINDS[name])) == KINDS[name]
