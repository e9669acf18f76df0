"""Rules are judged on the remaining labels and on the facts, and return only (rule, passed)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.contracts.contract import Attribute, Contract, Expectation, Fact, PrivacyUnit, Role, RowRule, TableRule
from crowdgate.domain import categories, numbers
from crowdgate.hierarchy import INVALID_LABEL
from crowdgate.sources.rules import RuleOutcome, row_rules_hold, run_rules
from tests.reading import file_server

SEX = categories(["f", "m", "a,b", '"', "\u200fx"], "test")
AGE = numbers(Fraction(0), Fraction(90), Fraction(1), "test", top=True)


def contract_of(
    rules: Sequence[RowRule] = (), table_rules: Sequence[TableRule] = (), invalid: Any = "drop"
) -> Contract:
    attributes = (
        Attribute("sex", Role.QUASI_IDENTIFIER, domain=SEX, invalid=invalid),
        Attribute("age", Role.QUASI_IDENTIFIER, domain=AGE, invalid=invalid),
        Attribute("name", Role.DIRECT_IDENTIFIER),
    )
    source = file_server(Path("t.csv"), "csv")
    unit = PrivacyUnit()
    return Contract("c", "1", "p", unit, source, attributes, row_rules=tuple(rules), table_rules=tuple(table_rules))


def judged(
    contract: Contract, distinct: Mapping[str, Sequence[str]], facts: Mapping[str, float]
) -> tuple[RuleOutcome, ...]:
    return run_rules(contract, distinct, facts, {})


def passed(contract: Contract, distinct: Mapping[str, Sequence[str]], facts: Mapping[str, float]) -> dict[str, Any]:
    return {outcome.name: outcome.passed for outcome in judged(contract, distinct, facts)}


@given(
    labels=st.lists(st.sampled_from([*SEX.labels, INVALID_LABEL, "F", "a", "b", ""]), unique=True),
    allowed=st.lists(st.sampled_from(SEX.labels), min_size=1, unique=True),
    invalid=st.sampled_from(["drop", "level"]),
)
def test_a_row_rule_holds_exactly_when_every_label_is_allowed(
    labels: list[str], allowed: list[str], invalid: str
) -> None:
    contract = contract_of([RowRule("some", "sex", tuple(allowed))], invalid=invalid)
    outcomes = judged(contract, {"sex": labels, "age": ["3", "90+"]}, {})
    extra = {INVALID_LABEL} if invalid == "level" else set()
    in_domain, in_rule = set(labels) <= {*SEX.labels, *extra}, set(labels) <= {*allowed, *extra}
    assert outcomes == (
        RuleOutcome("sex in its domain", "row", in_domain),
        RuleOutcome("age in its domain", "row", True),
        RuleOutcome("some", "row", in_rule),
    )
    assert row_rules_hold(outcomes) is (in_domain and in_rule)


@pytest.mark.parametrize(("invalid", "holds"), [("level", True), ("drop", False)])
def test_the_invalid_level_is_allowed_only_where_the_contract_keeps_invalid_cells(invalid: str, holds: bool) -> None:
    contract = contract_of([RowRule("some", "sex", ("f",))], invalid=invalid)
    outcomes = judged(contract, {"sex": ["f", INVALID_LABEL]}, {})
    assert [outcome.passed for outcome in outcomes] == [holds, holds]


limits = st.none() | st.integers(-3, 3).map(float)
facts = st.integers(-3, 3).map(float) | st.sampled_from([0.5, math.nan, math.inf, -math.inf])


@given(low=limits, high=limits, value=facts)
def test_a_table_rule_holds_exactly_between_its_limits(low: float | None, high: float | None, value: float) -> None:
    contract = contract_of(table_rules=[TableRule("mean", Fact.MEAN, "age", low, high)])
    holds = (low is None or low <= value) and (high is None or value <= high)
    assert passed(contract, {}, {"mean of age": value}) == {"mean": holds if math.isfinite(value) else None}


def test_a_rule_whose_fact_is_absent_has_no_outcome_and_the_others_have_theirs() -> None:
    rules = [TableRule("rows", Fact.ROWS, None, 1, 10), TableRule("mean", Fact.MEAN, "age", 1, 2)]
    assert passed(contract_of(table_rules=rules), {}, {"rows": 4}) == {"rows": True, "mean": None}


@pytest.mark.parametrize("answer", [True, False, None])
def test_a_rule_for_the_engine_has_the_engines_answer_alone(answer: bool | None) -> None:
    kwargs = {"column": "age", "min_value": 5, "max_value": 9}
    one, other = (Expectation(name, "expect_column_mean_to_be_between", ("age",), kwargs) for name in ("mean", "none"))
    contract = replace(contract_of(table_rules=[TableRule("own", Fact.MEAN, "age", 5, 9)]), expectations=(one, other))
    outcomes = run_rules(contract, {}, {"mean of age": 6.0}, {one: answer})
    assert outcomes == (
        RuleOutcome("own", "table", True),
        RuleOutcome("mean", "table", answer),
        RuleOutcome("none", "table", None),
    )


def test_rules_of_attributes_that_were_not_read_are_left_out() -> None:
    contract = contract_of([RowRule("adult", "age", ("18",))])
    assert passed(contract, {"sex": ["f"]}, {}) == {"sex in its domain": True}


def test_no_labels_at_all_break_no_rule() -> None:
    assert passed(contract_of(), {"sex": [], "age": []}, {}) == {"sex in its domain": True, "age in its domain": True}


def test_two_rules_of_one_name_are_both_judged() -> None:
    rules = [RowRule("r", "sex", ("f",)), RowRule("r", "sex", ("m",))]
    outcomes = judged(contract_of(rules), {"sex": ["f"]}, {})
    assert [outcome.passed for outcome in outcomes] == [True, True, False]


@pytest.mark.parametrize(
    ("outcomes", "holds"),
    [
        ([], False),
        ([RuleOutcome("t", "table", True)], False),
        ([RuleOutcome("r", "row", True), RuleOutcome("t", "table", False)], True),
        ([RuleOutcome("r", "row", True), RuleOutcome("s", "row", None)], False),
        ([RuleOutcome("r", "row", False)], False),
    ],
)
def test_row_rules_hold_only_when_there_are_some_and_each_passed(outcomes: list[RuleOutcome], holds: bool) -> None:
    assert row_rules_hold(outcomes) is holds
