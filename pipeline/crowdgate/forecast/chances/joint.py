"""Probability that several gates pass in the same release.

Gates on released data are judged on the same rows, so they are not independent. Gates that public counts forecast are
judged on the same simulated releases. Gates that past runs forecast are drawn together: each passes with its own
probability, and their Normal scores have the correlations of past distances beyond their limits (a Gaussian copula; Li
2000, Journal of Fixed Income 9). Correlations are shrunk, as few runs show them badly. Charged counts have noise of
their own and are independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod, sqrt
from statistics import NormalDist

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.kind.pass_probability import PassProbability

DRAWS = 20_000
"""The number of draws: their standard error is at most .0036."""
SAME = 1e-9
"""The greatest difference from 1 of the correlation of two limits on one number."""
LOST = 3
"""The number of runs that shrinking counts as lost: so many runs show nothing of a correlation."""


@dataclass(frozen=True, eq=False)
class GateDraw:
    """The probability that a gate passes, and for a gate that past runs forecast, the distance beyond its limit in each
    run by the run's id."""

    odds: PassProbability
    beyond: Mapping[str, float] = field(default_factory=dict)


def joint_probability(gates: Sequence[GateDraw]) -> float:
    """Return the probability that all these gates pass in one release."""
    simulated = [each for each in gates if each.odds.outcomes]
    related = [each for each in gates if not each.odds.outcomes and len(each.beyond) > 1]
    others = [each for each in gates if not each.odds.outcomes and len(each.beyond) < 2]
    return prod(each.odds.value for each in others) * _of_outcomes(simulated) * _of_correlated(related)


def _of_outcomes(gates: Sequence[GateDraw]) -> float:
    """Return the probability by simulated releases; gates with other numbers of draws are not judged on the same."""
    found = 1.0
    for number in {len(each.odds.outcomes) for each in gates}:
        same = [each.odds for each in gates if len(each.odds.outcomes) == number]
        passed = int(np.logical_and.reduce([each.outcomes for each in same]).sum())
        found *= same[0].value if len(same) == 1 else (passed + 0.5) / (number + 1)
    return found


def _of_correlated(gates: Sequence[GateDraw]) -> float:
    """Return the probability by draws of Normal scores."""
    values = [each.odds.value for each in gates]
    if len(gates) < 2 or not 0 < min(values) <= max(values) < 1:
        return prod(values)
    correlations = np.array([[_correlation(one.beyond, other.beyond) for other in gates] for one in gates])
    scores = np.random.default_rng(0).standard_normal((DRAWS, len(gates))) @ _root(correlations).T
    limits = np.array([NormalDist().inv_cdf(value) for value in values])
    return float((scores <= limits).all(axis=1).mean())


def _correlation(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the shrunk correlation of two distances over their common runs; 0 if one of them is always the same."""
    common = [run for run in one if run in other]
    if len(common) < 2:
        return 0.0
    apart = np.array([[each[run] for run in common] for each in (one, other)], dtype=np.float64)
    apart -= apart.mean(axis=1, keepdims=True)
    squares = float((apart[0] @ apart[0]) * (apart[1] @ apart[1]))
    if not squares:
        return 0.0
    found = float(apart[0] @ apart[1]) / sqrt(squares)
    runs = len(common)
    return found if runs > 2 and abs(found) > 1 - SAME else found * max(0, runs - LOST) / runs


def _root(correlations: Floats) -> Floats:
    """Return a root of the nearest matrix of correlations: pairs are estimated separately and need not fit."""
    np.fill_diagonal(correlations, 1)
    values, vectors = np.linalg.eigh(correlations)
    root = vectors * np.sqrt(np.maximum(values, 0))
    return np.asarray(root / np.sqrt((root**2).sum(axis=1, keepdims=True)))
