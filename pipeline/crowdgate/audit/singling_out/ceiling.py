"""The most that an audit of singling out could find: the excess of attackers who see the policy's attributes of every
row, unchanged.

Given a table, their success is known: a hash within one combination of values takes exactly one of its members. So a
few drawn tables suffice, and nothing is played.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from crowdgate.accounting.pso_baselines import best_baseline, finite_baseline
from crowdgate.arrays import Floats, Integers
from crowdgate.audit.common.observation import PublicKnowledge
from crowdgate.audit.common.population import DrawnTable
from crowdgate.audit.singling_out_attackers.one_member import isolation_chance
from crowdgate.number_text import decimal

TABLES = 20
"""Number of tables that are drawn."""


def ceiling_of(known: PublicKnowledge, weights: Sequence[Fraction]) -> float:
    """Return the greatest excess over the baseline at any of these weights of predicates, as a mean over tables. Always
    the same tables are drawn."""
    rng = np.random.default_rng(0)
    draws = [known.population.draw(known.n, rng, replacement=known.replacement) for _ in range(TABLES)]
    return max(0.0, *(_excess(known, draws, weight) for weight in weights))


def _excess(known: PublicKnowledge, draws: Sequence[DrawnTable], most: Fraction) -> float:
    """Return the greater excess of two attackers: one describes any member, the other one knows all units but one, and
    describes that one."""
    weights, n, size = known.population.weights, known.n, known.population.size
    best = best_baseline(n, most) if known.replacement else finite_baseline(n, size, most)
    counted = [_members(each) for each in draws]
    anybody = float(np.mean([isolation_chance(own, weights, most).max() for own in counted]))
    last = float(np.mean([_last_member(own, weights, most) @ own / n for own in counted]))
    return max(anybody - best, last - float(most))


def _members(drawn: DrawnTable) -> Integers:
    """Return the number of units of a table that have a row in each cell."""
    of = drawn.population.rows
    return drawn.units if of is None else np.asarray((of > 0).T @ drawn.units, dtype=np.int64)


def _last_member(members: Integers, weights: Floats, most: Fraction) -> Floats:
    """Return for each cell the probability that a hash of at most this weight takes one of its members and no other."""
    share = np.minimum(1.0, float(most) / np.maximum(weights, 1e-300))
    return np.asarray(share * (1 - share) ** np.maximum(members - 1, 0))


def could_not_fail(ceiling: float, limit: Fraction) -> str:
    """Return the reason why an audit with this ceiling is no evidence for its limit."""
    return (
        "this audit could not have failed: attackers who see the policy's attributes of every row, unchanged, exceed"
        f" the baseline by {decimal(ceiling, 3)}, and the limit is {decimal(limit, 4)}; write a smaller limit"
    )
