"""Expected errors of tables made of synthetic rows, before any data are read.

A table of one attribute is off by the noise of its measurement. One of two is off by that of its own, or, where it is
not measured, by what its attributes have to do with each other: by whichever is less, since tables are chosen by that,
and as if measured where nothing is known of it. The price of a measurement is taken as the first rounds have it.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.hierarchy import Level, coarser_codes
from crowdgate.kind.forecast import Axes, Basis, CellErrors, Errors
from crowdgate.mechanisms.synthetic.rounds import SELECTING

if TYPE_CHECKING:
    from crowdgate.kind.prior import ExpectedCounts, Prior
    from crowdgate.mechanisms.synthetic.plan import DpSynthetic

FACTOR = 2.0
"""How many times as large the error of a cell can well be: a model of many tables is no measurement of each."""
UNKNOWN = (Basis.MARGINS, Basis.PARTLY)
"""What says nothing of relations."""


def table_errors(mechanism: DpSynthetic, prior: Prior) -> Errors:
    """Of tables of one and two released attributes, at their levels or coarser ones; in persons of the whole table."""
    rate = float(mechanism.beta)

    def of_table(axes: Axes) -> CellErrors | None:
        joint, own = prior.joint(axes), mechanism.finest
        if joint is None or len(axes) not in (1, 2):
            return None
        if not all(name in own and len(own[name]) >= len(level) for name, level in axes.items()):
            return None
        noise, model = _one_way(mechanism, axes) if len(axes) == 1 else _two_way(mechanism, axes, joint)
        coins = np.sqrt(joint.people.reshape(-1) * (1 - rate) / rate)
        parts = {"noise": noise.reshape(-1) / rate, "model": model.reshape(-1), "coins": coins}
        return CellErrors(np.sqrt(np.square(list(parts.values())).sum(axis=0)), parts, factor=FACTOR)

    return of_table


def _one_way(mechanism: DpSynthetic, axes: Axes) -> tuple[Floats, Floats]:
    """Noise of the cells' sums; nothing else."""
    ((name, level),) = axes.items()
    return np.sqrt(_variances(mechanism, name, level)), np.zeros(len(level))


def _two_way(mechanism: DpSynthetic, axes: Axes, joint: ExpectedCounts) -> tuple[Floats, Floats]:
    """Measured, or taken as independent given the tables of one attribute: what has the smaller sum of errors."""
    drawing = mechanism.drawing
    price = (1 - SELECTING) * drawing.first_table_cost
    measured = np.full(joint.people.shape, drawing.rows_per_unit / sqrt(2 * price))
    if joint.basis in UNKNOWN:
        return measured, np.zeros_like(measured)
    (one, first), (other, second) = axes.items()
    total = max(1.0, float(joint.people.sum()))
    rows, columns = joint.people.sum(axis=1), joint.people.sum(axis=0)
    related = np.multiply.outer(rows, columns) / total - joint.people
    noise = np.sqrt(
        np.multiply.outer(_variances(mechanism, one, first), np.square(columns / total))
        + np.multiply.outer(np.square(rows / total), _variances(mechanism, other, second))
    )
    if np.abs(related).sum() + sqrt(2 / pi) * noise.sum() <= sqrt(2 / pi) * measured.sum():
        return noise, related
    return measured, np.zeros_like(measured)


def _variances(mechanism: DpSynthetic, name: str, level: Level) -> Floats:
    """Of the noise in the table of one attribute, whose released values are summed to those of a level."""
    held = np.bincount(coarser_codes(mechanism.finest[name], level), minlength=len(level))
    return np.asarray(held * mechanism.one_way_variances()[name], dtype=np.float64)
