"""The chance that a gate passes where public counts tell the whole table: by releases that are drawn from these counts.

Coins, suppression and the noise of charged gates have known laws, so DRAWS releases are drawn as they would be,
measured by the gate's own measure and judged. The draws are public and always the same. Of p passing draws in n the
chance is (p + 1/2) / (n + 1), by Jeffreys, and its ends are two standard errors away.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.candidate import Candidate, Shape, Static
from crowdgate.gate import Outcome, judge
from crowdgate.histogram import Histogram, at_least, subsample
from crowdgate.kind.forecast import Basis, GateOdds, Odds, no_odds
from crowdgate.noise import CountNoise

if TYPE_CHECKING:
    from crowdgate.kinds.rows.expected import Kept
    from crowdgate.measures import Measure
    from crowdgate.mechanisms.rows.safe_k import SafeK
    from crowdgate.policy.policy import GateRule

DRAWS = 1000
LEAST = 0.5 / (DRAWS + 1)
"""Of a chance: so many draws tell no less."""
MOST_CLASSES = 20_000
"""More take too long to be drawn so often."""
DRAWN = (Shape.ROWS, Shape.TABLE)
MOST_SCALE = 1e15
"""Of noise that fits into 64 bits."""


def gate_odds(safe: SafeK, kept: Kept | None) -> GateOdds:
    """The chances of the gates on released rows, and of the charged ones on the table; nothing where levels are chosen
    from data, or counts do not tell the whole table."""
    if safe.choice is not None or kept is None or kept.joint.basis is not Basis.COUNTED:
        return no_odds
    table = _table(kept)
    if len(table) > MOST_CLASSES:
        return no_odds
    return lambda rule, measure, static: _odds(safe, table, rule, measure, static)


def _table(kept: Kept) -> Histogram:
    people = np.rint(kept.joint.people).astype(np.int64)
    codes = tuple(each.astype(np.int64) for each in np.nonzero(people))
    return Histogram(tuple(kept.joint.axes), people.shape, codes, people[people > 0])


def _odds(safe: SafeK, table: Histogram, rule: GateRule, measure: Measure, static: Static) -> Odds | None:
    if measure.shape not in DRAWN or measure.register or measure.of_candidate is None:
        return None
    draws, passed = np.random.default_rng(0), 0
    whole = Candidate(static=static, table=table, noise=_noise(draws))
    for _ in range(DRAWS):
        drawn = whole if measure.shape is Shape.TABLE else replace(whole, rows=_released(safe, table, draws))
        passed += judge(rule, measure.of_candidate(drawn, rule)) is Outcome.PASS
    chance = (passed + 0.5) / (DRAWS + 1)
    apart = 2 * sqrt(chance * (1 - chance) / DRAWS)
    return Odds(chance, max(LEAST, chance - apart), min(1 - LEAST, chance + apart))


def _released(safe: SafeK, table: Histogram, draws: np.random.Generator) -> Histogram:
    sample = subsample(table, lambda counts: draws.binomial(counts, float(safe.beta)))
    return at_least(sample, safe.k)


def _noise(draws: np.random.Generator) -> CountNoise:
    """Discrete Laplace noise that anybody can draw again: a difference of two geometric numbers."""

    def noisy(count: int, sensitivity: int, epsilon: Fraction) -> int:
        scale = min(MOST_SCALE, sensitivity / float(epsilon))
        one, other = draws.geometric(-np.expm1(-1 / scale), 2)
        return count + int(one - other)

    return noisy
