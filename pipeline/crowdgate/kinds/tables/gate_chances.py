"""Probability that a gate passes: by simulated tables if public counts determine the whole table, else, for the share
of trustworthy numbers, by its prediction limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import erfc, sqrt
from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, OutputType, Static
from crowdgate.kind.drawing import exact_table, pass_probability, public_draws, vector_noise
from crowdgate.kind.forecast import Figure, GateOdds
from crowdgate.kind.pass_probability import PassProbability
from crowdgate.kinds.tables.release import published_cells
from crowdgate.mechanisms.tables.answers import consistent_answers
from crowdgate.mechanisms.tables.workload import ContingencyTable

if TYPE_CHECKING:
    from crowdgate.candidate import PublishedCells
    from crowdgate.kind.prior import Prior
    from crowdgate.kinds.tables.plan import TablesPlan
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule

OUTSIDE = 0.1
"""The probability, at most, that a share is outside its prediction limits."""
LEAST_SPREAD = 1e-9
TRUSTED = "trusted_share"
DRAWS = 100
MOST_CELLS = 500
"""Most noisy numbers that are simulated; more take too long to be made consistent this often."""


def pass_probabilities(planned: TablesPlan, prior: Prior, trusted: Callable[[], Figure | None]) -> GateOdds:
    """Return the function that gives the probability that a gate on published numbers passes. It gives None if counts
    do not determine everything that is counted, and nothing is known of the `trusted` share."""
    small = planned.mechanism.workload.cells <= MOST_CELLS
    drawn = cache(lambda: tuple(_simulated_tables(planned, prior)) if small else ())

    def found(rule: GateRule, measure: Measure, static: Static) -> PassProbability | None:
        if measure.shape is not OutputType.CELLS:
            return None
        if drawn():
            return pass_probability(rule, measure, (Candidate(static=static, cells=cells) for cells in drawn()))
        return _by_limits(planned, rule, trusted()) if measure.name == TRUSTED else None

    return found


def _by_limits(planned: TablesPlan, rule: GateRule, share: Figure | None) -> PassProbability | None:
    """Return the probability that a share that has prediction limits meets a gate's limit; None for tables with sums or
    means, whose numbers the share leaves out, and without limits.

    With the limit outside the prediction limits, the share is on the other side with probability OUTSIDE at most. In
    between, the value is that of half a normal distribution on each side of the expected share, and nothing bounds it.
    """
    items = planned.mechanism.workload.items
    if share is None or rule.at_least is None or not all(isinstance(each, ContingencyTable) for each in items):
        return None
    value, low, high = (float(each) for each in (share.value, share.low, share.high))  # type: ignore[arg-type]
    limit = float(rule.at_least)
    if limit <= low:
        return PassProbability(1 - OUTSIDE / 2, 1 - OUTSIDE, 1.0)
    if limit > high:
        return PassProbability(OUTSIDE / 2, 0.0, OUTSIDE)
    spread = max(value - low if limit < value else high - value, LEAST_SPREAD) / 2  # two standard deviations
    return PassProbability(0.5 * erfc((limit - value) / (sqrt(2) * spread)), 0.0, 1.0)


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
