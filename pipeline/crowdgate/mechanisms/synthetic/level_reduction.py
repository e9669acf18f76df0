"""Reduce the levels if tables at all of them would be too many candidates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crowdgate.hierarchy import Level


def fewer_levels(
    levels: Mapping[str, tuple[Level, ...]],
    triples: Sequence[Sequence[str]],
    needed: Collection[tuple[str, str]],
    most: int,
) -> dict[str, tuple[Level, ...]]:
    """Return the levels, finest first, without as many coarser ones as necessary for at most `most` tables of two
    attributes and of the named triples; levels in `needed` are never removed.

    The level removed first has nearly as many values as the next finer one; of equals, it is of the attribute with most
    levels. For example, of 64, 32, 16, 8, 4 and 2 values 64, 16, 4 and 2 remain.
    """
    found = dict(levels)
    while tables_at(found, triples) > most:
        least = min(_removable_levels(found, needed), default=None)
        if least is None:
            break
        *_, name, at = least
        found[name] = (*found[name][:at], *found[name][at + 1 :])
    return found


def tables_at(levels: Mapping[str, Sequence[Level]], triples: Sequence[Sequence[str]]) -> int:
    """Return the number of tables of two attributes, and of the named triples, at all combinations of their levels."""
    named = {frozenset(triple) for triple in triples}
    return sum(prod(len(levels[name]) for name in each) for each in (*combinations(levels, 2), *named))


def _removable_levels(
    levels: Mapping[str, tuple[Level, ...]], needed: Collection[tuple[str, str]]
) -> Iterator[tuple[float, int, str, int]]:
    for name, own in levels.items():
        for at in range(1, len(own)):
            if (name, own[at].name) not in needed:
                yield len(own[at - 1]) / len(own[at]), -len(own), name, at
