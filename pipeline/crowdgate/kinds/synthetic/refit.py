"""Recompute the rows of a release from its other files: noisy tables, levels, impossible combinations, and the seed.

Measurements are replayed round by round. The model depends on these numbers alone, and each intermediate number is the
same on every processor. So other rows are forged, or were made by another version.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version

import numpy as np

from crowdgate.histogram import Histogram
from crowdgate.kinds.synthetic.manifest_fields import SyntheticManifest
from crowdgate.kinds.synthetic.released_files import PublishedSynthetic, by_class
from crowdgate.kinds.synthetic.variables import released_variables
from crowdgate.mechanisms.synthetic.fitting import MeasuredTable, ModelFit, seeded_generator
from crowdgate.publish.levels import domains_of


def refit(said: SyntheticManifest, held: PublishedSynthetic) -> Iterator[str]:
    """Yield the differences between the rows and those recomputed from the other files. Takes the time and memory of
    making the rows."""
    made = _refitted_model(said, held).rows(seeded_generator(bytes.fromhex(said.mechanism.seed)))
    again = replace(held, rows=by_class(held.rows.names, held.rows.sizes, made))
    if not _same(again.rows, held.rows):
        domains = domains_of((*held.columns, *held.levels), held.coarser)
        pairs = zip(again.counted(domains), held.counted(domains), strict=True)
        yield _distance_difference([int(np.abs(a - b).sum()) for a, b in pairs], again.rows.rows)


def _distance_difference(distances: Sequence[int], rows: int) -> str:
    found = f"{sum(far > 0 for far in distances)} of {len(distances)} measured tables differ, by up to {max(distances)}"
    here = f"crowdgate {version('crowdgate')} with NumPy {version('numpy')}"
    return (
        f"the rows are not those that the noisy tables and the seed give: {found} where there are {rows} rows; they are"
        f" forged, or were made by another version than {here}"
    )


def _same(one: Histogram, other: Histogram) -> bool:
    columns = zip((*one.codes, one.counts), (*other.codes, other.counts), strict=True)
    return all(np.array_equal(a, b) for a, b in columns)


def _refitted_model(said: SyntheticManifest, held: PublishedSynthetic) -> ModelFit:
    """Return the model of the published measurements."""
    space = released_variables(said, held)
    measured = (
        MeasuredTable(table, stated.round, stated.rho, said.mechanism.squared_sigma(stated.rho), published.noisy)
        for table, stated, published in zip(space.measured, said.mechanism.measured, held.measured, strict=True)
    )
    return ModelFit.of(space.domain, space.impossible, measured)
