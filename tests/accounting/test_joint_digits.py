"""The joint delta of random sets of parts against 60 digits: never below, and at most 1e-9 above."""

import math
import random
from collections.abc import Iterator
from fractions import Fraction

import mpmath as mp
import pytest

from crowdgate.accounting import part_laws
from crowdgate.accounting.class_laws import SampledClass
from crowdgate.accounting.dominating_pairs import DominatingPair
from crowdgate.accounting.joint import JointLaw
from tests.accounting import joint_truth

SETS, SOME = 2000, 8
NEAR = mp.mpf("1e-9")
Parts = list[tuple[DominatingPair, joint_truth.Pair]]


def part(draw: random.Random) -> tuple[DominatingPair, joint_truth.Pair]:
    epsilon, change = draw.choice((0.01, 0.05, 0.3, 1.0)) * draw.uniform(0.5, 2), draw.randint(1, 3)
    match draw.randrange(4):
        case 0:
            return part_laws.laplace(epsilon, change), joint_truth.laplace(epsilon, change)
        case 1:
            delta = 10 ** draw.uniform(-12, -3)
            return part_laws.opaque(epsilon, delta), joint_truth.opaque(epsilon, delta)
        case 2:
            inner, beta = part_laws.laplace(epsilon, change), draw.uniform(0.05, 0.95)
            return part_laws.sampled(inner, beta), joint_truth.sampled(joint_truth.laplace(epsilon, change), beta)
        case _:
            squared = Fraction(draw.randint(2, 24), 4)
            exact = joint_truth.gaussian(change, mp.mpf(squared.numerator) / squared.denominator)
            return part_laws.gaussians([(change, squared)]), exact


def cases(sets: int, seed: int) -> Iterator[tuple[int, float, float, Parts, float | None, float]]:
    """Yield k, beta, epsilon, parts, the epsilon of a choice, and the mean square of a Gaussian."""
    draw = random.Random(seed)
    for _ in range(sets):
        k, beta = draw.randint(1, 9), draw.uniform(0.05, 0.9)
        epsilon = draw.choice((0.0, 0.1, 1.0, 3.0)) * draw.uniform(0.3, 1)
        normal = draw.random() < 0.15
        with mp.workdps(60):
            parts = [part(draw) for _ in range(0 if normal else draw.choice((0, 1, 1, 2)))]
        chosen = epsilon > 0.1 and draw.random() < 0.4  # below its epsilon the worst class can be without limit
        choice = epsilon * draw.uniform(0.1, 0.9) if chosen else None
        yield k, beta, epsilon, parts, choice, draw.uniform(0.01, 1) if normal else 0.0


def compared(case: tuple[int, float, float, Parts, float | None, float]) -> mp.mpf:
    """Return by what part the stated delta is above the truth, for sizes of classes up to where it falls."""
    k, beta, epsilon, parts, choice, variance = case
    pairs = [*(pair for pair, _ in parts), DominatingPair(variance=variance)]
    law = JointLaw(SampledClass(k, beta), tuple(pairs), None if choice is None else part_laws.pure(choice))
    stated = law.delta(epsilon)
    with mp.workdps(60):
        others = joint_truth.together([exact for _, exact in parts]) if parts else [(mp.mpf(1), mp.mpf(1))]
        chosen = [(mp.mpf(1), mp.mpf(1))] if choice is None else joint_truth.opaque(choice, 0)
        sizes = range(1, math.ceil(2 * k / beta) + 12)
        true = max(joint_truth.deltas(sizes, k, beta, others, chosen, epsilon, variance=variance))
        return mp.mpf(stated) / true - 1


@pytest.mark.parametrize(
    ("sets", "seed"),
    [pytest.param(SOME, 20, marks=pytest.mark.thorough)]
    + [pytest.param(SETS // 20, seed, marks=pytest.mark.soak) for seed in range(20)],
)
def test_a_joint_delta_is_never_below_the_truth_and_hardly_above(sets: int, seed: int) -> None:
    for case in cases(sets, seed):
        off = compared(case)
        assert 0 <= off <= NEAR, (case[:3], case[4:], mp.nstr(off, 5))
