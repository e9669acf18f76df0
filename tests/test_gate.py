"""Gates: pass, fail or inconclusive at the unfavourable confidence limit; anything but a finite number blocks."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.candidate import Measurement, Number, Range
from crowdgate.gate import (
    DIGITS,
    NEAREST,
    GateReach,
    Outcome,
    Verdict,
    WrittenMeasurement,
    gate_text,
    is_withheld,
    judge,
    limit_text,
    reach,
    verdict,
)
from crowdgate.measures import MEASURES, MeasureClass
from crowdgate.policy.policy import GateRule

numbers = st.one_of(
    st.integers(-50, 50),
    st.fractions(-50, 50, max_denominator=20),
    st.floats(-50, 50),
)
decimals = st.decimals(-50, 50, places=2).map(str)
sides = st.sampled_from(["at_most", "at_least"])


def rule(side: str, limit: str, **more: object) -> GateRule:
    return GateRule.model_validate({"measure": "released_rows", side: limit, **more})


def ended(outcome: Outcome, blocks: bool) -> Verdict:
    gate = rule("at_most", "1", severity="block" if blocks else "advise")
    return Verdict(gate, MeasureClass.OUTPUT, outcome, WrittenMeasurement("1", "1", "1"))


def reason(gate: GateRule, measured: Measurement | None) -> str:
    return verdict(gate, MEASURES["released_rows"], measured).reason


@given(value=numbers, side=sides, limit=decimals)
def test_an_exact_number_passes_exactly_when_it_keeps_the_limit(value: Number, side: str, limit: str) -> None:
    keeps = Fraction(value) <= Fraction(limit) if side == "at_most" else Fraction(value) >= Fraction(limit)
    gate, measured = rule(side, limit), Measurement.exact(value)
    assert judge(gate, measured) is (Outcome.PASS if keeps else Outcome.FAIL)
    assert f"must be {side.replace('_', ' ')}" in reason(gate, measured)


@given(ends=st.lists(numbers, min_size=3, max_size=3).map(sorted), side=sides, limit=decimals)
def test_an_uncertain_number_is_judged_at_its_unfavourable_end(ends: list[Number], side: str, limit: str) -> None:
    lower, value, upper = ends
    found = judge(rule(side, limit), Measurement(value, lower, upper))
    worst = upper if side == "at_most" else lower
    assert found is judge(rule(side, limit), Measurement.exact(worst))


NO_NUMBER = [math.nan, math.inf, -math.inf]
UNMEASURED = [
    None,
    *map(Measurement.exact, NO_NUMBER),
    *[Measurement(value, 0, 0) for value in NO_NUMBER],
    Measurement(0, -math.inf, math.inf),
    Measurement(0, math.nan, math.nan),
]


@pytest.mark.parametrize("side", ["at_most", "at_least"])
@pytest.mark.parametrize("measured", UNMEASURED, ids=str)
def test_what_is_missing_or_not_finite_is_inconclusive_and_blocks(side: str, measured: Measurement | None) -> None:
    gate = rule(side, "0")
    outcome = judge(gate, measured)
    assert (outcome, reason(gate, measured)) == (Outcome.INCONCLUSIVE, "it could not be measured")
    assert is_withheld([ended(outcome, blocks=True), ended(Outcome.PASS, blocks=True)])


@given(st.lists(st.tuples(st.sampled_from(Outcome), st.booleans())))
def test_a_release_goes_out_only_if_some_gate_blocks_and_all_such_gates_pass(found: list[tuple[Outcome, bool]]) -> None:
    blocking = {outcome for outcome, blocks in found if blocks}
    assert is_withheld([ended(*one) for one in found]) == (blocking != {Outcome.PASS})


spans = st.tuples(numbers | st.just(-math.inf), numbers | st.just(math.inf)).map(lambda ends: tuple(sorted(ends)))


@given(span=spans, side=sides, limit=decimals, parts=st.lists(st.fractions(0, 1), max_size=5))
def test_no_value_in_range_contradicts_the_stated_reach(
    span: Range, side: str, limit: str, parts: list[Fraction]
) -> None:
    found, low, high = reach(rule(side, limit), span), *span
    finite = [Fraction(end) for end in span if math.isfinite(end)] or [Fraction(0)]
    within = [finite[0] + part * (finite[-1] - finite[0]) for part in parts]
    values = [*finite, *within] if low <= finite[0] <= high else finite[:0]
    if len(finite) == 1:
        values += [value for value in (Fraction(-99), Fraction(99)) if low <= value <= high]
    outcomes = {judge(rule(side, limit), Measurement.exact(value)) for value in values}
    if found is GateReach.CANNOT_FAIL:
        assert Outcome.FAIL not in outcomes
    if found is GateReach.CANNOT_PASS:
        assert Outcome.PASS not in outcomes
    if len(finite) == 2 and values:
        assert (found is GateReach.OPEN) == (len(outcomes) == 2)


@pytest.mark.parametrize(
    ("side", "limit", "span", "expected"),
    [
        ("at_most", "10", (0, 10), GateReach.CANNOT_FAIL),
        ("at_most", "10", (0, 11), GateReach.OPEN),
        ("at_most", "10", (11, 12), GateReach.CANNOT_PASS),
        ("at_most", "10", (-math.inf, math.inf), GateReach.OPEN),
        ("at_least", "10", (10, 20), GateReach.CANNOT_FAIL),
        ("at_least", "10", (0, 10), GateReach.OPEN),
        ("at_least", "10", (0, 9), GateReach.CANNOT_PASS),
        ("at_most", "10", (math.nan, math.nan), GateReach.CANNOT_PASS),
        ("at_least", "10", (math.nan, math.nan), GateReach.CANNOT_PASS),
    ],
)
def test_the_reach_of_a_gate_is_read_off_both_ends_of_its_range(
    side: str, limit: str, span: Range, expected: GateReach
) -> None:
    assert reach(rule(side, limit), span) is expected


def test_a_gate_and_its_reason_are_said_in_words() -> None:
    gate = rule("at_least", "0.0123456", over=["age", "sex"])
    assert gate_text(gate) == "released_rows over age, sex at least 0.0123456"
    assert gate_text(gate, NEAREST) == "released_rows over age, sex at least 0.01235"
    assert limit_text(rule("at_most", "1e6")) == "at most 1000000"
    assert reason(rule("at_most", "10"), Measurement(7, 3, 11)) == "7 (confidence limit 11), must be at most 10"


@pytest.mark.parametrize(
    ("limit", "words", "nearest"),
    [("100000", "100000", "100000"), ("1e-9", "1e-9", "1e-09"), ("-2", "-2", "-2"), ("0.12344", "0.12344", "0.1234")],
)
def test_limits_are_said_exactly_and_were_said_in_four_digits(limit: str, words: str, nearest: str) -> None:
    assert limit_text(rule("at_most", limit)) == f"at most {words}"
    assert limit_text(rule("at_most", limit), NEAREST) == f"at most {nearest}"


@given(value=numbers, side=sides)
def test_a_measured_number_is_said_to_the_side_on_which_its_gate_is_harder_to_pass(value: Number, side: str) -> None:
    said = reason(rule(side, "0"), Measurement.exact(value)).partition(", must")[0]
    assert Fraction(said) >= Fraction(value) if side == "at_most" else Fraction(said) <= Fraction(value)
    assert abs(Fraction(said) - Fraction(value)) <= abs(Fraction(value)) / 1000


def test_a_bound_is_never_said_smaller_than_it_is() -> None:
    """If it were first rounded to the nearest of nine digits, it would be .001234."""
    assert reason(rule("at_most", "1"), Measurement.exact(0.00123400000049)) == "0.001235, must be at most 1"
    assert (
        verdict(rule("at_most", "1"), MEASURES["pso_bound"], Measurement.exact(0.00110049))
        .reason_text(NEAREST)
        .startswith("0.0011, ")
    )


def test_of_what_a_file_states_a_figure_without_end_is_not_taken_for_its_end() -> None:
    shown = WrittenMeasurement("infinite", "0", "5")
    stated = Verdict(rule("at_most", "10"), MeasureClass.OUTPUT, Outcome.PASS, shown)
    assert stated.reason == "infinite (confidence limit 5), must be at most 10"
    assert replace(stated, shown=WrittenMeasurement("5", "0", "5")).reason == "5, must be at most 10"


# --- a measurement as it is written ---

floats = st.floats(allow_nan=False, allow_subnormal=False)
measurable = st.one_of(st.integers(-(10**18), 10**18), st.fractions(max_denominator=10**12), floats)


def stated(text: str) -> Number:
    return {"infinite": math.inf, "-infinite": -math.inf}.get(text) or Fraction(text)


@given(ends=st.lists(measurable, min_size=3, max_size=3).map(sorted))
def test_a_measurement_is_shown_exactly_or_in_nine_digits_with_its_ends_rounded_outwards(ends: list[Number]) -> None:
    lower, value, upper = ends
    shown = WrittenMeasurement.of(Measurement(value, lower, upper))
    assert stated(shown.low) <= lower
    assert stated(shown.high) >= upper
    for text, number in ((shown.value, value), (shown.low, lower), (shown.high, upper)):
        if not isinstance(number, float) or math.isinf(number):
            assert stated(text) == number
            continue
        digits = re.sub(r"e.*|[-.]", "", text).strip("0")
        assert len(digits) <= DIGITS
        error = abs(Fraction(text) - Fraction(number))
        assert error <= abs(Fraction(number)) / 10 ** (DIGITS - 1) / (2 if text == shown.value else 1)


@given(value=measurable, other=measurable)
def test_what_is_shown_tells_its_measurement_up_to_the_last_bits_of_floats(value: Number, other: Number) -> None:
    shown = WrittenMeasurement.of(Measurement.exact(value))
    assert shown.matches(Measurement.exact(value))
    if isinstance(value, float) and math.isfinite(value):
        assert shown.matches(Measurement.exact(math.nextafter(value, 0)))
    if _apart(value, other):
        assert not shown.matches(Measurement.exact(other))


def _apart(value: Number, other: Number) -> bool:
    """Return whether two numbers differ by more than any rounding."""
    if not math.isfinite(value) or not math.isfinite(other):
        return value != other
    return bool(abs(Fraction(other) - Fraction(value)) > abs(Fraction(value)) / 10 ** (DIGITS - 2))


@pytest.mark.parametrize("end", ["value", "low", "high"])
def test_a_figure_that_is_one_digit_off_does_not_tell_the_measurement(end: str) -> None:
    measured = Measurement(0.25, 0.125, 0.5)
    shown = WrittenMeasurement.of(measured)
    assert shown.matches(measured)
    assert not replace(shown, **{end: f"{getattr(shown, end)}00001"}).matches(measured)
