"""Errors of one-way shares by weighted rows: never above those without weights, and near the least that weights allow.

The least sum of absolute errors is found by a linear program over all weights within their limits.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack

from crowdgate.arrays import Floats
from crowdgate.kinds.rows.candidate import CalibratedMargins, PublishedRows
from crowdgate.kinds.rows.margins import cells
from crowdgate.kinds.rows.weights import bounds
from tests.kinds.test_misleading_rows import BETA, GOOD, MISLEADING, Rows, generated, planned
from tests.kinds.test_share_coverage import releases, table_of

SIX = tuple(f"c{at}" for at in range(6))
TABLES: Mapping[str, tuple[Callable[[], Rows], Sequence[str]]] = {
    "2,000": (lambda: generated(2000), ("c1", "c3")), "5,000": (lambda: generated(5000), ("c1", "c3", "c5")),
    "9,000": (generated, ("c1", "c3", "c5")), "9,000 at fine levels": (generated, SIX),
    "30,000": (lambda: generated(30_000), SIX[:4]), "300,000": (lambda: generated(300_000), SIX),
    "charges": GOOD["charges"], "census": GOOD["census"], "fine charges": MISLEADING["charges"],
    "fine census": MISLEADING["census"],
}  # fmt: skip


def shares(held: PublishedRows, made: CalibratedMargins) -> tuple[Any, Floats, float]:
    """Return the one-way cells by class, the share of each cell by its margin, and the sum of standard errors of these
    shares."""
    people, parts, stated, noise = float(made.margins[0].value[0]), [], [], 0.0
    for margin in (each for each in made.margins if len(each.levels) == 1):
        cell, size, classes = (
            cells(held.rows, margin.levels, made.lookup, made.sizes),
            len(margin.value),
            len(held.rows),
        )
        parts.append(csr_array((np.ones(classes), (cell, np.arange(classes))), shape=(size, classes)))
        stated.append(margin.value / people)
        noise += float(margin.error.sum()) / people
    return vstack(parts), np.concatenate(stated), noise


def least_error(counts: Floats, members: Any, stated: Floats) -> float:
    """Return the least sum of absolute errors over weights within their limits, for shares y of the classes: with t of
    the reciprocal total weight, low counts t <= y <= high counts t."""
    number, size = len(counts), len(stated)
    low, high = (float(each) * counts[:, None] for each in bounds(BETA))
    none, own, error = csr_array((size, 1)), eye_array(number), eye_array(size)
    free: Any = csr_array((number, size))
    limits: Any = vstack([hstack([members, none, -error]), hstack([-members, none, -error]),
                          hstack([-own, csr_array(low), free]), hstack([own, csr_array(-high), free])])  # fmt: skip
    right = np.concatenate([stated, -stated, np.zeros(2 * number)])
    whole: Any = hstack([csr_array(np.ones((1, number))), csr_array((1, 1 + size))])
    cost = np.concatenate([np.zeros(number + 1), np.ones(size)])
    solved: Any = linprog(cost, limits.tocsr(), right, whole.tocsr(), np.ones(1), method="highs")
    return float(solved.fun)


@pytest.mark.thorough
@pytest.mark.parametrize("name", TABLES)
def test_weighted_shares_are_nearer_to_their_margins_and_near_the_least_error(name: str) -> None:
    """At most twice the least error, or below the standard errors of the margins, where nearer means nothing."""
    make, columns = TABLES[name]
    safe, known = planned(make(), columns)
    (held,) = releases(safe, table_of(known), np.random.default_rng(2), 1)
    assert held.weighting is not None
    members, stated, noise = shares(held, held.weighting)
    counts = held.rows.counts.astype(np.float64)
    weighted = counts * held.weighting.weights
    plain, found = (np.abs(members @ (each / each.sum()) - stated) for each in (counts, weighted))
    assert (found**2).sum() <= (plain**2).sum()
    assert found.sum() <= max(2 * least_error(counts, members, stated), noise)
