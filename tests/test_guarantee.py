import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.numbers import Number
from crowdgate.accounting.person import per_row
from crowdgate.accounting.safe_k import exact_delta
from crowdgate.guarantee import Guarantee, Part, group, replace_one, replace_one_guarantee
from crowdgate.number_text import decimal
from tests.accounting.enumeration import binomial, divergence, suppressed, together
from tests.accounting.tiny import MECHANISMS, Laws, least_delta, on_a_sample
from tests.accounting.truth import real
from tests.accounting.vectors import Entry, is_rounded_up, of
from tests.examples import examples

numbers = st.fractions(min_value=0, max_value=5)
chances = st.fractions(min_value=0, max_value=Fraction(1, 100))
parts = st.lists(
    st.builds(Part, st.sampled_from(["levels", "gate", "mechanism"]), numbers, chances), min_size=1, max_size=4
)
BUNDLED = (
    Part("choice of levels", Fraction(1, 10), Fraction(0)),
    Part("gates", Fraction(1, 20), Fraction(0)),
    Part("mechanism", Fraction(17, 20), Fraction(1, 10**9)),
)


@of("replace_one_params")
def test_replace_one_has_its_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    epsilon, delta = replace_one(i["eps"], exact_delta(i["k"], i["beta"], i["eps"]), i["beta"])
    assert is_rounded_up(epsilon, entry["expected"]["eps"], 1e-9)
    assert is_rounded_up(delta, entry["expected"]["delta"], 1e-9)


@of("group_m_rows")
def test_group_has_its_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    for value, expected in zip(group(i["eps"], i["delta"], i["m"]), entry["expected"], strict=True):
        assert is_rounded_up(value, expected, 1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("k", "beta", "epsilon"), [(2, 0.3, 0.5), (3, 0.5, 0.2), (2, 0.1, 1), (4, 0.3, 1), (1, 0.25, 0)]
)
def test_no_replaced_row_exceeds_the_replace_one_form(k: int, beta: float, epsilon: float) -> None:
    """The row leaves a class of n + 1 and joins a class of m."""
    delta = exact_delta(k, beta, epsilon)
    stretched, kept = replace_one(epsilon, delta, beta)
    b = mp.mpf(beta)
    law = {n: suppressed(binomial(n, b), k) for n in range(2 * k + 8)}
    for n, m in product(range(2 * k + 7), range(2 * k + 7)):
        before, after = together(law[n + 1], law[m]), together(law[n], law[m + 1])
        assert divergence(before, after, stretched) <= kept


@settings(deadline=None, derandomize=True)
@given(MECHANISMS, st.fractions(0, "0.98", max_denominator=50), st.fractions(1, 4, max_denominator=20))
def test_no_mechanism_on_a_sample_exceeds_the_replace_one_form(laws: Laws, beta: Fraction, growth: Fraction) -> None:
    """The mechanisms have three outcomes on three rows, in exact fractions."""
    sampled = on_a_sample(laws, beta)
    delta = least_delta(sampled, growth)
    assert least_delta(sampled, growth / (1 - beta), replaced=True) <= delta
    epsilon, kept = replace_one(math.log(growth), delta, beta)
    assert epsilon == pytest.approx(math.log(growth / (1 - beta)), abs=1e-12)
    assert kept == pytest.approx(float(delta))


@pytest.mark.thorough
@pytest.mark.parametrize("m", [1, 3, *(pytest.param(m, marks=pytest.mark.soak) for m in (2, 5))])
@pytest.mark.parametrize(("k", "beta", "epsilon"), [(2, 0.3, 0.5), (3, 0.5, 0.2), (4, 0.1, 1)])
def test_no_group_of_rows_in_one_class_exceeds_the_group_form(k: int, beta: float, epsilon: float, m: int) -> None:
    stretched, kept = group(epsilon, exact_delta(k, beta, epsilon), m)
    b = mp.mpf(beta)
    for n in range(int(4 * k / beta)):
        more, less = suppressed(binomial(n + m, b), k), suppressed(binomial(n, b), k)
        assert divergence(more, less, stretched) <= kept
        assert divergence(less, more, stretched) <= kept


@settings(deadline=None, derandomize=True)
@given(epsilon=st.floats(0, 3), delta=st.floats(0, 1e-3), m=st.integers(1, 10))
def test_a_group_grows_by_one_row_at_a_time(epsilon: float, delta: float, m: int) -> None:
    _, some = group(epsilon, delta, m)
    _, more = group(epsilon, delta, m + 1)
    step = min(1, some * math.exp(epsilon) + delta)
    assert more == pytest.approx(step, rel=1e-9)
    assert group(epsilon, delta, 1) == (epsilon, delta)


LEAST = st.integers(1, 99).map(lambda part: Fraction(part, 10**324))
DELTAS = st.one_of(st.fractions(0, 1), LEAST)
BETAS = st.one_of(st.fractions(0, "0.999"), LEAST, st.integers(10**6, 10**15).map(lambda left: 1 - Fraction(1, left)))
EPSILONS = st.one_of(st.fractions(Fraction(1, 1000), 30), st.floats(1e-6, 120), LEAST)
M = st.integers(1, 12)


def few_digits(*numbers: Number) -> bool:
    """Return whether a number has few digits as a float: it is tiny, or very close to 1."""
    return any(0 < Fraction(each) < Fraction(1, 10**300) or Fraction("0.999") < Fraction(each) < 1 for each in numbers)


def lies_just_above(found: Number, true: mp.mpf, *given: Number) -> bool:
    """Return whether a value is an upper bound: above the truth except for the last of fifty digits, and close to it.

    It may exceed the truth by no more than floats need, unless an argument that it was `given` has few digits.
    """
    held = real(found)
    close = few_digits(*given) or held <= true * (1 + mp.mpf("1e-11"))
    return bool(close and held >= true * (1 - mp.mpf(10) ** -45))


def grouped(epsilon: mp.mpf, delta: mp.mpf, m: int) -> mp.mpf:
    return delta * mp.fsum(mp.exp(at * epsilon) for at in range(m))


@pytest.mark.thorough
@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(EPSILONS, DELTAS, BETAS, M)
def test_what_several_rows_or_a_replaced_row_cost_is_never_rounded_down(
    epsilon: Number, delta: Fraction, beta: Fraction, m: int
) -> None:
    """Several rows one after the other: delta e^(j epsilon) of the j-th one; replacing: see guarantee.py."""
    together, lost = group(epsilon, delta, m)
    stretched, kept = replace_one(epsilon, delta, beta)
    with mp.workdps(60):
        assert lies_just_above(together, m * real(epsilon), epsilon)
        assert lies_just_above(lost, min(mp.mpf(1), grouped(real(epsilon), real(delta), m)), epsilon, delta)
        assert lies_just_above(stretched, real(epsilon) - mp.log1p(-real(beta)), epsilon, beta)
        assert lies_just_above(kept, real(delta), delta)


@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(EPSILONS.map(lambda each: Fraction(each)), DELTAS, BETAS, M)
def test_a_person_of_several_rows_is_replaced_row_by_row(
    epsilon: Fraction, delta: Fraction, beta: Fraction, m: int
) -> None:
    """Each row is replaced within its part `per_row` of epsilon, with one more random bit, one row after the other."""
    form = Guarantee.of((Part("mechanism", epsilon, delta),), unit="person").replace_one_form(beta, rows=m)
    known = replace_one_guarantee(Guarantee.of((Part("mechanism", epsilon, delta),), unit="person"), beta, m)
    row = per_row(epsilon, delta, m)
    assert form.unit == known.unit == "person"
    with mp.workdps(60):
        step = -mp.log1p(-real(beta))
        assert lies_just_above(form.epsilon, real(epsilon) + m * step, epsilon, beta)
        assert lies_just_above(form.delta, min(mp.mpf(1), grouped(real(row[0]) + step, real(row[1]), m)), *row, beta)
        assert lies_just_above(known.epsilon, min(2 * real(epsilon), real(epsilon) + m * step), epsilon, beta)


@settings(max_examples=examples(100), deadline=None, derandomize=True)
@given(EPSILONS.map(lambda each: Fraction(each)), DELTAS)
def test_what_is_computed_beside_a_sample_is_removed_and_then_added(epsilon: Fraction, delta: Fraction) -> None:
    form = Guarantee.of((Part("gates", epsilon, delta),)).replace_one_form(None)
    assert form.epsilon == 2 * epsilon
    with mp.workdps(60):
        assert lies_just_above(form.delta, min(mp.mpf(1), grouped(real(epsilon), real(delta), 2)), epsilon, delta)


def test_the_ends_of_group_and_replace_one_are_exact() -> None:
    assert group(0, "1e-9", 5)[1] == pytest.approx(5e-9)
    assert group(10**6, "1e-9", 5) == (5 * 10**6, 1)
    assert group(10**6, 0, 5) == (5 * 10**6, 0)
    assert replace_one(1, "1e-9", 0) == (math.nextafter(1 + 2e-15, 2), 1e-9) or replace_one(1, "1e-9", 0)[0] < 1 + 1e-14
    assert replace_one(1, "1e-9", "0.5")[0] == pytest.approx(1.6931471805599453)


@pytest.mark.parametrize(
    ("call", "arguments", "name"),
    [
        (replace_one, (1, 1e-9, 1), "beta"),
        (replace_one, (1, 1e-9, Fraction(10**40 - 1, 10**40)), "beta"),
        (replace_one, (-1, 1e-9, 0.5), "epsilon"),
        (group, (1, 2, 3), "delta"),
        (group, (1, 1e-9, 0), "m"),
        (group, (True, 1e-9, 2), "epsilon"),
    ],
)
def test_an_argument_out_of_range_is_refused_by_name(
    call: Callable[..., object], arguments: tuple[Number, ...], name: str
) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be"):
        call(*arguments)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": Fraction(2)}, "parts must add up"),
        ({"delta": Fraction(0)}, "parts must add up"),
        ({"parts": ()}, "parts must add up"),
        ({"epsilon": 1.0}, "epsilon must be a Fraction"),
        ({"delta": Fraction(-1)}, "delta must be"),
        ({"relation": "neighbours"}, "relation must be one of add-remove, replace-one"),
        ({"unit": "household"}, "unit must be one of row, person"),
    ],
)
def test_a_guarantee_that_is_not_whole_cannot_be_made(changed: dict[str, Any], message: str) -> None:
    whole: dict[str, Any] = {
        "epsilon": Fraction(1),
        "delta": Fraction(1, 10**9),
        "relation": "add-remove",
        "unit": "row",
        "parts": BUNDLED,
    }
    assert Guarantee(**whole).parts == BUNDLED
    with pytest.raises(ValueError, match=message):
        Guarantee(**(whole | changed))


def test_a_part_has_a_name_and_exact_numbers() -> None:
    inexact: Any = 0.1
    with pytest.raises(ValueError, match="name must"):
        Part("", Fraction(1), Fraction(0))
    with pytest.raises(ValueError, match="epsilon must be a Fraction"):
        Part("gates", inexact, Fraction(0))


def test_in_the_replace_one_form_the_mechanism_pays_the_coin_and_every_other_part_pays_twice() -> None:
    form = Guarantee.of(BUNDLED).replace_one_form("0.5")
    assert form.relation == "replace-one"
    assert [part.epsilon for part in form.parts[:2]] == [Fraction(1, 5), Fraction(1, 10)]
    assert float(form.parts[2].epsilon) == pytest.approx(0.85 + math.log(2))
    assert form.delta == Fraction(1, 10**9)


def test_the_replace_one_form_of_one_part_needs_no_name() -> None:
    form = Guarantee.of((Part("sample", Fraction(1), Fraction(1, 10**9)),)).replace_one_form(0.5)
    epsilon, delta = replace_one(1, "1e-9", 0.5)
    assert 0 <= epsilon - form.epsilon < 1e-14
    assert form.delta == Fraction(1, 10**9) <= Fraction(delta)
    assert "e^1.69315 = 5.44, but for 1e-9 of probability" in form.words()


@pytest.mark.thorough
@given(
    part=parts.map(lambda each: each[0]).filter(lambda part: part.epsilon > 0),
    beta=st.fractions(Fraction(1, 100), "0.9"),
    rows=st.integers(2, 9),
)
def test_a_unit_of_several_rows_pays_the_coin_of_every_row(part: Part, beta: Fraction, rows: int) -> None:
    one = Guarantee.of((part,))
    coin = one.replace_one_form(beta).epsilon - part.epsilon
    assert coin >= Fraction(-math.log1p(-beta))
    assert one.replace_one_form(beta, rows=rows).epsilon == part.epsilon + rows * coin


def test_the_replace_one_form_is_refused_where_it_is_not_clear() -> None:
    with pytest.raises(ValueError, match="sampled must be"):
        Guarantee.of(BUNDLED).replace_one_form(0.5, sampled="release")
    with pytest.raises(ValueError, match="relation must be"):
        Guarantee.of(BUNDLED, relation="replace-one").replace_one_form(0.5)


def test_the_words_hold_the_relation_the_unit_and_every_number() -> None:
    assert Guarantee.of(BUNDLED).words() == (
        "Adding or removing any one row changes the probability of any set of possible releases by a factor of at most "
        "e^1 = 2.72, but for 1e-9 of probability. Epsilon 1 and delta 1e-9 are the sum of: choice of levels 0.1; "
        "gates 0.05; mechanism 0.85 and 1e-9."
    )
    person = Guarantee.of((Part("mechanism", Fraction(1, 2), Fraction(0)),), "replace-one", "person")
    assert person.words() == (
        "Replacing all rows of any one person by other data changes the probability of any set of possible releases "
        "by a factor of at most e^0.5 = 1.65."
    )


def test_the_words_say_so_when_nothing_is_guaranteed() -> None:
    assert Guarantee.of((Part("mechanism", Fraction(1), Fraction(1)),)).words().startswith("No guarantee")
    assert "e^1000 changes" not in Guarantee.of((Part("mechanism", Fraction(1000), Fraction(0)),)).words()


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(1), "1"),
        (Fraction(17, 20), "0.85"),
        (Fraction(100), "100"),
        (Fraction(1, 10**9), "1e-9"),
        (Fraction(1, 3), "0.333334"),
        (Fraction(1, 3 * 10**9), "3.33334e-10"),
        (Fraction(10**6), "1e+6"),
    ],
)
def test_a_number_is_short_and_never_rounded_down(number: Fraction, text: str) -> None:
    assert decimal(number) == text
    assert Fraction(text) >= number


@pytest.mark.parametrize(
    ("beta", "rows", "epsilon"),
    [
        (Fraction(1, 2), 1, 0.85 + math.log(2) + 0.3),
        (Fraction(1, 10), 3, 0.85 - 3 * math.log(0.9) + 0.3),
        (Fraction(9, 10), 1, 2.0),
        (Fraction(1), 1, 2.0),
    ],
)
def test_whoever_knows_how_many_units_there_are_has_the_smaller_of_two_forms(
    beta: Fraction, rows: int, epsilon: float
) -> None:
    """The guarantees have epsilon .85 on the sample and .15 outside of it."""
    found = replace_one_guarantee(Guarantee.of(BUNDLED), beta, rows)
    assert found.relation == "replace-one"
    assert float(found.epsilon) == pytest.approx(epsilon)
    assert found.epsilon >= Fraction(epsilon) - Fraction(1, 10**15)


def test_a_mechanism_without_a_name_of_its_own_counts_twice() -> None:
    parts = (Part("levels and mechanism", Fraction(1), Fraction(0)), Part("gates", Fraction(1), Fraction(0)))
    assert replace_one_guarantee(Guarantee.of(parts), Fraction(1, 10)).epsilon == 4
    assert replace_one_guarantee(Guarantee.of(parts[:1]), Fraction(1, 10)).epsilon < Fraction("1.11")


@given(st.lists(st.floats(0, 5), min_size=8, max_size=8), st.fractions(0, "0.9"))
def test_whatever_is_computed_on_a_sample_has_the_form(logs: list[float], beta: Fraction) -> None:
    """The mechanism has two outcomes on samples of {a}, {b} or none: one row more or less, then another one."""
    outcome = [1 / (1 + math.exp(2.5 - log)) for log in logs[:3]]
    b = float(beta)
    nobody = outcome[0]
    with_a, with_b = ((1 - b) * nobody + b * each for each in outcome[1:])
    ratios = [(each / nobody, (1 - each) / (1 - nobody)) for each in (with_a, with_b)]
    epsilon = max(abs(math.log(ratio)) for both in ratios for ratio in both)
    found = replace_one_guarantee(Guarantee.of((Part("mechanism", Fraction(epsilon), Fraction(0)),)), beta)
    for x, y in ((with_a, with_b), (1 - with_a, 1 - with_b)):
        assert abs(math.log(x / y)) <= float(found.epsilon) + 1e-12
