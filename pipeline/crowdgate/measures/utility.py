"""Utility of a release: information loss, class sizes, and errors of its margins. Confidential throughout.

These functions read the whole table beside the release, so they are not available as measures of a policy: withholding
by one would reveal the data. They take histograms, and serve the private record and benchmarks alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.histogram import Histogram, project

if TYPE_CHECKING:
    from crowdgate.hierarchy import Level

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class MarginError:
    """Errors of a margin of the release.

    `total_variation` and `divergence` compare shares: P of the published rows, Q of the table's. The divergence is
    KL(P, Q), the sum of P ln(P/Q) in nats: finite, since published tuples occur in the table (KL(Q, P) is infinite as
    soon as one cell is suppressed). `count_error` is the sum of |c / beta - C| over the cells, relative to the table's
    rows: sampling error and suppression together. An empty release has no shares, and an empty table no error.
    """

    names: tuple[str, ...]
    total_variation: float | None
    divergence: float | None
    count_error: float


def kept_share(release: Histogram, sample: Histogram) -> float | None:
    """Return the share of the sampled rows that are published; None if nothing was sampled."""
    return release.rows / sample.rows if sample.rows else None


def certainty_penalties(level: Level) -> Floats:
    """Return (v - 1) / (V - 1) for each value of the level, where it covers v of the V values of the public domain.

    0 for a value of the domain itself, 1 for `any`: the normalised certainty penalty of Xu et al. 2006, which is the
    loss metric of Iyengar 2002. A domain of one value loses nothing.
    """
    leaves, domain = np.bincount(level.of_values, minlength=len(level)), len(level.of_values)
    return np.asarray(np.maximum(leaves - 1, 0) / max(1, domain - 1))


def information_loss(release: Histogram, levels: Mapping[str, Level], rows: int) -> dict[str, float]:
    """Return the mean certainty penalty of each attribute over `rows` rows, where unpublished rows count as 1.

    With the sample's rows it is the loss by generalisation and suppression, with the release's own the loss by
    generalisation alone. For 0 rows the loss is 1.
    """
    if not rows:
        return dict.fromkeys(levels, 1.0)
    lost = {name: certainty_penalties(level) for name, level in levels.items()}
    columns = zip(release.names, release.codes, strict=True)
    kept = {name: float(lost[name][column] @ release.counts) for name, column in columns}
    return {name: (penalty + rows - release.rows) / rows for name, penalty in kept.items()}


def discernibility(release: Histogram, rows: int) -> int:
    """Return the discernibility: each of `rows` rows costs the size of its class, a suppressed one all rows (Bayardo,
    Agrawal 2005)."""
    squares = sum(size * size * classes for size, classes in _sizes(release))
    return squares + (rows - release.rows) * rows


def _sizes(release: Histogram) -> Iterator[tuple[int, int]]:
    """Yield (size, number of classes of this size) for the classes of the release."""
    sizes, classes = np.unique(release.counts, return_counts=True)
    return zip(sizes.tolist(), classes.tolist(), strict=True)


def class_sizes(release: Histogram) -> dict[str, float]:
    """Return the mean size of a class, and quantiles over the classes. Empty for an empty release."""
    if not len(release):
        return {}
    found = np.quantile(release.counts, QUANTILES, method="inverted_cdf").tolist()
    named = {f"quantile {at:g}": float(size) for at, size in zip(QUANTILES, found, strict=True)}
    return {"mean": release.rows / len(release), **named}


def margin_errors(release: Histogram, full: Histogram, beta: Fraction, most: int = 2) -> list[MarginError]:
    """Return the errors of all margins of one to `most` columns (1 or 2). The tuples of `release` must occur in
    `full`."""
    singles = [(name,) for name in full.names]
    wanted = singles + (list(combinations(full.names, 2)) if most > 1 else [])
    groups = [full.names[i::3] for i in range(3)]
    parts = [[*a, *b] for a, b in combinations(groups, 2)]  # each pair of columns lies in one part: quick to project
    folded = [(set(part), project(release, part), project(full, part)) for part in parts]
    errors = []
    for names in wanted:
        small, large = next((small, large) for part, small, large in folded if part >= set(names))
        errors.append(_margin_error(project(small, names), project(large, names), beta))
    return errors


def _margin_error(small: Histogram, large: Histogram, beta: Fraction) -> MarginError:
    counts = np.zeros(len(large), dtype=np.int64)
    counts[np.searchsorted(_pair_key(large), _pair_key(small))] = small.counts
    off = float(np.abs(counts / float(beta) - large.counts).sum()) / max(1, large.rows)
    if not small.rows:
        return MarginError(large.names, None, None, off)
    p, q = counts / small.rows, large.counts / large.rows
    there = p > 0
    divergence = float(np.sum(p[there] * np.log(p[there] / q[there])))
    return MarginError(large.names, float(np.abs(p - q).sum()) / 2, max(0.0, divergence), off)


def _pair_key(histogram: Histogram) -> Integers:
    """Return one number per tuple of one or two columns, in their order."""
    key = np.zeros(len(histogram), dtype=np.int64)
    for column, size in zip(histogram.codes, histogram.sizes, strict=True):
        key = key * size + column
    return key
