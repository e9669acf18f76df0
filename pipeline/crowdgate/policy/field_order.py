"""The order of policies, declared at each field: which of two values is stricter, and how a change is classified.

Three rules decide the order of a field of policies and budgets. Privacy cost, the people in a release and published
columns can be more or less: less is tighter. Shares of the same total and ways of measuring are not comparable. Any
other change of a value changes its meaning, also at a field without a declared order.

Each order is a strict partial order: tighter is transitive, and the opposite of tighter is looser. A value that an
order does not know has changed its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from pydantic import BaseModel


class Direction(StrEnum):
    """The effect of a field's change on a policy."""

    TIGHTER = "tighter"
    LOOSER = "looser"
    NOT_COMPARABLE = "not comparable"
    CHANGED_MEANING = "changed meaning"

    @property
    def opposite(self) -> Direction:
        """Return the direction of the reverse change: tighter for looser and vice versa; the others stay."""
        swapped = {Direction.TIGHTER: Direction.LOOSER, Direction.LOOSER: Direction.TIGHTER}
        return swapped.get(self, self)


Order = Callable[[Any, Any], Direction]
"""A function that returns the direction from an old to a different new value."""


def any_change(old: Any, new: Any) -> Direction:  # noqa: ARG001
    """Return CHANGED_MEANING: another value means something else."""
    return Direction.CHANGED_MEANING


def unordered(old: Any, new: Any) -> Direction:  # noqa: ARG001
    """Return NOT_COMPARABLE: neither of two values is stricter."""
    return Direction.NOT_COMPARABLE


def more_is_looser(old: Any, new: Any) -> Direction:
    """Compare numbers: the greater is looser."""
    if not (_is_number(old) and _is_number(new)):
        return Direction.CHANGED_MEANING
    return Direction.LOOSER if new > old else Direction.TIGHTER


def more_is_tighter(old: Any, new: Any) -> Direction:
    """Compare numbers: the greater is tighter."""
    return more_is_looser(old, new).opposite


def later_is_looser(old: str, new: str) -> Direction:
    """Compare days (YYYY-MM-DD): the later is looser."""
    return Direction.LOOSER if new > old else Direction.TIGHTER


def class_size(old: Any, new: Any) -> Direction:
    """Compare minimum class sizes: the greater is tighter, and `least` (the number that the guarantee needs) is looser
    than any number.
    """
    return more_is_tighter(*(0 if size == "least" else size for size in (old, new)))


def rising(*words: Any) -> Order:
    """Return an order of `words` in which each is tighter than those before it; a value outside them changes the
    meaning.
    """

    def order(old: Any, new: Any) -> Direction:
        if old not in words or new not in words:
            return Direction.CHANGED_MEANING
        return more_is_tighter(words.index(old), words.index(new))

    return order


def more_of_them_is_looser(old: Collection[Any], new: Collection[Any]) -> Direction:
    """Compare collections as sets: a proper superset is looser."""
    return inclusion(all(each in old for each in new), all(each in new for each in old))


def more_groups_are_looser(old: Collection[Collection[Any]], new: Collection[Collection[Any]]) -> Direction:
    """Compare collections of groups, both as sets: a proper superset of groups is looser."""
    return more_of_them_is_looser({frozenset(each) for each in old}, {frozenset(each) for each in new})


def inclusion(within: bool, around: bool) -> Direction:
    """Return the direction of a change of a set: tighter if the new set lies `within` the old one, looser if `around`
    it.
    """
    if within == around:
        return Direction.NOT_COMPARABLE
    return Direction.TIGHTER if within else Direction.LOOSER


def _is_number(value: Any) -> bool:
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


@dataclass(frozen=True, eq=False)
class FieldOrder:
    """How a field is compared, with its description `means`: an item of `Annotated`. No two are equal: `typing` would
    merge annotations whose items are equal, and literals with the same members in another order are equal.
    """

    means: str


@dataclass(frozen=True, eq=False)
class ValueField(FieldOrder):
    """A field that is compared as a whole by its order. `looser` and `tighter` describe the change; `unit` follows the
    number where a policy states it with a unit.
    """

    order: Order
    looser: str = ""
    tighter: str = ""
    unit: str = ""


@dataclass(frozen=True, eq=False)
class NestedField(FieldOrder):
    """A field with fields of its own. `missing` replaces an absent value (None: the field is added or removed)."""

    missing: BaseModel | None = None
    added: Direction = Direction.CHANGED_MEANING


@dataclass(frozen=True, eq=False)
class ListField(FieldOrder):
    """A list whose sequence does not matter. Items with the same `key` are compared field by field.

    `added` is the direction of an additional item. `there` is an item that holds whether or not the file states it.
    """

    added: Direction
    looser: str
    tighter: str
    there: BaseModel | None = None


class LevelsField(FieldOrder):
    """Attributes at levels, or candidates for them: more attributes or finer levels are looser."""


class NameField(FieldOrder):
    """A field that names the policy and has no effect: it is shown, and is no change."""


class KeyField(FieldOrder):
    """A field that identifies items of a list: another value is another item."""


SHARES = ValueField("how the same total is divided: the guarantee of the whole release stays", unordered)
PRECISE = ValueField("what counts as trustworthy, which gates read", any_change)
UNKNOWN = ValueField("a field without a known order", any_change)


def declared_order(model: type[BaseModel], name: str) -> FieldOrder | None:
    """Return the order that a model, or the first of its bases that has one, declares for a field in `Annotated`."""
    models = (each for each in model.__mro__ if issubclass(each, BaseModel))
    fields = (each.model_fields[name] for each in models if name in each.model_fields)
    return next((item for field in fields for item in field.metadata if isinstance(item, FieldOrder)), None)
