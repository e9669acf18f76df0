"""Forecasts of weighted rows after a pilot of epsilon .05 hold for the releases that follow.

N = 200 releases a table: four after each of 50 pilots, seeded. A forecast that holds with probability .95 is found to
hold in at least 178 of 200 (89 %) with probability above .999 (binomial); one of probability .8, in less than .001.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from crowdgate.guarantee import Part
from crowdgate.histogram import Histogram, View, split
from crowdgate.kind.drawing import Draws, vector_noise
from crowdgate.kind.prior import CountsAtLevels, ExpectedCounts, Prior
from crowdgate.kinds.rows.use_forecast import (
    SimulatedReleases,
    measured_rows,
    simulated_releases,
    use_listing,
)
from crowdgate.mechanisms.rows.safe_k import SafeK
from crowdgate.mechanisms.tables.answers import TableAnswer, consistent_answers
from crowdgate.mechanisms.tables.dp_tables import DpTables, plan_dp_tables
from crowdgate.mechanisms.tables.workload import ContingencyTable
from tests.kinds.test_misleading_rows import GOOD, planned
from tests.kinds.test_share_coverage import table_of

EPSILON, DELTA = Fraction(1, 20), Fraction(1, 10**9)
PILOTS, RELEASES = 50, 4
LEAST = 178


def pilot_of(safe: SafeK, known: ExpectedCounts) -> DpTables:
    """Return the mechanism of a pilot with the tables of up to two columns."""
    assert safe.margins is not None
    names = {name: level.name for name, level in known.axes.items()}
    chosen = (each for ways in range(3) for each in combinations(names, ways))
    items = [ContingencyTable({name: names[name] for name in each}) for each in chosen]
    made, _ = plan_dp_tables(items, safe.margins.contract, Part("mechanism", EPSILON, DELTA), noise="gaussian")
    assert made is not None
    return made


def expected(pilot: DpTables, full: Histogram, safe: SafeK, known: ExpectedCounts, draws: Draws) -> ExpectedCounts:
    """Return the expected counts after one release of the pilot."""
    assert safe.margins is not None
    noisy = pilot.protect(split(full, View(known.axes), pilot.views), None, vector_noise(draws))
    tables = tuple(
        CountsAtLevels(each.levels, np.asarray(each.cells.value, dtype=np.float64), np.square(each.cells.error))
        for each in consistent_answers(pilot, noisy, Fraction(1, 10))
        if isinstance(each, TableAnswer)
    )
    found = Prior(int(known.people.sum()), safe.margins.contract.by_name, tables).joint(known.axes)
    assert found is not None
    return found


def releases(safe: SafeK, known: ExpectedCounts, full: Histogram, draws: Draws) -> Iterator[dict[str, float]]:
    """Yield the measures of releases of the true table."""
    source = SimulatedReleases(safe, known)
    for _ in range(RELEASES):
        found = measured_rows((source.release(full, draws),), ())
        yield {name: value for name, (_, (value,)) in found.items()}


@pytest.mark.soak
@pytest.mark.parametrize("name", ["generated", "charges"])
def test_each_measure_is_within_its_forecast_in_89_of_100_releases(name: str) -> None:
    make, columns = GOOD[name]
    safe, known = planned(make(), columns)
    full, pilot, draws = table_of(known), pilot_of(safe, known), np.random.default_rng(5)
    held: Counter[str] = Counter()
    for _ in range(PILOTS):
        (listing,) = use_listing(safe, simulated_releases(safe, expected(pilot, full, safe, known, draws)))
        for true in releases(safe, known, full, draws):
            held.update(
                str(row["measure"]) for row in listing.rows
                if float(row["low"]) <= true[str(row["measure"])] <= float(row["high"])  # type: ignore[arg-type]
            )  # fmt: skip
    assert {measure: number for measure, number in held.items() if number < LEAST} == {}
    assert len(held) == 5
