"""The part of a manifest on noisy vectors: the budget of the noise, and the sensitivity of each query."""

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import FailFast, Field

from crowdgate.accounting.discrete_laws import DiscreteGaussian, Law
from crowdgate.accounting.tables_plan import NoiseKind, Query, law_of
from crowdgate.accounting.zcdp import squared_sigma
from crowdgate.limits import MOST_NUMBERS
from crowdgate.manifest.values import Exact, Label, ManifestFields

Integer = Annotated[int, Field(ge=-(1 << 62), le=1 << 62)]


class GridFields(ManifestFields):
    """The whole numbers that one row can add to a sum; a value of the column is `offset` + `unit` times the number."""

    unit: Exact
    """The value of one step."""
    offset: Exact
    """The value represented by 0."""
    low: Integer
    """The least whole number."""
    high: Integer
    """The greatest whole number."""

    @property
    def value_limits(self) -> tuple[Fraction, Fraction]:
        """The column's values at the least and at the greatest whole number: offset + unit * low, offset + unit *
        high."""
        return self.offset + self.unit * self.low, self.offset + self.unit * self.high


class QueryFields(ManifestFields):
    """A noisy vector: its axes, its sensitivity to a privacy unit, and the privacy cost of its noise (epsilon or rho),
    by a stated share or by `split`. A query without a grid counts rows."""

    name: Label
    """A description of the query."""
    levels: dict[Label, Label]
    """The axes of the query, columns with their levels."""
    cells: Annotated[int, Field(ge=1, le=MOST_NUMBERS)]
    """The number of cells of the query."""
    sensitivity: Annotated[int, Field(ge=1, le=1 << 62)]
    """The largest change of the vector by a privacy unit."""
    epsilon: Exact | None = None
    """The epsilon spent on Laplace noise."""
    rho: Exact | None = None
    """The rho spent on Gaussian noise."""
    share: Exact | None = None
    """The share of the budget that the policy states."""
    grid: GridFields | None = None
    """The whole numbers that one row can add to a sum; without it the query counts rows."""

    @property
    def query(self) -> Query:
        """Name, cells, contribution of a row, and share, as `accounting` takes them."""
        return Query(self.name, self.cells, self.contribution, self.share)

    @property
    def contribution(self) -> int:
        """The largest absolute contribution of one row to a cell, at least 1: 1 for counts, for sums in units of the
        grid."""
        return 1 if self.grid is None else max(1, abs(self.grid.low), abs(self.grid.high))

    @property
    def is_one_sided(self) -> bool:
        """True if all rows change the vector in the same direction, as they do counts."""
        return self.grid is None or self.grid.low >= 0 or self.grid.high <= 0


class ResidualFields(ManifestFields):
    """A noisy residual: what a table says beyond its margins, in whole numbers. It is `factor` times K x: x are the
    counts, and K is the Kronecker product of n I - J over its axes of n values, with J all ones."""

    levels: dict[Label, Label]
    """The axes of the residual, columns with their levels. Without axes it is the total."""
    cells: Annotated[int, Field(ge=1, le=MOST_NUMBERS)]
    """The number of noisy numbers."""
    factor: Annotated[int, Field(ge=1, le=1 << 10)]
    """The whole factor of the residual."""
    sensitivity: Annotated[int, Field(ge=1, le=1 << 62)]
    """The largest change of the residual by a privacy unit, as the root of the sum of squares, rounded up."""
    rho: Exact
    """The rho spent on its noise."""


class NoiseFields(ManifestFields):
    """Discrete noise of a budget, `epsilon` or `rho`, on each query, or on the residuals of the queries. The budget is
    split equally, for the least variance or for the least error after consistency among queries without a share.
    `width` is half the width of a count's interval around its unbiased estimate, in standard errors (format 1: 1.96,
    around the value)."""

    noise: Literal["discrete laplace", "discrete gaussian"]
    """The distribution of the noise."""
    epsilon: Exact | None = None
    """The total budget of all queries, for Laplace noise."""
    rho: Exact | None = None
    """The total budget of all queries, for Gaussian noise."""
    queries: Annotated[tuple[QueryFields, ...], FailFast(), Field(min_length=1, max_length=MOST_NUMBERS)]
    """The noisy vectors."""
    split: Literal["equal", "least-variance", "least-error", "residuals"]
    """The division of the budget between queries without a share. That of "least-error" is stated with each query, that
    of "residuals" with each residual."""
    residuals: Annotated[tuple[ResidualFields, ...] | None, Field(min_length=1, max_length=MOST_NUMBERS)] = None
    """The residuals that receive the noise in place of the queries; absent: each query has its own noise."""
    width: Exact | None = None
    """Half the width of a count's interval around its unbiased estimate, in standard errors."""

    @property
    def noise_kind(self) -> NoiseKind:
        """The name of the noise in `accounting`: `laplace` or `gaussian`."""
        return "laplace" if self.noise == "discrete laplace" else "gaussian"

    @property
    def spend(self) -> Fraction | None:
        """The budget of all queries together: epsilon for Laplace noise, rho for Gaussian noise; None if it is not
        stated."""
        return self.epsilon if self.noise_kind == "laplace" else self.rho

    def spent(self, query: QueryFields) -> Fraction | None:
        """Return the budget that one query spends: epsilon for Laplace noise, rho for Gaussian noise; None if it is not
        stated."""
        return query.epsilon if self.noise_kind == "laplace" else query.rho

    def law_of(self, at: int, rows: int) -> Law:
        """Return the noise distribution in each cell of the query at place `at`, if a privacy unit has at most `rows`
        rows."""
        query = self.queries[at]
        spent = self.spent(query)
        assert spent is not None, "every query states its spend"
        return law_of(query.query, spent, rows, self.noise_kind)

    def residual_laws(self) -> list[Law]:
        """Return the noise distribution on the numbers of each residual."""
        return [DiscreteGaussian(squared_sigma(each.sensitivity, each.rho)) for each in self.residuals or ()]
