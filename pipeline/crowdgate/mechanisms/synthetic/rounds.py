"""Select, measure, refit: which tables of a population are measured, with how much noise, and the model of them.

First all one-way tables; then rounds, in each of which some tables that the model is farthest from are chosen privately
and measured, and the model is fitted anew (McKenna, Mullins, Sheldon, Miklau 2022, AIM; in batches, with tables at
coarser levels as candidates). Every choice and every measurement has its rho, and they add up exactly to what is spent.
Between draws nothing is used but what was drawn, and what is public. A price may depend on what was drawn before, too:
a sum of rho that is never above a bound fixed beforehand is paid by that bound (Feldman, Zrnic 2021, "Individual
privacy accounting via a Renyi filter", for every order at once).
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
"""Tables of a round at most; fewer of few attributes, so that no attribute need be in two of them."""
SELECTING = Fraction(1, 10)
"""Of the price of a table: what choosing it takes."""
PRICES, DEARER = 5, 4
"""A table costs at first what is left over PRICES times the attributes, and DEARER times as much after a round of which
the median table tells no more than noise."""
AT_FIRST = Fraction(1, 4)
"""Of the cells that a model may have, those that it may have from the beginning: the others as the budget is spent."""
WIDE_NUMBERS = MOST_NUMBERS // 2
"""Noisy numbers of tables of several attributes, at most: those of one attribute always have room beside them."""
PAIR, ONE_WAY = 2, 1
"""Weights of scores: an error of a one-way table counts half."""


@dataclass(frozen=True, eq=False)
class SyntheticBudget:
    """What is spent, in rho: on the one-way table of every attribute at its finest level, on rounds, and on the
    certificate."""

    one_ways: tuple[Fraction, ...]
    rounds: Fraction
    certificate: Fraction

    @property
    def rho(self) -> Fraction:
        """All of it."""
        return sum(self.one_ways, self.rounds + self.certificate)


@dataclass(frozen=True, eq=False)
class RoundsPlan:
    """What the rounds need of a plan. A person has up to `rows_per_unit` rows, so that adding one changes a table by at
    most so many, in one cell or in several."""

    domain: ModelDomain
    candidates: tuple[Table, ...]
    impossible: Impossible
    model_cells: int
    rows_per_unit: int
    budget: SyntheticBudget

    @property
    def picks(self) -> int:
        """Tables of a round."""
        return max(1, min(PICKS, len(self.domain.attributes) // 2))

    @property
    def first_table_cost(self) -> Fraction:
        """rho of a table in the first round: of choice and measurement."""
        return self.budget.rounds / (PRICES * len(self.domain.attributes))

    @cached_property
    def one_ways(self) -> tuple[Table, ...]:
        """The one-way tables at finest levels."""
        return tuple((variable,) for variable in self.domain.finest)


@dataclass(frozen=True, eq=False)
class SelectedTable:
    """A private choice of one table, and what it cost."""

    table: Table
    round: int
    rho: Fraction


@dataclass(frozen=True, eq=False)
class SynthesisResult:
    """Rows as codes of the finest variables, `total` of them, the measurements that they are made of, what choosing
    these cost, and noisy distances from the rows to the table (`certificate.pairs` gives their order)."""

    measured: tuple[MeasuredTable, ...]
    selected: tuple[SelectedTable, ...]
    total: int
    rows: tuple[Codes, ...]
    distances: Integers

    @property
    def spent(self) -> Fraction:
        """The rho of choices and measurements."""
        return sum([*(each.rho for each in self.measured), *(each.rho for each in self.selected)], Fraction(0))


def synthesize(drawing: RoundsPlan, counted: Histogram, noise: ZcdpSource, rng: np.random.Generator) -> SynthesisResult:
    """Draw everything: measurements, rows, certificate; no rows where nobody, or too many, seem to be there. `counted`
    are all attributes at their finest levels; `rng` is no secret, since it draws what is made of noisy numbers alone.
    """
    run = _Rounds(drawing, counted, noise)
    run.play()
    made = run.learned.rows(rng)
    far = distances(drawing.domain, counted, made, drawing.rows_per_unit, drawing.budget.certificate, noise)
    return SynthesisResult(run.learned.measured, tuple(run.selected), run.learned.number, made, far)


class _Rounds:
    """The state of a run: what was chosen, and what was learned from measurements."""

    def __init__(self, drawing: RoundsPlan, counted: Histogram, noise: ZcdpSource) -> None:
        self.drawing, self.noise = drawing, noise
        self.domain, self.finest = drawing.domain, FinestTables(drawing.domain)
        self.learned = ModelFit(drawing.domain, drawing.impossible)
        self.selected: list[SelectedTable] = []
        self._counts = _Counts(drawing.domain, counted)

    def play(self) -> None:
        """All rounds, to the last of the budget; none where one-way tables say that there is nobody."""
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
        """Choose and measure some tables, and fit the model anew. Whether the median one told more than noise."""
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
        """One of the tables, privately. One row changes a count by one, so a score by at most the greatest weight."""
        values = np.array([scores[table] for table in tables], dtype=np.int64)
        found = tables[self.noise.choose(values, PAIR * self.drawing.rows_per_unit, rho)]
        self.selected.append(SelectedTable(found, number, rho))
        return found

    def measured(self, table: Table, number: int, rho: Fraction) -> MeasuredTable:
        """A table with noise. One row changes one cell by one."""
        noisy = self.noise.gaussian(self._counts.of(table), self.drawing.rows_per_unit, rho)
        return MeasuredTable(table, number, rho, self.variance(rho), noisy)

    @property
    def model(self) -> Model:
        """The model so far."""
        assert self.learned.model is not None, "one-way tables come first"
        return self.learned.model

    def variance(self, rho: Fraction) -> Fraction:
        """Of the noise in a cell."""
        return Fraction(self.drawing.rows_per_unit**2) / (2 * rho)

    def scores(self, variance: Fraction) -> dict[Table, int]:
        """By how much the model is wrong about every candidate, in rows, beyond what noise would be."""
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
        """What the model says of a table, in whole rows."""
        return np.rint(self.learned.total * self.model.marginal(table)).astype(np.int64)

    def fitting(self, tables: Iterable[Table], picks: Sequence[Table], limit: int) -> list[Table]:
        """The tables with which a model of all tables so far is small enough, and the noisy numbers not too many: by
        what is public, or paid for. Those of other attributes than this round's picks, as long as there are any."""
        measured, taken = [*(each.table for each in self.learned.measured), *picks], {*map(self.finest.of, picks)}
        grown = Extensions(self.domain, [*measured, *(table for table, _ in self.drawing.impossible)])
        room = WIDE_NUMBERS - sum(self.domain.cells(table) for table in measured if len(table) > 1)

        def fits(table: Table) -> bool:
            return len(table) == 1 or (self.domain.cells(table) <= room and grown.with_table(table, limit) <= limit)

        fresh = (table for table in tables if self.finest.of(table) not in taken)
        return [*filter(fits, fresh)] or [*filter(fits, tables)]

    def limit(self, left: Fraction) -> int:
        """Cells that the model may have now."""
        spent = 1 - left / self.drawing.budget.rounds
        return int(self.drawing.model_cells * max(AT_FIRST, spent))

    def gain(self, table: Table, before: Model, variance: Fraction) -> float:
        """By how much a table's measurement moved the model, in rows, beyond what noise would."""
        moved = np.abs(self.model.marginal(table) - before.marginal(table))
        return float(self.learned.total * moved.sum() - sqrt(2 / pi * float(variance)) * moved.size)


class _Counts:
    """Exact counts of tables, each made once."""

    def __init__(self, domain: ModelDomain, counted: Histogram) -> None:
        self._domain, self._counted, self._finest = domain, counted, FinestTables(domain)
        self._known: dict[Table, Integers] = {}

    def of(self, table: Table) -> Integers:
        finest = self._finest.of(table)
        if finest not in self._known:
            self._known[finest] = count(self._domain, self._counted, finest)
        return self._finest.projected(self._known[finest], table)
