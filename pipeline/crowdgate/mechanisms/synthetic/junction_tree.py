"""Junction trees: cliques in which every table has a place, of few cells in all.

A variable in use is tied to the next finer one of its attribute in use: both stand together in some clique. Within a
clique a coarser variable is a function of the finer one, so that a clique has cells over the finest variable of each of
its attributes only. Variables are eliminated greedily, the one whose clique has fewest cells first; sets of variables
are the bits of whole numbers.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from crowdgate.mechanisms.synthetic.domain import Domain, Table, bits


@dataclass(frozen=True)
class Clique:
    """`members` (bits) are all variables of a clique, `axes` the finest one of each attribute: first the attributes of
    the separator, in its order. `separator` holds the finest variable of each attribute that is shared with the clique
    `parent`; the first clique of a tree is its own parent, with an empty separator."""

    members: int
    axes: Table
    separator: Table
    parent: int


def tree(domain: Domain, tables: Iterable[Table]) -> tuple[Clique, ...]:
    """Cliques such that every table, and every attribute at its finest level, is in one; parents come before children,
    and what two cliques share is in all cliques between them."""
    return tuple(_clique(domain, *found) for found in _cliques(domain, tables))


def cells(domain: Domain, tables: Iterable[Table]) -> int:
    """Number of cells of all cliques of the tree of these tables."""
    return sum(domain.cells_of_set[members] for members, _, _ in _cliques(domain, tables))


def _cliques(domain: Domain, tables: Iterable[Table]) -> list[tuple[int, int, int]]:
    """Members, separator and parent of every clique (Blair, Peyton 1993, for chordal graphs)."""
    out: list[tuple[int, int, int]] = []
    home: dict[int, int] = {}
    eliminated = _eliminated(domain, _graph(domain, tables))
    place = {variable: at for at, (variable, _) in enumerate(eliminated)}
    for variable, around in reversed(eliminated):
        at = home[min(bits(around), key=place.__getitem__)] if around else 0
        if around and out[at][0] == around:
            out[at] = (around | 1 << variable, *out[at][1:])
        else:
            out.append((around | 1 << variable, around, at))
            at = len(out) - 1
        home[variable] = at
    return out


def _clique(domain: Domain, members: int, shared: int, parent: int) -> Clique:
    separator = domain.finest_of_set(shared)
    own = {domain.attribute_of[variable]: variable for variable in domain.finest_of_set(members)}
    first = [own.pop(domain.attribute_of[variable]) for variable in separator]
    return Clique(members, (*first, *own.values()), separator, parent)


def _graph(domain: Domain, tables: Iterable[Table]) -> dict[int, int]:
    """The neighbours of every variable in use: those in a table with it, and the next levels of its attribute in use."""
    near = dict.fromkeys(domain.finest, 0)
    for table in tables:
        for variable in table:
            near[variable] = near.get(variable, 0) | sum(1 << other for other in table if other != variable)
    used = sorted(near)
    for finer, coarser in zip(used, used[1:], strict=False):
        if domain.attribute_of[finer] == domain.attribute_of[coarser]:
            near[finer] |= 1 << coarser
            near[coarser] |= 1 << finer
    return near


def _eliminated(domain: Domain, near: dict[int, int]) -> list[tuple[int, int]]:
    """Variables in the order of elimination, each with its neighbours at that time."""
    sizes = domain.cells_of_set
    size = {variable: sizes[around | 1 << variable] for variable, around in near.items()}
    out = []
    while size:
        variable = min(size, key=size.__getitem__)
        del size[variable]
        around = near[variable]
        out.append((variable, around))
        for other in bits(around):
            near[other] = (near[other] | around) & ~(1 << other | 1 << variable)
            size[other] = sizes[near[other] | 1 << other]
    return out
