"""Junction trees: cliques with few cells in total, such that each table lies within one.

Each level of an attribute is tied to the next finer one: some clique contains both. Within a clique a coarser variable
is a function of the finer one, so a clique has cells over the finest variable of each of its attributes only. Variables
are eliminated greedily, the one whose clique has fewest cells first. Then cliques are merged if that does not add
cells. Sets of variables are the bits of whole numbers.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise

from crowdgate.limits import MOST_MODEL_CELLS
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table, bits

MOST_GIVEN = 1 << 23
"""Bound on the cells of a separator times the values of the widest variable. The probabilities of these values given
the separator take 64 MiB; marginals of distant variables are computed from them."""


@dataclass(frozen=True)
class Clique:
    """`members` (bits) are all variables of a clique, `axes` the finest one of each attribute: first the attributes of
    the separator, in its order, then the others, ending with the one of most values. `separator` holds the finest
    variable of each attribute that is shared with the clique `parent`. The first clique of a tree is its own parent,
    with an empty separator."""

    members: int
    axes: Table
    separator: Table
    parent: int


def tree(domain: ModelDomain, tables: Iterable[Table]) -> tuple[Clique, ...]:
    """Return the junction tree of these tables: cliques such that each table, and each variable, lies in one. Parents
    come before children, and the variables that two cliques share are in all cliques between them."""
    return tuple(_clique(domain, *found) for found in _merged(domain, _cliques(domain, tables)))


class Extensions:
    """Upper bounds on the cells of a tree of some tables when one more table is added: quick, for many candidates.

    A further table changes nothing before its first variable is eliminated, so the steps up to there are stored.
    """

    def __init__(self, domain: ModelDomain, tables: Iterable[Table]) -> None:
        near = _graph(domain, tables)
        self._domain, self._sizes = domain, domain.cells_of_set
        self._most_shared = MOST_GIVEN // max(domain.sizes)
        self._steps: dict[int, tuple[dict[int, int], dict[int, int], int]] = {}
        self.cells = 0
        """Upper bound on the cells of the tree without a further table."""
        size = _clique_sizes(domain, near)
        rest, left = dict(near), dict(size)
        for variable, around in _greedy(domain, near, size):
            self._steps[variable] = (rest, left, self.cells)
            self.cells += self._clique(variable, around)
            rest, left = dict(near), dict(size)

    def with_table(self, table: Table, most: int) -> int:
        """Return an upper bound on the cells of the junction tree with this table added; some number above `most` if
        the bound is larger."""
        wanted = sum(1 << variable for variable in table)
        for variable, (near, size, spent) in self._steps.items():
            if wanted >> variable & 1:
                others = wanted & ~(1 << variable)
                if others & ~near[variable]:
                    return self._rest(dict(near), dict(size), wanted, spent, most)
                wanted = others
        return self.cells

    def _clique(self, variable: int, around: int) -> int:
        """Return the number of cells of the clique of a variable and its neighbours `around` (bits); more than any
        model has if its possible separator is too large for `Marginals`."""
        return self._sizes[around | 1 << variable] if self._sizes[around] <= self._most_shared else MOST_MODEL_CELLS + 1

    def _rest(self, near: dict[int, int], size: dict[int, int], wanted: int, spent: int, most: int) -> int:
        _join(near, wanted)
        for variable in bits(wanted):
            size[variable] = self._sizes[near[variable] | 1 << variable]
        for variable, around in _greedy(self._domain, near, size):
            spent += self._clique(variable, around)
            if spent > most:
                break
        return spent


def cells(domain: ModelDomain, tables: Iterable[Table]) -> int:
    """Return the total number of cells of all cliques of the junction tree of these tables."""
    return sum(domain.cells_of_set[members] for members, _, _ in _merged(domain, _cliques(domain, tables)))


def _clique(domain: ModelDomain, members: int, shared: int, parent: int) -> Clique:
    separator = domain.finest_of_set(shared)
    own = {domain.attribute_of[variable]: variable for variable in domain.finest_of_set(members)}
    first = [own.pop(domain.attribute_of[variable]) for variable in separator]
    return Clique(members, (*first, *sorted(own.values(), key=domain.sizes.__getitem__)), separator, parent)


def _cliques(domain: ModelDomain, tables: Iterable[Table]) -> list[tuple[int, int, int]]:
    """Return (members, separator, parent) of each clique, sets of variables as bits (Blair, Peyton 1993, for chordal
    graphs)."""
    out: list[tuple[int, int, int]] = []
    home: dict[int, int] = {}
    near = _graph(domain, tables)
    eliminated = list(_greedy(domain, near, _clique_sizes(domain, near)))
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


def _merged(domain: ModelDomain, cliques: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return (members, separator, parent) of the cliques that remain after merging into parents where that does not add
    cells."""
    sizes = domain.cells_of_set
    members = [members for members, _, _ in cliques]
    into = list(range(len(cliques)))
    for at in reversed(range(1, len(cliques))):
        parent = cliques[at][2]
        if sizes[members[at] | members[parent]] <= sizes[members[at]] + sizes[members[parent]]:
            members[parent] |= members[at]
            into[at] = parent
    place: dict[int, int] = {}
    out: list[tuple[int, int, int]] = []
    for at, (_, shared, parent) in enumerate(cliques):
        if into[at] == at:
            place[at] = len(out)
            out.append((members[at], shared, place[parent] if at else 0))
        else:
            place[at] = place[into[at]]
    return out


def _graph(domain: ModelDomain, tables: Iterable[Table]) -> dict[int, int]:
    """Return the neighbours (bits) of each variable: those in a table with it, and the adjacent levels of its
    attribute."""
    near = dict.fromkeys(range(len(domain.variables)), 0)
    ties = [pair for pair in pairwise(near) if domain.attribute_of[pair[0]] == domain.attribute_of[pair[1]]]
    for table in (*ties, *tables):
        _join(near, sum(1 << variable for variable in table))
    return near


def _join(near: dict[int, int], wanted: int) -> None:
    for variable in bits(wanted):
        near[variable] |= wanted & ~(1 << variable)


def _clique_sizes(domain: ModelDomain, near: dict[int, int]) -> dict[int, int]:
    return {variable: domain.cells_of_set[around | 1 << variable] for variable, around in near.items()}


def _greedy(domain: ModelDomain, near: dict[int, int], size: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Yield variables in the order of elimination, each with its neighbours at that time. `near` holds the neighbours
    and `size` the cells of each variable's clique; both change with each step."""
    sizes = domain.cells_of_set
    heap = [(cells, variable) for variable, cells in size.items()]
    heapify(heap)
    while heap:
        cells, variable = heappop(heap)
        if size.get(variable) != cells:
            continue  # outdated entry: the size has changed, or the variable is eliminated
        del size[variable]
        around = near.pop(variable)
        for other in bits(around):
            near[other] = (near[other] | around) & ~(1 << other | 1 << variable)
            if size[other] != (changed := sizes[near[other] | 1 << other]):
                size[other] = changed
                heappush(heap, (changed, other))
        yield variable, around
