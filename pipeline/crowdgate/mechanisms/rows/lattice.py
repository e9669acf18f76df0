"""Score all candidate schemes at once: a scheme takes one candidate level of each attribute.

The table is collapsed to its distinct tuples at the finest candidates, then the lattice is walked depth first, each
level rolled up from the one before it. A tuple is one number with a field of bits for each attribute, in which each
level only clears low bits: a roll-up is a mask. The last attribute is never sorted again: with c bits cleared, two
neighbours of the sorted order are in different classes exactly if the exclusive or of their numbers is at least 2^c.
Classes can only merge on the way up, but no scheme is skipped for that: a private selection needs all candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.hierarchy import Level, coarser_codes
from crowdgate.histogram import Histogram, collapse, generalise, project

if TYPE_CHECKING:
    from crowdgate.arrays import Codes

KEY_BITS = 62
_SIGN_FREE = 62
Total = Callable[[Integers, Integers], int]
"""The score of a scheme from the sizes of its classes in sorted order, and the exclusive or of each class's number with
that of the class before it."""


@dataclass(frozen=True, eq=False)
class SchemeLattice:
    """Candidate levels of each attribute, finest first; a scheme takes one of them for each. `last` names an attribute
    whose codes take the lowest bits of the numbers, for scores that read its values within a class of the others."""

    candidates: Mapping[str, tuple[Level, ...]]
    last: str | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of candidate levels of each attribute; their product is the number of schemes."""
        return tuple(map(len, self.candidates.values()))

    def __len__(self) -> int:
        return prod(self.shape)

    @cached_property
    def finest(self) -> dict[str, Level]:
        """The finest candidate level of each attribute, by name."""
        return {name: levels[0] for name, levels in self.candidates.items()}

    def scheme(self, index: int) -> dict[str, Level]:
        """Return the level of each attribute in the scheme at place `index`. The last attribute's level changes
        fastest."""
        at = np.unravel_index(index, self.shape) if self.shape else ()
        return {name: levels[int(i)] for (name, levels), i in zip(self.candidates.items(), at, strict=True)}

    def weights(self, of_level: Callable[[str, Level], float]) -> Floats:
        """Return for each scheme, in their order, the sum over attributes of `of_level(name, level)`, a number of the
        attribute's level."""
        total = np.zeros(self.shape)
        for axis, (name, levels) in enumerate(self.candidates.items()):
            shape = [-1 if i == axis else 1 for i in range(len(self.shape))]
            total = total + np.array([of_level(name, level) for level in levels]).reshape(shape)
        return total.ravel()


def between(finer: Level, coarser: Level) -> Level:
    """Return the coarser level as a level on the codes of the finer one, in place of domain codes. The levels must
    nest."""
    return Level(coarser.name, coarser.labels, coarser_codes(finer, coarser))


def roll_up(full: Histogram, finest: Mapping[str, Level], scheme: Mapping[str, Level]) -> Histogram:
    """Return the histogram of a table at a scheme's levels, computed from `full`, its histogram at the finest candidate
    levels."""
    moved = {name: between(finest[name], level) for name, level in scheme.items() if level is not finest[name]}
    return generalise(full, moved) if moved else full


def totals(lattice: SchemeLattice, full: Histogram, total: Total) -> list[int]:
    """Return the score of each scheme, in the order of `SchemeLattice.scheme`. `full` counts the table at the finest
    candidate levels; `total` computes a score from class sizes."""
    order = _walking_order(lattice)
    shape = [len(lattice.candidates[name]) for name in order]
    found = np.fromiter(_outer(lattice, project(full, order), order, total), dtype=object, count=len(lattice))
    places = [order.index(name) for name in lattice.candidates]
    return list(found.reshape(shape).transpose(places).ravel())


def field_width(size: int) -> int:
    """Return the least number of bits that hold `size` different codes."""
    return max(size - 1, 0).bit_length()


def _walking_order(lattice: SchemeLattice) -> list[str]:
    """Return the names of attributes in the order of the walk: by number of candidate levels, fixed attributes first
    (they become part of a rank); `lattice.last` at the end."""
    names = [name for name in lattice.candidates if name != lattice.last]
    names.sort(key=lambda name: (len(lattice.candidates[name]), len(lattice.candidates[name][0])))
    return names if lattice.last is None else [*names, lattice.last]


def _outer(lattice: SchemeLattice, node: Histogram, order: Sequence[str], total: Total) -> Iterator[int]:
    """Yield the score of each scheme, in walking order. Attributes that are fixed, or whose tuples do not fit into one
    number, are decided here, one after another. Each decided attribute merges with those before it into one rank."""
    fields = [_field(lattice.candidates[name]) for name in order]
    widths = [sum(step for _, step in field.steps) for field in fields]
    decided = len(node.names) - len(order)
    fits = field_width(len(node)) + sum(widths) <= KEY_BITS
    if len(order) <= (lattice.last is not None) or (fits and _is_open(lattice, order)):
        yield from _inner(node, decided, fields, total)
        return
    name, *rest = order
    levels = lattice.candidates[name]
    for finer, level in pairwise((levels[0], *levels)):
        at = node.names.index(name)
        mapped = between(finer, level).codes[node.codes[at]]
        codes = [mapped if i == at else column for i, column in enumerate(node.codes)]
        sizes = tuple(len(level) if i == at else size for i, size in enumerate(node.sizes))
        node = collapse(node.names, sizes, codes, node.counts)
        yield from _outer(lattice, _ranked(node, decided + 1), rest, total)


def _is_open(lattice: SchemeLattice, order: Sequence[str]) -> bool:
    return len(order) == 1 or len(lattice.candidates[order[0]]) > 1


def _ranked(node: Histogram, decided: int) -> Histogram:
    """Return the histogram with its first `decided` columns replaced by one: the rank of their combination of codes."""
    # the rank rises by one if some decided column differs from the tuple before
    changes = np.zeros(max(len(node) - 1, 0), dtype=np.bool_)
    for column in node.codes[:decided]:
        changes |= column[1:] != column[:-1]
    ranks = np.concatenate([np.zeros(min(len(node), 1), dtype=np.int64), np.cumsum(changes, dtype=np.int64)])
    size = int(ranks[-1]) + 1 if len(ranks) else 1
    names, sizes = ("", *node.names[decided:]), (size, *node.sizes[decided:])
    return Histogram(names, sizes, (ranks, *node.codes[decided:]), node.counts)


@dataclass(frozen=True, eq=False)
class _Field:
    """One attribute as bits of a number: the bit code of each finest value, and for each level (low bits that it
    clears, bits that it adds)."""

    codes: Integers
    steps: list[tuple[int, int]]


def _field(levels: Sequence[Level]) -> _Field:
    """Return the bit codes of an attribute's finest values, whose high bits are the code at the coarser levels, and for
    each level (low bits cleared, bits added)."""
    relative = [between(levels[0], level).codes for level in levels]
    codes = relative[-1].astype(np.int64)
    added = [field_width(len(levels[-1]))]
    for i in range(len(levels) - 2, -1, -1):
        within, width = _within(relative[i], relative[i + 1])
        codes, added = (codes << width) | within, [width, *added]
    cleared = [sum(added[:i]) for i in range(len(levels))]
    return _Field(codes, list(zip(cleared, added, strict=True)))


def _within(finer: Codes, coarser: Codes) -> tuple[Integers, int]:
    """Return for each code of the finer level its number among the codes in the same coarser value, and the number of
    bits that hold these numbers. The arguments are aligned codes of the two levels."""
    number, next_number = dict[int, int](), dict[int, int]()
    for low, high in zip(finer.tolist(), coarser.tolist(), strict=True):
        if low not in number:
            number[low] = next_number.get(high, 0)
            next_number[high] = number[low] + 1
    within = np.array([number[low] for low in finer.tolist()], dtype=np.int64)
    return within, field_width(max(next_number.values(), default=1))


def _inner(node: Histogram, decided: int, fields: Sequence[_Field], total: Total) -> Iterator[int]:
    """Yield the score of each scheme of the attributes that are not yet decided, with each tuple of the histogram as
    one number."""
    widths = [sum(added for _, added in field.steps) for field in fields]
    # the rank of the decided attributes, then a field of bits for each remaining attribute
    keys = node.codes[0].astype(np.int64) if decided else np.zeros(len(node), dtype=np.int64)
    for i, (field, width) in enumerate(zip(fields, widths, strict=True)):
        keys = (keys << width) | field.codes[node.codes[decided + i]]
    if not fields:
        yield total(node.counts, np.ones(len(node), dtype=np.int64))
        return
    # the bits below each field, and for each of its levels the mask that clears the field's low bits
    below = [sum(widths[i + 1 :]) for i in range(len(widths))]
    masks = [[_clear(low, cleared) for cleared, _ in field.steps] for field, low in zip(fields, below, strict=True)]
    limits = [1 << cleared for cleared, _ in fields[-1].steps]
    yield from _walk(_merge(keys, node.counts), masks[:-1], limits, total)


def _clear(low: int, cleared: int) -> int:
    return ~(((1 << cleared) - 1) << low)


def _walk(
    node: tuple[Integers, Integers, Integers], masks: Sequence[Sequence[int]], limits: Sequence[int], total: Total
) -> Iterator[int]:
    if not masks:
        yield from _chain(node[1], node[2], limits, total)
        return
    for i, mask in enumerate(masks[0]):
        if i > 0:
            node = _merge(node[0] & mask, node[1])
        yield from _walk(node, masks[1:], limits, total)


def _merge(keys: Integers, counts: Integers) -> tuple[Integers, Integers, Integers]:
    """Return distinct keys in ascending order, the rows of each, and the exclusive or of each key with the one before
    it (first: 2^62). Key and count are sorted as one number if they fit into one, which is more than twice as fast.
    The stable sort merges sorted runs, which a mask leaves many of: it takes less than half the time."""
    shift = int(counts.max(initial=0)).bit_length()
    if int(keys.max(initial=0)) >> (_SIGN_FREE - shift) == 0:
        packed = (keys << shift) | counts
        packed.sort(kind="stable")
        keys, counts = packed >> shift, packed & ((1 << shift) - 1)
    else:
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
    return _distinct(keys, counts)


def _distinct(keys: Integers, counts: Integers) -> tuple[Integers, Integers, Integers]:
    apart = np.empty_like(keys)
    apart[:1] = 1 << _SIGN_FREE
    np.bitwise_xor(keys[1:], keys[:-1], out=apart[1:])
    starts = np.flatnonzero(apart)
    if len(starts) == len(keys):
        return keys, counts, apart
    return keys[starts], _between(np.cumsum(counts), starts), apart[starts]


def _between(ends: Integers, starts: Integers) -> Integers:
    """Return the sum of each run of an array that begins at a place in `starts`; `ends` is the array's running sum."""
    # the running sum at the last place of each stretch, minus that of the stretch before
    sums = np.empty(len(starts), dtype=np.int64)
    sums[:-1] = ends[starts[1:] - 1]
    sums[-1:] = ends[-1:]
    sums[1:] -= sums[:-1].copy()
    return sums


def _chain(counts: Integers, apart: Integers, limits: Sequence[int], total: Total) -> Iterator[int]:
    """Yield the score at each level of the last attribute. A class is a run of the sorted keys that begins where
    `apart`, the exclusive or with the key before, is at least the level's limit."""
    for i, limit in enumerate(limits):
        if i > 0:
            starts = np.flatnonzero(apart >= limit)
            if len(starts) < len(counts):
                counts, apart = _between(np.cumsum(counts), starts), apart[starts]
        yield total(counts, apart)
