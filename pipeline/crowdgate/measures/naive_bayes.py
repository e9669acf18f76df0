"""A categorical naive Bayes classifier on histograms, and its accuracy. Confidential, like its training data.

It predicts one attribute from the others, as if these were independent given it: weak, but transparent, and it needs
two-way margins only. It shows the loss of a model by suppression, not the quality of the best model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from crowdgate.arrays import AnyIntegers, Floats, Integers
from crowdgate.histogram import Histogram, at_least, collapse

SMOOTHING = 1
"""Added to each count (Laplace), so that no value is impossible."""


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """ln P(target), and for each other attribute ln P(value | target) as a table of values by targets."""

    target: str
    prior: Floats
    given: dict[str, Floats]


def train(rows: Histogram, target: str) -> NaiveBayes:
    """Return the classifier trained on the rows."""
    prior = _dense(rows, (target,)) + SMOOTHING
    given = {}
    for name, size in zip(rows.names, rows.sizes, strict=True):
        if name != target and size > 1:
            counts = _dense(rows, (name, target)) + SMOOTHING
            given[name] = np.log(counts) - np.log(counts.sum(axis=0))
    return NaiveBayes(target, np.log(prior) - np.log(prior.sum()), given)


def predict(model: NaiveBayes, rows: Histogram) -> AnyIntegers:
    """Return the most probable target of each tuple; of equally probable ones the first."""
    scores = np.tile(model.prior, (len(rows), 1))
    for name, column in zip(rows.names, rows.codes, strict=True):
        if name in model.given:
            scores += model.given[name][column]
    return np.asarray(np.argmax(scores, axis=1))


def always(value: int, rows: Histogram) -> AnyIntegers:
    """Return the prediction of one value for each tuple."""
    return np.full(len(rows), value)


def accuracy(predicted: AnyIntegers, rows: Histogram, target: str) -> float | None:
    """Return the share of the rows whose target is predicted correctly; None without rows."""
    right = rows.codes[rows.names.index(target)] == predicted
    return int(rows.counts[right].sum()) / rows.rows if rows.rows else None


def balanced_accuracy(predicted: AnyIntegers, rows: Histogram, target: str) -> float | None:
    """Return the mean over the occurring targets of the share of their rows that is predicted correctly; None without
    rows."""
    truth = rows.codes[rows.names.index(target)]
    right = [int(rows.counts[(truth == value) & (predicted == value)].sum()) for value in np.unique(truth)]
    every = [int(rows.counts[truth == value].sum()) for value in np.unique(truth)]
    return sum(r / n for r, n in zip(right, every, strict=True)) / len(every) if every else None


def difference(rows: Histogram, fewer: Histogram) -> Histogram:
    """Return the rows that are not among `fewer`, which has at most as many in each tuple."""
    both = [np.concatenate([rows.codes[i], fewer.codes[i]]) for i in range(len(rows.names))]
    signed = np.concatenate([rows.counts, -fewer.counts])
    return at_least(collapse(rows.names, rows.sizes, both, signed), 1)


def _dense(rows: Histogram, names: Sequence[str]) -> Integers:
    """Return counts of each combination of the columns."""
    at = [rows.names.index(name) for name in names]
    sizes, key = tuple(rows.sizes[i] for i in at), np.zeros(len(rows), dtype=np.int64)
    for i in at:
        key = key * rows.sizes[i] + rows.codes[i]
    table = np.zeros(prod(sizes), dtype=np.int64)
    np.add.at(table, key, rows.counts)
    return table.reshape(sizes)
