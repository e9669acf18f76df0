"""A contract's rules, judged on counts: labels that remain after cleaning, and facts about the table.

Great Expectations judges the expectations that the contract states (`sources/engine.py`). Only (rule, passed) is
returned.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from crowdgate.contracts.contract import Attribute, Contract, Expectation, TableRule
from crowdgate.hierarchy import INVALID_LABEL

Answers = Mapping[Expectation, bool | None]
"""The verdict on each expectation: True if it holds, None if that could not be determined."""


@dataclass(frozen=True)
class RuleOutcome:
    """The result of a contract's rule; `passed` is None if it could not be determined, which is no pass."""

    name: str
    kind: Literal["row", "table"]
    passed: bool | None


def run_rules(contract: Contract, distinct: Mapping[str, Sequence[str]], facts: Mapping[str, float],
              answers: Answers) -> tuple[RuleOutcome, ...]:  # fmt: skip
    """Return the outcomes of the contract's rules on the labels that remain after cleaning, and on the facts about the
    table.

    Row rules of attributes that `distinct` lacks are left out, as these were not read. A table rule whose fact is
    absent or not finite has no outcome, nor has an expectation without one of the `answers`.
    """
    known = {column: value for column, value in facts.items() if math.isfinite(value)}
    tables = [RuleOutcome(rule.name, "table", _rule_passes(rule, known)) for rule in contract.table_rules]
    expected = [RuleOutcome(each.name, "table", answers.get(each)) for each in contract.expectations]
    return (*_row_outcomes(contract, distinct), *tables, *expected)


def row_rules_hold(outcomes: Sequence[RuleOutcome]) -> bool:
    """Return whether the outcomes include row rules and every one of these passed."""
    rows = [outcome for outcome in outcomes if outcome.kind == "row"]
    return bool(rows) and all(outcome.passed is True for outcome in rows)


def _rule_passes(rule: TableRule, known: Mapping[str, float]) -> bool | None:
    return is_within_limits(rule, known[rule.column]) if rule.column in known else None


def is_within_limits(rule: TableRule, fact: float) -> bool:
    """Return whether the value of a fact is within the limits of a table rule."""
    return (rule.low is None or rule.low <= fact) and (rule.high is None or fact <= rule.high)


def _row_outcomes(contract: Contract, distinct: Mapping[str, Sequence[str]]) -> Iterator[RuleOutcome]:
    read = {name: contract.columns[name] for name in contract.columns if name in distinct}
    for name, attribute in read.items():
        if attribute.domain is not None:
            labels = (*attribute.domain.labels, *_invalid(attribute))
            yield RuleOutcome(f"{name} in its domain", "row", set(distinct[name]).issubset(labels))
    for rule in contract.row_rules:
        if rule.attribute in read:
            labels = (*rule.labels, *_invalid(read[rule.attribute]))
            yield RuleOutcome(rule.name, "row", set(distinct[rule.attribute]).issubset(labels))


def _invalid(attribute: Attribute) -> tuple[str, ...]:
    return (INVALID_LABEL,) if attribute.invalid == "level" else ()
