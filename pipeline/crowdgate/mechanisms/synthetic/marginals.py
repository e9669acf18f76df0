"""Exact marginals of a calibrated junction tree, also of variables that are far apart in it.

If a table's variables are not in one clique, P(table) = sum over the cells of the clique where their branches meet of
P(cell) times, for each branch, P(its variables | its separator). These factors are computed recursively down the
branch, and stored for single variables, which many tables share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.mechanisms.synthetic.domain import Projection, Table, bits

if TYPE_CHECKING:
    from crowdgate.mechanisms.synthetic.clique_sums import CliqueSums, Network


class Marginals:
    """Exact probabilities of the cells of tables in a model, from its clique sums."""

    def __init__(self, network: Network, beliefs: CliqueSums) -> None:
        self._network, self._beliefs, self._domain = network, beliefs, network.domain
        self._given: dict[tuple[int, int], Floats] = {}
        self._below = self._homes()

    def table(self, table: Table) -> Floats:
        """Return the model's probabilities of the cells of a table, over variables of different attributes."""
        wanted = sum(1 << variable for variable in table)
        at = self._network.home(table)
        if at is not None:
            return Projection.of(self._domain, self._network.cliques[at].axes, table).sums(self._beliefs.joint[at])
        at = max(at for at, below in enumerate(self._below) if below & wanted == wanted)
        return self._summed(at, self._beliefs.joint[at], wanted, table)

    def _homes(self) -> list[int]:
        """Return for each clique of the tree the variables (bits) that it or a clique below it is the first to
        contain."""
        cliques = self._network.cliques
        out, seen = [], 0
        for clique in cliques:
            out.append(clique.members & ~seen)
            seen |= clique.members
        for at in reversed(range(1, len(cliques))):
            out[cliques[at].parent] |= out[at]
        return out

    def _of_branch(self, at: int, wanted: int) -> tuple[Table, Floats]:
        """Return the axes and the array of P(wanted | separator) for the clique at place `at` and variables (`wanted`,
        bits) in it or below it."""
        separator = self._network.cliques[at].separator
        out = (*separator, *(variable for variable in bits(wanted) if variable not in separator))
        found = self._given.get((at, wanted))
        if found is None:
            found = self._summed(at, self._beliefs.given(at), wanted, out)
        if wanted.bit_count() == 1:
            self._given[at, wanted] = found
        return out, found

    def _summed(self, at: int, cells: Floats, wanted: int, out: Table) -> Floats:
        """Return the table `out`: the `cells` of the clique at place `at` times P(wanted variables | separator) of each
        branch below it, summed over all else."""
        clique = self._network.cliques[at]
        elsewhere = wanted & ~clique.members
        branches = [
            self._of_branch(child, elsewhere & self._below[child])
            for child, other in enumerate(self._network.cliques)
            if child and other.parent == at and elsewhere & self._below[child]
        ]
        own = [v for axes, _ in [(out, cells), *branches] for v in axes if clique.members >> v & 1]
        axis_of = self._axes(own)
        axes = tuple(dict.fromkeys(axis_of.values()))
        projected = Projection.of(self._domain, clique.axes, axes).sums(cells)
        ties = [((axis_of[v], v), self._tie(axis_of[v], v)) for v in out if axis_of.get(v, v) != v]
        return self._product([(axes, projected), *(self._refined(branch, axis_of) for branch in branches), *ties], out)

    def _axes(self, wanted: list[int]) -> dict[int, int]:
        """Return for each of these variables the finest among them of its attribute."""
        finest: dict[int, int] = {}
        for variable in sorted(wanted):
            finest.setdefault(self._domain.attribute_of[variable], variable)
        return {variable: finest[self._domain.attribute_of[variable]] for variable in wanted}

    def _refined(self, branch: tuple[Table, Floats], axis_of: dict[int, int]) -> tuple[Table, Floats]:
        """Return the axes and the array of a branch, with its separator's coarser variables replaced by finer ones of
        the clique above (`axis_of`)."""
        axes, table = branch
        for at, variable in enumerate(axes):
            if axis_of.get(variable, variable) != variable:
                table = table.take(self._domain.codes(axis_of[variable], variable), axis=at)
        return tuple(axis_of.get(variable, variable) for variable in axes), table

    def _tie(self, finer: int, coarser: int) -> Floats:
        """Return the matrix of the values of two variables of one attribute: 1 if the finer value belongs to the
        coarser one, else 0."""
        return np.eye(self._domain.sizes[coarser])[self._domain.codes(finer, coarser)]

    @staticmethod
    def _product(terms: list[tuple[Table, Floats]], out: Table) -> Floats:
        number: dict[int, int] = {}
        arguments: list[object] = []
        for axes, table in terms:
            arguments += [table, [number.setdefault(variable, len(number)) for variable in axes]]
        found = np.einsum(*arguments, [number[variable] for variable in out], optimize="greedy")  # type: ignore[call-overload]
        return np.asarray(found)
