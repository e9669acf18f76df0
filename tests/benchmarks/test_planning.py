"""Expectations of `plan --from` agree with drawn releases of public tables."""

from functools import cache

import numpy as np
import pytest

from tests.benchmarks.planning import People, compared, inside, tables

POLICIES, CLASSES = 8, 1 << 14


@cache
def held() -> dict[str, People]:
    return {people.name: people for people in tables()}


@pytest.mark.thorough
@pytest.mark.statistical
@pytest.mark.parametrize("name", ["census-income", "adult", "nist"])
@pytest.mark.parametrize("coarser", [False, True])
def test_a_drawn_release_is_in_the_range_that_was_expected(name: str, coarser: bool) -> None:
    """8 random policies, of which 6 must be inside: where 95 of 100 are it fails by chance in .6 % of the runs; where
    half are, it finds it in 86 %. The policies are seeded, noise and coins are not: OpenDP's can't be.

    All tables of one policy miss their factor together, so that the share of errors within it spreads more than 100
    independent ones: of 360 runs of these policies (60 for each table and basis) the least share was .76 and the mean
    of the worst case .90, five of its standard deviations (.056) above .6. With errors that are expected 1.6 times
    too small or too large no run of 72 had more than .53."""
    if name not in held():
        pytest.skip(f"the {name} table is not here")
    draws = np.random.default_rng(12)
    found = inside([compared(held()[name], draws, coarser=coarser, most=CLASSES) for _ in range(POLICIES)])
    assert found["kept share in range"] >= 6 / POLICIES
    assert found["classes in range"] >= 6 / POLICIES
    assert found["errors within the factor"] >= 0.6
