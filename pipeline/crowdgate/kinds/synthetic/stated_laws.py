"""The numbers that a release of synthetic rows draws, beside their stated distributions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.accounting.discrete_laws import DiscreteGaussian
from crowdgate.accounting.zcdp import squared_sigma
from crowdgate.histogram import Histogram
from crowdgate.kind.stated_draws import zcdp_choice_draw
from crowdgate.kind.stated_laws import OTHER_SAMPLE, Contradiction, NoiseDraws, RecordedRandomness, StatedDraw
from crowdgate.kinds.synthetic.plan import VIEW
from crowdgate.kinds.synthetic.released_files import by_class
from crowdgate.mechanisms.synthetic.certificate import distances, pairs
from crowdgate.mechanisms.synthetic.counting import FinestTables, count
from crowdgate.noise import ZcdpSource

if TYPE_CHECKING:
    from crowdgate.arrays import Integers
    from crowdgate.kinds.synthetic.plan import SyntheticPlan
    from crowdgate.kinds.synthetic.release import SyntheticCandidate
    from crowdgate.kinds.synthetic.released_files import PublishedSynthetic
    from crowdgate.mechanisms.synthetic.rounds import RoundsPlan, SynthesisResult

OTHER_TABLES = Contradiction("The published noisy tables are not those that were measured.")
OTHER_ROWS = Contradiction("The published rows, or their distances, are not those that were made.")
OVERSPENT = Contradiction("Measured tables and selections cost more than their part of the budget, or another part.")
OTHER_CHOICES = Contradiction("Tables were selected by other private choices than those that the release states.")


def stated_laws(
    planned: SyntheticPlan,
    counted: Mapping[str, Histogram],
    candidate: SyntheticCandidate,
    published: PublishedSynthetic | None,
    recorded: RecordedRandomness,
) -> Iterator[StatedDraw]:
    """Yield the noise of measured tables and of the certificate, the selections of tables and the sampled classes of
    one release, and all contradictions between its parts. `counted` counts the table from which it was drawn; what is
    `published` is compared unless it is None."""
    mechanism, table, drawn = planned.mechanism, counted[VIEW], candidate.drawn
    if mechanism.beta != 1:
        made = recorded.sample(mechanism.beta)
        if made is None:
            yield OTHER_SAMPLE
            return
        yield made.drawn
        table = made.of(table)
    yield from _spends(mechanism.drawing, drawn)
    yield from _choices(drawn, recorded)
    yield from _measurements(mechanism.drawing, table, drawn)
    if published is None:
        return
    if not _same_tables(drawn, published):
        yield OTHER_TABLES
    expected = by_class(published.rows.names, published.rows.sizes, drawn.rows)
    if not _same_rows(expected, published.rows) or not np.array_equal(drawn.distances, published.distances):
        yield OTHER_ROWS


def _spends(drawing: RoundsPlan, drawn: SynthesisResult) -> Iterator[StatedDraw]:
    """Yield a contradiction if one-way tables have another cost than planned, or if rounds cost more than theirs."""
    budget = drawing.budget
    one_ways = tuple(each.rho for each in drawn.measured if each.round == 0)
    if one_ways != budget.one_ways or drawn.spent - sum(one_ways, Fraction(0)) > budget.rounds:
        yield OVERSPENT


def _choices(drawn: SynthesisResult, recorded: RecordedRandomness) -> Iterator[StatedDraw]:
    if [each.budget for each in recorded.choices] != [each.rho for each in drawn.selected]:
        yield OTHER_CHOICES
        return
    for each in recorded.choices:
        yield zcdp_choice_draw("selections of tables", each)


def _measurements(drawing: RoundsPlan, table: Histogram, drawn: SynthesisResult) -> Iterator[StatedDraw]:
    finest = FinestTables(drawing.domain)
    for each in drawn.measured:
        exact = finest.projected(count(drawing.domain, table, finest.of(each.table)), each.table)
        law = DiscreteGaussian(squared_sigma(drawing.rows_per_unit, each.rho))
        yield NoiseDraws("noise of counts", law, (each.noisy - exact).reshape(-1))
    if len(drawn.distances):
        every = len(pairs(drawing.domain))
        far = distances(drawing.domain, table, drawn.rows, drawing.rows_per_unit, drawing.budget.certificate, _EXACT)
        law = DiscreteGaussian(squared_sigma(drawing.rows_per_unit, drawing.budget.certificate / every))
        yield NoiseDraws("noise of distances", law, drawn.distances - far)


def _same_tables(drawn: SynthesisResult, published: PublishedSynthetic) -> bool:
    measured = [each.noisy for each in drawn.measured]
    same = len(measured) == len(published.measured)
    return same and all(
        np.array_equal(one, other.noisy) for one, other in zip(measured, published.measured, strict=True)
    )


def _same_rows(one: Histogram, other: Histogram) -> bool:
    parts = zip((*one.codes, one.counts), (*other.codes, other.counts), strict=True)
    return all(np.array_equal(a, b) for a, b in parts)


def _without_noise(values: Integers, _: int, __: Fraction) -> Integers:
    return values


def _no_choice(_: Integers, __: int, ___: Fraction) -> int:
    raise AssertionError("distances choose nothing")


_EXACT = ZcdpSource(_without_noise, _no_choice)
