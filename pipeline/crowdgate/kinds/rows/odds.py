"""The chance that a gate passes where public counts tell the whole table: by rows that are drawn from these counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, Shape, Static
from crowdgate.histogram import Histogram, at_least, subsample
from crowdgate.kind.drawing import Draws, count_noise, counted, odds_of, public_draws
from crowdgate.kind.forecast import GateOdds, Odds, no_odds

if TYPE_CHECKING:
    from crowdgate.kind.prior import Prior
    from crowdgate.measures import Measure
    from crowdgate.mechanisms.rows.safe_k import SafeK
    from crowdgate.policy.policy import GateRule

DRAWS = 1000
MOST_CLASSES = 20_000
"""More take too long to be drawn so often."""
DRAWN = (Shape.ROWS, Shape.TABLE)


def gate_odds(safe: SafeK, prior: Prior) -> GateOdds:
    """The chances of the gates on released rows, and of the charged ones on the table; nothing where levels are chosen
    from data, or counts do not tell the whole table."""
    if safe.choice is not None:
        return no_odds
    table = cache(lambda: counted(prior, safe.levels))

    def found(rule: GateRule, measure: Measure, static: Static) -> Odds | None:
        told = table() if measure.shape in DRAWN and not measure.register else None
        if told is None or len(told) > MOST_CLASSES:
            return None
        return odds_of(rule, measure, _drawn(safe, told, measure.shape, static))

    return found


def _drawn(safe: SafeK, table: Histogram, shape: Shape, static: Static) -> Iterator[Candidate]:
    draws = public_draws()
    whole = Candidate(static=static, table=table, noise=count_noise(draws))
    for _ in range(DRAWS):
        yield whole if shape is Shape.TABLE else replace(whole, rows=_released(safe, table, draws))


def _released(safe: SafeK, table: Histogram, draws: Draws) -> Histogram:
    sample = subsample(table, lambda counts: draws.binomial(counts, float(safe.beta)))
    return at_least(sample, safe.k)
