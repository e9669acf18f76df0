"""The order of levels of an attribute: the coarser is tighter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from crowdgate.policy.field_order import Direction, Order, inclusion

Coarser = Callable[[str, str, str], bool]
"""A function of (attribute, level, other level) that returns True if the level is certainly equal to or coarser than
the other."""


def level_order(coarser: Coarser, name: str) -> Order:
    """Return a function that compares an old with a new level of an attribute, or lists of candidates: the coarser is
    tighter.

    The new value is tighter if each of its candidates is equal to or coarser than some old candidate.
    """

    def none_finer(those: Collection[str], than: Collection[str]) -> bool:
        return all(any(coarser(name, one, other) for other in than) for one in those)

    def order(old: Any, new: Any) -> Direction:
        was, now = _candidates(old), _candidates(new)
        return inclusion(none_finer(now, was), none_finer(was, now))

    return order


def level_order_by_codes(codes: Mapping[str, Mapping[str, Any]]) -> Coarser:
    """Return a function that tells if a level is equal to or coarser than another, by `codes`: for each attribute and
    level, the group of each value. Without codes `exact` is the finest and `any` the coarsest."""
    import numpy as np

    def coarser(name: str, level: str, than: str) -> bool:
        if level == than or level == "any" or than == "exact":
            return True
        fine, coarse = codes.get(name, {}).get(than), codes.get(name, {}).get(level)
        if fine is None or coarse is None:
            return False
        return len(np.unique(np.stack([fine, coarse]), axis=1).T) == len(np.unique(fine))

    return coarser


def _candidates(stated: Any) -> tuple[str, ...]:
    return (stated,) if isinstance(stated, str) else tuple(stated.choose)
