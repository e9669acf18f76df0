"""Great Expectations judges counts of values as it judges the rows."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.contracts.expectations import COLUMN_FORMS, PAIR_FORMS
from crowdgate.sources.expectations import expectation_results, import_engine
from tests.examples import examples

pytestmark = pytest.mark.filterwarnings("ignore")  # of pandas and numpy, on columns without a value
Rows = list[tuple[Any, Any, Any, Any]]
"""Rows of two numeric columns, `x` and `y`, and two of texts, `s` and `t`; None is a missing value."""
COLUMNS = ("x", "y", "s", "t")
number = st.integers(-3, 4) | st.sampled_from([0.5, 2.25])
text = st.sampled_from(["a", "b", "A", "", "1"])
row = st.tuples(st.none() | number, st.none() | number, st.none() | text, st.none() | text)
flag, share = st.booleans(), st.sampled_from([0, 0.25, 0.5, 0.7, 1])
limits = st.fixed_dictionaries(
    {}, optional={"min_value": number, "max_value": number, "strict_min": flag, "strict_max": flag}
).filter(lambda each: {"min_value", "max_value"} & set(each) and each.get("min_value", -9) <= each.get("max_value", 9))
ARGUMENTS: dict[str, st.SearchStrategy[Any]] = {
    "mostly": share,
    "ties_okay": flag,
    "or_equal": flag,
    "ignore_row_if": st.sampled_from(["both_values_are_missing", "either_value_is_missing", "neither"]),
}


@st.composite
def expectation(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from([*COLUMN_FORMS, *PAIR_FORMS]))
    form = {**COLUMN_FORMS, **PAIR_FORMS}[kind]
    names = draw(st.sampled_from([("x", "y")] if form.numeric else [("x", "y"), ("s", "t")]))
    values = number if names[0] == "x" else text
    kwargs: dict[str, Any] = dict(draw(limits)) if "min_value" in form.keys else {}
    kwargs |= {"column_A": names[0], "column_B": names[1]} if kind in PAIR_FORMS else {"column": names[0]}
    for key in form.keys:
        if key in ARGUMENTS and draw(flag):
            kwargs[key] = draw(ARGUMENTS[key])
    if "value_set" in form.keys:
        kwargs["value_set"] = draw(st.lists(values, min_size=1, max_size=4))
    if "value_pairs_set" in form.keys:
        kwargs["value_pairs_set"] = [list(pair) for pair in draw(st.lists(st.tuples(values, values), min_size=1))]
    if "quantile_ranges" in form.keys:
        shares = draw(st.lists(share, min_size=1, max_size=3))
        kwargs["quantile_ranges"] = {"quantiles": shares, "value_ranges": [_range(draw) for _ in shares]}
    return {"type": kind, "kwargs": kwargs}


def _range(draw: st.DrawFn) -> list[Any]:
    found: dict[str, Any] = dict(draw(limits))
    return [found.get("min_value"), found.get("max_value")]


def on_rows(rows: Rows, asked: Sequence[dict[str, Any]]) -> list[bool]:
    """Return the verdicts of Great Expectations on the rows, in a data frame."""
    gx: Any = import_engine()
    from great_expectations.expectations.registry import get_expectation_impl

    frame = pd.DataFrame({name: pd.Series(cells) for name, cells in zip(COLUMNS, zip(*rows, strict=True), strict=True)})
    asset = gx.get_context(mode="ephemeral").data_sources.add_pandas("memory").add_dataframe_asset("frame")
    batch = asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": frame})
    stated: Any = [get_expectation_impl(each["type"])(**each["kwargs"]) for each in asked]
    found = [batch.validate(each, result_format="BOOLEAN_ONLY") for each in stated]
    return [bool(each.success) for each in found]


def on_counts(rows: Rows, asked: Sequence[dict[str, Any]]) -> list[bool | None]:
    """Return the verdicts of Great Expectations on the counts of values, and of pairs of values."""
    tables, stated = [], []
    for each in asked:
        names = [each["kwargs"][key] for key in ("column", "column_A", "column_B") if key in each["kwargs"]]
        counted = Counter(tuple(row[COLUMNS.index(name)] for name in names) for row in rows)
        tables.append({"cells": [list(cell) for cell in counted], "counts": list(counted.values())})
        stated.append({**each, "table": len(tables) - 1})
    return expectation_results(tables, stated)


@pytest.mark.thorough
@settings(max_examples=examples(60), deadline=None)
@given(st.lists(row, min_size=1, max_size=9), st.lists(expectation(), min_size=1, max_size=6))
def test_counts_have_the_verdicts_of_the_rows(rows: Rows, asked: list[dict[str, Any]]) -> None:
    """A column of texts without a value is left out: pandas takes it for one of numbers."""
    asked = [
        each for each in asked
        if all(any(row[COLUMNS.index(name)] is not None for row in rows)
               for key, name in each["kwargs"].items() if key.startswith("column"))
    ]  # fmt: skip
    assert on_counts(rows, asked) == (on_rows(rows, asked) if asked else [])
