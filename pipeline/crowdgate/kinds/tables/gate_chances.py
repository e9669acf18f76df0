"""Probability that a gate passes, by simulated tables, if public counts determine the whole table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, OutputType, Static
from crowdgate.kind.drawing import exact_table, pass_probability, public_draws, vector_noise
from crowdgate.kind.forecast import GateOdds, no_pass_probability
from crowdgate.kind.pass_probability import PassProbability
from crowdgate.kinds.tables.release import published_cells
from crowdgate.mechanisms.tables.answers import consistent_answers

if TYPE_CHECKING:
    from crowdgate.candidate import PublishedCells
    from crowdgate.kind.prior import Prior
    from crowdgate.kinds.tables.plan import TablesPlan
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule

DRAWS = 100
MOST_CELLS = 500
"""Most noisy numbers that are simulated; more take too long to be made consistent this often."""


def pass_probabilities(planned: TablesPlan, prior: Prior) -> GateOdds:
    """Return the function that gives the probability that a gate on published numbers passes. It gives None if counts
    do not determine everything that is counted."""
    if planned.mechanism.workload.cells > MOST_CELLS:
        return no_pass_probability
    drawn = cache(lambda: tuple(_simulated_tables(planned, prior)))

    def found(rule: GateRule, measure: Measure, static: Static) -> PassProbability | None:
        if measure.shape is not OutputType.CELLS or not drawn():
            return None
        return pass_probability(rule, measure, (Candidate(static=static, cells=cells) for cells in drawn()))

    return found


def _simulated_tables(planned: TablesPlan, prior: Prior) -> Iterator[tuple[PublishedCells, ...]]:
    mechanism, draws = planned.mechanism, public_draws()
    known = {name: exact_table(prior, view.levels) for name, view in mechanism.views.items()}
    tables = {name: table for name, table in known.items() if table is not None}
    if len(tables) < len(known):
        return
    rate, source = float(mechanism.beta), vector_noise(draws)
    coins = None if mechanism.beta == 1 else lambda counts: draws.binomial(counts, rate)
    for _ in range(DRAWS):
        noisy = mechanism.protect(tables, coins, source)
        yield published_cells(planned, consistent_answers(mechanism, noisy, planned.spec.relative_error))
