"""Attacks on a release: they infer a target's secret from the target's known attributes and all that is published.

An attack answers with shares of the labels for every distinct tuple of what is known, as far as the release tells it;
zeros where it makes no guess; None where the release tells nothing that it reads.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.audit.common.population import Rng
from crowdgate.audit.common.tuples import joint_keys
from crowdgate.audit.inference import models
from crowdgate.audit.inference.attacker_view import RowsByLabel, TargetAttributes, rows_of, table_of
from crowdgate.audit.inference.models import FitTask, KnownAttributes, SecretLabels, smoothed
from crowdgate.audit.inference.secret import Secret
from crowdgate.kind.mechanism_output import MechanismOutput


@dataclass(frozen=True, eq=False)
class InferenceAttackerView:
    """View of an inference attacker: a release, the secret attribute, and the known attributes of the targets (the
    people attacked)."""

    seen: MechanismOutput
    secret: Secret
    target: TargetAttributes
    prior: Floats
    """Share of every label in the population, which is public."""
    rng: Rng

    @cached_property
    def rows(self) -> RowsByLabel | None:
        """Numbers of released rows by known attributes and by labels of the secret; None if rows with the secret are
        not released."""
        return rows_of(self.seen, self.secret, tuple(self.target.levels), self.prior)

    @cached_property
    def tables(self) -> list[RowsByLabel]:
        """Released noisy tables that contain the secret and at least one known attribute, as counts by known attributes
        and labels."""
        every = (table_of(table, self.secret, tuple(self.target.levels), self.prior) for table in self.seen.tables)
        return [each for each in every if each is not None]

    @cached_property
    def class_counts(self) -> Floats | None:
        """Number of rows of each target's released class by label of the secret (targets by labels); None if no rows
        with the secret are released."""
        return _class_label_counts(self)

    @cached_property
    def model(self) -> Floats | None:
        """Labels' shares of each target according to a logistic regression fitted on the released rows."""
        return _model_guesses(self, models.ridge)

    @cached_property
    def joint(self) -> Floats | None:
        """Labels' shares of each target according to all noisy tables together; None for fewer than two tables."""
        return _joint_shares(self)


Attack = Callable[[InferenceAttackerView], Floats | None]
MOST_COMPARED = 1 << 22
"""Number of pairs of tuples that are compared at a time."""
MOST_PAIRS = 1 << 28
"""Greatest number of pairs: for more the attack does not search for the nearest rows."""


def most_frequent_label(sight: InferenceAttackerView) -> Floats | None:
    """Return the labels' shares in the public population, the same for every target, without access to the release. The
    guess is the most frequent label."""
    return np.tile(sight.prior, (sight.target.size, 1))


def class_homogeneity(sight: InferenceAttackerView) -> Floats | None:
    """Return, for each target, the labels' shares in the released class that has the target's known attributes; zeros
    where there is none (A. Machanavajjhala et al. 2006: homogeneity)."""
    counts = sight.class_counts
    return None if counts is None else smoothed(counts, sight.prior)


def class_or_most_frequent(sight: InferenceAttackerView) -> Floats | None:
    """Return, for each target, the labels' shares as `class_homogeneity` does; the public population's shares where the
    target's class is not released."""
    found, blind = class_homogeneity(sight), most_frequent_label(sight)
    return None if found is None or blind is None else np.where(found.any(axis=1, keepdims=True), found, blind)


def class_and_model(sight: InferenceAttackerView) -> Floats | None:
    """Return, for each target, the labels' shares in the target's released class, with the answer of a model fitted on
    the release added as one row. Where the class is not released, that is the model's answer."""
    counts, model = sight.class_counts, sight.model
    if counts is None:
        return None
    told = model is not None and bool(model.any())
    prior = model if model is not None and told else sight.prior
    return np.asarray((counts + prior) / (counts.sum(axis=1, keepdims=True) + 1), dtype=np.float64)


def class_and_tables(sight: InferenceAttackerView) -> Floats | None:
    """Return, for each target, the labels' shares as `class_and_model` does, with the answer of `joint_model` (all
    noisy tables together) as the added row."""
    counts, tables = sight.class_counts, sight.joint
    if counts is None or tables is None:
        return None
    return np.asarray((counts + tables) / (counts.sum(axis=1, keepdims=True) + 1), dtype=np.float64)


def _class_label_counts(sight: InferenceAttackerView) -> Floats | None:
    """Return the number of rows of each target's released class by label of the secret (targets by labels); None if no
    rows with the secret are released."""
    rows = sight.rows
    if rows is None:
        return None
    return np.append(rows.weights, np.zeros((1, len(sight.secret))), axis=0)[_tuple_indices(rows, sight.target)]


def best_row_match(sight: InferenceAttackerView) -> Floats | None:
    """Return, for each target, the labels' shares among the released rows that agree with the target in most known
    attributes. None if too many pairs would be compared."""
    rows, secret, target = sight.rows, sight.secret, sight.target
    if rows is None or target.size * len(rows.weights) > MOST_PAIRS:
        return None
    if not len(rows.weights):
        return np.zeros((target.size, len(secret)))  # a release without rows: no guesses
    names, found = list(rows.levels), np.zeros((target.size, len(secret)))
    step = max(1, MOST_COMPARED // max(1, len(rows.weights)))
    for start in range(0, target.size, step):
        part = slice(start, start + step)
        agree = np.zeros((len(range(*part.indices(target.size))), len(rows.weights)), dtype=np.int16)
        for name in names:
            agree += target.at(name, rows.levels[name])[part, None] == rows.codes[name][None, :]
        nearest = agree == agree.max(axis=1, keepdims=True)
        found[part] = nearest @ rows.weights
    return smoothed(found, sight.prior)


def model_on_release(sight: InferenceAttackerView) -> Floats | None:
    """Return, for each target, the labels' shares according to a logistic regression fitted on the released rows."""
    return sight.model


def trees_on_release(sight: InferenceAttackerView) -> Floats | None:
    """Return, for each target, the labels' shares according to gradient boosting fitted on the released rows. A leaf
    may hold a single class, since there are few classes of many rows each."""
    return _model_guesses(sight, partial(models.boosted, leaf=1))


def _model_guesses(sight: InferenceAttackerView, model: models.Model) -> Floats | None:
    """Return, for each target, the labels' shares according to a model fitted on the released rows. None if these lack
    the secret, or every known attribute."""
    rows, secret, target = sight.rows, sight.secret, sight.target
    if rows is None or not rows.levels:
        return None
    trained = len(rows.weights)
    codes = tuple(np.concatenate([rows.codes[name], target.at(name, level)]) for name, level in rows.levels.items())
    known = KnownAttributes(codes, (None,) * len(codes))
    weights = np.concatenate([rows.weights, np.zeros((target.size, len(secret)))])
    wanted = np.arange(trained, trained + target.size)
    return model(FitTask(known, weights, wanted, SecretLabels(len(secret), None), sight.rng))


def table_lookup(sight: InferenceAttackerView) -> Floats | None:
    """Return the labels' shares at each target's known attributes, in the noisy table with the greatest expected
    precision; None without such a table."""
    if not sight.tables:
        return None
    best = max(sight.tables, key=lambda rows: _expected_precision(sight, rows))
    return _shrunken_shares(sight, best)[_tuple_indices(best, sight.target)]


def joint_model(sight: InferenceAttackerView) -> Floats | None:
    """Return, for each target, the labels' shares according to all noisy tables together, as if known attributes were
    independent given the secret (naive Bayes). None for fewer than two tables."""
    return sight.joint


def _joint_shares(sight: InferenceAttackerView) -> Floats | None:
    if len(sight.tables) < 2:
        return None
    log, prior = np.zeros((sight.target.size, len(sight.secret))), np.log(np.maximum(sight.prior, 1e-9))
    for rows in sight.tables:
        log += np.log(np.maximum(_shrunken_shares(sight, rows), 1e-9))[_tuple_indices(rows, sight.target)] - prior
    log += prior
    shares = np.exp(log - log.max(axis=1, keepdims=True))
    found: Floats = shares / shares.sum(axis=1, keepdims=True)
    return found


def _shrunken_shares(sight: InferenceAttackerView, rows: RowsByLabel) -> Floats:
    """Return the labels' shares in each tuple of a noisy table (tuples by labels). Counts are shrunken towards the
    shares in the public population, the more the greater the noise, so that noise makes no rare label probable."""
    expected = rows.weights.sum(axis=1, keepdims=True) * sight.prior
    signal = expected * (1 + expected / 4)  # relative standard deviation of one half
    kept = np.divide(signal, signal + rows.noise**2, out=np.zeros_like(signal), where=signal > 0)
    found = smoothed(expected + kept * (rows.weights - expected), sight.prior)
    return np.where(rows.weights.sum(axis=1, keepdims=True) > 0, found, sight.prior)


def _expected_precision(sight: InferenceAttackerView, rows: RowsByLabel) -> float:
    """Return the expected share of right guesses if the best label is guessed for all rows in each tuple of a noisy
    table."""
    total = rows.weights.sum(axis=1)
    return float((sight.secret.hits(_shrunken_shares(sight, rows)).max(axis=1) * total).sum() / max(1.0, total.sum()))


BLIND = "likeliest label"
ATTACKS: Sequence[tuple[str, str, Attack]] = (
    (BLIND, "the same label for everybody, without access to the release", most_frequent_label),
    ("class homogeneity", "the label that most rows of the target's class have", class_homogeneity),
    (
        "class or likeliest",
        ("class homogeneity, or the most frequent label where the class is not released"),
        class_or_most_frequent,
    ),
    ("class and model", "the target's class, with a model fitted on the release as one row more", class_and_model),
    ("best row match", "the label of the released rows that agree in most attributes", best_row_match),
    ("model on the release", "logistic regression on the released rows", model_on_release),
    ("trees on the release", "gradient boosting on the released rows", trees_on_release),
    ("table lookup", "the label with the greatest count in the most informative table", table_lookup),
    ("joint model of the tables", "all tables together by naive Bayes", joint_model),
    ("class and tables", "the target's class, with all tables together as one row more", class_and_tables),
)
"""(name, summary, attack)."""


def _tuple_indices(rows: RowsByLabel, target: TargetAttributes) -> Integers:
    """Return, for each target, the index of its tuple of known attributes among the tuples of the rows; the number of
    tuples where the rows lack it."""
    columns = [(rows.codes[name], target.at(name, level), len(level)) for name, level in rows.levels.items()]
    behind, own = joint_keys(columns, len(rows.weights), target.size)
    where = np.full(int(max(behind.max(initial=0), own.max(initial=0))) + 1, len(rows.weights), dtype=np.int64)
    where[behind] = np.arange(len(rows.weights))
    return np.asarray(where[own], dtype=np.int64)
