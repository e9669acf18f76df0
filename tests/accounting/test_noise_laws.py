"""Laws of noisy vectors against 60 digits, the largest budget that keeps a total, and the points of a release."""

from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import pytest

from crowdgate.accounting import part_laws
from crowdgate.accounting.joint_points import stated_points, stated_replacements, target_delta
from crowdgate.accounting.noise_laws import NoiseLaw, NoisyVector, greatest_factor
from crowdgate.accounting.tables_plan import tables_budget
from tests.accounting import joint_truth

COUNT, SUM = NoisyVector(1, Fraction(1, 8)), NoisyVector(3, Fraction(9, 32))
"""Under Gaussian noise sigma^2 is 4 and 16."""
GATE = part_laws.pure(0.25)


def truth(law: NoiseLaw, times: int = 1) -> joint_truth.Pair:
    """Return the law of the vectors, each changed `times` in other cells, on a sample if there is one."""
    if law.noise == "laplace":
        pairs = [joint_truth.laplace(mp.mpf(float(each.spend)), each.change) for each in law.vectors]
    else:
        squares = (Fraction(each.change) ** 2 / (2 * each.spend) for each in law.vectors)
        pairs = [
            joint_truth.gaussian(each.change, mp.mpf(float(squared)), 10)
            for each, squared in zip(law.vectors, squares, strict=True)
        ]
    together = joint_truth.together(pairs * times)
    return together if law.beta == 1 else joint_truth.sampled(together, mp.mpf(float(law.beta)))


@pytest.mark.thorough
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("beta", [Fraction(1), Fraction(1, 4)])
def test_the_joint_law_of_vectors_and_a_gate_is_that_of_60_digits(noise: str, beta: Fraction) -> None:
    law = NoiseLaw(noise, (COUNT, SUM), beta=beta)  # type: ignore[arg-type]
    with mp.workdps(60):
        pair = joint_truth.together([truth(law), joint_truth.opaque(mp.mpf(0.25), 0)])
        for epsilon in (0.05, 0.2, 0.3):
            both = (
                joint_truth.Curve.of(turn(pair)).at(mp.exp(mp.mpf(epsilon))) for turn in (list, joint_truth.swapped)
            )
            true = max(both)
            # a Gaussian on a sample is on a grid: measured, at most 1e-4 above
            assert 0 <= law.joint((GATE,)).delta(epsilon) / true - 1 <= 1e-3


def test_a_replaced_unit_of_a_sample_costs_a_removal_and_one_sampling_decision() -> None:
    """All rows of the common part C in other cells: D has i, D' has j, sampled independently, in two cells."""
    law = NoiseLaw("laplace", (NoisyVector(1, Fraction(1)),), beta=Fraction(1, 4))
    with mp.workdps(40):
        one = truth(law)
        pair = joint_truth.together([one, joint_truth.swapped(one), joint_truth.opaque(mp.mpf(0.5), 0)])
        for epsilon in (0.3, 0.6, 0.8):
            true = joint_truth.Curve.of(pair).at(mp.exp(mp.mpf(epsilon)))
            stated = law.replaced((part_laws.pure(0.5),))(epsilon)
            assert true <= stated
            assert law.joint((part_laws.pure(0.5),)).direction(epsilon, add=False) < true, (
                "a removal alone is too small"
            )


def test_a_sample_that_misses_nobody_has_no_curve_for_replacements() -> None:
    law = NoiseLaw("laplace", (COUNT,), beta=1 - Fraction(1, 10**30))
    assert law.replaced(())(1.0) == 1.0
    assert stated_replacements(law.replaced(()), Fraction(1, 100), (2.0, 0.5))[0][0] == 2


def test_names_say_what_is_known() -> None:
    gaussian, laplace = NoiseLaw("gaussian", (COUNT, SUM)), NoiseLaw("laplace", (COUNT, SUM))
    assert [gaussian.name, laplace.name] == ["discrete gaussians", "discrete laplace"]
    assert replace(laplace, vectors=(COUNT,)).name == replace(laplace, rows=2).name == "pure"
    assert replace(gaussian, beta=Fraction(1, 2)).name == "sampled discrete gaussians"
    narrow = NoisyVector(1, Fraction(1, 6))  # sigma^2 is 3
    assert NoiseLaw("gaussian", (narrow,)).is_known
    assert not NoiseLaw("gaussian", (narrow,), rows=2).is_known
    assert not NoiseLaw("gaussian", (replace(narrow, one_sided=False),)).is_known


def test_the_budget_of_the_bundled_tables_rises_by_a_tenth() -> None:
    """rho is .0150 by the conversion of zCDP."""
    budget = tables_budget(1, Fraction(1, 10**9), "gaussian")
    law = NoiseLaw("gaussian", (NoisyVector(1, budget.spend),))
    factor = greatest_factor(law, (), Fraction(1), target_delta(Fraction(1, 10**9)))
    assert float(factor * budget.spend) == pytest.approx(0.01653, abs=1e-5)
    assert (
        law.scaled(factor).joint(()).delta(1.0) <= 1e-9 < law.scaled(factor * Fraction(1001, 1000)).joint(()).delta(1.0)
    )


def test_a_law_above_its_total_has_no_factor() -> None:
    with pytest.raises(ValueError, match="delta must be reachable"):
        greatest_factor(NoiseLaw("laplace", (COUNT,)), (GATE,), Fraction(1, 4), 1e-9)


def test_stated_points_are_above_the_curve_and_end_at_the_total() -> None:
    law = NoiseLaw("gaussian", (COUNT, SUM)).joint(())
    epsilon, delta = Fraction(2), Fraction(1, 100)
    points = stated_points(law.delta, epsilon, delta)
    assert points[-1][0] == epsilon
    for at, stated in points:
        assert law.delta(float(at)) < stated <= law.delta(float(at)) * (1 + 3e-6)


def test_points_of_a_replaced_unit_start_at_delta_or_are_those_of_the_total() -> None:
    curve = NoiseLaw("gaussian", (COUNT, SUM)).replaced(())
    delta = Fraction(1, 1000)
    first, *others = stated_replacements(curve, delta, (50.0, 1.0))
    assert first[1] == delta
    assert curve(float(first[0])) <= delta < curve(float(first[0]) * 0.99)
    assert len(others) == 3
    assert all(curve(float(at)) <= stated for at, stated in others)
    assert stated_replacements(curve, delta, (0.5, 0.25)) == ((Fraction(1, 2), Fraction(2500003, 10**7)),)
