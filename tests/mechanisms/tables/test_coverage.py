"""Coverage of the intervals of each published table of counts, individually: dense, sparse and sampled ones."""

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from crowdgate.mechanisms.tables.accuracy import Cells
from crowdgate.mechanisms.tables.workload import ContingencyTable
from tests.benchmarks import coverage
from tests.benchmarks.coverage import Case, Covered, Floats, Release, covered, failures, releases
from tests.mechanisms.tables.tables import counted, plan

ITEMS = (
    ContingencyTable(),
    ContingencyTable({"sex": "exact"}),
    ContingencyTable({"town": "grouped"}),
    ContingencyTable({"sex": "exact", "town": "exact"}),
    ContingencyTable({"hours": "ones", "sex": "exact"}),
    ContingencyTable({"town": "exact", "hours": "exact", "pay": "exact"}),
)
"""Tables of 1, 2, 2, 8, 12 and 528 cells; town and hours at two levels, hours in uneven groups."""
DRAWS, SEED = 70, 20301101
FORMS: dict[str, dict[str, Any]] = {
    "gaussian": {"noise": "gaussian"},
    "laplace": {"noise": "laplace"},
    "sampled": {"noise": "gaussian", "beta": Fraction(1, 4)},
}


def sparse(form: str) -> Case:
    """Return 1,500 people in a hundredth of the cells of the largest table."""
    random = np.random.default_rng(4)
    rows = np.column_stack([random.integers(0, size, 1500) for size in (2, 2, 3, 3)])
    mechanism = plan(ITEMS, "0.5", **FORMS[form])
    return Case(form, mechanism, counted(mechanism, rows.tolist()))


@cache
def drawn(form: str) -> tuple[Case, list[Release]]:
    case = sparse(form)
    return case, list(releases(case, DRAWS, np.random.default_rng(SEED)))


def halved(cells: Cells) -> tuple[Floats, Floats]:
    """Return intervals of half the width."""
    return (cells.value + cells.lower) / 2, (cells.value + cells.upper) / 2


# Seeded; N = 70 releases a form, 6 tables each. By Holm's procedure a table that covers .95 fails with a probability of
# at most .01 for each form; the rule of .92 is for the long run. Power for the total: it fails at 59 of 70 or fewer,
# with a probability of .85 where it covers .8. Intervals of half the width hold it .67 of the time, and fail with .999.
@pytest.mark.thorough
@pytest.mark.statistical
@pytest.mark.parametrize("form", FORMS)
def test_every_table_of_a_sparse_workload_covers(form: str) -> None:
    tables = covered(*drawn(form))
    assert not [each.name for each in failures(tables) if each.p_value < 0.01]
    assert abs(np.mean(tables[0].off)) < 5 / DRAWS**0.5, "the total is not biased"


@pytest.mark.thorough
@pytest.mark.statistical
def test_intervals_of_half_the_width_fail() -> None:
    assert len(failures(covered(*drawn("gaussian"), halved))) >= 3


def test_a_table_fails_by_the_exact_test_and_below_the_worst_coverage() -> None:
    good, poor, bad = (Covered(name, 1, [1.0] * held + [0.0] * (1000 - held)) for name, held in
                       (("good", 945), ("poor", 924), ("bad", 915)))  # fmt: skip
    assert failures([good]) == []
    assert failures([good, poor]) == [poor]
    assert failures([good] * 60 + [poor]) == [], "3e-4 is above .01 / 61"
    assert failures([good, bad]) == [bad]
    assert failures([Covered("few", 1, [1.0] * 9 + [0.0])])[0].name == "few", ".9 of ten releases"


# N = 1,000 releases of each of ten workloads, 23 or 24 tables each; .01 in all for each workload by Holm's procedure.
# Power: a table of one cell that covers .91 fails with a probability above .95; by the rule of .92 one that covers .95
# fails with a probability of at most 2e-5.
@pytest.mark.soak
def test_every_table_of_the_bundled_workloads_covers() -> None:
    for at, make in enumerate(coverage.cases()):
        case = make()
        random = np.random.default_rng([SEED, at])
        assert [each.name for each in failures(covered(case, releases(case, 1000, random)))] == []
