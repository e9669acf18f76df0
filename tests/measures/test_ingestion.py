"""Charged gates at ingestion: their privacy loss on all small tables, and their verdicts."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import pytest

from crowdgate.accounting.discrete_laws import DiscreteLaplace
from crowdgate.candidate import Candidate, Input, Measurement
from crowdgate.gate import Outcome, WrittenMeasurement, judge
from crowdgate.measures import MEASURES, ingestion
from crowdgate.measures.charged_counts import ALPHA
from crowdgate.noise import laplace_quantile
from crowdgate.policy.policy import GateRule
from crowdgate.sources.ingested import units
from tests.measures.test_measures import gate, static
from tests.sources.test_ingested import Lines, Row, contract, task, total

EPSILON = Fraction(1, 4)
GOOD, BAD = (b"10", b"north"), (b"x", b"east")
OWN = [own for size in range(4) for own in combinations_with_replacement((GOOD, BAD), size)]
"""The rows that one person can have: up to three, good or bad; none means absent."""
SHARES = [Fraction(share) for share in ("0", "0.02", "0.25", "0.5", "0.9", "1")]
RULES = [
    *(gate("invalid_share", of="age", limit=str(float(share)), charge={"epsilon": "0.25"}) for share in SHARES),
    *(gate(name, limit="1", charge={"epsilon": "0.25"}) for name in ("invalid_people", "truncated_people")),
]
Drawn = tuple[int, int, Fraction]


def came_in(people: Sequence[Sequence[tuple[bytes, bytes]]], most: int | None) -> Input:
    """Return the counts of a table whose persons have these rows."""
    rows: list[Row] = [(bytes([97 + i]), *row) for i, own in enumerate(people) for row in own]
    of = contract(most)
    return units(total(of, Lines(rows)), task(of))


def drawn(found: Input, rule: GateRule) -> Drawn:
    """Return the request of a gate to the noise source: a number, its sensitivity, and epsilon."""
    asked: list[Drawn] = []

    def noise(*arguments: object) -> int:
        asked.append(arguments)  # type: ignore[arg-type]
        return int(arguments[0])  # type: ignore[call-overload,no-any-return]

    assert measured(found, rule, noise) is not None
    (one,) = asked
    return one


def measured(found: Input, rule: GateRule, noise: object) -> Measurement | None:
    of_candidate = MEASURES[rule.measure].of_candidate
    assert of_candidate is not None
    return of_candidate(Candidate(static=static(), input=found, noise=noise), rule)  # type: ignore[arg-type]


def neighbours() -> Iterator[tuple[Input, Input]]:
    """Yield all tables of up to two persons with and without a third one; or of up to three rows with and without a
    fourth."""
    for others in combinations_with_replacement(OWN, 2):
        without = came_in(others, 2)
        for own in OWN:
            yield without, came_in((*others, own), 2)
    for size in range(4):
        for rows in combinations_with_replacement((GOOD, BAD), size):
            for row in (GOOD, BAD):
                yield came_in([rows], None), came_in([(*rows, row)], None)


@cache
def pairs() -> list[tuple[Input, Input]]:
    """Return the pairs with different counts."""
    return list({str(pair): pair for pair in neighbours()}.values())


def losses(rule: GateRule) -> Iterator[Fraction]:
    """Yield the exact privacy loss of the noisy number for each pair, over all outcomes: for two discrete Laplace
    distributions of one scale it is the distance of their centres, divided by the scale."""
    for without, beside in pairs():
        (number, sensitivity, epsilon), other = drawn(without, rule), drawn(beside, rule)
        assert other[1:] == (sensitivity, epsilon)
        yield abs(number - other[0]) * epsilon / sensitivity


@pytest.mark.thorough
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.measure} {rule.at_most}")
def test_the_loss_of_a_gate_is_its_epsilon_at_most_and_somewhere(rule: GateRule) -> None:
    """On all tables of up to three persons with up to three rows each, and of up to four rows."""
    assert max(losses(rule)) == EPSILON


def test_the_loss_is_that_of_the_law_of_the_noise() -> None:
    """Mass by mass, with the scale of the request."""
    number, sensitivity, epsilon = drawn(Input(3, 1, {"age": 1}, 0), RULES[1])
    other, *_ = drawn(Input(4, 2, {"age": 2}, 0), RULES[1])
    law = DiscreteLaplace(sensitivity / epsilon)
    ratios = [abs(math.log(law.mass(at - number) / law.mass(at - other))) for at in range(-900, 900)]
    assert max(ratios) == pytest.approx(float(EPSILON))


@pytest.mark.thorough
def test_a_sensitivity_of_1_would_lose_more_than_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault that the enumeration must find: q count - p all changes by up to max(p, q - p)."""
    monkeypatch.setattr(ingestion, "share_sensitivity", lambda _: 1)
    worst = {share: max(losses(rule)) for share, rule in zip(SHARES, RULES, strict=False)}
    assert worst == {share: EPSILON * max(share.numerator, share.denominator - share.numerator) for share in SHARES}
    assert worst[Fraction(1, 50)] == 49 * EPSILON


def passes(found: Input, rule: GateRule) -> float:
    """Return the exact probability that a gate passes."""
    number, sensitivity, epsilon = drawn(found, rule)
    law = DiscreteLaplace(sensitivity / epsilon)
    margin = laplace_quantile(sensitivity, epsilon, ALPHA)
    for noise in (-margin - number - 1, -margin - number, -margin - number + 1):
        told = measured(found, rule, lambda exact, *_, n=noise: exact + n)
        assert (judge(rule, told) is Outcome.PASS) == (noise <= -margin - number)
    return 1 - law.tail(-margin - number)


def test_eleven_percent_outside_the_domain_are_caught_and_a_clean_table_passes() -> None:
    rule = gate("invalid_share", of="age", limit="0.02", charge={"epsilon": "0.05"})
    assert passes(Input(100_000, 11_000, {"age": 11_000}, 0), rule) < 1e-100
    assert passes(Input(100_000, 2_001, {"age": 2_001}, 0), rule) < ALPHA
    assert passes(Input(100_000, 1_800, {"age": 1_800}, 0), rule) > 0.99
    assert passes(Input(100_000, 0, {"age": 0}, 0), rule) == pytest.approx(1)


@pytest.mark.thorough
@pytest.mark.parametrize("share", SHARES)
def test_a_share_above_the_limit_passes_once_in_twenty_at_most(share: Fraction) -> None:
    rule = gate("invalid_share", of="age", limit=str(float(share)), charge={"epsilon": "1"})
    for people, faulty in product(range(0, 60, 7), range(60)):
        if faulty <= people and faulty > share * people:
            assert passes(Input(people, faulty, {"age": faulty}, 0), rule) <= ALPHA


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.measure} {rule.at_most}")
def test_a_noisy_number_that_was_published_tells_what_was_measured(rule: GateRule) -> None:
    told = MEASURES[rule.measure].of_noisy
    assert told is not None
    for noise in range(-30, 30):
        found = measured(Input(9, 4, {"age": 3}, 2), rule, lambda exact, *_, n=noise: exact + n)
        assert found is not None
        assert told(static(), rule, Fraction(WrittenMeasurement.of(found).value)) == found
    assert told(static(), rule, Fraction(1, 7)) is None


def test_without_a_charge_nothing_is_measured_and_no_noise_is_drawn() -> None:
    def noise(*_: object) -> int:
        raise AssertionError("the input was read without a charge")

    for name in ("invalid_share", "invalid_people", "truncated_people"):
        rule = gate(name, of="age") if name == "invalid_share" else gate(name)
        assert measured(Input(1, 1, {"age": 1}, 1), rule, noise) is None


def test_numbers_beyond_64_bits_are_cut_off_before_they_take_noise() -> None:
    rule = gate("invalid_share", of="age", limit="0.000001", charge={"epsilon": "1"})
    number, *_ = drawn(Input(10**30, 10**30, {"age": 10**30}, 0), rule)
    assert number == 1 << 62
