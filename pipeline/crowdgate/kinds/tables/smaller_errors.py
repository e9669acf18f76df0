"""Other noise, and other divisions of the noise budget, with which tables of the same guarantee have smaller errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

from crowdgate.accounting.numbers import down
from crowdgate.accounting.tables_plan import tables_budget
from crowdgate.guarantee import Part
from crowdgate.mechanisms.tables.dp_tables import DpTables, divided, expected_noise
from crowdgate.mechanisms.tables.joint_cost import noise_law
from crowdgate.mechanisms.tables.workload import Quantiles
from crowdgate.number_text import decimal

if TYPE_CHECKING:
    from crowdgate.kinds.tables.plan import TablesPlan
    from crowdgate.mechanisms.tables.accuracy import ExpectedNoise
    from crowdgate.mechanisms.tables.consistency import Axes

WORTH_SAYING = 0.9
"""The greatest errors that are advised, in parts of the policy's own."""
LARGEST_GROWTH = 1.1
"""The greatest error of any one table with advised settings, in parts of its error by the policy."""
MANY_BINS = 40
"""The number of bins from which a hierarchical histogram is advised. In tries with 40 to 200 bins quantiles of normal
and skewed numbers became 1.2 to 10 times as accurate, those of evenly spread ones .9 to 3 times."""
COARSER = 4
"""The least number of bins of quantiles to each bin of a table that supports them."""


@dataclass(frozen=True, eq=False)
class _NoisyTables:
    """A mechanism with the expected errors of its queries."""

    mechanism: DpTables
    rows: Sequence[ExpectedNoise]

    @classmethod
    def of(cls, mechanism: DpTables) -> _NoisyTables:
        return cls(mechanism, expected_noise(mechanism))

    def part_of(self, own: _NoisyTables) -> float:
        """Return the greatest error in parts of the policy's own: of counts the root mean square over all cells, and
        that of each table of other numbers."""
        return max(one / other for one, other in zip(self._errors(), own._errors(), strict=True))

    def may_replace(self, own: _NoisyTables, *, raw: bool) -> bool:
        """Return whether no table, and with `raw` no number as drawn, has a clearly larger error, and the total of the
        policy can be kept."""
        pairs = zip(self._by_table(raw=raw), own._by_table(raw=raw), strict=True)
        return max(one / other for one, other in pairs) <= LARGEST_GROWTH and _keeps_total(
            own.mechanism, self.mechanism
        )

    def _errors(self) -> list[float]:
        pairs = list(zip(self.rows, self.mechanism.queries, strict=True))
        counts = [row for row, linear in pairs if linear.grid is None]
        squares = sum(row.cells * (row.consistent_error or row.error) ** 2 for row in counts)
        cells = sum(row.cells for row in counts)
        others = [row.error for row, linear in pairs if linear.grid is not None]
        return [sqrt(squares / cells), *others] if cells else others

    def _by_table(self, *, raw: bool) -> list[float]:
        return [row.consistent_error or row.error for row in self.rows] + [row.error for row in self.rows if raw]


def smaller_errors(planned: TablesPlan) -> Iterator[tuple[str, str]]:
    """Yield the key of a setting and a clause on it: for the settings with the least errors, if these are at most
    WORTH_SAYING times the policy's own and those of no table grow clearly, and for quantiles of many bins.
    """
    own = _NoisyTables.of(planned.mechanism)
    others = [(key, words, _NoisyTables.of(other)) for key, words, other in _others(planned)]
    for key, words, other in sorted(others, key=lambda each: each[2].part_of(own)):
        part = other.part_of(own)
        if part <= WORTH_SAYING and other.may_replace(own, raw=planned.spec.raw):
            factor = decimal(1 / part, 2)
            errors = "the errors that noise makes in its tables"
            yield key, f"{errors} are {factor} times those with {words}, at the same guarantee"
            break
    yield from (("tables", words) for words in _hierarchical_histograms(planned.mechanism))


def _hierarchical_histograms(mechanism: DpTables) -> Iterator[str]:
    """Yield a clause for each item of quantiles with many bins that neither groups of them nor a table of coarser bins
    supports: the noise of all bins below a quantile adds up, and that of a few coarse bins is less."""
    counts = [linear.levels for linear in mechanism.queries if linear.grid is None]
    for item, own in zip(mechanism.workload.items, mechanism.workload.answers, strict=True):
        levels = mechanism.queries[own[0]].levels
        if not isinstance(item, Quantiles) or item.hierarchical or len(levels[item.column]) < MANY_BINS:
            continue
        most = len(levels[item.column]) / COARSER
        if not any(_supports(table, levels, item.column, most) for table in counts):
            bins = f"{item.name} have {len(levels[item.column])} bins, whose noise adds up"
            yield f"{bins}: `histogram: hierarchical` in their line makes them more accurate"


def _supports(table: Axes, levels: Axes, column: str, most: float) -> bool:
    """Return whether a table of counts has the cells of quantiles, with at most so many bins of their column."""
    same = all(name in table and len(table[name]) == len(level) for name, level in levels.items() if name != column)
    return same and set(table) == set(levels) and 1 < len(table[column]) <= most


def _others(planned: TablesPlan) -> Iterator[tuple[str, str, DpTables]]:
    """Yield other mechanisms that keep the policy's guarantee, each with the key and the words of its settings."""
    own, spec = planned.mechanism, planned.spec
    if own.budget.noise != "gaussian":
        return
    budget = tables_budget(own.part.epsilon, 0, "laplace", own.beta)
    part = Part(own.part.name, own.part.epsilon, Fraction(0))
    found, _ = divided(own.workload, budget, own.rows, part, "least-error")
    if found is not None:
        kept = spec.split in ("least-error", "automatic")
        words = "noise: laplace" if kept else "noise: laplace, split: least-error"
        yield "noise", words, found
    if not own.residuals and not spec.raw and own.beta == 1:
        found, _ = divided(own.workload, own.budget, own.rows, own.part, "residuals")
        if found is not None:
            yield "split", "split: residuals", found


def _keeps_total(own: DpTables, other: DpTables) -> bool:
    """Return whether other noise can keep the total of a policy that meets it jointly: not every delta is reached."""
    by_sum = tables_budget(own.part.epsilon, own.part.delta, own.budget.noise, own.beta).spend
    if own.budget.spend == by_sum or own.budget.noise == other.budget.noise:
        return True
    return noise_law(other).joint([]).delta(down(own.part.epsilon)) <= down(own.part.delta)
