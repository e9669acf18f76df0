"""What a manifest says of noisy vectors: the budget of the noise, and of every query what a privacy unit can change."""

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import FailFast, Field

from crowdgate.accounting.discrete_laws import Law
from crowdgate.accounting.tables_plan import NoiseKind, Query, law_of
from crowdgate.limits import MOST_NUMBERS
from crowdgate.manifest.values import Exact, Label, ManifestFields

Integer = Annotated[int, Field(ge=-(1 << 62), le=1 << 62)]


class GridFields(ManifestFields):
    """The whole numbers that one row can add to a sum; a value of the column is `offset` and so many `unit`."""

    unit: Exact
    """What one step is worth."""
    offset: Exact
    """What 0 stands for."""
    low: Integer
    """The least whole number."""
    high: Integer
    """The greatest whole number."""

    @property
    def value_limits(self) -> tuple[Fraction, Fraction]:
        """The values of the least and the greatest whole number."""
        return self.offset + self.unit * self.low, self.offset + self.unit * self.high


class QueryFields(ManifestFields):
    """A noisy vector: its axes, what a privacy unit can change, and what its noise spends (epsilon or rho), by a stated
    share or as `split` says. A query without a grid counts rows."""

    name: Label
    """The query in words."""
    levels: dict[Label, Label]
    """Its axes, columns with their levels."""
    cells: Annotated[int, Field(ge=1, le=MOST_NUMBERS)]
    """How many numbers it has."""
    sensitivity: Annotated[int, Field(ge=1, le=1 << 62)]
    """By how much a privacy unit can change the vector."""
    epsilon: Exact | None = None
    """What its Laplace noise spent."""
    rho: Exact | None = None
    """What its Gaussian noise spent."""
    share: Exact | None = None
    """The share of the budget that the policy states."""
    grid: GridFields | None = None
    """The whole numbers that one row can add, of a sum; without it rows are counted."""

    @property
    def query(self) -> Query:
        """As the accounting knows it."""
        return Query(self.name, self.cells, self.contribution, self.share)

    @property
    def contribution(self) -> int:
        """What one row can add, at least 1."""
        return 1 if self.grid is None else max(1, abs(self.grid.low), abs(self.grid.high))


class NoiseFields(ManifestFields):
    """Discrete noise of a budget, `epsilon` or `rho`, on every query. The budget is split equally or for the least
    variance among queries without a share. `width` is how many standard errors the interval of a count has to either
    side of its unbiased estimate (format 1: 1.96 of the value)."""

    noise: Literal["discrete laplace", "discrete gaussian"]
    """The law of the noise."""
    epsilon: Exact | None = None
    """The budget of all queries together, of Laplace noise."""
    rho: Exact | None = None
    """The budget of all queries together, of Gaussian noise."""
    queries: Annotated[tuple[QueryFields, ...], FailFast(), Field(min_length=1, max_length=MOST_NUMBERS)]
    """The noisy vectors."""
    split: Literal["equal", "least-variance"]
    """How the budget was divided between queries without a share."""
    width: Exact | None = None
    """How many standard errors the interval of a count has to either side of its unbiased estimate."""

    @property
    def noise_kind(self) -> NoiseKind:
        """The noise as the accounting names it."""
        return "laplace" if self.noise == "discrete laplace" else "gaussian"

    @property
    def spend(self) -> Fraction | None:
        """Epsilon or rho of all queries together."""
        return self.epsilon if self.noise_kind == "laplace" else self.rho

    def spent(self, query: QueryFields) -> Fraction | None:
        """Epsilon or rho of one query."""
        return query.epsilon if self.noise_kind == "laplace" else query.rho

    def law_of(self, at: int, rows: int) -> Law:
        """The law of the noise on every cell of a query, where a privacy unit has at most that many rows."""
        query = self.queries[at]
        spent = self.spent(query)
        assert spent is not None, "every query states its spend"
        return law_of(query.query, spent, rows, self.noise_kind)
