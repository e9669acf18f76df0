"""JSON Schemas describe each property and its values for editors, and are no laxer than the descriptions."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import jsonschema_rs
import pytest
import yaml

from crowdgate.measures import MEASURES
from crowdgate.policy.values import Strict
from crowdgate.review.schemas.descriptions import SchemaGenerator
from crowdgate.review.schemas.schemas import schemas

ROOT = Path(__file__).parents[2]
SCHEMAS = {name: json.loads(text) for name, text in schemas().items()}
EDITED = sorted(set(SCHEMAS) - {"release-manifest.json", "event.json"})
"""The schemas of files that people write; manifests and events are written by releases."""
FILES = {
    "release-policy.json": "policies/*.yaml",
    "privacy-budget.json": "policies/budgets/*.yaml",
    "policy-cases.json": "policies/cases/*.yaml",
    "questionnaire.json": "policies/questionnaires/*.yaml",
    "data-contract.json": "data_contracts/*.yaml",
}


def stated(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every property of a schema with its path, except those in conditions."""
    if isinstance(schema, list):
        for at, each in enumerate(schema):
            yield from stated(each, f"{path}/{at}")
    for word, inside in schema.items() if isinstance(schema, dict) else ():
        if word in ("properties", "$defs"):
            for name, each in inside.items():
                yield from [(f"{path}/{name}", each)] if word == "properties" else []
                yield from stated(each, f"{path}/{name}")
        elif word != "if":
            yield from stated(inside, f"{path}/{word}")


def errors(name: str, document: Any) -> list[str]:
    validator = jsonschema_rs.validator_for(SCHEMAS[name])
    return [each.message for each in validator.iter_errors(json.loads(json.dumps(document, default=str)))]


def policy() -> Any:
    return yaml.safe_load((ROOT / "policies" / "census_income.yaml").read_text())


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_property_is_described_in_a_sentence(name: str) -> None:
    found = dict(stated(SCHEMAS[name]))
    assert len(found) > 5
    bare = [path for path, each in found.items() if not each.get("description", "").endswith(".")]
    assert bare == []


class Described(Strict):
    """A model."""

    first: str
    """A docstring of
    two lines."""
    second: str


class Derived(Described):
    """A model that declares a field anew."""

    first: Literal["a"]
    third: str
    """Its own."""


def test_the_docstring_below_a_field_describes_it() -> None:
    found = Derived.model_json_schema(schema_generator=SchemaGenerator)["properties"]
    described = {name: each.get("description") for name, each in found.items()}
    assert described == {"first": "A docstring of two lines.", "second": None, "third": "Its own."}


@pytest.mark.parametrize("name", FILES)
def test_bundled_files_are_as_their_schema_says(name: str) -> None:
    files = list(ROOT.glob(FILES[name]))
    assert files
    for file in files:
        assert errors(name, yaml.safe_load(file.read_text(encoding="utf-8"))) == []


@pytest.mark.thorough
def test_a_gate_may_state_what_its_measure_has() -> None:
    rule = SCHEMAS["release-policy.json"]["$defs"]["GateRule"]
    assert rule["properties"]["measure"]["enum"] == list(MEASURES)
    for name, measure in MEASURES.items():
        gate: dict[str, Any] = {"measure": name, "at_most": 1}
        gate |= {"of": "age"} if measure.of else {}
        gate |= {"charge": {"epsilon": 0.1}} if measure.of_noisy is not None else {}
        gate |= {"with": dict.fromkeys(measure.needs, 1)} if measure.needs else {}
        document = policy()
        document["spec"]["gates"] = [gate]
        assert errors("release-policy.json", document) == []
        for wrong in ({"with": {**gate.get("with", {}), "nothing": 1}}, {} if measure.of else {"of": "age"}):
            document["spec"]["gates"] = [{**gate, **wrong}]
            assert bool(errors("release-policy.json", document)) == bool(wrong), name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda spec: spec["gates"][0].update(measure="pso_bond"), "pso_bond"),
        (lambda spec: spec["gates"].append({"measure": "singletons", "at_most": 5}), "charge"),
        (lambda spec: spec.update(enforcement="dryrun"), "dryrun"),
        (lambda spec: spec["mechanism"].update(kind="rows"), "rows"),
        (lambda spec: spec["publish"].update(formats=["xls"]), "xls"),
        (lambda spec: spec["privacy"].update(epsilon=0), "0 is less than or equal"),
    ],
)
def test_what_a_model_refuses_an_editor_points_at(change: Any, said: str) -> None:
    document = policy()
    change(document["spec"])
    assert any(said in each for each in errors("release-policy.json", document))


@pytest.mark.parametrize(
    ("of", "property_", "value", "wrong"),
    [
        ("table", "privacyUnit", "row", "person"),
        ("table", "privacyUnit", {"person": "id", "rows": 2}, {"person": "id", "row": 2}),
        ("table", "rowsAtMost", 5, "five"),
        ("column", "privacyRole", "sensitive", "secret"),
        ("column", "levels", [{"name": "ten", "width": 10}], [{"name": "ten", "widht": 10}]),
        ("column", "domain", {"from": 0, "to": 9, "source": "s"}, {"from": 0, "to": 9}),
        ("column", "invalid", "drop", "keep"),
    ],
)
def test_custom_properties_of_contracts_are_told_apart(of: str, property_: str, value: Any, wrong: Any) -> None:
    def contract(item: Any) -> Any:
        own, column = ([item], []) if of == "table" else ([], [item])
        return {"schema": [{"customProperties": own, "properties": [{"name": "a", "customProperties": column}]}]}

    assert errors("data-contract.json", contract({"property": property_, "value": value})) == []
    assert errors("data-contract.json", contract({"property": property_, "value": wrong}))
    assert errors("data-contract.json", contract({"property": "privacyRule", "value": value}))
    assert errors("data-contract.json", contract({"property": "theirs", "value": wrong, "vendor": "others"})) == []
