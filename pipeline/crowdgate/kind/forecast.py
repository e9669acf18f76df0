"""Forecast of a release before any data are read: figures with a range and a basis, tables for people, and the error of
each cell of a table that a user could compute."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from crowdgate.arrays import Floats
from crowdgate.hierarchy import Level
from crowdgate.kind.listing import Listing, json_value
from crowdgate.kind.pass_probability import PassProbability
from crowdgate.kind.picture import Picture
from crowdgate.number_text import Value, format_value

if TYPE_CHECKING:
    from crowdgate.candidate import Static
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule

Axes = Mapping[str, Level]


class Basis(StrEnum):
    """The public knowledge on which a forecast figure is based."""

    EXACT = "exact: it follows from the policy"
    MARGINS = (
        "the contract's public margins, which do not relate attributes. What depends on their relation is unknown; its"
        " range is what is possible. A public table or a pilot release tells it (--from)"
    )
    PARTLY = (
        "given counts, which do not relate all attributes. What depends on the other relations is unknown; its range is"
        " what is possible. Counts of every two of these columns together tell it (--from)"
    )
    COARSER = "expected from given counts of two attributes at least, some of them at coarser levels than here"
    RELATED = "expected from given counts of two attributes at least, at these levels"
    COUNTED = "expected from a table that is known as a whole"
    PAST = "past runs of the same mechanism, columns and levels"

    @property
    def label(self) -> str:
        """The basis in two words."""
        return _LABELS[self]


_LABELS = {
    Basis.EXACT: "the policy",
    Basis.MARGINS: "public margins",
    Basis.PARTLY: "some counts",
    Basis.COARSER: "coarser counts",
    Basis.RELATED: "given counts",
    Basis.COUNTED: "known table",
    Basis.PAST: "past runs",
}


@dataclass(frozen=True)
class Figure:
    """One expected number with its prediction limits, its basis, and its style of `format_value`."""

    name: str
    label: str
    value: Value
    low: Value
    high: Value
    basis: Basis = Basis.EXACT
    format: str = ".4g"

    @classmethod
    def exact(cls, name: str, label: str, value: Value, format: str = ".4g") -> "Figure":
        """Return a figure that is known exactly."""
        return cls(name, label, value, value, value, format=format)

    @property
    def value_text(self) -> str:
        """The value as text; `unknown` for an unknown value that has a range."""
        unknown = self.value is None and self.low is not None
        return "unknown" if unknown else format_value(self.value, self.format)

    @property
    def range_text(self) -> str:
        """The prediction limits as text, `low to high`; empty if they are equal."""
        ends = format_value(self.low, self.format), format_value(self.high, self.format)
        return "" if self.low == self.high else " to ".join(ends)


@dataclass(frozen=True)
class Chart:
    """A listing shown as a grid, with a cell for each value of its columns `x` and `by`: the numbers of its columns
    `lines`, the first one and further ones in brackets."""

    listing: str
    x: str
    lines: tuple[str, ...]
    by: str


@dataclass(frozen=True, eq=False)
class CellErrors:
    """Expected errors (root mean squares, in persons of the table) of a table's cells, flat; `parts` are named
    components of `error`, whose squares add up to its square. `lost` is the expected share of missing rows, `factor`
    the factor by which the error may be larger."""

    error: Floats
    parts: Mapping[str, Floats]
    lost: float = 0.0
    factor: float = 1.0


@dataclass(frozen=True)
class CountErrors:
    """Expected standard errors of the noise on published counts: of their total, and for each table of counts by some
    attribute its number of cells and the root mean square over them."""

    total: float
    tables: tuple[tuple[int, float], ...]


Errors = Callable[[Axes], CellErrors | None]
"""The expected errors of a table at these levels; None if the release does not determine the table."""


def no_errors(_: Axes) -> CellErrors | None:
    """Return None for any table: the default for a kind that has no errors of tables."""
    return None


Keeping = Callable[[float], Axes | None]
"""The most informative levels, not finer than planned, at which the lower prediction limit of the retained share is at
least the argument; None if there are no such levels, or no rows."""


def no_rows(_: float) -> Axes | None:
    """Return None for any retained share: the default for a kind without rows, which has no levels to retain."""
    return None


GateOdds = Callable[["GateRule", "Measure", "Static"], PassProbability | None]
"""The probability that a gate passes, by known counts; None if they do not determine it."""


def no_pass_probability(*_: object) -> PassProbability | None:
    """Return None for any gate: no counts determine the probability that it passes."""
    return None


SimulatedPasses = Callable[["GateRule", "Measure"], tuple[int, int] | None]
"""The number of simulated releases that pass a gate, and of all; None if nothing is simulated for it. It is no
probability: the counts that are simulated from do not determine the table."""


def no_simulated_passes(*_: object) -> tuple[int, int] | None:
    """Return None for any gate: no release is simulated."""
    return None


@dataclass(frozen=True)
class RetainedPeople:
    """The expected share of the table's people who are in the release, or an upper bound on it. `text` states it in a
    clause, for comparisons of kinds; empty if everybody is in the release."""

    share: float = 1.0
    text: str = ""


@dataclass(frozen=True, eq=False)
class Forecast:
    """The expected figures, listings, pictures and table errors of a release, for one plan. Nothing is computed before
    it is used."""

    make_figures: Callable[[], tuple[Figure, ...]]
    made: Callable[[], tuple[Listing, ...]] = tuple
    chart: Chart | None = None
    pictures: Callable[[], Sequence[Picture]] = tuple
    """Pictures for pages, made on first use."""
    errors: Errors = no_errors
    first_errors: Errors | None = None
    """Errors for a search among many policies, where `errors` take long: those of rows without weights."""
    keeping: Keeping = no_rows
    compared: Axes | None = None
    """The attributes, at their levels, whose tables are worth comparing with other kinds."""
    retained: Callable[[], RetainedPeople] = RetainedPeople
    odds: GateOdds = no_pass_probability
    passes: SimulatedPasses = no_simulated_passes

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """The expected numbers with their ranges, made on first use."""
        return self.make_figures()

    @cached_property
    def listings(self) -> tuple[Listing, ...]:
        """Tables for people, made on first use."""
        return self.made()

    def to_json(self) -> dict[str, Any]:
        """Return each figure by its name (`a.b` inside `a`), each listing, and the bases of the figures."""
        said: dict[str, Any] = {}
        for figure in self.figures:
            *outer, name = figure.name.split(".")
            inside = said
            for each in outer:
                inside = inside.setdefault(each, {})
            inside[name] = json_value(figure.value)
        for listing in self.listings:
            said[listing.name] = listing.to_json()
        said["figures"] = [
            {
                "name": f.name,
                "value": json_value(f.value),
                "low": json_value(f.low),
                "high": json_value(f.high),
                "basis": str(f.basis),
            }
            for f in self.figures
        ]
        return said

    def figure(self, name: str) -> Value:
        """Return the value of a figure. Raises KeyError for an unknown name."""
        return {figure.name: figure.value for figure in self.figures}[name]

    def rows(self, name: str) -> Sequence[Mapping[str, Value]]:
        """Return the rows of a listing. Raises KeyError for an unknown name."""
        return {listing.name: listing.rows for listing in self.listings}[name]
