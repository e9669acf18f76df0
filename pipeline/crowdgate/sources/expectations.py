"""Great Expectations as the judge of a contract's rules, on a frame of distinct labels and a frame of facts.

It sees no rows, and only (rule, passed) comes back: its results, exceptions and logs may quote values. It is imported
where it is used, because importing it takes longer than most releases.
"""

import logging
import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from crowdgate.contracts.contract import Attribute, Contract, TableRule
from crowdgate.hierarchy import INVALID_LABEL

if TYPE_CHECKING:  # 45 MB, which what needs no engine does without
    import pandas as pd

Kind = Literal["row", "table"]


@dataclass(frozen=True)
class RuleOutcome:
    """Whether a rule holds; None when that could not be found out, which is no pass."""

    name: str
    kind: Kind
    passed: bool | None


@dataclass(frozen=True)
class _Check:
    """One expectation: the column it reads, and the labels or the limits that it allows."""

    name: str
    kind: Kind
    column: str
    labels: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


def run_rules(contract: Contract, distinct: Mapping[str, Sequence[str]],
              facts: Mapping[str, float]) -> tuple[RuleOutcome, ...]:  # fmt: skip
    """Check the labels that remain after cleaning, and the facts about the table, against the contract's rules.

    Row rules of attributes that `distinct` lacks are left out: nothing of those was read. A table rule whose fact is
    absent or not finite has no outcome.
    """
    rows = _row_checks(contract, distinct)
    tables = [_table_check(rule) for rule in contract.table_rules]
    known = {column: float(value) for column, value in facts.items() if math.isfinite(value)}
    answers = {**_judge(_labels_frame(distinct), rows), **_judge(_facts_frame(known), _answerable(tables, known))}
    return tuple(RuleOutcome(check.name, check.kind, answers.get(check)) for check in (*rows, *tables))


def row_rules_hold(outcomes: Sequence[RuleOutcome]) -> bool:
    """Whether there are row rules and every one of them passed."""
    rows = [outcome for outcome in outcomes if outcome.kind == "row"]
    return bool(rows) and all(outcome.passed is True for outcome in rows)


def _row_checks(contract: Contract, distinct: Mapping[str, Sequence[str]]) -> list[_Check]:
    read = [attribute for attribute in contract.attributes if attribute.name in distinct and attribute.domain]
    domains = [
        _Check(f"{attribute.name} in its domain", "row", attribute.name, _allowed(attribute)) for attribute in read
    ]
    by_name = {attribute.name: attribute for attribute in read}
    rules = [rule for rule in contract.row_rules if rule.attribute in by_name]
    return domains + [
        _Check(rule.name, "row", rule.attribute, (*rule.labels, *_invalid(by_name[rule.attribute]))) for rule in rules
    ]


def _allowed(attribute: Attribute) -> tuple[str, ...]:
    labels = () if attribute.domain is None else attribute.domain.labels
    return (*labels, *_invalid(attribute))


def _invalid(attribute: Attribute) -> tuple[str, ...]:
    return (INVALID_LABEL,) if attribute.invalid == "level" else ()


def _table_check(rule: TableRule) -> _Check:
    return _Check(rule.name, "table", str(rule.column), low=rule.low, high=rule.high)


def _answerable(checks: Sequence[_Check], known: Mapping[str, float]) -> list[_Check]:
    """Checks whose fact is known and that have a limit: Great Expectations refuses a range without one."""
    return [check for check in checks if check.column in known and (check.low, check.high) != (None, None)]


def _facts_frame(known: Mapping[str, float]) -> "pd.DataFrame":
    """A row of facts."""
    import pandas as pd

    return pd.DataFrame([known])


def _labels_frame(distinct: Mapping[str, Sequence[str]]) -> "pd.DataFrame":
    """A column of distinct labels per attribute, padded with None."""
    import pandas as pd

    height = max(map(len, distinct.values()), default=0)
    columns = {name: [*labels, *[None] * (height - len(labels))] for name, labels in distinct.items()}
    return pd.DataFrame(columns, dtype=object)


def _judge(frame: "pd.DataFrame", checks: Sequence[_Check]) -> dict[_Check, bool]:
    """Which checks pass; a check that Great Expectations could not decide is absent."""
    if not checks:
        return {}
    try:
        with _silence():
            results = _validate(frame, checks)
            return {checks[int(place)]: bool(passed) for place, passed in results}
    except Exception:  # nothing is decided: a row rule without an answer does not hold, and the run ends as a crash
        return {}


def _validate(frame: "pd.DataFrame", checks: Sequence[_Check]) -> list[tuple[int, bool]]:
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context: Any = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    asset = context.data_sources.add_pandas("memory").add_dataframe_asset("frame")
    batch = asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": frame})
    suite = gx.ExpectationSuite(name="rules", expectations=[_expectation(gx, *item) for item in enumerate(checks)])
    results = batch.validate(suite, result_format="BOOLEAN_ONLY").results
    return [(result.expectation_config.meta["check"], result.success) for result in results if not _raised(result)]


def _expectation(gx: Any, place: int, check: _Check) -> Any:
    meta = {"check": place}
    if check.kind == "row":
        return gx.expectations.ExpectColumnValuesToBeInSet(column=check.column, value_set=list(check.labels), meta=meta)
    return gx.expectations.ExpectColumnValuesToBeBetween(
        column=check.column, min_value=check.low, max_value=check.high, meta=meta
    )


def _raised(result: Any) -> bool:
    """Whether an exception stands behind a result: one entry, or one per metric."""
    info = result.exception_info or {}
    entries = [info, *(entry for entry in info.values() if isinstance(entry, dict))]
    return any(entry.get("raised_exception") for entry in entries)


@contextmanager
def _silence() -> Iterator[None]:
    """No warnings and no logs of Great Expectations: both may quote what it was given.

    Some of its loggers set a level of their own, so all their records are stopped where they would leave the package.
    """
    logger = logging.getLogger("great_expectations")
    handlers, propagate = logger.handlers, logger.propagate
    logger.handlers, logger.propagate = [logging.NullHandler()], False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.handlers, logger.propagate = handlers, propagate
