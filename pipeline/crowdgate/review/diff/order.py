"""Orders of the values of one field: which of two is stricter.

Each is a strict partial order beside equality, so that what is tighter of what is tighter is tighter, and the other way
round it is looser. Whatever an order does not know has changed its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from fractions import Fraction
from typing import Any


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


Coarser = Callable[[str, str, str], bool]
"""Whether a level of an attribute is surely the other one, or coarser."""
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
    return _of_inclusion(all(each in old for each in new), all(each in new for each in old))


def more_groups_are_looser(old: Collection[Collection[Any]], new: Collection[Collection[Any]]) -> Direction:
    """The same of groups, in which the sequence counts for nothing, too."""
    return more_of_them_is_looser({frozenset(each) for each in old}, {frozenset(each) for each in new})


def level_order(coarser: Coarser, name: str) -> Order:
    """Of levels of an attribute, or candidates for one, the coarser is tighter: each that the new one can be is as
    coarse as one that the old can be."""

    def none_finer(those: Collection[str], than: Collection[str]) -> bool:
        return all(any(coarser(name, one, other) for other in than) for one in those)

    def order(old: Any, new: Any) -> Direction:
        was, now = _candidates(old), _candidates(new)
        return _of_inclusion(none_finer(now, was), none_finer(was, now))

    return order


def level_order_by_codes(codes: Mapping[str, Mapping[str, Any]]) -> Coarser:
    """The order of the levels whose codes are known, by attribute and level; of others `exact` is the finest and `any`
    the coarsest."""
    import numpy as np

    def coarser(name: str, level: str, than: str) -> bool:
        if level == than or level == "any" or than == "exact":
            return True
        fine, coarse = codes.get(name, {}).get(than), codes.get(name, {}).get(level)
        if fine is None or coarse is None:
            return False
        return len(np.unique(np.stack([fine, coarse]), axis=1).T) == len(np.unique(fine))

    return coarser


def _of_inclusion(within: bool, around: bool) -> Direction:
    if within == around:
        return Direction.NOT_COMPARABLE
    return Direction.TIGHTER if within else Direction.LOOSER


def _candidates(stated: Any) -> tuple[str, ...]:
    return (stated,) if isinstance(stated, str) else tuple(stated.choose)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | Fraction) and not isinstance(value, bool)
