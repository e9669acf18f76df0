import json
from collections.abc import Callable
from fractions import Fraction
from math import comb

import pytest

from crowdgate.risk.approximations import S_distribution
from crowdgate.risk.zeta import zeta
from tests.accounting.vectors import FOLDER
from tests.oracles.zeta import singletons_distribution
from tests.risk.enumerated import law

PRINTED: dict[str, str] = json.loads((FOLDER / "koot_table_a1.json").read_text())
"""The readable entries of each column N of Table A.1 (779 of 1,000), from k = 1 on."""


def test_table_a1_is_what_the_thesis_prints() -> None:
    assert sum(len(column.split()) for column in PRINTED.values()) == 779
    for N, column in PRINTED.items():
        ours = iter([f"{float(zeta(k, int(N))):.3f}" for k in range(1, 51)])
        assert all(entry in ours for entry in column.split()), N  # in this order, others between them


def test_the_recursion_of_the_thesis_holds_in_all_of_table_a1() -> None:
    """5.4.1: a person's bin has j of the others."""
    for N in range(2, 21):
        for k in range(2, 51, 6 if N % 3 else 1):
            odds = Fraction(1, N)
            terms = (comb(k - 1, j) * odds**j * (1 - odds) ** (k - 1 - j) * zeta(k - 1 - j, N - 1) for j in range(1, k))
            assert zeta(k, N) == sum(terms), (k, N)


@pytest.mark.parametrize("N", [1, 2, 3, 5, 10, 95])
def test_closed_forms(N: int) -> None:
    forms = [1, 0, Fraction(1, N), Fraction(1, N**2), Fraction(3 * N - 2, N**3), Fraction(10 * N - 9, N**4)]
    more = [Fraction(15 * N**2 - 20 * N + 6, N**5), Fraction(105 * N**2 - 259 * N + 155, N**6)]
    assert [zeta(k, N) for k in range(8)] == forms + more
    assert all(zeta(k, 2) == 1 - Fraction(k, 2 ** (k - 1)) for k in range(3, 40))


@pytest.mark.parametrize(("k", "N"), [(0, 3), (1, 1), (3, 4), (6, 4), (7, 7), (5, 9), (9, 2)])
def test_the_law_is_that_of_all_outcomes(k: int, N: int) -> None:
    truth = law([Fraction(1, N)] * N, k, 1)
    assert singletons_distribution(k, N) == truth
    assert S_distribution([Fraction(1, N)] * N, k) == pytest.approx([float(mass) for mass in truth], abs=1e-12)
    assert zeta(k, N) == truth[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: zeta(301, 5), r"k must be a whole number in \[0, 300\]"),
        (lambda: zeta(-1, 5), "k must be"),
        (lambda: zeta(5, 0), "N must be"),
        (lambda: singletons_distribution(2.5, 5), "k must be"),
    ],
)
def test_other_numbers_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
