"""Probability that a gate passes, by simulated releases, if public counts determine the whole table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, OutputType, Static
from crowdgate.histogram import Histogram, at_least, subsample
from crowdgate.kind.drawing import Draws, count_noise, exact_table, pass_probability, public_draws
from crowdgate.kind.forecast import GateOdds, no_pass_probability
from crowdgate.kind.pass_probability import PassProbability

if TYPE_CHECKING:
    from crowdgate.kind.prior import Prior
    from crowdgate.measures import Measure
    from crowdgate.mechanisms.rows.safe_k import SafeK
    from crowdgate.policy.policy import GateRule

DRAWS = 1000
MOST_CLASSES = 20_000
"""Larger tables take too long to simulate."""
DRAWN = (OutputType.ROWS, OutputType.TABLE)


def pass_probabilities(safe: SafeK, prior: Prior) -> GateOdds:
    """Return the function that gives the probability that a gate on released rows, or a charged gate on the table,
    passes. It gives None if levels are chosen from data, or counts do not determine the whole table."""
    if safe.choice is not None:
        return no_pass_probability
    table = cache(lambda: exact_table(prior, safe.levels))

    def found(rule: GateRule, measure: Measure, static: Static) -> PassProbability | None:
        told = table() if measure.shape in DRAWN and not measure.register else None
        if told is None or len(told) > MOST_CLASSES:
            return None
        return pass_probability(rule, measure, _simulated_candidates(safe, told, rule, measure.shape, static))

    return found


def _simulated_candidates(
    safe: SafeK, table: Histogram, rule: GateRule, shape: OutputType, static: Static
) -> Iterator[Candidate]:
    draws = public_draws()
    whole = Candidate(static=static, table=table, noise=count_noise(public_draws(f"noise of {rule!r}")))
    for _ in range(DRAWS):
        yield whole if shape is OutputType.TABLE else replace(whole, rows=_simulated_release(safe, table, draws))


def _simulated_release(safe: SafeK, table: Histogram, draws: Draws) -> Histogram:
    sample = subsample(table, lambda counts: draws.binomial(counts, float(safe.beta)))
    return at_least(sample, safe.k)
