"""ODCS quality rules of a contract: rules about one cell become RowRules, rules about the table TableRules.

A row rule is evaluated on the public labels of a domain, once, before any data is read. A contract's rule that fits
neither kind is refused: an unchecked rule is worse than none.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.contracts.contract import Engine, Expectation, Fact, RowRule, TableRule
from crowdgate.contracts.domains import label_of
from crowdgate.contracts.expectations import Domains, column_expectation, pair_expectation
from crowdgate.contracts.models import NUMBER, VALUES_LIST, Place, parse, quoted_value
from crowdgate.documents.synonyms import meant_word
from crowdgate.domain import parse_number
from crowdgate.errors import Code, nearest

if TYPE_CHECKING:
    from crowdgate.domain import Domain

LOW = ("mustBe", "mustBeGreaterThan", "mustBeGreaterOrEqualTo")
HIGH = ("mustBe", "mustBeLessThan", "mustBeLessOrEqualTo")
OPERATORS = tuple(dict.fromkeys((*LOW, *HIGH, "mustBeBetween")))
REFUSED_OPERATORS = ("mustNotBe", "mustNotBeBetween")
SHARES = ("nullValues", "missingValues", "invalidValues")
SUPPORTED = (
    "invalidValues with validValues or pattern (mustBe: 0); nullValues, missingValues or invalidValues in percent; "
    "duplicateValues in percent on the person column; rowCount on the table; a mean or an expectation, of type custom "
    "with an engine"
)
Limits = tuple[float | None, float | None]


def table_rule(place: Place, domains: Domains) -> TableRule | Expectation | None:
    """Return the rule about the number of rows, or the expectation about two columns, that a quality entry of the table
    states, or None after its problem was added.
    """
    if place.text("type") == "custom" and place.text("engine") == Engine.GREAT_EXPECTATIONS:
        return pair_expectation(place, domains)
    if place.is_faulty:
        return None
    if place.text("metric") != "rowCount" or place.text("type") not in (None, "library"):
        place.refuse(
            "a quality rule that tables can't have",
            "a rule with `metric: rowCount`, or an expectation about two columns",
        )
        return None
    if place.text("unit") == "percent" or (place / "arguments").value is not None:
        place.refuse("a rule on rowCount with a unit or arguments", "rowCount in rows, without arguments")
        return None
    return _limited(place, Fact.ROWS, None, Fraction(1))


def property_rule(
    place: Place, attribute: str, domain: Domain | None, person: str | None
) -> RowRule | TableRule | Expectation | None:
    """Return the rule that a quality entry of a property states, or None after its problem was added."""
    kind, metric = place.text("type") or "library", place.text("metric")
    if kind == "custom":
        return _custom(place, attribute, domain)
    if kind != "library" or metric not in (*SHARES, "duplicateValues"):
        if place.is_faulty:
            return None
        near = nearest(metric, [*SHARES, "duplicateValues"]) if metric else None
        place.refuse("a quality rule that columns can't have", SUPPORTED, near)
        return None
    if metric == "invalidValues" and (place / "arguments").value is not None:
        return _row_rule(place, attribute, domain)
    return _share(place, metric, attribute, domain, person)


def _share(place: Place, metric: str, attribute: str, domain: Domain | None, person: str | None) -> TableRule | None:
    duplicates = metric == "duplicateValues"
    if (place / "arguments").value is not None:
        (place / "arguments").refuse(f"{metric} takes no arguments", "this rule without `arguments`")
    elif place.text("unit") != "percent":
        if not place.is_faulty:
            stated = (place / "unit").value
            expected = "unit: percent" if stated else "unit: percent, and the limit in percent: 2, not 0.02, for 2 %"
            (place / "unit").refuse(quoted_value(stated), expected, "percent" if stated else None, Code.VALUE)
    elif duplicates and attribute != person:
        place.refuse(
            "duplicateValues on a column that is not the person column",
            "this rule on the privacy unit's person column, or no such rule",
        )
    elif not duplicates and domain is None:
        place.refuse(f"a rule on {metric} for a column without a domain", "the custom property `domain` on this column")
    else:
        fact = Fact.DUPLICATE_SHARE if duplicates else Fact.INVALID_SHARE
        return _limited(place, fact, attribute, Fraction(1, 100))
    return None


def _limited(place: Place, fact: Fact, attribute: str | None, scale: Fraction) -> TableRule | None:
    limits = _limits(place, scale)
    default = str(fact) if attribute is None else f"{fact} of {attribute}"
    return None if limits is None else TableRule(place.text("name") or default, fact, attribute, *limits)


def _limits(place: Place, scale: Fraction) -> Limits | None:
    """Return the lower and upper limit that the entry's one operator states, or None after a problem; strict operators
    exclude the limit itself.
    """
    operators = [key for key in (*OPERATORS, *REFUSED_OPERATORS) if (place / key).value is not None]
    if len(operators) != 1 or operators[0] in REFUSED_OPERATORS:
        if not operators and place.is_faulty:
            return None
        found = f"the operators {' and '.join(operators)}" if operators else "a rule without a limit"
        place.refuse(found, "exactly one of " + ", ".join(OPERATORS))
        return None
    operator = operators[0]
    at = place / operator
    if operator == "mustBeBetween":
        return _between(at, scale)
    is_count = place.text("metric") == "rowCount"
    if is_count and (thousands := re.fullmatch(r"([1-9][0-9]{0,2})\.([0-9]{3})", str(at.value))):
        at.refuse(quoted_value(at.value), f"a whole number, such as {thousands[1]}{thousands[2]}", None, Code.VALUE)
        return None
    number = _limit(at, is_percent=place.text("unit") == "percent")
    if number is None:
        return None
    limit = float(number * scale)
    low = math.nextafter(limit, math.inf) if operator == "mustBeGreaterThan" else limit
    high = math.nextafter(limit, -math.inf) if operator == "mustBeLessThan" else limit
    return low if operator in LOW else None, high if operator in HIGH else None


def _limit(at: Place, *, is_percent: bool) -> Fraction | None:
    """Return the number at a place, or None after a problem; a rule in percent has its limit in percent, without the
    sign.
    """
    text = at.value
    if not is_percent or not isinstance(text, str) or not text.endswith("%"):
        return parse(NUMBER, at)
    plain = text.rstrip("% ")
    meant = plain if parse_number(plain) is not None else None
    line = None if meant is None else at.document.text.replaced(at.location, meant)
    at.refuse(quoted_value(text), "a number of percent, without the sign", meant, Code.VALUE, line)
    return None


def _between(at: Place, scale: Fraction) -> Limits | None:
    ends = [_limit(end, is_percent=scale != 1) for end in at.items()]
    if len(ends) != 2 or ends[0] is None or ends[1] is None or ends[0] > ends[1]:
        at.refuse("no list of two numbers in order", "two numbers, the smaller one first, such as [10, 20]")
        return None
    return float(ends[0] * scale), float(ends[1] * scale)


def _custom(place: Place, attribute: str, domain: Domain | None) -> TableRule | Expectation | None:
    """Return a rule about a column's mean, or an expectation for Great Expectations, or None after its problem was
    added.
    """
    named = place.text("engine") or ""
    if named not in list(Engine):
        known = " or ".join(f"engine: {name}" for name in Engine)
        (place / "engine").refuse(quoted_value((place / "engine").value), known, nearest(named, list(Engine)))
        return None
    if named == Engine.GREAT_EXPECTATIONS:
        return column_expectation(place, attribute, domain)
    limits = _metric_mean_limits(place / "implementation")
    if limits is None:
        return None
    if domain is None or domain.grid is None:
        place.refuse("a rule on the mean of a column that is not numeric", "a numeric domain (from, to) on this column")
        return None
    name = place.text("name") or f"mean of {attribute}"
    return TableRule(name, Fact.MEAN, attribute, *limits)


def _metric_mean_limits(at: Place) -> Limits | None:
    """Return the lower and upper limit in `implementation: {metric: mean, mustBeBetween: [30, 40]}`."""
    keys = list(at.value) if isinstance(at.value, dict) else []
    unknown = [key for key in keys if key not in ("metric", *OPERATORS, *REFUSED_OPERATORS)]
    if at.text("metric") != "mean" or unknown:
        at.refuse(
            f"the keys {quoted_value(', '.join(map(str, unknown or keys)))}",
            "metric: mean and one of " + ", ".join(OPERATORS),
        )
        return None
    return _limits(at, Fraction(1))


def _row_rule(place: Place, attribute: str, domain: Domain | None) -> RowRule | None:
    if domain is None:
        place.refuse("a rule on the cells of a column without a domain", "the custom property `domain` on this column")
        return None
    operators = [key for key in (*OPERATORS, *REFUSED_OPERATORS) if (place / key).value is not None]
    if operators != ["mustBe"] or parse(NUMBER, place / "mustBe") != 0:
        place.refuse(
            "a rule on single cells with a limit other than 0",
            "mustBe: 0 (every cell that breaks the rule counts as invalid)",
        )
        return None
    labels = _accepted(place / "arguments", domain)
    if labels is None:
        return None
    if not labels:
        (place / "arguments").refuse(
            "a rule that no value of the column's domain meets", "a rule that accepts at least one value"
        )
        return None
    return RowRule(place.text("name") or f"valid values of {attribute}", attribute, labels)


def _accepted(at: Place, domain: Domain) -> tuple[str, ...] | None:
    keys = list(at.value) if isinstance(at.value, dict) else []
    if keys == ["validValues"]:
        return _valid_values(at / "validValues", domain)
    if keys == ["pattern"]:
        return _matching(at / "pattern", domain)
    near = meant_word(keys[0], ["validValues", "pattern"]) if len(keys) == 1 else None
    if near is not None:
        (at / keys[0]).refuse(f"the argument {quoted_value(keys[0])}", "validValues or pattern", near, Code.UNKNOWN_KEY)
    else:
        at.refuse(f"the arguments {quoted_value(', '.join(keys))}", "either validValues or pattern")
    return None


def _valid_values(at: Place, domain: Domain) -> tuple[str, ...] | None:
    values = parse(VALUES_LIST, at)
    if values is None:
        return None
    labels = {value: label_of(domain, value) for value in values}
    for i, value in enumerate(values):
        if labels[value] is None:
            (at / i).refuse(
                f"the value {quoted_value(value)} is not in the domain",
                "values of this column's domain",
                nearest(value, domain.labels[:1000]),
            )
    accepted = set(labels.values())
    return None if None in accepted else tuple(label for label in domain.labels if label in accepted)


def _matching(at: Place, domain: Domain) -> tuple[str, ...] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            pattern = re.compile(at.value)
    except (re.error, TypeError, OverflowError, RecursionError, Warning):
        at.refuse(f"the pattern {quoted_value(at.value)}", "a regular expression that Python accepts without a warning")
        return None
    texts = domain.written or domain.labels
    return tuple(label for text, label in zip(texts, domain.labels, strict=True) if pattern.fullmatch(text))


def refuse_repeated_names(rules: Iterable[tuple[Place, RowRule | TableRule | Expectation]]) -> None:
    """Add a problem for each rule that has the name of an earlier rule."""
    seen: set[str] = set()
    for place, rule in rules:
        if rule.name in seen:
            place.refuse(
                f"a second rule called {quoted_value(rule.name)}", "a different name for each rule", None, Code.TWICE
            )
        seen.add(rule.name)


def accepts_all(rules: Sequence[RowRule], label: str) -> bool:
    """Return whether every one of the row rules accepts a label."""
    return all(label in rule.labels for rule in rules)
