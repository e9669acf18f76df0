"""Exact sums over a junction tree: of exp(potentials), in total and at each cell of each clique.

Messages go up the tree as logarithms and come down as probabilities (Jensen, Lauritzen, Olesen 1990), with the greatest
term taken out of each sum, so that nothing overflows and no sum of positive terms is 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Projection, Table
from crowdgate.mechanisms.synthetic.exact_arithmetic import exp, log
from crowdgate.mechanisms.synthetic.junction_tree import Clique, tree

IMPOSSIBLE = -1e9
"""Logarithm of the weight of an impossible combination: far below any other, and finite, so that no difference is
undefined. Its exponential is exactly 0."""


@dataclass(frozen=True, eq=False)
class _Link:
    """A clique's link to its parent. Its separator has `groups` cells over the axes that both share; `own` sums these
    to the separator's levels where they are coarser, `above` sums the parent's cells to the separator."""

    groups: int
    own: Projection | None
    above: Projection


@dataclass(frozen=True, eq=False)
class CliqueSums:
    """`log_total` is the logarithm of the sum of exp(potentials). For each clique, over its axes: `joint`, the
    probabilities of its cells, and `given`, their probabilities given the separator's value."""

    log_total: float
    joint: tuple[Floats, ...]
    within: tuple[Floats, ...]
    share: tuple[Floats | None, ...]

    def given(self, at: int) -> Floats:
        """Return the probabilities of the cells of the clique at place `at`, given the value of its separator."""
        share, within = self.share[at], self.within[at]
        return within if share is None else within * share.reshape(share.shape + (1,) * (within.ndim - share.ndim))


class Network:
    """A junction tree of some tables, with the place of each table in it."""

    def __init__(self, domain: ModelDomain, tables: Sequence[Table], fixed: Mapping[Table, Floats]) -> None:
        """`fixed` are further tables, of logarithms of constant weights."""
        self.domain, self.tables = domain, tuple(tables)
        self.cliques: tuple[Clique, ...] = tree(domain, [*tables, *fixed])
        self.shapes = tuple(domain.shape(clique.axes) for clique in self.cliques)
        self._links = tuple(self._link(clique) for clique in self.cliques)
        self._places = tuple(self._placed(table) for table in self.tables)
        self._fixed = [np.zeros(shape) for shape in self.shapes]
        for table, weights in fixed.items():
            at, place = self._placed(table)
            self._fixed[at] += place.spread(weights)

    @property
    def cells(self) -> int:
        """Total number of cells of all cliques of the junction tree."""
        return sum(prod(shape) for shape in self.shapes)

    def home(self, table: Table) -> int | None:
        """Return the place of the clique with fewest cells that holds all variables of a table; None if there is
        none."""
        wanted = sum(1 << variable for variable in table)
        held = [at for at, clique in enumerate(self.cliques) if clique.members & wanted == wanted]
        return min(held, key=lambda at: prod(self.shapes[at]), default=None)

    def _placed(self, table: Table) -> tuple[int, Projection]:
        at = self.home(table)
        assert at is not None
        return at, Projection.of(self.domain, self.cliques[at].axes, table)

    def _link(self, clique: Clique) -> _Link:
        shared = clique.axes[: len(clique.separator)]
        own = Projection.of(self.domain, shared, clique.separator) if shared != clique.separator else None
        above = Projection.of(self.domain, self.cliques[clique.parent].axes, clique.separator)
        return _Link(self.domain.cells(shared), own, above)

    def beliefs(self, weights: Sequence[Floats]) -> CliqueSums:
        """Return the clique sums for these logarithms of weights, one array for each table of the network."""
        potentials = [fixed.copy() for fixed in self._fixed]
        for (at, place), table in zip(self._places, weights, strict=True):
            potentials[at] += place.spread(table)
        within, share, log_total = self._collected(potentials)
        return CliqueSums(log_total, self._distributed(within, share), within, share)

    def _collected(self, potentials: list[Floats]) -> tuple[tuple[Floats, ...], tuple[Floats | None, ...], float]:
        """Pass messages from the leaves to the root of the tree. Return for each clique the cells' probabilities given
        the cells over the shared axes, and the latter's share in the separator's value (None: 1); and the logarithm of
        the total."""
        share: list[Floats | None] = [None] * len(potentials)
        total = 0.0
        for at in reversed(range(len(potentials))):
            link, clique = self._links[at], self.cliques[at]
            sums = _log_sums(potentials[at].reshape(link.groups, -1))
            message = sums.reshape(self.shapes[at][: len(clique.separator)])
            if link.own is not None:
                message, share[at] = _merged(message, link.own)
            if at:
                potentials[clique.parent] += link.above.spread(message)
            else:
                total = float(message)
        return tuple(potentials), tuple(share), total

    def _distributed(self, within: Sequence[Floats], share: Sequence[Floats | None]) -> tuple[Floats, ...]:
        joint: list[Floats] = []
        for at, (link, shape, part) in enumerate(zip(self._links, self.shapes, share, strict=True)):
            groups = link.above.sums(joint[self.cliques[at].parent]) if at else np.ones(())
            if link.own is not None and part is not None:
                groups = link.own.spread(groups) * part
            joint.append((within[at].reshape(link.groups, -1) * groups.reshape(-1, 1)).reshape(shape))
        return tuple(joint)

    def marginals(self, beliefs: CliqueSums) -> list[Floats]:
        """Return the probabilities of the cells of each table of the network, computed from its clique sums."""
        return [place.sums(beliefs.joint[at]) for at, place in self._places]


def _log_sums(rows: Floats) -> Floats:
    """Return the logarithm of the sum of exp over each row. Replace `rows`, in place, by each number's part of its
    row's sum."""
    greatest = rows.max(axis=1, keepdims=True)
    rows -= greatest
    exp(rows)
    sums = np.einsum("gc->g", rows)[:, None]
    rows /= sums
    return np.asarray(greatest + log(sums)).reshape(-1)


def _merged(logs: Floats, own: Projection) -> tuple[Floats, Floats]:
    """Return the logarithms of sums of exp(logs) over the cells that `own` merges into one coarser value, and each
    cell's part of its sum."""
    greatest = own.reduced(logs, np.maximum)
    parts = np.ascontiguousarray(logs - own.spread(greatest))
    exp(parts)
    sums = own.sums(parts)
    return greatest + log(sums), parts / own.spread(sums)
