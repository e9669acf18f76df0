"""A dictionary whose values are looked up one at a time, until so many are needed that all are loaded at once."""

from collections.abc import Callable, ItemsView, Iterator, MutableMapping, ValuesView
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")
MOST_LOOKUPS = 100
"""Lookups after which everything is loaded: as many take about a tenth of the time of loading 7,500 rows."""


class LazyMapping(MutableMapping[K, V]):
    """A dictionary of first values and later changes. `find` returns the first value of a key, None if it has none;
    `load` returns all first values, in order. No value is None.
    """

    def __init__(self, find: Callable[[K], V | None], load: Callable[[], dict[K, V]]) -> None:
        self.changed: dict[K, V | None] = {}
        """The values that were set since, and None for each key that was deleted."""
        self._find, self._load = find, load
        self._all: dict[K, V] | None = None
        self._lookups = 0

    def first(self, key: K) -> V | None:
        """Return the first value of a key, whatever was set since; None if there was none."""
        return self._find(key)

    def whole(self) -> dict[K, V]:
        """Return all keys and values, in the order in which they were first set. The result is to be read only."""
        if self._all is None:
            self._all = self._load()
            for key, value in self.changed.items():
                _set(self._all, key, value)
        return self._all

    def __getitem__(self, key: K) -> V:
        value = self.changed[key] if key in self.changed else self._lookup(key)
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: K, value: V) -> None:
        self._change(key, value)

    def __delitem__(self, key: K) -> None:
        self[key]  # raises KeyError
        self._change(key, None)

    def __iter__(self) -> Iterator[K]:
        return iter(self.whole())

    def __len__(self) -> int:
        return len(self.whole())

    def items(self) -> ItemsView[K, V]:
        """Return all keys and values."""
        return self.whole().items()

    def values(self) -> ValuesView[V]:
        """Return all values."""
        return self.whole().values()

    def _lookup(self, key: K) -> V | None:
        self._lookups += 1
        return self.first(key) if self._all is None and self._lookups <= MOST_LOOKUPS else self.whole().get(key)

    def _change(self, key: K, value: V | None) -> None:
        self.changed[key] = value
        if self._all is not None:
            _set(self._all, key, value)


def _set(values: dict[K, V], key: K, value: V | None) -> None:
    if value is None:
        values.pop(key, None)
    else:
        values[key] = value
