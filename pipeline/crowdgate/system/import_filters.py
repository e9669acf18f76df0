"""Libraries that another library imports and that nothing here uses: absent, or executed at their first use."""

import sys
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType


@dataclass(frozen=True)
class _ImportFilter:
    """Finds the deferred modules as lazy ones, and says that the absent ones are not installed."""

    absent: Set[str]
    deferred: Set[str]

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in self.absent:
            raise ModuleNotFoundError(f"{name} is left out here", name=name)
        found = PathFinder.find_spec(name, path, target) if name in self.deferred else None
        if found is None or found.loader is None:
            return None
        found.loader = LazyLoader(found.loader)
        return found


@contextmanager
def imports_filtered(absent: Set[str] = frozenset(), deferred: Set[str] = frozenset()) -> Iterator[None]:
    """Have imports in this block find no module of `absent`, and execute those of `deferred` at the first use of a name
    of theirs or their second import, which may come after the block. Modules that are imported already stay as they
    are."""
    names = _ImportFilter(absent, deferred)
    sys.meta_path.insert(0, names)
    try:
        yield
    finally:
        sys.meta_path.remove(names)
