"""Select, measure, refit: the measured tables of a population, the noise on each, and the model of them.

First all one-way tables; then rounds. In each round some tables with the largest model errors are selected privately
and measured, and the model is fitted again (McKenna, Mullins, Sheldon, Miklau 2022, AIM; in batches, with tables at
coarser levels as candidates). Each selection and each measurement has its rho, and they add up exactly to the budget.

Between draws the rounds use only earlier draws and public facts. A cost may depend on earlier draws, too: a sum of rho
that never exceeds a bound fixed beforehand is covered by that bound (Feldman, Zrnic 2021, "Individual privacy
accounting via a Renyi filter", for every order at once).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.limits import MOST_NUMBERS
from crowdgate.mechanisms.synthetic.certificate import distances
from crowdgate.mechanisms.synthetic.counting import FinestTables, count
from crowdgate.mechanisms.synthetic.fitting import MeasuredTable, ModelFit
from crowdgate.mechanisms.synthetic.junction_tree import Extensions

if TYPE_CHECKING:
    from crowdgate.arrays import Codes
    from crowdgate.histogram import Histogram
    from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table
    from crowdgate.mechanisms.synthetic.model import Impossible, Model
    from crowdgate.noise import ZcdpSource

PICKS = 6
"""Largest number of tables in a round; fewer if there are few attributes, so that no attribute need be in two
tables."""
SELECTING = Fraction(1, 10)
"""Part of a table's cost that its selection takes."""
PRICES, DEARER = 5, 4
"""A table first costs the rounds' rho divided by PRICES times the number of attributes. The cost grows by the factor
DEARER after a round whose median table contributes no more than noise."""
AT_FIRST = Fraction(1, 4)
"""Part of the model's cells that is available from the beginning; the rest becomes available as the budget is spent."""
WIDE_NUMBERS = MOST_NUMBERS // 2
"""Largest number of noisy numbers in tables of several attributes, which always leaves room for tables of one."""
PAIR, ONE_WAY = 2, 1
"""Weights of scores: an error of a one-way table counts half."""


@dataclass(frozen=True, eq=False)
class SyntheticBudget:
    """The budget in rho: for the one-way table of each attribute at its finest level, for rounds, and for the
    certificate."""

    one_ways: tuple[Fraction, ...]
    rounds: Fraction
    certificate: Fraction

    @property
    def rho(self) -> Fraction:
        """The total budget, in rho."""
        return sum(self.one_ways, self.rounds + self.certificate)


@dataclass(frozen=True, eq=False)
class RoundsPlan:
    """The part of a plan that the rounds read. A person has up to `rows_per_unit` rows, so adding one person changes a
    table by at most this number, in one or several cells."""

    domain: ModelDomain
    candidates: tuple[Table, ...]
    impossible: Impossible
    model_cells: int
    rows_per_unit: int
    budget: SyntheticBudget

    @property
    def picks(self) -> int:
        """Number of tables selected in a round."""
        return max(1, min(PICKS, len(self.domain.attributes) // 2))

    @property
    def first_table_cost(self) -> Fraction:
        """rho of a table in the first round, for selection and measurement."""
        return self.budget.rounds / (PRICES * len(self.domain.attributes))

    @cached_property
    def one_ways(self) -> tuple[Table, ...]:
        """The tables of one attribute each, at its finest level."""
        return tuple((variable,) for variable in self.domain.finest)


@dataclass(frozen=True, eq=False)
class SelectedTable:
    """A table that was selected privately, with the round and the cost of its selection in rho."""

    table: Table
    round: int
    rho: Fraction


@dataclass(frozen=True, eq=False)
class SynthesisResult:
    """Rows as codes of the finest variables, `total` of them; the measurements behind them; the costs of selections;
    and noisy distances from the rows to the table (in the order of `certificate.pairs`)."""

    measured: tuple[MeasuredTable, ...]
    selected: tuple[SelectedTable, ...]
    total: int
    rows: tuple[Codes, ...]
    distances: Integers

    @property
    def spent(self) -> Fraction:
        """The rho of selections and measurements together, without the certificate's."""
        return sum([*(each.rho for each in self.measured), *(each.rho for each in self.selected)], Fraction(0))


def synthesize(drawing: RoundsPlan, counted: Histogram, noise: ZcdpSource, rng: np.random.Generator) -> SynthesisResult:
    """Draw measurements, rows and certificate; no rows if the noisy number of rows is below 1 or too large.
    `counted` has all attributes at their finest levels; `rng` needs no secrecy, since its draws only post-process
    noisy numbers."""
    run = _Rounds(drawing, counted, noise)
    run.play()
    made = run.learned.rows(rng)
    far = distances(drawing.domain, counted, made, drawing.rows_per_unit, drawing.budget.certificate, noise)
    return SynthesisResult(run.learned.measured, tuple(run.selected), run.learned.number, made, far)


class _Rounds:
    """The state of a run: selected tables, and the fit to the measurements."""

    def __init__(self, drawing: RoundsPlan, counted: Histogram, noise: ZcdpSource) -> None:
        self.drawing, self.noise = drawing, noise
        self.domain, self.finest = drawing.domain, FinestTables(drawing.domain)
        self.learned = ModelFit(drawing.domain, drawing.impossible)
        self.selected: list[SelectedTable] = []
        self._counts = _Counts(drawing.domain, counted)

    def play(self) -> None:
        """Measure the one-way tables, then run rounds until the budget is spent; none if the one-way tables give a
        number of rows below 1."""
        paid = zip(self.drawing.one_ways, self.drawing.budget.one_ways, strict=True)
        self.learned = self.learned.after(tuple(self.measured(table, 0, rho) for table, rho in paid))
        if self.learned.total < 1:
            return
        left, picks = self.drawing.budget.rounds, self.drawing.picks
        price, number = self.drawing.first_table_cost, 1
        while left > 0:
            price = left / picks if left < (picks + 1) * price else price
            gained = self.round(number, price, left)
            left, number = left - picks * price, number + 1
            price = price if gained else DEARER * price

    def round(self, number: int, price: Fraction, left: Fraction) -> bool:
        """Select and measure some tables for `price` each, in rho, and refit the model, whose cells are bounded by the
        rho that is `left`. Return True if the median table contributed more than noise."""
        variance = self.variance((1 - SELECTING) * price)
        scores, limit = self.scores(variance), self.limit(left)
        picks: list[Table] = []
        fitting: Sequence[Table] = list(scores)
        for _ in range(self.drawing.picks):
            fitting = self.fitting(fitting, picks, limit)
            picks.append(self.choose(fitting, scores, number, SELECTING * price))
        before = self.model
        self.learned = self.learned.after(
            tuple(self.measured(table, number, (1 - SELECTING) * price) for table in picks)
        )
        return bool(np.median([self.gain(table, before, variance) for table in picks]) > 0)

    def choose(self, tables: Sequence[Table], scores: Mapping[Table, int], number: int, rho: Fraction) -> Table:
        """Return one of the tables, selected privately by its score at cost rho. One row changes a count by one, so a
        score by at most the greatest weight."""
        values = np.array([scores[table] for table in tables], dtype=np.int64)
        found = tables[self.noise.choose(values, PAIR * self.drawing.rows_per_unit, rho)]
        self.selected.append(SelectedTable(found, number, rho))
        return found

    def measured(self, table: Table, number: int, rho: Fraction) -> MeasuredTable:
        """Return the counts of a table with Gaussian noise of cost rho. One row changes one cell by one."""
        noisy = self.noise.gaussian(self._counts.of(table), self.drawing.rows_per_unit, rho)
        return MeasuredTable(table, number, rho, self.variance(rho), noisy)

    @property
    def model(self) -> Model:
        """The model fitted to the tables measured so far."""
        assert self.learned.model is not None, "one-way tables come first"
        return self.learned.model

    def variance(self, rho: Fraction) -> Fraction:
        """Return the variance of Gaussian noise of cost rho in a cell of a table."""
        return Fraction(self.drawing.rows_per_unit**2) / (2 * rho)

    def scores(self, variance: Fraction) -> dict[Table, int]:
        """Return the score of each one-way and candidate table: its weight times the model's L1 error on it, in rows,
        beyond the expected noise of variance `variance`."""
        noise = sqrt(2 / pi * float(variance))
        errors: dict[Table, Integers] = {}
        found: dict[Table, int] = {}
        for table in (*self.drawing.one_ways, *self.drawing.candidates):
            finest = self.finest.of(table)
            if finest not in errors:
                errors[finest] = self._counts.of(finest) - self.expected(finest)
            wrong = self.finest.projected(errors[finest], table)
            weight = ONE_WAY if len(table) == 1 else PAIR
            found[table] = weight * (int(np.abs(wrong).sum()) - round(noise * wrong.size))
        return found

    def expected(self, table: Table) -> Integers:
        """Return the number of rows that the model expects in each cell of a table, rounded."""
        return np.rint(self.learned.total * self.model.marginal(table)).astype(np.int64)

    def fitting(self, tables: Iterable[Table], picks: Sequence[Table], limit: int) -> list[Table]:
        """Return those of `tables` with which the model has at most `limit` cells and the noisy numbers are not too
        many, by public or already charged facts. Tables of exactly the attributes of one of this round's `picks` are
        returned only if no other table fits."""
        measured, taken = [*(each.table for each in self.learned.measured), *picks], {*map(self.finest.of, picks)}
        grown = Extensions(self.domain, [*measured, *(table for table, _ in self.drawing.impossible)])
        room = WIDE_NUMBERS - sum(self.domain.cells(table) for table in measured if len(table) > 1)

        def fits(table: Table) -> bool:
            return len(table) == 1 or (self.domain.cells(table) <= room and grown.with_table(table, limit) <= limit)

        fresh = (table for table in tables if self.finest.of(table) not in taken)
        return [*filter(fits, fresh)] or [*filter(fits, tables)]

    def limit(self, left: Fraction) -> int:
        """Return the largest number of cells that the model may have when the rho `left` remains of the rounds'
        budget."""
        spent = 1 - left / self.drawing.budget.rounds
        return int(self.drawing.model_cells * max(AT_FIRST, spent))

    def gain(self, table: Table, before: Model, variance: Fraction) -> float:
        """Return how much a table's measurement changed the model, in rows, beyond the expected noise. `before` is the
        model before the round, `variance` that of the noise."""
        moved = np.abs(self.model.marginal(table) - before.marginal(table))
        return float(self.learned.total * moved.sum() - sqrt(2 / pi * float(variance)) * moved.size)


class _Counts:
    """Exact counts of tables (confidential), each computed once."""

    def __init__(self, domain: ModelDomain, counted: Histogram) -> None:
        self._domain, self._counted, self._finest = domain, counted, FinestTables(domain)
        self._known: dict[Table, Integers] = {}

    def of(self, table: Table) -> Integers:
        finest = self._finest.of(table)
        if finest not in self._known:
            self._known[finest] = count(self._domain, self._counted, finest)
        return self._finest.projected(self._known[finest], table)
