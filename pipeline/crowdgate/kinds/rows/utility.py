"""Utility of a release, for the custodian's private record, of published and withheld runs alike.

All figures depend on the table and the sample, so none may become public or decide anything.
"""

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram
from crowdgate.kinds.rows.candidate import RowsCandidate
from crowdgate.measures import naive_bayes
from crowdgate.measures import utility as worth
from crowdgate.mechanisms.rows.safe_k import SafeK

MOST_TABLE = 1 << 22
"""Largest number of cells of a classifier's two-way table, and of scores in one run of the classifier."""


def utility(candidate: RowsCandidate, mechanism: SafeK) -> dict[str, Any]:
    """Return retained share, information loss, class sizes, shares of values, margins and a classifier, at the released
    levels."""
    output, sample, full = candidate.rows, candidate.sample, candidate.table
    levels = candidate.static.levels
    lost = worth.information_loss(output, levels, sample.rows)
    generalised = worth.information_loss(output, levels, output.rows)
    return {
        "kept": {
            "of the sample": worth.kept_share(output, sample),
            "of the table": worth.kept_share(output, full),
        },
        "loss": {
            "by attribute": lost,
            "mean": _mean(lost),
            "of the published rows by attribute": generalised,
            "of the published rows": _mean(generalised),
        },
        "discernibility": worth.discernibility(output, sample.rows),
        "class sizes": worth.class_sizes(output),
        "attributes": {name: _share_changes(output, full, name, level) for name, level in levels.items()},
        "margins": [
            {
                "of": list(error.names),
                "total variation": error.total_variation,
                "divergence": error.divergence,
                "count error": error.count_error,
            }
            for error in worth.margin_errors(output, full, mechanism.beta)
        ],
        "classifiers": {name: _classifier(candidate, name) for name in _targets(candidate)},
    }


def _share_changes(output: Histogram, full: Histogram, name: str, level: Level) -> dict[str, dict[str, float]]:
    """Return for each value of an attribute at a level its share of the table's rows and of the released rows."""
    shares = {of: _shares(rows, name, len(level)) for of, rows in (("table", full), ("release", output))}
    return {label: {of: float(each[at]) for of, each in shares.items()} for at, label in enumerate(level.labels)}


def _shares(rows: Histogram, name: str, size: int) -> Floats:
    counts = np.bincount(rows.codes[rows.names.index(name)], weights=rows.counts, minlength=size)
    return counts / max(1, rows.rows)


def _mean(losses: dict[str, float]) -> float:
    return sum(losses.values()) / len(losses)


def _targets(candidate: RowsCandidate) -> Iterator[str]:
    """Yield the released attributes that the contract calls sensitive, as far as their tables fit."""
    static, full = candidate.static, candidate.table
    widest = max(map(len, static.levels.values()))
    for name, level in static.levels.items():
        fits = len(level) * max(widest, len(full)) <= MOST_TABLE
        if static.facts[name].sensitive and fits and prod(full.sizes) > len(level) > 1:
            yield name


def _classifier(candidate: RowsCandidate, target: str) -> dict[str, Any]:
    """Return the accuracy of naive Bayes that predicts the target, tested on the rows outside the sample.

    These rows are a hold-out that neither model has seen. `original` is trained on the sample before suppression, at
    the same levels: the difference is the cost of suppression. `majority` always predicts the sample's most frequent
    value.
    """
    sample, full = candidate.sample, candidate.table
    test = naive_bayes.difference(full, sample)
    found: dict[str, Any] = {"rows tested": test.rows}
    for name, rows in (("release", candidate.rows), ("original", sample)):
        predicted = naive_bayes.predict(naive_bayes.train(rows, target), test)
        found[name] = {
            "accuracy": naive_bayes.accuracy(predicted, test, target),
            "balanced accuracy": naive_bayes.balanced_accuracy(predicted, test, target),
        }
    prior = naive_bayes.train(sample, target).prior
    found["majority"] = {
        "accuracy": naive_bayes.accuracy(naive_bayes.always(int(prior.argmax()), test), test, target),
    }
    return found
