"""zCDP: the conversion is an upper bound and hardly above the best; the discrete Gaussian meets its curve."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting import zcdp
from crowdgate.accounting.discrete_laws import DiscreteGaussian
from crowdgate.accounting.numbers import Number
from crowdgate.accounting.zcdp import greatest_rho, squared_sigma, zcdp_epsilon
from tests.examples import examples
from tests.oracles.zcdp import gaussian_rho, renyi, zcdp_delta

rhos = st.floats(1e-6, 50)
deltas = st.floats(1e-15, 0.3)
variances = st.fractions(Fraction(1, 4), 60, max_denominator=50)


def hundred_steps(rising: Callable[[float], float]) -> float:
    """Return the place where a rising function of t > 0 crosses 0, by a hundred steps of bisection of ln t."""
    low, high = -200.0, 200.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(math.exp(middle)) < 0 else (low, middle)
    return math.exp((low + high) / 2)


@settings(max_examples=examples(200), deadline=None)
@given(scale=st.floats(-190, 190), step=st.sampled_from([1e-300, 1e-12, 1.0]), jump=st.booleans())
def test_a_bisection_that_ends_early_ends_where_a_hundred_steps_end(scale: float, step: float, jump: bool) -> None:
    def rising(t: float) -> float:
        off = math.log(t) - scale * step
        return math.copysign(1.0, off) if jump else off

    assert zcdp._root(rising) == hundred_steps(rising)


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(rho=rhos, delta=deltas)
def test_epsilon_and_delta_are_inverse(rho: float, delta: float) -> None:
    epsilon = zcdp_epsilon(rho, delta)
    assert zcdp_delta(rho, epsilon) <= delta * (1 + 1e-9)
    if epsilon > 0:
        assert zcdp_delta(rho, epsilon * (1 - 1e-9)) >= delta * (1 - 1e-6) or zcdp_delta(rho, epsilon) < 1e-290


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(rho=rhos, delta=deltas)
def test_the_conversion_is_never_above_that_of_bun_and_steinke(rho: float, delta: float) -> None:
    """Bun, Steinke 2016, Proposition 1.3: rho + 2 sqrt(rho ln(1/delta))."""
    assert zcdp_epsilon(rho, delta) <= rho + 2 * math.sqrt(rho * math.log(1 / delta))


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(epsilon=st.fractions(Fraction(1, 100), 20), delta=deltas)
def test_the_greatest_rho_is_within_the_budget_and_a_little_more_is_not(epsilon: Fraction, delta: float) -> None:
    rho = greatest_rho(epsilon, delta)
    assert Fraction(zcdp_epsilon(rho, delta)) <= epsilon
    assert Fraction(zcdp_epsilon(rho * Fraction(1 + 1e-12), delta)) > epsilon


def test_known_values() -> None:
    """rho = .5 at delta 1e-6 costs 5.2215 (Bun and Steinke: 5.757); (1, 1e-9) permits a rho of .014973."""
    assert zcdp_epsilon("0.5", "1e-6") == pytest.approx(5.221534444530, rel=1e-11)
    assert float(greatest_rho(1, "1e-9")) == pytest.approx(0.01497305767, rel=1e-9)
    assert zcdp_epsilon(0, "1e-9") == 0


def test_rho_is_exact() -> None:
    assert gaussian_rho(5, squared_sigma(5, "0.3")) == Fraction(3, 10)


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(squared=variances, shift=st.integers(1, 6), order=st.floats(1.05, 12))
def test_the_discrete_gaussian_stays_within_its_zcdp_curve(squared: Fraction, shift: int, order: float) -> None:
    law = DiscreteGaussian(squared)
    curve = order * float(gaussian_rho(shift, squared))
    assert renyi(law, order, shift) <= curve * (1 + 1e-12) + 1e-14
    assert renyi(law, order, shift) == pytest.approx(summed_renyi(squared, shift, order), rel=1e-9, abs=1e-12)


@settings(max_examples=examples(30), deadline=None, derandomize=True)
@given(squared=variances, shift=st.integers(1, 6), order=st.integers(2, 12))
def test_at_whole_orders_the_curve_is_met(squared: Fraction, shift: int, order: int) -> None:
    """With half of the rho the curve is violated: the test would find a wrong sensitivity."""
    curve = order * float(gaussian_rho(shift, squared))
    assert summed_renyi(squared, shift, order) == pytest.approx(curve, rel=1e-10)
    assert summed_renyi(squared, shift, order) > order * float(gaussian_rho(shift, squared) / 2)


def summed_renyi(squared: Fraction, shift: int, order: float) -> float:
    """Return the divergence from the masses alone, term by term."""
    law = DiscreteGaussian(squared)
    middle = round(order * shift)
    reach = int(30 * law.sigma) + 3 * shift + middle
    logs = [
        -order * (x - shift) ** 2 / (2 * float(squared)) - (1 - order) * x * x / (2 * float(squared))
        for x in range(middle - reach, middle + reach + 1)
    ]
    top = max(logs)
    total = math.fsum(math.exp(log - top) for log in logs)
    still = math.fsum(math.exp(-x * x / (2 * float(squared))) for x in range(-reach, reach + 1))
    return (top + math.log(total) - math.log(still)) / (order - 1)


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(squared=variances, shift=st.integers(1, 4), epsilon=st.floats(0.01, 6))
def test_the_exact_delta_of_the_noise_is_below_the_converted_one(squared: Fraction, shift: int, epsilon: float) -> None:
    law = DiscreteGaussian(squared)
    reach = int(40 * law.sigma) + 5 * shift
    exact = math.fsum(max(law.mass(x) - math.exp(epsilon) * law.mass(x - shift), 0.0) for x in range(-reach, reach + 1))
    assert law.delta(shift, epsilon) == pytest.approx(exact, rel=1e-6, abs=1e-14)
    assert exact <= zcdp_delta(gaussian_rho(shift, squared), epsilon)


@pytest.mark.parametrize(
    ("call", "arguments", "name"),
    [
        (zcdp_epsilon, (-1, 0.1), "rho"),
        (zcdp_epsilon, (1, 0), "delta"),
        (zcdp_epsilon, (1, 1), "delta"),
        (greatest_rho, (-1, 0.1), "epsilon"),
        (greatest_rho, (1, 0), "delta"),
        (squared_sigma, (0, 1), "sensitivity"),
        (squared_sigma, (1, 0), "rho"),
    ],
)
def test_an_argument_out_of_range_is_refused_by_name(
    call: Callable[..., object], arguments: tuple[Number, ...], name: str
) -> None:
    with pytest.raises(ValueError, match=f"^{name} must"):
        call(*arguments)
