"""All tables of two attributes of two values with up to three rows, through a one-way table, a choice and the
measurement of the chosen table: the exact privacy loss of all output."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import exp, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from crowdgate.hierarchy import Level
from crowdgate.histogram import collapse
from crowdgate.mechanisms.synthetic import fitting, rounds
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table
from crowdgate.mechanisms.synthetic.fitting import MeasuredTable, ModelFit
from crowdgate.mechanisms.synthetic.rounds import RoundsPlan, SyntheticBudget
from crowdgate.noise import ZcdpSource
from tests.mechanisms.synthetic.noise import OPENDP_ZCDP
from tests.oracles.zcdp import zcdp_delta

FIRST, PRICE = Fraction(1, 2), Fraction(3, 2)
"""rho of the one-way table (sigma 1), and of the choice with its measurement (sigma .82 after half of it)."""
RHO = FIRST + PRICE
FAR = 8
"""Range of noise, in rows: the probability beyond it is less than 1e-14 at sigma 1."""
ORDERS = (1.25, 1.5, 2.0, 3.0)
"""A divergence of order a depends on noise a rows away, which is within FAR."""
EPSILONS = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
Cells = tuple[tuple[int, ...], ...]


@pytest.fixture(autouse=True, scope="module")
def half_for_the_choice() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rounds, "SELECTING", Fraction(1, 2))
        patched.setattr(fitting, "STEPS", 5)
        yield


@cache
def drawing() -> RoundsPlan:
    levels = {name: [Level("exact", ("0", "1"), np.arange(2, dtype=np.int32))] for name in "ab"}
    domain = ModelDomain.of(levels)
    return RoundsPlan(domain, ((0, 1),), (), 16, 1, SyntheticBudget((FIRST, Fraction(0)), PRICE, Fraction(0)))


@cache
def run_of(people: Cells) -> rounds._Rounds:
    codes = [np.array([each[at] for each in people], dtype=np.int32) for at in range(2)]
    counted = collapse(("a", "b"), (2, 2), codes, np.ones(len(people), dtype=np.int64))
    return rounds._Rounds(drawing(), counted, OPENDP_ZCDP)


@cache
def learned_from(noisy: tuple[int, int]) -> ModelFit:
    run = run_of(())
    first = MeasuredTable((0,), 0, FIRST, run.variance(FIRST), np.array(noisy, dtype=np.int64))
    return ModelFit(run.domain, ()).after((first,))


@cache
def chances(people: Cells, noisy: tuple[int, int], price: Fraction) -> dict[Table, float]:
    """Return the probability of each choice after this one-way table: e^(score/b) with the b that the noise source
    uses."""
    run, asked = run_of(people), list[tuple[Any, int, Fraction]]()
    run.learned = learned_from(noisy)

    def remembered(values: Any, sensitivity: int, rho: Fraction) -> int:
        asked.append((values, sensitivity, rho))
        return 0

    run.noise = ZcdpSource(OPENDP_ZCDP.gaussian, remembered)
    scores = run.scores(run.variance(price / 2))
    run.choose(list(scores), scores, 1, price / 2)
    (values, sensitivity, rho) = asked[0]
    odds = values / (sensitivity / sqrt(2 * rho))
    weights = np.exp(odds - odds.max())
    return dict(zip(scores, weights / weights.sum(), strict=True))


def gaussian(variance: Fraction) -> np.ndarray:
    weights = np.exp(-(np.arange(-FAR - 1, FAR + 2) ** 2) / (2 * float(variance)))
    return np.asarray(weights / weights.sum())


@cache
def losses(people: Cells, more: Cells) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of all outcomes, for a table and for its neighbour (added: (a, b) of a row)."""
    (added,) = more
    p: list[float] = []
    q: list[float] = []
    law, counts = gaussian(run_of(()).variance(FIRST)), run_of(people)._counts.of((0,))
    shifted = np.eye(2, dtype=np.int64)[added[0]]
    measure = gaussian(run_of(()).variance(PRICE / 2))
    one, other = measure[1:], measure[:-1]  # of the one cell that the row changes; all others are alike
    for drawn in product(range(-FAR, FAR + 1), repeat=2):
        noisy = tuple(int(each) for each in counts + drawn)
        total = sum(noisy)
        first = law[drawn[0] + FAR + 1] * law[drawn[1] + FAR + 1]
        beside = np.prod([law[n - s + FAR + 1] for n, s in zip(drawn, shifted, strict=True)])
        if total < 1:  # no rounds are played
            p.append(first)
            q.append(beside)
            continue
        here, there = (chances(who, noisy, PRICE) for who in (people, (*people, added)))
        for table in here:
            p += list(first * here[table] * one)
            q += list(beside * there[table] * other)
    return np.array(p), np.array(q)


TABLES = [people for n in range(3) for people in combinations_with_replacement(list(product((0, 1), repeat=2)), n)]
PAIRS = [(people, (cell,)) for people in TABLES for cell in product((0, 1), repeat=2)]


def divergence(p: np.ndarray, q: np.ndarray, order: float) -> float:
    """Return Renyi's divergence of this order; outcomes without probability on either side by the cut at FAR are left
    out."""
    both = (p > 0) & (q > 0)
    return float(logsumexp(order * np.log(p[both]) + (1 - order) * np.log(q[both]))) / (order - 1)


def rates() -> Iterator[float]:
    """Yield the greatest divergence over its order, for each pair of tables: at most rho under rho-zCDP."""
    for pair in PAIRS:
        p, q = losses(*pair)
        yield max(max(divergence(p, q, order), divergence(q, p, order)) / order for order in ORDERS)


@pytest.mark.thorough
def test_the_privacy_loss_is_within_what_is_stated() -> None:
    """zCDP itself at four orders, and the (epsilon, delta) of its conversion."""
    assert 0.3 * RHO < max(rates()) <= RHO * (1 + 1e-9)
    for people, more in PAIRS:
        p, q = losses(people, more)
        for epsilon in EPSILONS:
            delta = max(np.maximum(p - exp(epsilon) * q, 0).sum(), np.maximum(q - exp(epsilon) * p, 0).sum())
            assert delta <= zcdp_delta(RHO, epsilon) + 1e-12


@pytest.mark.thorough
def test_half_of_the_sensitivity_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of pairs count twice, so that a row changes them by 2: noise for 1 is not enough."""
    for kept in (chances, losses):
        kept.cache_clear()
    monkeypatch.setattr(rounds._Rounds, "choose", cheap)
    assert any(rate > RHO for rate in rates())
    for kept in (chances, losses):
        kept.cache_clear()


def cheap(self: rounds._Rounds, tables: list[Table], scores: dict[Table, int], _: int, rho: Fraction) -> Table:
    """Select with noise for half of the sensitivity."""
    values = np.array([scores[table] for table in tables], dtype=np.int64)
    return tables[self.noise.choose(values, 1, rho)]
