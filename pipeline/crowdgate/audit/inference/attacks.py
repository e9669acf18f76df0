"""Attacks on a release: what somebody is guessed to be, from what is known of him and all that is published.

An attack answers with shares of the labels for every distinct tuple of what is known, as far as the release tells it;
zeros where it makes no guess; None where the release tells nothing that it reads.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdgate.audit.inference import models
from crowdgate.audit.inference.models import Fit, Known, Labels, prior_of, smoothed
from crowdgate.audit.inference.secret import Codes, Floats, Secret
from crowdgate.audit.inference.seen import Rows, Target, rows_of, table_of
from crowdgate.audit.population import Rng
from crowdgate.kind.seen import Seen


@dataclass(frozen=True, eq=False)
class Sight:
    """What an attacker sees of a release, what is asked, and what is known of whom."""

    seen: Seen
    secret: Secret
    target: Target
    rng: Rng

    @cached_property
    def rows(self) -> Rows | None:
        """The released rows in what is known and in the secret."""
        return rows_of(self.seen, self.secret, tuple(self.target.levels))

    @cached_property
    def tables(self) -> list[Rows]:
        """The tables that tell the secret beside what is known."""
        every = (table_of(table, self.secret, tuple(self.target.levels)) for table in self.seen.tables)
        return [each for each in every if each is not None]


Attack = Callable[[Sight], Floats | None]
MOST_COMPARED = 1 << 22
"""Pairs of tuples that are compared at a time."""
MOST_PAIRS = 1 << 28
"""Pairs that are compared at all: of more the nearest rows are not looked for."""


def class_homogeneity(sight: Sight) -> Floats | None:
    """The label that most rows of the target's class have (A. Machanavajjhala et al. 2006: homogeneity)."""
    rows, secret, target = sight.rows, sight.secret, sight.target
    if rows is None:
        return None
    place = _places(rows, target)
    found = smoothed(np.append(rows.weights, np.zeros((1, len(secret))), axis=0), prior_of(rows.weights))
    return found[place]


def best_row_match(sight: Sight) -> Floats | None:
    """The label that most of the released rows have that agree with the target in most attributes."""
    rows, secret, target = sight.rows, sight.secret, sight.target
    if rows is None or target.size * len(rows.weights) > MOST_PAIRS:
        return None
    names, found = list(rows.levels), np.zeros((target.size, len(secret)))
    step = max(1, MOST_COMPARED // max(1, len(rows.weights)))
    for start in range(0, target.size, step):
        part = slice(start, start + step)
        agree = np.zeros((len(range(*part.indices(target.size))), len(rows.weights)), dtype=np.int16)
        for name in names:
            agree += target.at(name, rows.levels[name])[part, None] == rows.codes[name][None, :]
        nearest = agree == agree.max(axis=1, keepdims=True)
        found[part] = nearest @ rows.weights
    return smoothed(found, prior_of(rows.weights))


def model_on_release(sight: Sight) -> Floats | None:
    """A logistic regression that is fitted on the released rows."""
    rows, secret, target = sight.rows, sight.secret, sight.target
    if rows is None or not rows.levels:
        return None
    trained = len(rows.weights)
    codes = tuple(np.concatenate([rows.codes[name], target.at(name, level)]) for name, level in rows.levels.items())
    known = Known(codes, (None,) * len(codes))
    weights = np.concatenate([rows.weights, np.zeros((target.size, len(secret)))])
    wanted = np.arange(trained, trained + target.size)
    return models.ridge(Fit(known, weights, wanted, Labels(len(secret), None), sight.rng))


def table_lookup(sight: Sight) -> Floats | None:
    """The label with the greatest count beside the target's values, in the table that tells most."""
    tables, secret = sight.tables, sight.secret
    if not tables:
        return None
    best = max(tables, key=lambda rows: secret.hits(rows.weights).max(axis=1).sum() / max(1.0, rows.weights.sum()))
    return smoothed(best.weights, prior_of(best.weights))[_places(best, sight.target)]


def joint_model(sight: Sight) -> Floats | None:
    """All tables together, as if what is known were independent given the secret (naive Bayes)."""
    tables, target = sight.tables, sight.target
    if len(tables) < 2:
        return None
    log = np.zeros((target.size, len(sight.secret)))
    for rows in tables:
        told = smoothed(rows.weights, prior_of(rows.weights))
        log += np.log(np.maximum(told, 1e-9))[_places(rows, target)]
    prior = np.mean([prior_of(rows.weights) for rows in tables], axis=0)
    log -= (len(tables) - 1) * np.log(np.maximum(prior, 1e-9))
    shares = np.exp(log - log.max(axis=1, keepdims=True))
    found: Floats = shares / shares.sum(axis=1, keepdims=True)
    return found


ATTACKS: Sequence[tuple[str, str, Attack]] = (
    ("class homogeneity", "the label that most rows of the target's class have", class_homogeneity),
    ("best row match", "the label of the released rows that agree in most attributes", best_row_match),
    ("model on the release", "logistic regression on the released rows", model_on_release),
    ("table lookup", "the label with the greatest count, in the table that tells most", table_lookup),
    ("joint model of the tables", "all tables together by naive Bayes", joint_model),
)
"""(name, summary, attack)."""


def _places(rows: Rows, target: Target) -> Codes:
    """Where each target's tuple stands among the tuples of the rows; behind them all if it is not there."""
    own, behind = np.zeros(target.size, dtype=np.int64), np.zeros(len(rows.weights), dtype=np.int64)
    for name, level in rows.levels.items():
        both = np.concatenate([behind * len(level) + rows.codes[name], own * len(level) + target.at(name, level)])
        _, place = np.unique(both, return_inverse=True)
        behind, own = place[: len(behind)].astype(np.int64), place[len(behind) :].astype(np.int64)
    where = np.full(int(max(behind.max(initial=0), own.max(initial=0))) + 1, len(rows.weights), dtype=np.int64)
    where[behind] = np.arange(len(rows.weights))
    return np.asarray(where[own], dtype=np.int64)
