"""Charged numbers of small classes: their privacy loss on all small tables, and the distribution of their gates'
verdicts."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from crowdgate.accounting.discrete_laws import DiscreteLaplace
from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.candidate import Candidate, Measurement
from crowdgate.gate import Outcome, WrittenMeasurement, judge
from crowdgate.histogram import Histogram
from crowdgate.measures import MEASURES, small_classes
from crowdgate.measures.charged_counts import ALPHA
from crowdgate.noise import CountNoise, discrete_laplace, laplace_quantile
from crowdgate.policy.policy import GateRule
from tests.measures.test_measures import gate, static

EPSILON = Fraction(1, 4)
CELLS, ROWS = 4, 6
SHARES = ("0", "0.02", "0.5", "1")


def rule(name: str, size: int | None = None, limit: str = "1", epsilon: str = "0.25") -> GateRule:
    options: dict[str, Any] = {} if size is None else {"with": {"size": str(size)}}
    return gate(name, limit=limit, charge={"epsilon": epsilon}, **options)


NUMBERS = [rule("singletons"), *(rule("j_tons", j) for j in (1, 2, 3)), *(rule("classes_below", k) for k in (2, 3, 4))]
SHARED = [
    *(rule("singleton_share", limit=share) for share in SHARES),
    *(rule("share_in_classes_below", k, share) for k in (2, 3, 4) for share in SHARES),
]
RULES = [*NUMBERS, *SHARED]
Counts = tuple[int, ...]
Drawn = tuple[int, int, Fraction]


def named(each: GateRule) -> str:
    return f"{each.measure} {each.options.get('size', '')} {each.at_most}"


def candidate(counts: Sequence[int], rows: int, noise: CountNoise | None) -> Candidate:
    held = np.array([count for count in counts if count], dtype=np.int64)
    table = Histogram(("x",), (CELLS,), (np.flatnonzero(counts),), held)
    return Candidate(static=replace(static(), rows_per_unit=rows), table=table, noise=noise)


def measured(counts: Sequence[int], of: GateRule, noise: CountNoise | None, rows: int = 1) -> Measurement | None:
    read = MEASURES[of.measure].of_candidate
    assert read is not None
    return read(candidate(counts, rows, noise), of)


def drawn(counts: Sequence[int], of: GateRule, rows: int = 1) -> Drawn:
    """Return the request of a gate to the noise source: a number, its sensitivity, and epsilon."""
    asked: list[Drawn] = []

    def noise(*arguments: int | Fraction) -> int:
        asked.append(arguments)  # type: ignore[arg-type]
        return int(arguments[0])

    assert measured(counts, of, noise, rows) is not None
    (one,) = asked
    return one


# --- the sensitivity ---


@cache
def neighbours(own: int) -> tuple[tuple[Counts, Counts], ...]:
    """Return each table of up to six rows over four cells with its neighbour with a further person of `own` rows. The
    order of cells makes no difference."""
    found = set()
    for size in range(ROWS + 1):
        for rows in combinations_with_replacement(range(CELLS), size):
            for more in combinations_with_replacement(range(CELLS), own):
                pair = tuple((rows.count(cell), rows.count(cell) + more.count(cell)) for cell in range(CELLS))
                found.add(tuple(sorted(pair)))
    return tuple((tuple(a for a, _ in pair), tuple(b for _, b in pair)) for pair in found)


def losses(of: GateRule, own: int) -> Iterator[Fraction]:
    """Yield the exact privacy loss of the noisy number for each pair, over all outcomes: for two discrete Laplace
    distributions of one scale it is the distance of their centres, divided by the scale."""
    for without, beside in neighbours(own):
        (number, sensitivity, epsilon), other = drawn(without, of, own), drawn(beside, of, own)
        assert other[1:] == (sensitivity, epsilon)
        yield abs(number - other[0]) * epsilon / sensitivity


@pytest.mark.thorough
@pytest.mark.parametrize("of", RULES, ids=named)
def test_the_loss_of_a_gate_is_its_epsilon_at_most_and_somewhere(of: GateRule) -> None:
    """For rows, and for persons with two rows: then two classes can leave the counted sizes."""
    assert max(losses(of, 1)) == EPSILON
    assert max(losses(of, 2)) == EPSILON


@pytest.mark.parametrize("of", [*NUMBERS[:2], *SHARED[:2]], ids=named)
def test_the_loss_is_its_epsilon_for_persons_with_three_rows(of: GateRule) -> None:
    assert max(losses(of, 3)) == EPSILON


def test_the_sensitivity_of_rows_with_a_property_would_lose_more_than_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault that the enumeration must find: max(p, q - p) is right for invalid cells. A singleton that gets company
    reduces their number, and adds a row."""
    monkeypatch.setattr(small_classes, "share_sensitivity", lambda s, _: max(s.numerator, s.denominator - s.numerator))
    assert max(losses(rule("singleton_share", limit="0.02"), 1)) == EPSILON * Fraction(51, 49)
    assert max(losses(rule("share_in_classes_below", 4, "0.5"), 1)) == 7 * EPSILON


# --- the verdict ---


def passes(counts: Sequence[int], of: GateRule) -> float:
    """Return the probability that a gate passes, by its distribution alone: the number with its noise and a margin is
    at most the limit."""
    number, sensitivity, epsilon = drawn(counts, of)
    most = Fraction(0) if MEASURES[of.measure].excess else of.at_most
    assert most is not None
    return 1 - DiscreteLaplace(sensitivity / epsilon).tail(
        math.floor(most) - number - laplace_quantile(sensitivity, epsilon, ALPHA)
    )


def enumerated(counts: Sequence[int], of: GateRule, most: int) -> float:
    """Return the probability that a gate passes by judging with each noise up to `most`, weighted by its
    probability."""
    _, sensitivity, epsilon = drawn(counts, of)
    law = DiscreteLaplace(sensitivity / epsilon)
    found = 0.0
    for noise in range(-most, most + 1):
        told = measured(counts, of, lambda exact, *_, n=noise: exact + n)
        found += law.mass(noise) * (judge(of, told) is Outcome.PASS)
    return found


VERDICTS = [
    rule("singletons", limit="3", epsilon="1"),
    rule("j_tons", 2, "1", "2"),
    rule("classes_below", 3, "2", "1"),
    rule("singleton_share", limit="0.5", epsilon="2"),
    rule("share_in_classes_below", 3, "0.2", "4"),
]


@pytest.mark.parametrize("of", VERDICTS, ids=named)
@pytest.mark.parametrize("counts", [(), (1, 1, 1, 1), (2, 2, 0, 1), (9, 5, 5, 5)], ids=str)
def test_a_gate_passes_as_often_as_the_law_of_its_noise_says(of: GateRule, counts: Counts) -> None:
    _, sensitivity, epsilon = drawn(counts, of)
    most = math.ceil(sensitivity / epsilon) * 32
    beyond = 2 * DiscreteLaplace(sensitivity / epsilon).tail(most)
    assert abs(passes(counts, of) - enumerated(counts, of, most)) <= beyond + 1e-12
    assert beyond < 1e-12


@pytest.mark.parametrize("of", VERDICTS, ids=named)
def test_the_verdict_alone_tells_of_a_row_no_more_than_its_epsilon(of: GateRule) -> None:
    assert of.charge is not None
    limit = math.exp(of.charge.epsilon) * (1 + 1e-9)
    for without, beside in neighbours(1):
        one, other = passes(without, of), passes(beside, of)
        for a, b in ((one, other), (1 - one, 1 - other)):
            assert a <= limit * b + 1e-12
            assert b <= limit * a + 1e-12


@pytest.mark.parametrize("share", ["0.02", "0.25", "0.5"])
def test_a_share_above_the_limit_passes_once_in_twenty_at_most(share: str) -> None:
    of = rule("singleton_share", limit=share, epsilon="1")
    for ones in range(5):
        for other in (0, 2, 5, 20):
            if ones > Fraction(share) * (ones + other):
                assert passes((1,) * ones + (other,), of) <= ALPHA


@pytest.mark.thorough
@pytest.mark.statistical
def test_drawn_verdicts_are_as_likely_as_the_exact_law_says() -> None:
    """N = 1,500 draws of OpenDP's sampler for each gate; exact intervals at 5e-7 on each side, so a false alarm once in
    500,000 runs (2 gates). Half the noise, or twice, on both is missed once in 10^20 runs (probabilities of .77 or .98,
    not .90)."""
    counts = (1, 1, 2, 5)
    for of in (rule("singletons", limit="5", epsilon="1"), rule("singleton_share", limit="0.5", epsilon="1")):
        found = sum(judge(of, measured(counts, of, discrete_laplace)) is Outcome.PASS for _ in range(1500))
        low, high = clopper_pearson(found, 1500, 5e-7)
        assert 0.01 < passes(counts, of) < 0.99
        assert low <= passes(counts, of) <= high


# --- reported numbers ---


@pytest.mark.thorough
@pytest.mark.parametrize("of", RULES, ids=named)
def test_a_noisy_number_that_was_published_tells_what_was_measured(of: GateRule) -> None:
    told = MEASURES[of.measure].of_noisy
    assert told is not None
    for noise in range(-30, 30):
        found = measured((1, 1, 2, 5), of, lambda exact, *_, n=noise: exact + n)
        assert found is not None
        assert told(static(), of, Fraction(WrittenMeasurement.of(found).value)) == found
    assert told(static(), of, Fraction(1, 7)) is None


@pytest.mark.parametrize(
    ("of", "number"),
    [
        (rule("singletons"), 2),
        (rule("j_tons", 2), 1),
        (rule("j_tons", 3), 0),
        (rule("classes_below", 3), 3),
        (rule("classes_below", 6), 4),
        (rule("singleton_share", limit="0.5"), 2 * 2 - 9),
        (rule("share_in_classes_below", 3, "0.25"), 4 * 4 - 9),
    ],
    ids=lambda each: named(each) if isinstance(each, GateRule) else "",
)
def test_small_classes_and_their_rows_are_counted(of: GateRule, number: int) -> None:
    assert drawn((1, 2, 1, 5), of)[0] == number


@pytest.mark.parametrize("of", RULES, ids=named)
def test_without_a_charge_nothing_is_measured_and_no_noise_is_drawn(of: GateRule) -> None:
    def noise(*_: object) -> int:
        raise AssertionError("the table was read without a charge")

    free = of.model_copy(update={"charge": None})
    assert measured((1, 1, 1, 1), free, noise) is None
