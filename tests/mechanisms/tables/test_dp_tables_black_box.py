"""The mechanism with OpenDP's noise, drawn many times on neighbouring tables: half of epsilon is refuted."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from crowdgate.accounting.discrete_laws import Law
from crowdgate.mechanisms.tables.answers import raw_answers
from crowdgate.mechanisms.tables.dp_tables import DpTables
from crowdgate.mechanisms.tables.workload import ContingencyTable, Sum
from crowdgate.noise import OPENDP, NoiseSource, VectorNoise
from tests.mechanisms.tables.tables import cells_of, counted, plan

DRAWS = {"laplace": 20_000, "gaussian": 60_000}
ROWS = [(0, 0, 3, 3), (1, 2, 9, 3)]
NEIGHBOUR = [*ROWS, (1, 3, 10, 3)]
ITEMS = (ContingencyTable(), ContingencyTable({"sex": "exact"}), Sum("hours"))
LEVEL = 1e-6
"""Level of all tests of one guarantee together (Holm)."""
SHARES = (-0.5, 0.0, 0.25, 0.5, 0.75)
"""Events: the released vector is at least e^(share * epsilon) times likelier on one table than on the other."""


def tiled(draws: int) -> NoiseSource:
    """Return OpenDP's noise on `draws` copies of a vector: each row of the result is one release."""

    def many(draw: VectorNoise) -> VectorNoise:
        return lambda values, sensitivity, budget: draw(np.tile(values.reshape(-1), (draws, 1)), sensitivity, budget)

    return NoiseSource(many(OPENDP.laplace), many(OPENDP.gaussian))


def release(mechanism: DpTables, rows: Sequence[tuple[int, ...]], draws: int) -> np.ndarray:
    """Return released vectors, one in each row."""
    return np.hstack(mechanism.protect(counted(mechanism, rows), None, tiled(draws)))


def log_masses(law: Law, moved: np.ndarray) -> np.ndarray:
    """Return ln P(noise = x), up to a constant of the distribution."""
    return -np.abs(moved) / float(law.scale) if hasattr(law, "scale") else -(moved**2) / (2 * float(law.squared_sigma))


def log_ratio(mechanism: DpTables, released: np.ndarray) -> np.ndarray:
    """Return ln of the ratio of each vector's probabilities on the neighbour and on the table."""
    silent = NoiseSource(lambda values, *_: values, lambda values, *_: values)
    truths = [
        np.hstack([v.reshape(-1) for v in mechanism.protect(counted(mechanism, rows), None, silent)])
        for rows in (ROWS, NEIGHBOUR)
    ]
    sizes = [linear.query.cells for linear in mechanism.queries]
    laws = [law for law, size in zip(mechanism.laws, sizes, strict=True) for _ in range(size)]
    columns = zip(laws, released.T, *truths, strict=True)
    ratios: np.ndarray = sum(log_masses(law, y - more) - log_masses(law, y - less) for law, y, less, more in columns)
    return ratios


def p_values(mechanism: DpTables, samples: Sequence[np.ndarray], epsilon: float, delta: float) -> list[float]:
    """Return p-values of one-sided z-tests of P(event) <= e^epsilon P'(event) + delta, for each event and both
    directions."""
    ratios = [log_ratio(mechanism, sample) for sample in samples]
    stated = float(mechanism.part.epsilon)
    found = []
    for sign, (likely, other) in ((1, (ratios[1], ratios[0])), (-1, (ratios[0], ratios[1]))):
        for share in SHARES:
            p, q = (float((sign * ratio >= share * stated - 1e-9).mean()) for ratio in (likely, other))
            draws = len(likely)
            spread = math.sqrt((p * (1 - p) + math.exp(2 * epsilon) * q * (1 - q)) / draws) + 1 / draws
            found.append(float(norm.sf((p - math.exp(epsilon) * q - delta) / spread)))
    return found


def refuted(values: Sequence[float]) -> bool:
    """Return whether Holm's procedure rejects any hypothesis: its first step decides."""
    return min(values) <= LEVEL / len(values)


# OpenDP cannot be seeded. N = 20,000 draws (Laplace) or 60,000 (Gaussian) on each table, ten events fixed beforehand,
# Holm at 1e-6: false-alarm rate at most 1e-6 (normal approximation, all counts in the thousands). Power against half of
# epsilon: Laplace, epsilon 1: the event "0.75 epsilon" has probability .19 and .073, 17 standard errors beyond e^.5;
# Gaussian, (1, .01): the event "0.5 epsilon" has .19 and .093, .027 above delta, 10 standard errors. Both above
# 1 - 1e-5.
@pytest.mark.thorough
@pytest.mark.statistical
@pytest.mark.parametrize(("noise", "delta"), [("laplace", "0"), ("gaussian", "0.01")])
def test_the_stated_guarantee_is_not_refuted_and_half_of_epsilon_is(noise: str, delta: str) -> None:
    mechanism = plan(ITEMS, "1", delta, noise=noise)
    samples = [release(mechanism, rows, DRAWS[noise]) for rows in (ROWS, NEIGHBOUR)]
    assert not refuted(p_values(mechanism, samples, 1, float(delta)))
    assert refuted(p_values(mechanism, samples, 0.5, float(delta)))


# Noise for one row where the person has two spends 2 of 1. N = 10,000 on each table, one event, a z-test at 1e-6.
# Power above 1 - 1e-9: the event has probability .39 and .053, 31 standard errors beyond e.
@pytest.mark.thorough
@pytest.mark.statistical
def test_noise_of_half_the_sensitivity_is_refuted() -> None:
    mechanism, draws = plan(ITEMS[:2], "1", rows=2), 10_000
    wrong = NoiseSource(lambda values, sensitivity, epsilon: tiled(draws).laplace(values, sensitivity // 2, epsilon),
                        OPENDP.gaussian)  # fmt: skip
    pair = ROWS, [*ROWS, NEIGHBOUR[-1], NEIGHBOUR[-1]]
    samples = [np.hstack(mechanism.protect(counted(mechanism, rows), None, wrong)) for rows in pair]
    above = [float(((sample[:, 0] >= 4) & (sample[:, 2] >= 3)).mean()) for sample in samples]
    spread = math.sqrt(sum(p * (1 - p) * w for p, w in zip(above, (math.e**2, 1), strict=True)) / draws)
    assert float(norm.sf((above[1] - math.e * above[0]) / spread)) <= LEVEL


# N = 40,000 intervals each, within four standard errors of the law's exact coverage: false-alarm rate 6.4e-5 each, by
# an exact two-sided binomial test. Power: at epsilon 1 Laplace intervals narrower by 1 on either side cover .046 less
# often, 57 standard errors.
@pytest.mark.thorough
@pytest.mark.statistical
@pytest.mark.parametrize(("noise", "epsilon"), [("laplace", "1"), ("laplace", "0.1"), ("gaussian", "1")])
def test_intervals_cover_as_often_as_the_law_says(noise: str, epsilon: str) -> None:
    mechanism = plan([ContingencyTable()], epsilon, noise=noise)
    draws = 40_000
    many = tiled(draws)
    noisy = mechanism.protect(counted(mechanism, ROWS), None, many)
    (answer,) = raw_answers(mechanism, noisy, Fraction(1, 10))
    cells = cells_of(answer)
    law = mechanism.laws[0]
    covered = int(((cells.lower <= len(ROWS)) & (cells.upper >= len(ROWS))).sum())
    stated = law.coverage(law.half_width())
    assert stated >= 0.95
    assert binomtest(covered, draws, stated).pvalue > 6.4e-5
    if noise == "laplace" and epsilon == "1":
        narrower = int((np.abs(cells.value - len(ROWS)) <= law.half_width() - 1).sum())
        assert binomtest(narrower, draws, stated).pvalue < 1e-9
