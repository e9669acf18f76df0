"""Recomputation on other processors: a fit is bitwise equal, weights are nearly equal."""

import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from crowdgate.arrays import Integers
from crowdgate.kinds.rows.weights import NEAR, NEAR_UNITS
from crowdgate.mechanisms.rows.calibration import NoisyMargin, calibrate
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table, Variable
from crowdgate.mechanisms.synthetic.fitting import MeasuredTable, ModelFit, seeded_generator
from tests.processors import needs_features, on_a_plain_processor

SIZES = (7, 5, 4, 6)
FIT = "ce5b69e28f4b1e3a"
"""The digest from before sums of products had their order here, too."""


def fitted() -> str:
    """Return the digest of a model and of its rows: four attributes with coarser levels, two rounds, impossible
    combinations."""
    variables = []
    for name, size in zip("abcd", SIZES, strict=True):
        codes = np.arange(size, dtype=np.int32)
        variables += [Variable(name, "fine", size, codes), Variable(name, "coarse", (size + 1) // 2, codes // 2)]
    domain = ModelDomain(tuple("abcd"), tuple(variables))
    holes = np.zeros((SIZES[0], SIZES[2]), dtype=np.bool_)
    holes[0, 1:] = True
    learned = ModelFit.of(domain, (((0, 4), holes),), _measured(domain))
    digest = hashlib.sha256()
    for theta in learned.finished().weights:
        digest.update(theta.tobytes())
    for codes in learned.rows(seeded_generator(b"seed")):
        digest.update(codes.tobytes())
    return digest.hexdigest()[:16]


def _measured(domain: ModelDomain) -> Iterator[MeasuredTable]:
    draws = np.random.Generator(np.random.PCG64(1))
    rounds: list[tuple[int, Table]] = [(0, (place,)) for place in domain.finest]
    rounds += [(1, (0, 2)), (1, (4, 6)), (2, (0, 6)), (2, (3, 4)), (2, (0, 2))]
    for number, table in rounds:
        shape = domain.shape(table)
        noisy = draws.integers(-20, 400, shape) * 840 // domain.cells(table)
        yield MeasuredTable(table, number, Fraction(1, 7 + number), Fraction(7 + number, 2), noisy)


def weighted() -> list[int]:
    """Return weights of 300 classes by three margins, some of which can't be met."""
    draws = np.random.Generator(np.random.PCG64(2))
    ages, wards = np.indices((20, 15)).reshape(2, -1)
    counts = draws.integers(5, 200, 300)

    def margin(cells: Integers, size: int) -> NoisyMargin:
        estimate = np.bincount(cells, 3.0 * counts, size).astype(np.float64) + draws.integers(-90, 90, size)
        return NoisyMargin(cells, estimate, np.full(size, 100.0), estimate - 20, estimate + 20)

    margins = margin(np.zeros_like(ages), 1), margin(ages, 20), margin(wards, 15)
    return [int(weight) for weight in calibrate(counts, margins, Fraction(5, 2)).weights]


@pytest.mark.thorough
@needs_features
def test_a_fit_and_its_rows_have_the_same_bits_on_a_plain_processor() -> None:
    program = "from tests.mechanisms.test_processors import fitted; print(fitted())"
    assert on_a_plain_processor(program).strip() == fitted()


@pytest.mark.thorough
def test_a_fit_and_its_rows_have_the_bits_that_they_had_elsewhere() -> None:
    assert fitted() == FIT


@pytest.mark.thorough
@needs_features
def test_weights_are_within_what_verification_allows_on_a_plain_processor() -> None:
    program = "from tests.mechanisms.test_processors import weighted; print(weighted())"
    there, here = np.array(json.loads(on_a_plain_processor(program))), np.array(weighted())
    assert len(set(here.tolist())) > 100
    assert (np.abs(there - here) <= NEAR_UNITS + NEAR * here).all()
