"""Packages whose names are imported at their first use (PEP 562)."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def exported(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package, which imports a name from its module at its first use.

    A place is `module`, or `module:name` if the module has another name for it.
    """

    def found(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, own = places[name].partition(":")
        return getattr(import_module(f"{package}.{module}"), own or name)

    return found
