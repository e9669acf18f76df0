"""JSON Schemas of the policy files, for editors, and of manifests and events, for programs that read them.

They are files of their own because editors read files: `python -m crowdgate.review.schemas.schemas policies/schema`
writes them.
"""

import json
import sys
from pathlib import Path
from typing import Any, Union

from pydantic import TypeAdapter

from crowdgate.kinds import KINDS
from crowdgate.operations.event import Event
from crowdgate.planning.bundle import KNOWN
from crowdgate.policy.cases import PolicyCases
from crowdgate.policy.decisions import CollectionDecision
from crowdgate.policy.policy import MechanismSpec, PrivacyBudget
from crowdgate.policy.questionnaire import Questionnaire
from crowdgate.review.schemas.contract_schema import contract_schema
from crowdgate.review.schemas.descriptions import SchemaGenerator, field_description

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MODELS: dict[str, Any] = {
    "release-policy.json": KNOWN.policy,
    "privacy-budget.json": PrivacyBudget,
    "policy-cases.json": PolicyCases,
    "collection-decision.json": CollectionDecision,
    "questionnaire.json": Questionnaire,
    "release-manifest.json": Union[tuple(kind.manifest_class() for kind in KINDS.values())],  # noqa: UP007
    "event.json": Event,
}


def schemas() -> dict[str, str]:
    """Return the text of every file of policies/schema/, by name. `check` is stricter, as it knows the contract as
    well.
    """
    made = {name: _of_model(model) for name, model in _MODELS.items()}
    return {name: _text(schema) for name, schema in {**made, "data-contract.json": contract_schema()}.items()}


def _of_model(model: Any) -> dict[str, Any]:
    return TypeAdapter(model).json_schema(by_alias=True, schema_generator=SchemaGenerator)


def _text(schema: dict[str, Any]) -> str:
    return json.dumps({"$schema": _DIALECT, **_with_conditions(schema)}, indent=2) + "\n"


def _with_conditions(schema: Any) -> Any:
    """Return the schema with "if of this kind, these keys" in place of "one of these forms", so that editors mark the
    mistake."""
    if isinstance(schema, list):
        return [_with_conditions(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "mapping" not in schema.get("discriminator", {}):
        return {key: _with_conditions(value) for key, value in schema.items()}
    key, kinds = schema["discriminator"]["propertyName"], schema["discriminator"]["mapping"]
    cases = [{"if": {"properties": {key: {"const": kind}}}, "then": {"$ref": ref}} for kind, ref in kinds.items()]
    stated = {"enum": list(kinds), "description": field_description(MechanismSpec, key)}
    kept = {"description": schema["description"]} if "description" in schema else {}
    return {**kept, "type": "object", "required": [key], "properties": {key: stated}, "allOf": cases}


def write(folder: Path) -> None:
    """Write every schema into a folder that exists."""
    for name, text in schemas().items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
