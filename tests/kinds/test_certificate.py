"""Coverage of a certificate's limits: sums over all outcomes of noise and sampling."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest

from crowdgate.accounting.discrete_laws import DiscreteGaussian
from crowdgate.kinds.synthetic.certificate import Certificate

ROWS = 40


def certificate(distances: tuple[int, ...], sigma: Fraction, beta: Fraction = Fraction(1)) -> Certificate:
    return Certificate(np.array(distances), sigma, [4] * len(distances), ROWS, Fraction(0), beta, Fraction(1, 10))


def outcomes(truth: tuple[int, ...], sigma: Fraction, stated: Fraction) -> Iterator[tuple[Certificate, float]]:
    """Yield each certificate of these distances with its probability; `stated` is the squared sigma that it states."""
    law = DiscreteGaussian(sigma)
    reach = range(-int(7 * law.sigma) - 1, int(7 * law.sigma) + 2)
    masses = {noise: law.mass(noise) for noise in reach}
    for noise in product(reach, repeat=len(truth)):
        found = tuple(a + b for a, b in zip(truth, noise, strict=True))
        yield certificate(found, stated), prod(masses[each] for each in noise)


@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(2), Fraction(30)])
def test_a_pair_lies_within_its_limits_as_often_as_they_say(sigma: Fraction) -> None:
    truth, held = 100, 0.0
    for found, mass in outcomes((truth,), sigma, sigma):
        held += mass * bool(found.lower[0] <= truth / (2 * ROWS) <= found.upper[0])
    assert held >= 0.95 - 1e-9
    missed = sum(
        mass * bool(not found.lower[0] <= truth / (2 * ROWS) <= found.upper[0])
        for found, mass in outcomes((truth,), sigma, sigma / 4)
    )
    assert missed > 0.05 or sigma < 1, "half the noise in the limits is seen"


@pytest.mark.thorough
@pytest.mark.parametrize("truth", [(0, 0), (30, 31), (5, 60)])
def test_what_gates_read_fails_once_in_twenty_times_at_most(truth: tuple[int, int]) -> None:
    sigma = Fraction(3)
    greatest, mean = max(truth) / (2 * ROWS), sum(truth) / (4 * ROWS)
    failed = np.zeros(4)
    for found, mass in outcomes(truth, sigma, sigma):
        summed = found.summed_up
        ends = (summed.greatest.upper < greatest, summed.greatest.lower > greatest,
                summed.mean.upper < mean, summed.mean.lower > mean)  # fmt: skip
        failed += mass * np.array(ends)
    assert (failed <= 0.05 + 1e-9).all()


def test_pairs_are_trustworthy_by_their_upper_limit() -> None:
    found = certificate((0, 4, 40), Fraction(1))
    assert found.trustworthy.tolist() == [True, True, False]
    assert found.upper[1] <= 0.1 < found.upper[2]
    assert found.summed_up.trusted == pytest.approx(2 / 3)
    assert replace(found, pair_error=Fraction(1, 1000)).summed_up.trusted == 0


@pytest.mark.parametrize("beta", [Fraction(1, 2), Fraction(1, 5), Fraction(9, 10)])
@pytest.mark.parametrize("counts", [(10, 10, 10, 10), (37, 1, 1, 1), (20, 20, 0, 0)])
def test_coins_take_the_sample_no_farther_from_the_table_than_is_added(beta: Fraction, counts: tuple[int, ...]) -> None:
    """Half the sum of |sample - beta table|, divided by the expected number of rows: exactly, over all samples."""
    rate, rows = float(beta), float(beta) * sum(counts)
    found = replace(certificate((0,), Fraction(1), beta), rows=round(rows))
    law = {0.0: 1.0}
    for count in counts:
        ahead: dict[float, float] = {}
        for kept in range(count + 1):
            mass = comb(count, kept) * rate**kept * (1 - rate) ** (count - kept)
            for so_far, before in law.items():
                far = round(so_far + abs(kept - rate * count), 9)
                ahead[far] = ahead.get(far, 0.0) + before * mass
        law = ahead
    beyond = sum(mass for far, mass in law.items() if far / (2 * rows) > found.sampling_error[0])
    assert beyond <= 0.025
    within_half = sum(mass for far, mass in law.items() if far / (2 * rows) > found.sampling_error[0] / 5)
    assert within_half > 0.025, "a fifth of it would not do"


# N = 20,000 seeded samples of each: at .05 and 20,000 a standard error is .0015. False-alarm rate: at most 1e-9, as the
# share that fails is at most .03. Power above 1 - 1e-9 against the number of rows in place of what may lie behind it:
# .07 fail then where noise in that number is large and that of distances is not.
@pytest.mark.thorough
@pytest.mark.statistical
@pytest.mark.parametrize(("people", "cells", "beta", "sigma"), [(1000, 400, "0.1", 60), (50, 40, "0.5", 30)])
def test_limits_hold_against_the_table_however_noisy_the_number_of_rows(
    people: int, cells: int, beta: str, sigma: int
) -> None:
    rng, number, noise = np.random.default_rng(20301114), 20_000, sigma / 10
    table = rng.multinomial(people, np.full(cells, 1 / cells))
    samples = rng.binomial(table, float(beta), (number, cells))
    apart = np.abs(samples - float(beta) * table).sum(axis=1)  # all on the side of the noise: the worst rows there are
    released = np.maximum(1, np.rint(samples.sum(axis=1) + rng.normal(0, sigma, number))).astype(int)
    drawn = np.rint(rng.normal(0, noise, number)).astype(int)
    missed = 0
    for rows in np.unique(released).tolist():
        here = released == rows
        found = Certificate(
            drawn[here], Fraction(sigma**2, 100), [cells] * int(here.sum()), rows, Fraction(sigma**2), Fraction(beta),
            Fraction(1),
        )  # fmt: skip
        missed += int((found.upper < apart[here] / (2 * rows)).sum())
    assert missed / number <= 0.05
