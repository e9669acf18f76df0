"""Modules that are imported when something of them is needed.

A kind of release names many functions, of which a command calls few. Type checkers see the modules themselves, imported
beside this under TYPE_CHECKING: a name that is missing, or of another type, is found all the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Function:
    """A function by its place; it can be pickled like any other."""

    module: str
    name: str

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return getattr(import_module(self.module), self.name)(*arguments, **named)


@dataclass(frozen=True)
class Module:
    """A module whose functions are imported when they are called."""

    module: str

    def __getattr__(self, name: str) -> Function:
        if name.startswith("__"):  # what copying and pickling ask for
            raise AttributeError(name)
        return Function(self.module, name)


def modules(package: str, *names: str) -> tuple[Module, ...]:
    """Modules of a package."""
    return tuple(Module(f"{package}.{name}") for name in names)


class Library:
    """A module that is imported when something of it is asked for."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._module), name)


def exported(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package: a name is imported from its module (`module:name` where it is called otherwise
    there) when it is asked for."""

    def found(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, own = places[name].partition(":")
        return getattr(import_module(f"{package}.{module}"), own or name)

    return found
