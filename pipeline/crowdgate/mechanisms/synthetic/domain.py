"""Attributes at several levels as numbered variables, and tables over some of them.

Each released attribute is a variable at its finest released level and one more at each coarser level, which is a
function of the finest. A table is a tuple of the numbers of variables of different attributes; its array has one axis
for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from string import ascii_letters
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Array, Floats, Integers
from crowdgate.hierarchy import Level, coarser_codes

if TYPE_CHECKING:
    from crowdgate.arrays import Codes

"""Floats or counts."""
Table = tuple[int, ...]
"""Numbers of variables of different attributes."""


@dataclass(frozen=True, eq=False)
class Variable:
    """An attribute at a level of `size` values; `of_finest` is the level's code of each code of the finest level."""

    attribute: str
    level: str
    size: int
    of_finest: Codes


@dataclass(frozen=True, eq=False)
class ModelDomain:
    """The attributes, and their variables: those of an attribute are adjacent, finest first, each a function of the one
    before it."""

    attributes: tuple[str, ...]
    variables: tuple[Variable, ...]

    @classmethod
    def of(cls, levels: Mapping[str, Sequence[Level]]) -> ModelDomain:
        """Return the domain of attributes with these levels, finest first. A coarser level with one value, or with as
        many as the finer one before it, adds nothing and is left out."""
        variables: list[Variable] = []
        for name, (finest, *coarser) in levels.items():
            own = [finest]
            own += [
                level for fine, level in zip([finest, *coarser], coarser, strict=False) if 1 < len(level) < len(fine)
            ]
            variables += [Variable(name, level.name, len(level), coarser_codes(finest, level)) for level in own]
        return cls(tuple(levels), tuple(variables))

    def __post_init__(self) -> None:
        for variable in self.variables:
            if len(np.unique(variable.of_finest)) != variable.size:
                raise ValueError(f"every value of {variable.attribute} at level {variable.level} must have a finer one")

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each variable."""
        return tuple(variable.size for variable in self.variables)

    @cached_property
    def attribute_of(self) -> tuple[int, ...]:
        """Place of each variable's attribute in `attributes`."""
        places = {name: place for place, name in enumerate(self.attributes)}
        return tuple(places[variable.attribute] for variable in self.variables)

    @cached_property
    def finest(self) -> Table:
        """The finest variable of each attribute, in the order of `attributes`."""
        return tuple(self.attribute_of.index(place) for place in range(len(self.attributes)))

    def shape(self, table: Table) -> tuple[int, ...]:
        """Return the number of values along each axis of a table."""
        return tuple(self.sizes[variable] for variable in table)

    def cells(self, table: Table) -> int:
        """Return the number of cells of a table."""
        return prod(self.shape(table))

    def finest_of_set(self, members: int) -> Table:
        """Return the table of the finest variable of each attribute in a set of variables, given as the bits of a whole
        number."""
        out: dict[int, int] = {}
        for variable in bits(members):
            out.setdefault(self.attribute_of[variable], variable)
        return tuple(out.values())

    @cached_property
    def cells_of_set(self) -> _CellsOfSet:
        """Number of combinations of values that can occur together, by set of variables (the bits of a whole
        number)."""
        return _CellsOfSet(self)

    def codes(self, finer: int, coarser: int) -> Codes:
        """Return for each code of the variable `finer` the code of the variable `coarser`, an equal or coarser level of
        its attribute."""
        out = np.zeros(self.sizes[finer], dtype=np.int32)
        out[self.variables[finer].of_finest] = self.variables[coarser].of_finest
        return out


class _CellsOfSet(dict[int, int]):
    def __init__(self, domain: ModelDomain) -> None:
        super().__init__()
        self.domain = domain

    def __missing__(self, members: int) -> int:
        self[members] = self.domain.cells(self.domain.finest_of_set(members))
        return self[members]


def bits(members: int) -> Iterator[int]:
    """Yield the places of the bits of a whole number, least first."""
    while members:
        least = members & -members
        yield least.bit_length() - 1
        members ^= least


@dataclass(frozen=True, eq=False)
class _Merge:
    """The merging of values along an axis: the codes of a coarser variable, and the order and starts of its groups."""

    axis: int
    codes: Codes
    order: Codes | None
    starts: Integers

    @classmethod
    def of(cls, axis: int, codes: Codes) -> _Merge:
        order = None if np.all(codes[1:] >= codes[:-1]) else np.argsort(codes, kind="stable").astype(np.int32)
        ordered = codes if order is None else codes[order]
        return cls(axis, codes, order, np.flatnonzero(np.diff(ordered, prepend=-1)))

    def reduced(self, array: Array, by: np.ufunc) -> Array:
        ordered = array if self.order is None else array.take(self.order, self.axis)
        return np.asarray(by.reduceat(ordered, self.starts, axis=self.axis))


@dataclass(frozen=True, eq=False)
class Projection:
    """A projection from tables over some variables to tables over some of their attributes at the same or coarser
    levels."""

    summing: str
    merges: tuple[_Merge, ...]
    order: tuple[int, ...]
    back: tuple[int, ...]
    wide: tuple[int, ...]

    @classmethod
    def of(cls, domain: ModelDomain, source: Table, target: Table) -> Projection:
        """Return the projection from tables over the variables `source` to tables over `target`. Raises KeyError if an
        attribute of `target` is not in `source`."""
        wanted = {domain.attribute_of[variable]: variable for variable in target}
        kept = [variable for variable in source if domain.attribute_of[variable] in wanted]
        coarser = [wanted[domain.attribute_of[variable]] for variable in kept]
        place = {variable: at for at, variable in enumerate(coarser)}
        axes = ascii_letters[: len(source)]
        return cls(
            f"{axes}->{''.join(axes[at] for at, variable in enumerate(source) if variable in kept)}",
            tuple(
                _Merge.of(at, domain.codes(fine, coarse))
                for at, (fine, coarse) in enumerate(zip(kept, coarser, strict=True))
                if fine != coarse
            ),
            tuple(place[variable] for variable in target),
            tuple(target.index(variable) for variable in coarser),
            tuple(domain.sizes[variable] if variable in kept else 1 for variable in source),
        )

    def sums(self, array: Array) -> Array:
        """Return the target's table, summed from the source's."""
        return self.reduced(np.einsum(self.summing, array), np.add)

    def reduced(self, array: Array, by: np.ufunc = np.add) -> Array:
        """Return a table over the source's retained variables, reduced by `by` within the target's coarser values."""
        for merge in self.merges:
            array = merge.reduced(array, by)
        return array.transpose(self.order)

    def spread(self, array: Floats) -> Floats:
        """Return the target's value in each cell of the source: an array that broadcasts to the source's shape."""
        out = array.transpose(self.back)
        for merge in self.merges:
            out = out.take(merge.codes, axis=merge.axis)
        return out.reshape(self.wide)
