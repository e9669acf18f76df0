"""The mechanism with its own randomness and OpenDP's selection, run many times on two neighbouring tables.

The stated guarantee is not refuted. Two faults are: a selection of the best scheme at no privacy cost, and one that
assumes that a score of retained rows changes by at most one row.
"""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import exp

import numpy as np
import pytest

from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.accounting.safe_k import least_k
from crowdgate.guarantee import Part
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, collapse
from crowdgate.mechanisms.rows.choice import LevelSelection
from crowdgate.mechanisms.rows.lattice import SchemeLattice
from crowdgate.mechanisms.rows.safe_k import SafeK
from crowdgate.mechanisms.rows.scores import retention_table
from crowdgate.noise import Selector, noisy_max
from crowdgate.sampling import SecretKey, bernoulli_subsampler
from tests.mechanisms.rows.choosing import permute_and_flip

pytestmark = pytest.mark.thorough

BETA, TOTAL, PRICE, DELTA = Fraction(3, 4), Fraction(1), Fraction(1, 2), Fraction(1, 200)
SIX = Level("exact", tuple("012345"), np.arange(6, dtype=np.int32))
FIVE = Level("last two as one", ("0", "1", "2", "3", "4 or 5"), np.array([0, 1, 2, 3, 4, 4], dtype=np.int32))
LATTICE = SchemeLattice({"a": (SIX, FIVE), "b": (SIX, FIVE)})


def mechanism() -> SafeK:
    k = least_k(TOTAL - PRICE, DELTA, BETA)
    choice = LevelSelection(LATTICE, PRICE, "expected_kept_rows", "full", {})
    return SafeK(BETA, k, LATTICE.finest, Part("mechanism", TOTAL - PRICE, DELTA), choice)


SAFE = mechanism()
CROWD = -int(-SAFE.k // BETA) - 2
"""The class size at which one row more changes the score most."""


def table(*, with_row: bool) -> Histogram:
    """Return about 3,000 rows in 24 large classes (a < 4, b < 6); CROWD rows at (5, 0), and one at (4, 0) or none.

    If a is generalised the one row joins the crowd, otherwise it is unique; level b changes only large classes.
    """
    cells = {(a, b): 118 for a in range(4) for b in range(5)} | {(a, 5): 117 for a in range(4)} | {(5, 0): CROWD}
    cells |= {(4, 0): 1} if with_row else {}
    columns = [np.array([cell[i] for cell in cells]) for i in range(2)]
    return collapse(("a", "b"), (6, 6), columns, np.array(list(cells.values()), dtype=np.int64))


Event = Callable[[tuple[int, int]], bool]


def of_scheme(i: int) -> Event:
    return lambda seen: seen[0] == i


EVENTS: dict[str, Event] = {
    **{f"scheme {i}": of_scheme(i) for i in range(4)},
    "a is exact": lambda seen: seen[0] < 2,
    "a is generalised": lambda seen: seen[0] >= 2,
    "the crowd is published": lambda seen: seen[1] > 0,
    "the crowd is suppressed": lambda seen: seen[1] == 0,
    "the crowd's class has k rows": lambda seen: seen[1] == SAFE.k,
    "more than k + 2 rows": lambda seen: seen[1] > SAFE.k + 2,
    "more than k + 5 rows": lambda seen: seen[1] > SAFE.k + 5,
    "generalised and suppressed": lambda seen: seen[0] >= 2 and seen[1] == 0,
    "generalised and published": lambda seen: seen[0] >= 2 and seen[1] > 0,
    "generalised, more than k + 2 rows": lambda seen: seen[0] >= 2 and seen[1] > SAFE.k + 2,
}
"""Events fixed beforehand. The output is (scheme, published rows of the crowd's class), the only parts that can
differ."""
ALPHA = 1e-6


def one_release(full: Histogram, select: Selector) -> tuple[int, int]:
    """Return the scheme and the published size of the class that holds (5, 0)."""
    taken: list[int] = []

    def note(scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        taken.append(select(scores, sensitivity, epsilon))
        return taken[0]

    key = SecretKey(os.urandom(32), injected=True)
    output = SAFE.protect(full, bernoulli_subsampler(key, BETA), note).output
    crowd = (output.codes[0] == (5 if output.sizes[0] == 6 else 4)) & (output.codes[1] == 0)
    return taken[0], int(output.counts[crowd].sum())


def seen(select: Selector, releases: int) -> list[Counter[tuple[int, int]]]:
    tables = [table(with_row=True), table(with_row=False)]
    return [Counter(one_release(full, select) for _ in range(releases)) for full in tables]


def p_value(first: int, second: int, releases: int) -> float:
    """Return the p-value of P(first) <= e^TOTAL P(second) + DELTA: the least alpha at which one-sided exact limits,
    with half of alpha each, contradict it."""

    def contradicts(alpha: float) -> bool:
        low, high = clopper_pearson(first, releases, alpha / 2)[0], clopper_pearson(second, releases, alpha / 2)[1]
        return low > exp(float(TOTAL)) * high + float(DELTA)

    logs = (-16.0, 0.0)
    if not contradicts(0.999):
        return 1.0
    for _ in range(30):
        middle = sum(logs) / 2
        logs = (logs[0], middle) if contradicts(10**middle) else (middle, logs[1])
    return float(10 ** logs[1])


def refuted(select: Selector, releases: int) -> list[str]:
    """Return the events, in either direction, that refute the guarantee after Holm's correction."""
    counts = seen(select, releases)
    found = []
    for name, event in EVENTS.items():
        hits = [sum(many for what, many in counted.items() if event(what)) for counted in counts]
        found += [(p_value(hits[0], hits[1], releases), name), (p_value(hits[1], hits[0], releases), name)]
    found.sort()
    out = []
    for i, (p, name) in enumerate(found):
        if p > ALPHA / (len(found) - i):
            break
        out.append(name)
    return out


def best(scores: Sequence[int], *_: object) -> int:
    return max(range(len(scores)), key=scores.__getitem__)


ONE_ROW = round(1 / retention_table(SAFE.k, BETA, 1).unit)
"""A retained row, in units of the scores."""


def of_one_row(scores: Sequence[int], _: int, epsilon: Fraction) -> int:
    return noisy_max(scores, ONE_ROW, epsilon)


def test_the_tables_have_about_3000_rows_and_the_faults_are_within_reach() -> None:
    """The power stated below, from the selection's exact distribution."""
    assert (table(with_row=False).rows // 100, len(LATTICE)) == (28, 4)
    scores: list[list[int]] = []

    def note(found: Sequence[int], *_: object) -> int:
        scores.append(list(found))
        return 0

    for with_row in (True, False):
        SAFE.protect(table(with_row=with_row), lambda counts: counts, note)
    with_it, without = (permute_and_flip(found, 1 << 30, PRICE) for found in scores)
    assert sum(without[:2]) / sum(with_it[:2]) < exp(float(PRICE))
    with_it, without = (permute_and_flip(found, ONE_ROW, PRICE) for found in scores)
    assert sum(without[:2]) == pytest.approx(0.5, abs=0.02)
    assert sum(with_it[:2]) < 0.07


# OpenDP and the keys cannot be seeded. N = 2,000 releases of each table, 200 and 1,000 with the faults, 14 events in
# both directions, Holm at 1e-6: false-alarm rate at most 1e-6. Power above 1 - 1e-6 against both faults. The best for
# nothing: "a is exact" has probability 1 without the row (a tie, the first is taken) and 0 with it, of which 200
# releases have a p-value below 1e-15. One row: .5 without it and less than .07 with it, where e^1 .07 + .005 = .195 is
# the most that is allowed, 11 standard errors off.
@pytest.mark.statistical
def test_the_guarantee_is_not_refuted_and_two_faults_are() -> None:
    assert refuted(noisy_max, 2000) == []
    assert p_value(200, 0, 200) < 1e-15
    assert "a is exact" in refuted(best, 200)
    assert "a is exact" in refuted(of_one_row, 1000)


# The same with N = 20,000, where "a is exact" is 50 standard errors off for the second fault.
@pytest.mark.soak
def test_the_guarantee_is_not_refuted_by_twenty_thousand_releases_and_two_faults_are() -> None:
    assert refuted(noisy_max, 20_000) == []
    assert "a is exact" in refuted(best, 20_000)
    assert "a is exact" in refuted(of_one_row, 20_000)
