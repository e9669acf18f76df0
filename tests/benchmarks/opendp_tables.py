"""Tables by a short script on OpenDP, as somebody writes it who does not know Crowdgate."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import opendp.prelude as dp


def opendp_mechanism(tables: int, epsilon: float, delta: float, noise: str) -> tuple[Any, float]:
    """Return a mechanism for each of some tables, with its scale. The total guarantee is that of OpenDP's own
    composition."""
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))

    def mechanism(scale: float) -> Any:
        if noise == "laplace":
            return dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale)
        return dp.m.make_gaussian(domain, dp.l2_distance(T="i64"), scale)

    def spent(scale: float) -> float:
        composed = dp.c.make_composition([mechanism(scale)] * tables)
        if noise == "laplace":
            return float(composed.map(1))
        return float(dp.c.make_zCDP_to_approxDP(composed).map(1).epsilon(delta))

    scale = dp.binary_search(lambda scale: spent(scale) <= epsilon, bounds=(0.5, 1e4))
    return mechanism(scale), scale


def opendp_tables(counts: Sequence[Any], epsilon: float, delta: float, noise: str) -> list[Any]:
    """Return all tables with equal noise on each cell, cut off at 0."""
    release, _ = opendp_mechanism(len(counts), epsilon, delta, noise)
    return [np.maximum(np.reshape(release(table.reshape(-1).tolist()), table.shape), 0) for table in counts]
