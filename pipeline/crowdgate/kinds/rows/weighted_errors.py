"""Expected errors of tables made of weighted rows, by simulated releases from counts that relate all columns.

Rows, margins and weights are drawn as in a release, but for two steps that change the weights little: margins are
consistent estimates that are not made whole numbers, and the weights take fewer sweeps. On the bundled policy the root
mean squares over tables of one, two and three columns were within 1.5 % of those of whole simulated releases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.histogram import Histogram, at_least, subsample
from crowdgate.kind.drawing import Draws, public_draws, vector_noise
from crowdgate.kind.forecast import Axes, CellErrors
from crowdgate.kind.prior import coarsened
from crowdgate.kinds.rows.calibrated_margins import margin_lookups
from crowdgate.kinds.rows.candidate import PublishedMargin
from crowdgate.kinds.rows.expected_retention import ERROR_FACTOR, ExpectedRetention
from crowdgate.kinds.rows.simulated_tables import drawn_tables
from crowdgate.kinds.rows.weights import weights_of
from crowdgate.mechanisms.rows.calibration import GRID
from crowdgate.mechanisms.tables.consistency import consistent_tables

if TYPE_CHECKING:
    from crowdgate.arrays import Floats
    from crowdgate.mechanisms.rows.margins import DrawnMargins
    from crowdgate.mechanisms.rows.safe_k import SafeK

DRAWS = 10
"""The number of simulated releases: a table's error is a mean over its cells too, so few are enough."""
SWEEPS = 15
"""The sweeps of a simulated calibration."""


@dataclass(frozen=True, eq=False)
class WeightedErrors:
    """Errors of weighted rows in simulated releases of a planned mechanism."""

    safe: SafeK
    kept: ExpectedRetention

    def errors(self, axes: Axes) -> CellErrors | None:
        """Return the expected errors, in persons, of a table of the weighted rows over `axes` (level by attribute);
        None if an attribute is not among the released ones, or has another level."""
        plain = self.kept.errors(axes)
        if plain is None:
            return None
        joint = self.kept.joint
        cells = np.stack([coarsened(each, joint.axes, axes).reshape(-1) for each in self._differences])
        parts = {"bias": np.abs(cells.mean(axis=0)), "spread": cells.std(axis=0)}
        return CellErrors(np.sqrt(np.square(cells).mean(axis=0)), parts, plain.lost, ERROR_FACTOR)

    @cached_property
    def _differences(self) -> tuple[Floats, ...]:
        """For each simulated release the weighted rows less the people of each class, in the shape of the table."""
        draws = public_draws()
        return tuple(self._difference(table, draws) for table in drawn_tables(self.kept.joint, DRAWS, draws))

    def _difference(self, table: Histogram, draws: Draws) -> Floats:
        beta, safe, out = float(self.safe.beta), self.safe, np.zeros(table.sizes)
        assert safe.margins is not None, "only weighted rows are simulated"
        out[table.codes] -= table.counts
        rows = at_least(subsample(table, lambda counts: draws.binomial(counts, beta)), safe.k)
        drawn = safe.margins.draw(table, safe.levels, vector_noise(draws))
        lookups = margin_lookups(safe.levels, drawn)
        weights = weights_of(rows, safe.beta, tuple(_estimates(drawn)), *lookups, SWEEPS)
        out[rows.codes] += rows.counts * (weights / GRID)
        return out


def _estimates(drawn: DrawnMargins) -> Iterator[PublishedMargin]:
    """Yield the margins as consistent estimates, with their variances as a release states them."""
    mechanism = drawn.mechanism
    axes, spread = [each.levels for each in mechanism.queries], [law.variance for law in mechanism.laws]
    found = consistent_tables(axes, drawn.noisy, spread)
    for levels, table, variance in zip(axes, found.tables, found.variances, strict=True):
        value, error = table.reshape(-1), np.sqrt(variance * np.ones(table.shape)).reshape(-1)
        names = {name: level.name for name, level in levels.items()}
        ends = value - 2 * error, value + 2 * error
        yield PublishedMargin(np.rint(np.maximum(value, 0.0)), value, error, *ends, levels=names)
