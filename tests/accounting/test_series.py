"""The joint cost of series whose releases are fixed in advance."""

from fractions import Fraction

import mpmath as mp
import pytest

from crowdgate.accounting import part_laws
from crowdgate.accounting.class_laws import SampledClass
from crowdgate.accounting.dominating_pairs import DominatingPair
from crowdgate.accounting.joint import JointLaw, least_epsilon
from crowdgate.accounting.release_series import ReleaseSeries
from crowdgate.accounting.tables_plan import tables_budget
from crowdgate.accounting.zcdp import greatest_rho
from tests.accounting import joint_truth

DELTA = 1e-8
RHO = tables_budget("0.3", "1e-10", "gaussian").spend
BUNDLED = DominatingPair(variance=2 * float(RHO)), part_laws.laplace(0.05)


def epsilon(law: JointLaw, releases: int) -> float:
    return least_epsilon(ReleaseSeries(law, releases).delta, DELTA, near=1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("k", "beta", "four", "twelve"), [(40, 0.3, 0.809, 1.251), (92, 0.5, 0.935, 1.524), (29, 0.3, 1.068, 1.574)]
)
def test_series_of_rows_cost_less_than_their_sum(k: int, beta: float, four: float, twelve: float) -> None:
    law = JointLaw(SampledClass(k, beta))
    assert [epsilon(law, releases) for releases in (4, 12)] == pytest.approx([four, twelve], abs=2e-3)


@pytest.mark.thorough
def test_series_of_whole_releases_cost_less_than_their_sum() -> None:
    law = JointLaw(SampledClass(40, 0.3), BUNDLED)
    assert [epsilon(law, releases) for releases in (4, 12)] == pytest.approx([0.998, 1.700], abs=2e-3)


def test_the_epsilon_of_a_series_keeps_its_delta_and_is_the_least_of_four_digits() -> None:
    series, delta = ReleaseSeries(JointLaw(SampledClass(40, 0.3)), 12), Fraction("1e-8")
    found = series.epsilon(delta)
    assert found is not None
    assert series.delta(float(found)) <= delta < series.delta(float(found) - 1.5e-4)
    assert series.epsilon(Fraction("1e-60")) is None


def test_any_release_of_unknown_law_composes_as_the_pair_of_its_guarantee() -> None:
    """Releases of pure epsilon 1 and delta 0: all of them together have the binomial law of their losses."""
    series = ReleaseSeries(JointLaw(None, (part_laws.opaque(1.0, 0.0),)), 3)
    up, down = mp.e / (1 + mp.e), 1 / (1 + mp.e)
    for epsilon in (0.5, 1.0, 2.5):
        chances = ((mp.binomial(3, k) * up**k * down ** (3 - k), 2 * k - 3) for k in range(4))
        true = sum(max(0, p * (1 - mp.exp(epsilon - loss))) for p, loss in chances)
        assert true <= series.delta(epsilon) <= true * (1 + 1e-6)


def test_series_of_tables() -> None:
    law = JointLaw(None, (DominatingPair(variance=2 * float(greatest_rho(1, "1e-9"))),))
    assert [epsilon(law, releases) for releases in (4, 12)] == pytest.approx([1.826, 3.294], abs=2e-3)


@pytest.mark.thorough
@pytest.mark.parametrize(("k", "beta"), [(1, 0.2), (3, 0.3), (2, 0.6)])
def test_a_series_of_two_covers_every_two_sizes_of_classes(k: int, beta: float) -> None:
    """Classes of all sizes up to 12, a different one in each release, beside a gate; both directions."""
    law = JointLaw(SampledClass(k, beta), (part_laws.laplace(0.3),))
    with mp.workdps(30):
        gates = joint_truth.together([joint_truth.laplace(0.3, 1)] * 2)
        for turn in (list, joint_truth.swapped):
            curve = joint_truth.Curve.of(turn(gates))
            shown = [turn(joint_truth.sampled_class(n, k, beta)) for n in range(k, 13)]
            for epsilon in (0.2, 1.0):
                worst = max(
                    joint_truth.with_class(joint_truth.together([one, two]), curve, mp.exp(epsilon))
                    for i, one in enumerate(shown)
                    for two in shown[i:]
                )
                assert worst <= ReleaseSeries(law, 2).delta(epsilon)


@pytest.mark.thorough
@pytest.mark.parametrize(("k", "beta"), [(3, 0.3), (2, 0.6)])
def test_tables_that_change_by_what_was_seen_are_covered(k: int, beta: float) -> None:
    """An adversary sees the first release, a class and a gate, and then chooses the person's class in the second table:
    the best choice stands inside the sum over outcomes, and is above that of any two classes that are fixed beforehand.
    """
    law, sizes, more = JointLaw(SampledClass(k, beta), (part_laws.laplace(0.5),)), range(k, 10), 0
    series = ReleaseSeries(law, 2)
    with mp.workdps(30):
        for turn in (list, joint_truth.swapped):
            gate = joint_truth.laplace(0.5, 1)
            shown = [turn(joint_truth.together([joint_truth.sampled_class(n, k, beta), gate])) for n in sizes]
            for epsilon in (0.5, 1.0, 1.5):
                fixed = max(_both(one, [two], epsilon) for one in shown for two in shown)
                chosen = max(_both(one, shown, epsilon) for one in shown)
                more += chosen > fixed * (1 + mp.mpf("1e-6"))
                assert fixed <= chosen <= series.delta(epsilon)
    assert more


def _both(first: joint_truth.Pair, seconds: list[joint_truth.Pair], epsilon: float) -> joint_truth.Real:
    """Return the delta of two releases, of which the second is chosen of several by the outcome of the first."""
    factor = mp.exp(epsilon)
    return sum(
        max(sum(max(mp.mpf(0), p * a - factor * q * b) for a, b in second) for second in seconds) for p, q in first
    )


@pytest.mark.thorough
def test_a_series_of_one_is_the_release() -> None:
    law = JointLaw(SampledClass(12, 0.1, 2), (part_laws.laplace(0.1),), part_laws.pure(0.1))
    for at in (0.1, 0.5, 1.0):
        true = law.delta(at)
        assert true * (1 - 1e-9) <= ReleaseSeries(law, 1).delta(at) <= true * 1.02
