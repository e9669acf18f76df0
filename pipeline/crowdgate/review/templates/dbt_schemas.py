"""Columns of models in a `schema.yml` of dbt, with what their tests say of values and ranges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crowdgate.review.templates.draft_column import DraftColumn
from crowdgate.review.templates.json_schemas import field_column, mapping_of, mappings_of, nearest, text_of, texts_of
from crowdgate.review.templates.labels_in_words import with_labels
from crowdgate.review.templates.stated_ranges import ListedValues, stated_range
from crowdgate.review.templates.stated_roles import stated_role

_LISTS = {"accepted_values": "values", "expect_column_values_to_be_in_set": "value_set"}
"""The tests that list all values, with the key of the list."""
_RANGES = ("accepted_range", "expect_column_values_to_be_between")
"""The tests that state a range."""
_PARTIAL = ("row_condition", "where")
"""The keys by which a test holds for some rows only."""
Rule = tuple[str, Mapping[str, Any]]
"""The name of a test without its package, and its arguments."""


def dbt_columns(path: Path, data: Any, names: Sequence[str]) -> tuple[DraftColumn, ...]:
    """Return the columns of the model of a `schema.yml` of dbt that has most of the columns `names`."""
    models = [each for key in ("models", "seeds", "snapshots", "sources") for each in mappings_of(data.get(key))]
    tables = [*models, *(table for each in models for table in mappings_of(each.get("tables")))]
    schemas = [tuple(map(_column, mappings_of(each.get("columns")))) for each in tables]
    return nearest(path, schemas, names, "a `schema.yml` of dbt whose models have `columns`")


def _column(stated: dict[str, Any]) -> DraftColumn:
    """Return a column of a model, whose tests list its values, state its range or say that it identifies rows."""
    tests = [each for key in ("tests", "data_tests") for each in stated.get(key) or [] if stated.get(key)]
    rules = [rule for each in tests if isinstance(each, dict) for rule in _rules(each)]
    listed = [texts_of(own[_LISTS[name]]) for name, own in rules if name in _LISTS and own.get(_LISTS[name])]
    ranges = [own for name, own in rules if name in _RANGES]
    ranged = _range(ranges[0]) if len(ranges) == 1 and not listed else ListedValues()
    is_one = len(listed) == 1 and not any(_is_partial(own) for _, own in rules)
    name, kind, words = (text_of(stated.get(key)) for key in ("name", "data_type", "description"))
    values = with_labels(tuple((each, "") for each in dict.fromkeys(listed[0])), words) if is_one else ()
    column = field_column(name, kind, words, values, ranged)
    meta = {**mapping_of(stated.get("meta")), **mapping_of(mapping_of(stated.get("config")).get("meta"))}
    role = next((found for each in meta.values() if (found := stated_role(text_of(each)))), column.role)
    said = "; ".join([*map(", ".join, listed), *map(_said, ranges)])
    unread = column.unread or ("" if column.values or column.bounds else said)
    return replace(column, role=role, is_key="unique" in tests, direct="unique" in tests, unread=unread)


def _rules(test: Mapping[str, Any]) -> Iterator[Rule]:
    """Yield the tests in an entry, whose arguments newer versions of dbt have below `arguments`."""
    for name, own in test.items():
        stated = mapping_of(own)
        yield (
            str(name).rpartition(".")[2],
            {**stated, **mapping_of(stated.get("arguments")), **mapping_of(stated.get("config"))},
        )


def _is_partial(own: Mapping[str, Any]) -> bool:
    return any(own.get(key) for key in _PARTIAL)


def _range(own: Mapping[str, Any]) -> ListedValues:
    """Return the range of a test whose ends are both values; empty for others."""
    low, high = (text_of(own.get(key)) for key in ("min_value", "max_value"))
    is_open = text_of(own.get("inclusive")) == "false" or text_of(own.get("strictly")) == "true"
    return ListedValues() if is_open or _is_partial(own) or not (low and high) else stated_range(low, high)


def _said(own: Mapping[str, Any]) -> str:
    """Return what a test of a range says, in words."""
    return ", ".join(f"{key}: {text_of(each)}" for key, each in own.items() if text_of(each))
