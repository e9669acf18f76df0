"""Quantiles to the bins of a noisy histogram, with limits that are valid whatever the other bins hold.

The quantile of probability p is the first bin j whose balance D_j = (1 - p) (rows up to j) - p (rows above j) is not
negative. So the balance of the true bin Q is at least 0 and that of the bin before it below 0: two bins, for each Q.
The limits are the first bin whose noisy balance is not refuted to be at least 0, and the bin after the last whose noisy
balance is not refuted to be below 0. Each limit fails only if the noise of one fixed balance passes its one-sided 97.5
% quantile. They are computed from the noisy counts as drawn, whose noise is independent and not cut off at 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers

if TYPE_CHECKING:
    from crowdgate.accounting.discrete_laws import Law

_Z95 = 1.959963984540054


def quantile_bins(histogram: Floats, probability: Fraction) -> Integers:
    """Return the bin along the last axis where the cumulated counts, none below 0, reach `probability` of all; -1 where
    no counts remain."""
    cumulated = np.cumsum(np.maximum(histogram, 0), axis=-1)
    total = cumulated[..., -1:]
    return np.where(total[..., 0] <= 0, -1, _first(cumulated >= float(probability) * total))


def quantile_limits(drawn: Integers, probability: Fraction, law: Law, beta: Fraction) -> tuple[Integers, Integers]:
    """Return the first and the last possible bin of the quantile along the last axis, at 95 %, from counts as drawn.

    A balance sums all the noise, in two weights that add up to 1. So it is within 1 of a sum of continuous noise,
    except for what averages out over many bins. Sampling adds at most (1 - beta) p (1 - p) (rows) to the variance where
    D is 0, and less than is needed to pass 0 elsewhere.
    """
    p, (balance, total) = float(probability), _balances(drawn, probability)
    reach, last, bins = law.continuous_half_width(), drawn.shape[-1] - 1, np.arange(1, drawn.shape[-1] + 1)
    weights = np.sqrt((1 - p) ** 2 * bins + p**2 * (last + 1 - bins))
    rows = np.maximum(total, 0) + reach * np.sqrt(last + 1) + 1
    half = np.sqrt(np.square(reach * weights) + _Z95**2 * _coins(probability, beta) * rows) + 1
    return balance_limits(balance, half)


def balance_limits(balance: Floats, half: Floats) -> tuple[Integers, Integers]:
    """Return the first and the last bin along the last axis that balances with intervals of this `half` width do not
    refute to be that of the quantile."""
    last = balance.shape[-1] - 1
    after = np.minimum(last + 1 - _first((balance - half < 0)[..., ::-1], missing=last + 1), last)
    return _first(balance + half >= 0), after


def sampled_half_width(half: Floats, rows: Floats, probability: Fraction, beta: Fraction) -> Floats:
    """Return the half widths of balances of at most `rows` rows after sampling, from those of the noise."""
    return np.asarray(np.sqrt(np.square(half) + _Z95**2 * _coins(probability, beta) * rows))


def _balances(counts: Integers | Floats, probability: Fraction) -> tuple[Floats, Floats]:
    """Return the balance of each bin along the last axis, and the total."""
    below = np.cumsum(np.asarray(counts, dtype=np.float64), axis=-1)
    return below - float(probability) * below[..., -1:], below[..., -1:]


def _coins(probability: Fraction, beta: Fraction) -> float:
    """Return the variance that sampling adds to a balance near 0, for each row."""
    return float((1 - beta) * probability * (1 - probability))


def _first(marked: Bools, missing: int | None = None) -> Integers:
    """Return the first marked place along the last axis; `missing`, or else the last place, if there is none."""
    none = marked.shape[-1] - 1 if missing is None else missing
    out: Integers = np.where(marked.any(axis=-1), marked.argmax(axis=-1), none).astype(np.int64)
    return out
