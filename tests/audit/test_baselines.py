"""Attackers without access to the release have the success that theory states, with and without replacement."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from crowdgate.accounting.pso import baseline
from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.predicates import Predicate
from crowdgate.audit.singling_out.play import SinglingOutGame
from crowdgate.audit.singling_out_attackers import ATTACKERS
from crowdgate.audit.singling_out_attackers.base import SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.trivial import TrivialHash
from crowdgate.audit.singling_out_controls import CONTROLS
from crowdgate.audit.singling_out_controls.raw_rows import Constant
from tests.audit.games import play_trials, within
from tests.audit.people import rows

(CONSTANT,) = (each for each in CONTROLS if each.name == "constant")


@pytest.mark.statistical
@pytest.mark.parametrize(("size", "n", "replacement"), [(30, 40, True), (41, 40, False), (40, 40, False)])
def test_the_trivial_attack_has_its_baseline(size: int, n: int, replacement: bool) -> None:
    """N = 2,000 tables, three weights, intervals at 2e-5: false alarm with probability at most 6e-5.

    Every row has a tag of its own, so that drawing with replacement causes no bias, nor does drawing without. A share
    that is too great by a half is detected at 1/(3 n) (.306 for .241) with probability .99.
    """
    known = PublicKnowledge(rows(np.full(size, 1)), n, replacement)
    weights = tuple(Fraction(1, n * by) for by in (10, 3, 1))
    found = play_trials(SinglingOutGame(CONSTANT, [TrivialHash()], known, weights, 3, 0), 2000).light[0].tolist()
    assert all(within(baseline(n, w), s, 2000) for w, s in zip(weights, found, strict=True))


def with_replacement(m: int, size: int, n: int) -> float:
    """Return the probability that exactly one of n draws is one of m rows."""
    return float(n * (m / size) * (1 - m / size) ** (n - 1))


def without(m: int, size: int, n: int) -> float:
    return float(hypergeom.pmf(1, size, m, n))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("size", "n", "replacement", "theory"), [(60, 30, True, with_replacement), (33, 30, False, without)]
)
def test_a_hash_of_rows_without_tags_is_biased_as_theory_says(
    size: int, n: int, replacement: bool, theory: Callable[[int, int, int], float]
) -> None:
    """N = 10,000 tables, intervals at 2e-5. With replacement a row that is drawn twice matches twice, which makes the
    rate .282; without replacement it is the baseline, .374. The two are distinguished with probability above .999."""
    share, rng = 1 / n, np.random.default_rng(11)
    expected = float(sum(binom.pmf(m, size, share) * theory(m, size, n) for m in range(size + 1)))
    population = rows(np.full(size, 1))
    found = sum(
        Predicate(rng.random(size) < share).isolates(population.draw(n, rng, replacement=replacement), rng)
        for _ in range(10_000)
    )
    assert within(expected, found, 10_000)
    assert within(baseline(n, Fraction(1, n)), found, 10_000) == (not replacement)


@pytest.mark.statistical
def test_a_hundred_thousand_trials_of_the_hash_attack() -> None:
    """N = 100,000 trials at n = 1,000: an interval of .006 on each side at 2e-5. A multiply-shift hash of structured
    keys (.46) would be detected with near certainty."""
    game = SinglingOutGame(
        Constant(), (TrivialHash(),), PublicKnowledge(rows(np.array([1])), 1000), (Fraction(1, 1000),), 2, 0
    )
    tally = play_trials(game, 100_000)
    assert (tally.trials, tally.light[0, 0]) == (100_000, tally.any[0, 0])
    assert within(baseline(1000, Fraction(1, 1000)), int(tally.light[0, 0]), 100_000)
    assert within(baseline(1000, Fraction(1, 1000)), int(tally.tenth_light[0, 0]), 10_000)


def test_who_is_played_by_law_answers_with_the_same_shares() -> None:
    known, weights = PublicKnowledge(rows(np.array([1])), 50), (Fraction(1, 10_000), Fraction(1, 7))
    hash_ = TrivialHash()
    answers = hash_.answer(SinglingOutAttackerView(Observation(), known, weights)) or ()
    assert [getattr(each, "share", None) for each in answers] == list(hash_.shares(known, weights))
    assert [attacker.name for attacker in ATTACKERS if attacker.shares(known, weights) is not None] == [hash_.name]
