"""A graphical model of the table: the penalised best fit to noisy tables, with exact marginals.

The model is log-linear in the measured tables (McKenna, Sheldon, Miklau 2019): p(x) is proportional to exp(sum_i
theta_i(x)). theta minimises log Z(theta) - sum_i theta_i . y_i / N + sum_i c_i/2 |theta_i|^2 with y_i the noisy table,
N the total and c_i = lambda sigma_i^2 / N. Equally, p maximises the entropy minus sum_i |p_i - y_i / N|^2 / (2 c_i).
The function is strictly convex, so each start leads to one answer; negative noisy counts need no clipping.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from operator import add

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.mechanisms.synthetic.clique_sums import IMPOSSIBLE, CliqueSums, Network
from crowdgate.mechanisms.synthetic.descent import minimum
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table
from crowdgate.mechanisms.synthetic.exact_arithmetic import dot
from crowdgate.mechanisms.synthetic.marginals import Marginals

PENALTY, ONE_WAY_PENALTY = 0.01, 0.001
"""lambda, for tables of more than one variable and of one."""
_NEAR = 1e-10
"""The length of the scaled gradient at which a fit stops."""

Impossible = Sequence[tuple[Table, Bools]]
"""Tables that are true where a combination can't occur."""


@dataclass(frozen=True, eq=False)
class TableMeasurement:
    """A table's noisy counts, with noise of variance `variance` in each cell."""

    table: Table
    noisy: Integers
    variance: Fraction


@dataclass(frozen=True, eq=False)
class Model:
    """A distribution over all combinations of the attributes' finest values."""

    domain: ModelDomain
    network: Network
    weights: tuple[Floats, ...]
    beliefs: CliqueSums

    @property
    def tables(self) -> tuple[Table, ...]:
        """The measured tables, to which the model is fitted."""
        return self.network.tables

    def marginal(self, table: Table) -> Floats:
        """Return exact probabilities of a table's cells; they sum to 1. Raises ValueError if two of its variables are
        of one attribute."""
        if len({self.domain.attribute_of[variable] for variable in table}) < len(table):
            raise ValueError("a table has variables of different attributes")
        return self._marginals.table(table)

    @cached_property
    def _marginals(self) -> Marginals:
        return Marginals(self.network, self.beliefs)


@dataclass(frozen=True, eq=False)
class _Target:
    """All measurements of one table combined: their mean weighted by 1/variance, in parts of the total, and c."""

    table: Table
    parts: Floats
    penalty: float

    @classmethod
    def of(cls, table: Table, measured: Sequence[TableMeasurement], total: float) -> "_Target":
        weights = [1 / float(each.variance) for each in measured]
        whole = reduce(add, weights)  # one by one: sum() of floats rounds otherwise from Python 3.12 on
        mean = sum((w * each.noisy for w, each in zip(weights, measured, strict=True)), np.zeros(1)) / whole
        rate = PENALTY if len(table) > 1 else ONE_WAY_PENALTY
        return cls(table, np.asarray(mean) / total, rate / whole / total)


class Objective:
    """The function that the fit minimises, with all theta in one vector, each divided by its scale."""

    def __init__(
        self, domain: ModelDomain, measurements: Sequence[TableMeasurement], total: float, impossible: Impossible = ()
    ) -> None:
        """Raises ValueError if the total is below 1, or all combinations are impossible."""
        if not 1 <= total < np.inf:
            raise ValueError("a model needs a total of at least 1")
        by_table: dict[Table, list[TableMeasurement]] = {}
        for each in measurements:
            by_table.setdefault(each.table, []).append(each)
        self.targets = [_Target.of(table, own, total) for table, own in by_table.items()]
        fixed: dict[Table, Floats] = {}
        for table, holes in impossible:
            fixed[table] = fixed.get(table, np.zeros(holes.shape)) + np.where(holes, IMPOSSIBLE, 0.0)
        self.network = Network(domain, list(by_table), fixed)
        self._penalties = np.repeat([target.penalty for target in self.targets], self._lengths)
        self._parts = np.concatenate([np.zeros(0), *(target.parts.reshape(-1) for target in self.targets)])
        self.scale = 1 / np.sqrt(np.maximum(self._parts, 1 / total) + self._penalties)
        if self.network.beliefs(self.weights(np.zeros(len(self.scale)))).log_total < IMPOSSIBLE / 2:
            raise ValueError("every combination of values is called impossible")

    @property
    def _lengths(self) -> list[int]:
        return [target.parts.size for target in self.targets]

    def weights(self, scaled: Floats) -> list[Floats]:
        """Return theta, the logarithms of weights, as one array for each table. `scaled` is theta divided by its
        scale."""
        cut = np.split(scaled * self.scale, np.cumsum(self._lengths)[:-1]) if len(scaled) else []
        return [theta.reshape(target.parts.shape) for theta, target in zip(cut, self.targets, strict=True)]

    def __call__(self, scaled: Floats) -> tuple[float, Floats]:
        """Return the minimised function's value and its gradient at `scaled`, i.e. theta divided by its scale."""
        theta = scaled * self.scale
        beliefs = self.network.beliefs(self.weights(scaled))
        expected = np.concatenate([np.zeros(0), *(table.reshape(-1) for table in self.network.marginals(beliefs))])
        value = beliefs.log_total - dot(theta, self._parts - self._penalties * theta / 2)
        return value, (expected - self._parts + self._penalties * theta) * self.scale

    def start(self, model: "Model | None") -> Floats:
        """Return the theta of a model, divided by its scale, as the start of a fit: 0 for tables that the model does
        not have."""
        known = {} if model is None else dict(zip(model.network.tables, model.weights, strict=True))
        theta = [known.get(target.table, np.zeros(target.parts.shape)).reshape(-1) for target in self.targets]
        return np.asarray(np.concatenate([np.zeros(0), *theta]) / self.scale)


def fit(
    domain: ModelDomain,
    measurements: Sequence[TableMeasurement],
    total: float,
    start: Model | None = None,
    most_steps: int = 40,
    impossible: Impossible = (),
) -> Model:
    """Return the model of these measurements, after at most `most_steps` steps of L-BFGS from `start` (theta of tables
    that both have).

    `total` is the (noisy) number of rows, at least 1. Steps to numbers that are not finite are not taken, and an ill
    fit costs accuracy, never the guarantee. Raises ValueError if the total is below 1 or all combinations are
    impossible.
    """
    objective = Objective(domain, measurements, total, impossible)
    first = objective.start(start)
    weights = tuple(objective.weights(minimum(objective, first, most_steps, _NEAR)))
    beliefs = objective.network.beliefs(weights)
    return Model(domain, objective.network, weights, beliefs)
