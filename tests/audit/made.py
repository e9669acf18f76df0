"""A clinic's policy of synthetic rows, and releases of it with a planted leak."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from crowdgate.arrays import Integers
from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.histogram import Histogram, split
from crowdgate.kind.plan import Plan
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.mechanisms.synthetic import fitting
from crowdgate.mechanisms.synthetic.certificate import pairs
from crowdgate.noise import NoiseSource, gaussian_vector
from crowdgate.planning.plan import plan_policy
from crowdgate.sampling import SecretKey
from tests.audit.people import rows
from tests.kinds.synthetic import synthetic_workshop

Leak = Literal["none", "rows", "rare rows", "one-way tables", "chosen tables", "certificate"]


def clinic(root: Path, epsilon: str = "1", delta: str = "0.001") -> Plan:
    """Return the plan of a clinic with 10 ages, four wards and three kinds of note."""
    workshop = synthetic_workshop(root)
    workshop.edit(workshop.policy, "{epsilon: 2, delta: 0.01}", f"{{epsilon: {epsilon}, delta: {delta}}}")
    return plan_policy(workshop.policy)


def people(plan: Plan, counts: np.ndarray) -> Population:
    """Return a population with these counts under the attributes of the plan."""
    (view,) = plan.protection.views.values()
    found = rows(counts)
    return Population("clinic", view, replace(found.cells, names=view.names, sizes=view.sizes), found.members)


@contextmanager
def few_steps() -> Iterator[None]:
    """Fit models in two steps only: leaks do not depend on the model, and tests take a third of the time."""
    with pytest.MonkeyPatch.context() as patched:
        for name in ("STEPS", "LAST_STEPS"):
            patched.setattr(fitting, name, 2)
        yield


@dataclass(frozen=True, eq=False)
class Leaking:
    """The release of a plan with one part published unprotected."""

    plan: Plan
    leak: Leak
    name: str = "leaking"

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        protection = self.plan.protection
        views = split(drawn.table, known.population.view, protection.views)
        noise = NoiseSource(self._gaussian, self._gaussian)
        randomness = KeyedRandomness(SecretKey(rng.bytes(32), injected=True), vectors=noise)
        seen = protection.kind.mechanism_output(protection.mechanism, views, randomness)
        (table,) = views.values()
        if self.leak in ("rows", "rare rows"):
            seen = replace(seen, made=table if self.leak == "rows" else _singles(table))
        return Observation(seen=seen)

    def _gaussian(self, values: Integers, sensitivity: int, rho: Fraction) -> Integers:
        drawing = self.plan.protection.mechanism.mechanism.drawing
        of_pair = drawing.budget.certificate / len(pairs(drawing.domain))
        own = "certificate" if rho == of_pair and values.ndim == 1 else (
            "one-way tables" if rho in drawing.budget.one_ways else "chosen tables"
        )  # fmt: skip
        return values if own == self.leak else gaussian_vector(values, sensitivity, rho)


def _singles(table: Histogram) -> Histogram:
    alone = table.counts == 1
    codes = tuple(column[alone] for column in table.codes)
    return Histogram(table.names, table.sizes, codes, table.counts[alone])
