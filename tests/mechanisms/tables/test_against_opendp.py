"""Errors of tables beside a short script on OpenDP and beside the least possible ones, on eight workloads, from the
plans alone. `tests.benchmarks.table_errors` compares the published values of drawn releases."""

from math import sqrt

import pytest

from crowdgate.mechanisms.tables.dp_tables import plan_dp_tables
from tests.benchmarks.opendp_tables import opendp_mechanism
from tests.benchmarks.table_errors import (
    DELTA,
    EPSILON,
    PART,
    contract,
    least_sum,
    planned,
    variance_sum,
    workloads,
)

WORKLOADS = workloads()


@pytest.mark.parametrize("name", WORKLOADS)
def test_noise_on_residuals_is_within_one_percent_of_the_least_and_no_split_is_below_it(name: str) -> None:
    sizes, tables = WORKLOADS[name]
    found = planned(sizes, tables, "residuals")
    assert 1 <= sqrt(variance_sum(found) / least_sum(found)) <= 1.01
    assert variance_sum(found) <= 1.001 * variance_sum(planned(sizes, tables, "least-error"))


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_default_split_is_never_worse_than_an_equal_one(name: str) -> None:
    sizes, tables = WORKLOADS[name]
    default, equal = (variance_sum(planned(sizes, tables, split)) for split in ("least-error", "equal"))
    assert default <= equal * (1 + 1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("name", WORKLOADS)
def test_errors_are_below_those_of_a_script_on_opendp_with_the_same_noise(name: str) -> None:
    sizes, tables = WORKLOADS[name]
    for noise in ("gaussian", "laplace"):
        _, scale = opendp_mechanism(len(tables), float(EPSILON), float(DELTA), noise)
        script = scale if noise == "gaussian" else scale * sqrt(2)
        own, findings = plan_dp_tables(tables, contract(sizes), PART, noise=noise, split="least-error")
        assert own is not None, findings
        cells = sum(linear.query.cells for linear in own.queries)
        assert sqrt(variance_sum(own) / cells) < 0.99 * script
