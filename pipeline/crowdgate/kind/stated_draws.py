"""Stated distributions that several kinds share: noise of linear queries, and private choices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import exp, sqrt
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.kind.stated_laws import ChoiceDraw, Contradiction, NoiseDraws, RecordedChoice, StatedDraw

if TYPE_CHECKING:
    from crowdgate.arrays import Floats, Integers
    from crowdgate.histogram import Histogram
    from crowdgate.mechanisms.tables.dp_tables import DpTables

OTHER_TABLES = Contradiction("Other noisy tables were drawn than the policy states.")
NODES = 64
"""Quadrature nodes of the law of a selection; exact for up to 128 options."""


def noise_draws(stated: DpTables, counted: Mapping[str, Histogram], noisy: Sequence[Integers]) -> Iterator[StatedDraw]:
    """Yield the noise of each linear query, with the law that the plan `stated` has for it; `counted` are the exact
    counts of its views, or of the sample."""
    true = stated.true_vectors(counted)
    if [each.shape for each in true] != [each.shape for each in noisy]:
        yield OTHER_TABLES
        return
    for law, exact, drawn, linear in zip(stated.laws, true, noisy, stated.vectors, strict=True):
        family = "noise of counts" if linear.grid is None else "noise of sums"
        yield NoiseDraws(family, law, (drawn - exact).reshape(-1))


def selection_draw(family: str, made: RecordedChoice) -> ChoiceDraw:
    """Return a choice of epsilon-differential privacy with the probabilities of all options, those of permute-and-flip
    (McKenna, Sheldon 2020): option i comes up at a uniform time u, and each other one was then passed over with
    probability 1 - u q, q = e^(epsilon (score - best) / sensitivity)."""
    order = _best_first(made.scores)
    best, rate = made.scores[order[0]], float(made.budget) / made.sensitivity
    taken = np.array([exp(rate * float(made.scores[at] - best)) for at in order])
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    passed = np.log1p(-np.multiply.outer((nodes + 1) / 2, taken))
    others = np.exp(passed.sum(axis=1, keepdims=True) - passed)
    chances = taken * (weights / 2 @ others)
    return ChoiceDraw(family, chances / chances.sum(), order.index(made.chosen))


def zcdp_choice_draw(family: str, made: RecordedChoice) -> ChoiceDraw:
    """Return a choice of rho-zCDP with the probabilities of all options, those of the exponential mechanism by Gumbel
    noise of scale sensitivity / sqrt(2 rho)."""
    order = _best_first(made.scores)
    scale = made.sensitivity / sqrt(2 * made.budget)
    best = made.scores[order[0]]
    odds: Floats = np.exp([float(made.scores[at] - best) / scale for at in order])
    return ChoiceDraw(family, odds / odds.sum(), order.index(made.chosen))


def _best_first(scores: Sequence[int]) -> list[int]:
    return sorted(range(len(scores)), key=lambda at: (-scores[at], at))
