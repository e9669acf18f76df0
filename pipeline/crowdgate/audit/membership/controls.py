"""Mechanisms for which the correct result of a membership audit is known.

Their population is a part of the public one, in which every unit has a tag that stands for its identifiers and that the
attacker knows.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Population, Rng
from crowdgate.hierarchy import Level, Numbers
from crowdgate.histogram import Histogram
from crowdgate.kind.mechanism_output import MechanismOutput

TAG = "the tag"
LEAST_UNITS, MOST_UNITS = 1_000, 20_000
"""Least and greatest number of units of a control's table."""
SAMPLED = 40
"""Number of units that a control's sample should have at least."""


@dataclass(frozen=True)
class MembershipControl:
    """A control of a membership audit: a mechanism that publishes a sample of the rows unchanged, with sampling rate
    `beta`, or nothing (`beta` is None)."""

    name: str
    must: Literal["break epsilon", "break the cap", "hold", "show"]
    note: str
    beta: Fraction | None
    releases: int = 200

    attacks: ClassVar[frozenset[str]] = frozenset({"likelihood ratio"})

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        """Return a Bernoulli sample of the table's rows with their tags, or an empty release."""
        table = drawn.table
        if self.beta is None:
            none = np.zeros(0, dtype=np.int64)
            return Observation(seen=MechanismOutput((), Histogram((), (), (), none)))
        counts = rng.binomial(table.counts, float(self.beta))
        has = counts > 0
        codes = tuple(column[has] for column in table.codes)
        rows = Histogram(table.names, table.sizes, codes, counts[has])
        return Observation(seen=MechanismOutput((), rows, known.population.levels, beta=self.beta))


SHOWN = MembershipControl(
    "the policy's attributes as they are",
    "show",
    "publishes the policy's attributes of every row, without tags: what the best attack can reach",
    Fraction(1),
    releases=20,
)
"""The mechanism that gives the ceiling of an audit. It is played on the audit's own tables."""


def controls(beta: Fraction | None) -> tuple[MembershipControl, ...]:
    """Return the controls of a membership audit. `beta` is the rate of the sample that caps the true positive rates of
    the policy's mechanism (None: no cap)."""
    nothing = MembershipControl("constant", "hold", "publishes nothing", None)
    every = "publishes every row of the table as it is, with its tag"
    if beta is None:
        return MembershipControl("identity", "break epsilon", every, Fraction(1)), nothing
    return (
        MembershipControl(
            "the sample as it is", "break epsilon", "publishes the rows of the sample as they are, with tags", beta
        ),
        MembershipControl("identity", "break the cap", every, Fraction(1)),
        nothing,
    )


def control_units(n: int, beta: Fraction | None) -> int:
    """Return the number of units of the controls' table, if the audited table has n units. `beta` is the rate of the
    sample that caps true positive rates (None: no cap)."""
    wanted = LEAST_UNITS if beta is None else max(LEAST_UNITS, int(SAMPLED / beta))
    return min(n, wanted, MOST_UNITS)


def tagged_units(population: Population, units: int, rng: Rng) -> Population:
    """Draw a population of `units` units from another one without replacement: each unit is a cell of its own, with its
    own tag and one row only."""
    drawn = population.draw(units, rng, replacement=False).units
    own = np.repeat(np.arange(len(drawn)), drawn)
    cells = population.cells
    at = own if population.rows is None else np.asarray(population.rows.indices)[population.rows.indptr[own]]
    ones = np.ones(units, dtype=np.int64)
    levels: dict[str, Level] = {
        TAG: Numbers(TAG, (), np.arange(units, dtype=np.int32)),
        **population.levels,
    }
    codes = (np.arange(units, dtype=np.int32), *(column[at] for column in cells.codes))
    table = Histogram((TAG, *cells.names), (units, *cells.sizes), codes, ones)
    return replace(population, view=type(population.view)(levels), cells=table, members=ones, rows=None)
