"""The compiled validator of contracts agrees with the detailed one."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from crowdgate.contracts.standard import odcs_schema
from crowdgate.documents.yaml_text import read_document
from crowdgate.review.schemas.contract_schema import contract_schema
from tests.contracts.clinic import CONTRACT, problems_of, write

OTHERS: tuple[Any, ...] = (
    "",
    "text",
    "row",
    "integer",
    "DataContract",
    None,
    True,
    0,
    -1,
    2.5,
    10**300,
    [],
    ["a"],
    {},
    {"id": "x"},
)


def damaged(random: Random, node: Any) -> Any:
    """Return the document with one node missing or replaced."""
    within = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    if not within or random.random() < 0.15:
        return random.choice(OTHERS)
    at = random.choice(within)
    changed = node.copy()
    if random.random() < 0.15:
        del changed[at]
    else:
        changed[at] = damaged(random, node[at])
    return changed


@pytest.mark.thorough
def test_both_validators_give_the_same_verdict_on_damaged_contracts(tmp_path: Path) -> None:
    compiled = jsonschema_rs.Draft201909Validator(odcs_schema())
    telling = jsonschema.Draft201909Validator(odcs_schema())
    random, sound, verdicts = Random(2019), read_document(write(tmp_path)).typed, Counter[bool]()
    for _ in range(300):
        tried = damaged(random, sound)
        verdicts[compiled.is_valid(tried)] += 1
        assert compiled.is_valid(tried) == telling.is_valid(tried), tried
    assert min(verdicts[True], verdicts[False]) > 50


def test_what_only_the_compiled_one_refuses_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, CONTRACT.replace("mustBeLessThan: 2.5", "mustBeLessThan: 1e9999"))
    assert any("(ODCS) does not allow" in problem.found for problem in problems_of(path))


@pytest.mark.parametrize("wrong", ["kind: Contract", "statos: active"])
def test_what_is_wrong_is_told_by_its_place_and_not_twice(tmp_path: Path, wrong: str) -> None:
    text = CONTRACT.replace("kind: DataContract" if "kind" in wrong else "status: active", wrong)
    assert not any("(ODCS) does not allow" in problem.found for problem in problems_of(write(tmp_path, text)))


@pytest.mark.parametrize(
    ("name", "value", "fits"),
    [
        ("delimiter", ";", True), ("delimiter", "semicolon", False), ("decimalMark", ",", True),
        ("dayForm", "DD.MM.YYYY", True), ("dayForm", "DD.MM.YY", False), ("timeout", 60, True),
        ("separator", ";", False), ("values", "codes", True), ("sheet", "Persons", True), ("sheet", "", True),
    ],
)  # fmt: skip
def test_the_schema_for_editors_knows_the_settings_of_servers(name: str, value: object, fits: bool) -> None:
    server = {"server": "x", "type": "local", "customProperties": [{"property": name, "value": value}]}
    validator = jsonschema.Draft202012Validator(contract_schema())
    assert validator.is_valid({"servers": [server]}) is fits
    server["customProperties"] = [{"property": name, "value": value, "vendor": "another"}]
    assert validator.is_valid({"servers": [server]})
