"""A contract as a suite of Great Expectations, which a data team runs on the table before it is handed over.

The suite is a value of JSON in the form that Great Expectations stores. No data is read, and Great Expectations is not
imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from crowdgate.contracts.contract import Attribute, Contract, Fact, RowRule, TableRule
from crowdgate.domain import cell_value, parse_number

Stated = dict[str, Any]
"""An expectation as Great Expectations stores it."""


def expectation_suite(contract: Contract) -> tuple[Stated, tuple[str, ...]]:
    """Return the suite of a contract, and the names of the rules that Great Expectations has no expectation for.

    It states the columns, the domains, the row rules, the table rules and the expectations of the contract. Severity is
    `warning` everywhere: none of them decides a release.
    """
    rules = [(rule, _table_rule(rule, contract)) for rule in contract.table_rules]
    stated = [
        *(_stated("expect_column_to_exist", each.name, column=each.name) for each in contract.columns.values()),
        *(found for each in contract.columns.values() for found in _domain(each)),
        *(_row_rule(rule, contract.columns[rule.attribute]) for rule in contract.row_rules),
        *(found for _, found in rules if found is not None),
        *(_stated(each.type, each.name, **each.kwargs) for each in contract.expectations),
    ]
    suite = {"name": f"{contract.id} {contract.version}", "expectations": stated, "meta": {}}
    return suite, tuple(rule.name for rule, found in rules if found is None)


def _stated(kind: str, rule: str, **kwargs: Any) -> Stated:
    return {"type": kind, "kwargs": kwargs, "meta": {"rule": rule}, "severity": "warning"}


def _domain(attribute: Attribute) -> Iterator[Stated]:
    """Yield the expectation of a column's domain: its range without limits that clamp, or its values. A domain of days
    has none, since files write days in many ways.
    """
    domain, rule = attribute.domain, f"{attribute.name} in its domain"
    if domain is None or domain.first_day is not None:
        return
    if domain.grid is None:
        yield _in_set(attribute, domain.labels, rule)
        return
    low, end = domain.grid.first, domain.grid.last + (0 if domain.grid.whole else domain.grid.step)
    limits = {} if domain.grid.bottom else {"min_value": float(low)}
    limits |= {} if domain.grid.top else {"max_value": float(end), "strict_max": not domain.grid.whole}
    if limits:
        yield _stated("expect_column_values_to_be_between", rule, column=attribute.name, **limits)


def _row_rule(rule: RowRule, attribute: Attribute) -> Stated:
    return _in_set(attribute, rule.labels, rule.name)


def _in_set(attribute: Attribute, labels: Sequence[str], rule: str) -> Stated:
    """Return the expectation that cells have one of the labels, by their text in the table; numbers as numbers, too.
    Where first characters are read, it is that cells begin with them."""
    domain = attribute.domain
    places = [] if domain is None else [at for at, label in enumerate(domain.labels) if label in set(labels)]
    codes = [] if domain is None else [at * (1 if domain.grid is None else domain.grid.each) for at in places]
    values = [] if domain is None else [cell_value(domain, code) for code in codes]
    if attribute.form.first is not None:
        starts = (re.escape(str(value)) + "$" * (len(str(value)) < attribute.form.first) for value in values)
        regex = f"^(?:{'|'.join(starts)})"
        return _stated("expect_column_values_to_match_regex", rule, column=attribute.name, regex=regex)
    numbers = [number for value in values if isinstance(value, str) and (number := _number(value)) is not None]
    return _stated("expect_column_values_to_be_in_set", rule, column=attribute.name, value_set=[*values, *numbers])


def _number(text: str) -> int | float | None:
    number = parse_number(text)
    return None if number is None else int(number) if number.denominator == 1 else float(number)


def _table_rule(rule: TableRule, contract: Contract) -> Stated | None:
    """Return the expectation of a table rule; None for a share of invalid cells, which no expectation counts."""
    limits = {key: limit for key, limit in (("min_value", rule.low), ("max_value", rule.high)) if limit is not None}
    match rule.fact:
        case Fact.ROWS:
            return _stated("expect_table_row_count_to_be_between", rule.name, **_whole(rule))
        case Fact.MEAN:
            return _stated("expect_column_mean_to_be_between", rule.name, column=rule.attribute, **limits)
        case Fact.DUPLICATE_SHARE:
            return _uniqueness(rule, rule.attribute or contract.unit.person)
        case Fact.INVALID_SHARE:
            return None


def _whole(rule: TableRule) -> dict[str, int]:
    """Return the limits of a number of rows as whole numbers, which Great Expectations demands."""
    low = {} if rule.low is None else {"min_value": -int(-rule.low // 1)}
    return low | ({} if rule.high is None else {"max_value": int(rule.high // 1)})


def _uniqueness(rule: TableRule, column: str | None) -> Stated:
    """Return the expectation about unique ids: a share of duplicates from a to b is a share of distinct ids from 1 - b
    to 1 - a.
    """
    low = {} if rule.high is None else {"min_value": 1 - rule.high}
    high = {} if rule.low is None else {"max_value": 1 - rule.low}
    kind = "expect_column_proportion_of_unique_values_to_be_between"
    return _stated(kind, rule.name, column=column, **low, **high)
