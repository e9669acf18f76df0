"""The order of levels of an attribute: the coarser is tighter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from crowdgate.policy.field_order import Direction, Order, inclusion

Coarser = Callable[[str, str, str], bool]
"""A function that returns whether a level of an attribute is certainly equal to or coarser than the other."""


def level_order(coarser: Coarser, name: str) -> Order:
    """Return the order of an attribute's levels, or candidates for one: the coarser is tighter.

    The new value is tighter if each of its candidates is as coarse as some old candidate.
    """

    def none_finer(those: Collection[str], than: Collection[str]) -> bool:
        return all(any(coarser(name, one, other) for other in than) for one in those)

    def order(old: Any, new: Any) -> Direction:
        was, now = _candidates(old), _candidates(new)
        return inclusion(none_finer(now, was), none_finer(was, now))

    return order


def level_order_by_codes(codes: Mapping[str, Mapping[str, Any]]) -> Coarser:
    """Return the comparison of levels with known codes, by attribute and level; otherwise `exact` is the finest and
    `any` the coarsest.
    """
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
