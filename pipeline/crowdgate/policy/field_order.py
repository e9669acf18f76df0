"""The order of policies, declared at each field: which of two values is stricter, and what a change means.

Three rules decide the order of a field of policies and budgets. What a release may lose, who may be in it, and what is
published can be more or less: less is tighter. What moves the same total between steps, or says how something is done,
is not comparable. And where a number is another number afterwards, its meaning has changed; so has that of a field
without a declared order.

Each order of values is a strict partial order beside equality: what is tighter than a tighter value is tighter, and in
the other direction it is looser. A value that an order does not know has changed its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from pydantic import BaseModel


class Direction(StrEnum):
    """What a change of a field does to a policy."""

    TIGHTER = "tighter"
    LOOSER = "looser"
    NOT_COMPARABLE = "not comparable"
    CHANGED_MEANING = "changed meaning"

    @property
    def opposite(self) -> Direction:
        """What the same change does the other way round."""
        swapped = {Direction.TIGHTER: Direction.LOOSER, Direction.LOOSER: Direction.TIGHTER}
        return swapped.get(self, self)


Order = Callable[[Any, Any], Direction]
"""The direction from an old to a new value that differs from it."""


def any_change(old: Any, new: Any) -> Direction:  # noqa: ARG001
    """Another value means something else."""
    return Direction.CHANGED_MEANING


def unordered(old: Any, new: Any) -> Direction:  # noqa: ARG001
    """Neither of two values is stricter."""
    return Direction.NOT_COMPARABLE


def more_is_looser(old: Any, new: Any) -> Direction:
    """Of numbers the greater is looser."""
    if not (_is_number(old) and _is_number(new)):
        return Direction.CHANGED_MEANING
    return Direction.LOOSER if new > old else Direction.TIGHTER


def more_is_tighter(old: Any, new: Any) -> Direction:
    """Of numbers the greater is tighter."""
    return more_is_looser(old, new).opposite


def later_is_looser(old: str, new: str) -> Direction:
    """Of days (YYYY-MM-DD) the later is looser."""
    return Direction.LOOSER if new > old else Direction.TIGHTER


def class_size(old: Any, new: Any) -> Direction:
    """Of class sizes the greater is tighter: `least` asks for what the guarantee needs, a number for at least that."""
    return more_is_tighter(*(0 if size == "least" else size for size in (old, new)))


def rising(*words: Any) -> Order:
    """Of these values each is tighter than those before it; others are not known."""

    def order(old: Any, new: Any) -> Direction:
        if old not in words or new not in words:
            return Direction.CHANGED_MEANING
        return more_is_tighter(words.index(old), words.index(new))

    return order


def more_of_them_is_looser(old: Collection[Any], new: Collection[Any]) -> Direction:
    """Of collections one that holds all of the other and more is looser; their sequence counts for nothing."""
    return inclusion(all(each in old for each in new), all(each in new for each in old))


def more_groups_are_looser(old: Collection[Collection[Any]], new: Collection[Collection[Any]]) -> Direction:
    """The same of groups, in which the sequence counts for nothing, too."""
    return more_of_them_is_looser({frozenset(each) for each in old}, {frozenset(each) for each in new})


def inclusion(within: bool, around: bool) -> Direction:
    """The direction to a value that lies within the old one, or around it."""
    if within == around:
        return Direction.NOT_COMPARABLE
    return Direction.TIGHTER if within else Direction.LOOSER


def _is_number(value: Any) -> bool:
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


@dataclass(frozen=True, eq=False)
class FieldOrder:
    """How a field is compared, and what it is in words: an item of `Annotated`. Two are never equal, as `typing` takes
    annotations of equal items for one, and literals that are the same in another order are equal."""

    means: str


@dataclass(frozen=True, eq=False)
class ValueField(FieldOrder):
    """A field that is compared as a whole, by its order. What it says when it is looser or tighter."""

    order: Order
    looser: str = ""
    tighter: str = ""


@dataclass(frozen=True, eq=False)
class NestedField(FieldOrder):
    """A field with fields of its own. `missing` is what stands for none (None: then one is added or removed)."""

    missing: BaseModel | None = None
    added: Direction = Direction.CHANGED_MEANING


@dataclass(frozen=True, eq=False)
class ListField(FieldOrder):
    """A list without sequence. Items of one `key` are compared field by field; `added`: what another item does.
    `there` is an item that holds whether or not it is stated."""

    added: Direction
    looser: str
    tighter: str
    there: BaseModel | None = None


class LevelsField(FieldOrder):
    """Attributes at levels, or candidates for them: more of them, or finer ones, are looser."""


class NameField(FieldOrder):
    """A field that names the policy and rules nothing: it is shown, and no change."""


class KeyField(FieldOrder):
    """A field by which items of a list are told apart: another value makes another item."""


SHARES = ValueField("how the same total is divided: the guarantee of the whole release stays", unordered)
PRECISE = ValueField("what counts as trustworthy, which gates read", any_change)
UNKNOWN = ValueField("a field without a known order", any_change)


def declared_order(model: type[BaseModel], name: str) -> FieldOrder | None:
    """The order that a model, or the first of its bases that has one, declares for a field: an item of `Annotated`."""
    models = (each for each in model.__mro__ if issubclass(each, BaseModel))
    fields = (each.model_fields[name] for each in models if name in each.model_fields)
    return next((item for field in fields for item in field.metadata if isinstance(item, FieldOrder)), None)
