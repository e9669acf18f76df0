"""Expected errors of tables made of synthetic rows, before any data are read.

The error of a table of one attribute is the noise of its measurement. A table of two attributes has the noise of its
own measurement or, if it is not measured, the error from taking its attributes as independent. The smaller error
counts, as tables are selected by it; a table counts as measured if nothing is known of the relation. The cost of a
measurement is that of the first rounds.
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
"""Factor by which the error of a cell may exceed the expected one: a model of many tables does not measure each."""
UNKNOWN = (Basis.MARGINS, Basis.PARTLY)
"""Bases without information on relations between attributes."""


def table_errors(mechanism: DpSynthetic, prior: Prior) -> Errors:
    """Return the function from a table's axes to the expected errors of its cells, in persons of the whole table: for
    tables of one or two released attributes, at their levels or coarser ones."""
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
    """Return (noise, model error) of each cell of a table of one attribute: the standard deviation of the summed noise,
    in sampled rows, and 0."""
    ((name, level),) = axes.items()
    return np.sqrt(_variances(mechanism, name, level)), np.zeros(len(level))


def _two_way(mechanism: DpSynthetic, axes: Axes, joint: ExpectedCounts) -> tuple[Floats, Floats]:
    """Return (noise in sampled rows, model error in persons) of each cell of a table of two attributes: as if measured,
    or as if independent given the one-way tables, whichever sum is smaller."""
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
    sampled = float(mechanism.beta) * np.abs(related).sum()  # noise is in sampled rows
    if sampled + sqrt(2 / pi) * noise.sum() <= sqrt(2 / pi) * measured.sum():
        return noise, related
    return measured, np.zeros_like(measured)


def _variances(mechanism: DpSynthetic, name: str, level: Level) -> Floats:
    """Return for each value of `level` the variance of the noise in the table of the attribute `name`: the sum over the
    released values that it covers."""
    held = np.bincount(coarser_codes(mechanism.finest[name], level), minlength=len(level))
    return np.asarray(held * mechanism.one_way_variances()[name], dtype=np.float64)
