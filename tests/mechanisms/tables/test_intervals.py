"""Coverage of intervals of sums, means and quantiles, for each table individually: by exact distributions of sums of
noise, and simulated."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.accounting.discrete_laws import DiscreteGaussian, DiscreteLaplace, Law
from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.contracts.contract import Attribute, Contract, PrivacyUnit, Role
from crowdgate.domain import categories, numbers
from crowdgate.guarantee import Part
from crowdgate.hierarchy import by_width, hierarchy
from crowdgate.mechanisms.tables import answers
from crowdgate.mechanisms.tables.answers import TableAnswer, raw_answers
from crowdgate.mechanisms.tables.dp_tables import DpTables, plan_dp_tables
from crowdgate.mechanisms.tables.means import means
from crowdgate.mechanisms.tables.workload import Item, LinearQuery, Mean, Quantiles, RowsAtBound, Sum
from tests.reading import file_server

Vector = np.ndarray[Any, Any]
LAWS: tuple[Law, ...] = (
    *(DiscreteLaplace(Fraction(scale)) for scale in ("1/5", "3/4", "2", "6")),
    *(DiscreteGaussian(Fraction(squared)) for squared in ("1/10", "1", "9", "30")),
)


def balance_law(law: Law, p: Fraction, below: int, above: int) -> tuple[Vector, Vector]:
    """Return all values of (1 - p) (sum of `below` noises) - p (sum of `above`), with their probabilities."""
    reach = math.ceil(30 * max(1, law.variance**0.5))
    noise = np.array([law.mass(x) for x in range(-reach, reach + 1)])
    spread = law.variance**0.5 * math.sqrt(below + above)
    size = 1 << math.ceil(math.log2(4 * p.denominator * (reach + 14 * spread)))
    transform = np.ones(size // 2 + 1, dtype=complex)
    for times, each in ((below, p.denominator - p.numerator), (above, p.numerator)):
        masses = np.zeros(size)
        np.add.at(masses, each * np.arange(-reach, reach + 1) % size, noise)
        transform *= np.fft.rfft(masses) ** times
    return np.fft.fftfreq(size, 1 / size) / p.denominator, np.fft.irfft(transform, size)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_noise_of_a_balance_passes_its_limit_with_at_most_a_fortieth(law: Law) -> None:
    """Exactly, for 1 to 20 bins; with one step less the limit would fail for some distribution."""
    for bins in (1, 2, 3, 8, 20):
        for p in (Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)):
            for below in {1, bins // 2 + 1, bins}:
                values, masses = balance_law(law, p, below, bins - below)
                weights = math.sqrt((1 - p) ** 2 * below + p**2 * (bins - below))
                half = law.continuous_half_width() * weights + 1
                assert masses[values < -half].sum() <= 0.025
                assert masses.sum() == pytest.approx(1)


@dataclass(frozen=True)
class Wide:
    """Bounds that clamp nothing."""

    unit: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    low: int = -(10**9)
    high: int = 10**9


@given(total=st.integers(-5000, 5000), count=st.integers(50, 2000), law=st.sampled_from(LAWS))
def test_the_ends_of_a_mean_are_the_last_ratios_that_the_noise_does_not_refute(
    total: int, count: int, law: Law
) -> None:
    """n t - s is at most sqrt(a^2 + t^2 b^2) + 1 + |t| up to the upper limit, with equality there; likewise below."""
    found = means(Wide(), np.array([total]), np.array([count]), (law, LAWS[2]), Fraction(1))
    a, b = law.continuous_half_width(), LAWS[2].continuous_half_width()
    for end, side in ((float(found.upper[0]), 1), (float(found.lower[0]), -1)):
        allowed = math.hypot(a, end * b) + 1 + abs(end)
        assert side * (count * end - total) == pytest.approx(allowed, rel=1e-6)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_noise_is_within_one_of_its_continuous_law(law: Law) -> None:
    """For every whole m: P(continuous >= m) <= P(noise >= m) <= P(continuous >= m - 1)."""
    from scipy.special import ndtr

    def tail(x: int) -> float:
        if isinstance(law, DiscreteGaussian):
            return float(ndtr(-x / law.sigma))
        return math.exp(-x / float(law.scale)) / 2

    for m in range(1, math.ceil(12 * law.variance**0.5) + 3):
        assert tail(m) * (1 - 1e-9) <= law.tail(m - 1) <= tail(m - 1) * (1 + 1e-9)


def test_no_difference_of_two_laplace_numbers_has_heavier_tails_than_one() -> None:
    """P(|a L - b M| > x) = (a^2 e^(-x/a) - b^2 e^(-x/b)) / (a^2 - b^2), at x = ln 20 for a^2 + b^2 = 1."""
    x = DiscreteLaplace(Fraction(1)).continuous_half_width()
    assert x == pytest.approx(math.log(20))
    for angle in np.linspace(1e-3, math.pi / 4 - 1e-3, 500):
        a, b = math.cos(angle), math.sin(angle)
        assert (a * a * math.exp(-x / a) - b * b * math.exp(-x / b)) / (a * a - b * b) <= 0.05


# drawn: every published table by itself

WAGE = numbers(Fraction(-500), Fraction(20_000), Fraction(500), "a form", top=True, precision=Fraction(1))
TOWN = categories(["a", "b", "c"], "a list")
PROBABILITIES = (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
ITEMS: tuple[Item, ...] = (
    Sum("wage", {"town": "exact"}, low=Fraction(0)),
    Mean("wage", {"town": "exact"}),
    Mean("wage", low=Fraction(0), high=Fraction(5000)),
    RowsAtBound("wage", "high", {"town": "exact"}, high=Fraction(5000)),
    Quantiles("wage", "thousands", PROBABILITIES, {"town": "exact"}),
)
DRAWS = 1000


def attribute(name: str, domain: Any, named: Any) -> Attribute:
    levels = hierarchy(domain, named, invalid_level=False)
    return Attribute(name, Role.OTHER, domain=domain, hierarchy=levels)


CONTRACT = Contract(
    "wages", "1", "town", PrivacyUnit(), file_server(Path("x"), "csv"),
    (attribute("town", TOWN, []), attribute("wage", WAGE, [("thousands", by_width(WAGE, Fraction(1000)))])),
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Total number of rows, noise, budget and sampling rate."""

    rows: int
    noise: str
    epsilon: str
    beta: str = "1"


CASES = (
    Case(3000, "gaussian", "1"), Case(60, "laplace", "1"), Case(3000, "laplace", "4", "0.5"),
    Case(3000, "gaussian", "1", "0.1"), Case(60, "laplace", "6", "0.2"),
)  # fmt: skip
BY_DEFAULT = [
    pytest.param(each, marks=() if each in (CASES[0], CASES[2]) else pytest.mark.soak, id=str(each)) for each in CASES
]
"""A whole table with Gaussian noise and a sample with Laplace noise; the others under `soak`."""


def people(rows: int) -> tuple[Vector, Vector]:
    """Return towns of a half, four tenths and the rest; skewed wages, a few at the upper bound."""
    random = np.random.default_rng(11)
    towns = random.choice(3, rows, p=[0.5, 0.4, 0.1])
    return towns, np.minimum(random.lognormal(7.5, 1.0, rows).astype(np.int64), 20_000)


def mechanism_of(case: Case) -> DpTables:
    found, findings = plan_dp_tables(
        ITEMS, CONTRACT, Part("mechanism", Fraction(case.epsilon), Fraction(1, 10**6)),
        noise="laplace" if case.noise == "laplace" else "gaussian", beta=Fraction(case.beta),
    )  # fmt: skip
    assert found is not None, findings
    return found


def truths(towns: Vector, wages: Vector) -> list[Vector]:
    """Return sums, means, rows at the bound and the bins of quantiles, from the rows."""
    own = [wages[towns == town] for town in range(3)]
    bins = [[np.sort(each)[math.ceil(p * len(each)) - 1] // 1000 + 1 for p in PROBABILITIES] for each in own]
    return [
        np.array([each.sum() for each in own]), np.array([each.mean() for each in own]),
        np.clip(wages, 0, 5000).mean(), np.array([(each >= 5000).sum() for each in own]), np.array(bins),
    ]  # fmt: skip


def sampled(law: Law, shape: tuple[int, ...], random: np.random.Generator) -> Vector:
    """Return noise of a distribution, by numpy."""
    if isinstance(law, DiscreteLaplace):
        rate = -math.expm1(-float(1 / law.scale))
        return random.geometric(rate, shape) - random.geometric(rate, shape)
    if law.sigma > 1000:
        return np.rint(random.normal(0, law.sigma, shape)).astype(np.int64)
    reach = math.ceil(12 * law.sigma) + 1
    cumulated = np.cumsum([law.mass(x) for x in range(-reach, reach + 1)])
    return np.asarray(np.searchsorted(cumulated, random.random(shape) * cumulated[-1]) - reach)


def answers_of(query: LinearQuery, columns: dict[str, Vector], kept: Vector) -> Vector:
    """Return the sums over the sampled rows (one line for each draw) in each cell of a query."""
    cells, rows = np.zeros(kept.shape[1], dtype=np.int64), np.arange(kept.shape[1])
    for name, level in query.levels.items():
        cells = cells * len(level) + level.codes[columns[name]]
    added = np.zeros((len(rows), query.query.cells))
    added[rows, cells] = 1 if query.grid is None else query.grid.weights[columns["wage"]]
    return (kept @ added).astype(np.int64).reshape(-1, *query.shape)


def draws(mechanism: DpTables, towns: Vector, wages: Vector, random: np.random.Generator) -> Iterator[list[Vector]]:
    """Return noisy vectors of DRAWS releases."""
    columns = {"town": towns, "wage": wages + 500}
    kept = random.random((DRAWS if mechanism.beta != 1 else 1, len(towns))) < float(mechanism.beta)
    pairs = zip(mechanism.queries, mechanism.laws, strict=True)
    noisy = [answers_of(q, columns, kept) + sampled(law, (DRAWS, *q.shape), random) for q, law in pairs]
    return ([vector[at] for vector in noisy] for at in range(DRAWS))


def limits(mechanism: DpTables, noisy: list[Vector]) -> Iterator[tuple[Vector, Vector]]:
    """Yield the lower and the upper limits of each table."""
    for answer in raw_answers(mechanism, noisy, Fraction(1, 10)):
        held = answer.cells if isinstance(answer, TableAnswer) else answer
        yield held.lower, held.upper


def leave_out_errors(patch: pytest.MonkeyPatch) -> None:
    """State no errors, which take five sixths of the time: no limit depends on them."""
    patch.setattr(answers, "_quantile_errors", lambda *given: np.zeros(given[-1].shape))
    patch.setattr("crowdgate.mechanisms.tables.means.mean_posterior", lambda groups, _: (groups.sums, groups.counts))


def missed(case: Case, patch: pytest.MonkeyPatch) -> Vector:
    """Return for each number of each table the number of draws whose interval misses the truth."""
    towns, wages = people(case.rows)
    mechanism, random = mechanism_of(case), np.random.default_rng(29)
    true = truths(towns, wages)
    out = [np.zeros(np.shape(each)) for each in true]
    leave_out_errors(patch)
    for noisy in draws(mechanism, towns, wages, random):
        for at, (lower, upper) in enumerate(limits(mechanism, noisy)):
            slack = 1e-9 * np.abs(true[at])  # a mean of whole numbers in floats
            out[at] += (lower > true[at] + slack) | (upper < true[at] - slack)
    return np.concatenate([np.ravel(each) for each in out])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_limit_depends_on_the_errors(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = mechanism_of(case)
    some = list(islice(draws(mechanism, *people(case.rows), np.random.default_rng(3)), 3))
    stated = [list(limits(mechanism, each)) for each in some]
    leave_out_errors(monkeypatch)
    np.testing.assert_equal([list(limits(mechanism, each)) for each in some], stated)


@pytest.mark.thorough
@pytest.mark.statistical
@pytest.mark.parametrize("case", BY_DEFAULT)
def test_every_number_is_in_its_interval_nineteen_times_of_twenty(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 draws of 19 numbers, each individually. One fails if the upper limit of the exact one-sided interval of its
    coverage, at .01 / 95 (Holm's first step over all numbers of all cases), lies below .95, or its coverage below .92:
    with probability at most .011 in total if each coverage is .95, and with .99 for one of .90. Seed fixed before any
    run."""
    found = missed(case, monkeypatch)
    assert len(found) == 19
    for misses in found:
        _, upper = clopper_pearson(int(DRAWS - misses), DRAWS, 0.01 / (len(CASES) * len(found)))
        assert upper >= 0.95
        assert misses <= 0.08 * DRAWS
