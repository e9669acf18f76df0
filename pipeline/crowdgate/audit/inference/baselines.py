"""Baselines: the inferences that a table allows about people who are not in it, by models fitted on the original rows
without them.

Each block of people is predicted by models that were fitted on the other blocks. A baseline is a lower bound: there may
always be a better one (Francis, Wagner, section 4.2).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.audit.common.population import Rng
from crowdgate.audit.inference import models
from crowdgate.audit.inference.models import FitTask, KnownAttributes, SecretLabels
from crowdgate.audit.inference.secret import Secret, best_guesses
from crowdgate.audit.inference.source_table import SourceTable

Baselines = Sequence[tuple[str, str, models.Model]]
BASELINES: Baselines = (
    ("majority", "the same for everybody", models.majority),
    ("one-to-one map", "by the one most informative attribute", models.one_to_one),
    ("nearest rows", "rows that agree in most attributes, the most informative first", models.longest_match),
    ("logistic regression", "with an L1 penalty, as in the paper; of numbers lasso", models.logistic),
    (
        "ridge regression",
        "logistic with an L2 penalty, as models on a release are; of numbers linear",
        models.ridge,
    ),
    ("gradient boosting", "of trees", models.boosted),
)
"""(name, summary, model)."""


@dataclass(frozen=True, eq=False)
class BaselineGuesses:
    """Guesses of one baseline for every tuple of known attributes, by the block of people that the model was fitted
    without: labels and confidence (tuples by blocks; confidence 0: no guess)."""

    name: str
    labels: Integers
    confidence: Floats


def baselines(
    original: SourceTable,
    secret: Secret,
    known: KnownAttributes,
    of_cell: Integers,
    rng: Rng,
    every: Baselines = BASELINES,
) -> list[BaselineGuesses]:
    """Return the guesses of all baselines for a secret attribute: each block of people of the table is predicted by
    models fitted on the other blocks."""
    labels, size = SecretLabels(len(secret), secret.numbers), (len(known), len(secret))
    place = of_cell * len(secret) + original.secret_codes(secret)
    found = [BaselineGuesses(name, *_no_guesses(len(known), original.blocks)) for name, _, _ in every]
    whole = original.rows.sum(axis=1)
    for block in np.flatnonzero(original.rows.any(axis=0)):
        rows = whole - original.rows[:, block]
        weights = np.bincount(place, rows, len(known) * len(secret)).reshape(size).astype(np.float64)
        wanted = np.flatnonzero(np.bincount(of_cell, original.rows[:, block], len(known)))
        for baseline, (_, _, model) in zip(found, every, strict=True):
            made = best_guesses(secret, model(FitTask(known, weights, wanted, labels, rng)))
            baseline.labels[wanted, block], baseline.confidence[wanted, block] = made.label, made.confidence
    return found


def _no_guesses(*size: int) -> tuple[Integers, Floats]:
    return np.zeros(size, dtype=np.int64), np.zeros(size)
