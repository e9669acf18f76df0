"""Packages whose names are imported when they are asked for (PEP 562)."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def exported(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package: it imports a name from its module when the name is asked for. A place is
    `module`, or `module:name` where the module calls it otherwise."""

    def found(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, own = places[name].partition(":")
        return getattr(import_module(f"{package}.{module}"), own or name)

    return found
