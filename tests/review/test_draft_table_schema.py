"""Fields of a Table Schema whose descriptions state codes, labels and open ends."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from crowdgate.review.templates.draft_sources import read_draft_source
from tests.review.drafted_items import drafted_items


def _drafted(folder: Path, field: dict[str, Any]) -> Any:
    schema = json.dumps({"fields": [{"name": "x", **field}, {"name": "sex", "type": "string"}]})
    return drafted_items(folder, "x,sex", schema, ".json")["x"]["domain"]


def test_a_boolean_has_the_texts_that_its_schema_states(tmp_path: Path) -> None:
    stated = _drafted(tmp_path, {"type": "boolean", "trueValues": ["Ja"], "falseValues": ["Nee"]})
    assert stated["values"] == ["Ja", "Nee"]


@pytest.mark.parametrize(("marks", "expected"), [((",", ","), ","), ((",", None), "CHANGE"), ((None, None), "CHANGE")])
def test_numbers_have_a_decimal_comma_if_all_state_one(
    tmp_path: Path, marks: Sequence[str | None], expected: str
) -> None:
    fields = [{"name": name, "type": "number", "decimalChar": mark} for name, mark in zip("xy", marks, strict=True)]
    table, book = tmp_path / "t.csv", tmp_path / "b.json"
    table.write_text("x;y\n")
    book.write_text(json.dumps({"fields": [{key: each for key, each in field.items() if each} for field in fields]}))
    source = read_draft_source(table, tmp_path, header_line=True, codebook=book)
    assert source.settings["decimalMark"].partition(" ")[0] == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("1=rail|2=road|3=air|9=refused", {"values": ["1", "2", "3"], "missing": ["9"]}),
        ("Score, -7 = not asked", {"from": "1", "to": "9", "missing": ["-7"]}),
        ("9 means 9 or more", {"from": "1", "to": "9", "top": "true"}),
        ("1 = worst; 9 = best", {"from": "1", "to": "9"}),
    ],
)  # fmt: skip
def test_codes_with_labels_come_before_a_range(tmp_path: Path, words: str, expected: dict[str, Any]) -> None:
    field = {"type": "integer", "description": words, "constraints": {"minimum": 1, "maximum": 9}}
    stated = _drafted(tmp_path, field)
    assert {key: stated[key] for key in stated if key not in ("source", "labels")} == expected


def test_a_list_that_is_not_read_is_no_range(tmp_path: Path) -> None:
    field = {"type": "integer", "constraints": {"minimum": 1, "maximum": 9}}
    stated = _drafted(tmp_path, {**field, "description": "1=rail|2=road|4=air|9=refused"})
    assert "1 = rail; 2 = road; 4 = air" in stated
    assert "missing: ['9']" in stated


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ("By office. 01 Old, 02 New (east), 10 Port", {"01": "Old", "02": "New (east)", "10": "Port"}),
        ("01 = to 1,999; 02 = 2,000-9,999; 10 = more", {"01": "to 1,999", "02": "2,000-9,999", "10": "more"}),
        ("01 means Old, 02 means New, 10 means Port", {"01": "Old", "02": "New", "10": "Port"}),
        ("01 Old town, 02 New town", None),
        ("01 Old town, 02 New town, 10 Port, 10 Harbour", None),
    ],
)  # fmt: skip
def test_words_label_the_values_if_they_label_each_once(tmp_path: Path, words: str, labels: Any) -> None:
    stated = _drafted(tmp_path, {"type": "string", "description": words, "constraints": {"enum": ["01", "02", "10"]}})
    assert (stated["values"], stated.get("labels")) == (["01", "02", "10"], labels)
