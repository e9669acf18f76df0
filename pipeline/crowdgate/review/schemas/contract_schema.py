"""The JSON Schema of Crowdgate's custom properties of a data contract, for editors.

The rest of a contract is the Open Data Contract Standard's, which has its own schema.
"""

from collections.abc import Mapping
from typing import Any

from crowdgate.contracts.models import PROPERTY_FACTS, TABLE_FACTS, CustomProperty
from crowdgate.review.schemas.descriptions import SchemaGenerator

VENDOR = "crowdgate"
ABOUT = "What Crowdgate reads of a data contract. All else is the Open Data Contract Standard's, version 3.1."


def contract_schema() -> dict[str, Any]:
    """Return the JSON Schema of Crowdgate's custom properties of a data contract."""
    defs: dict[str, Any] = {}
    column = _element("A column.", _custom(PROPERTY_FACTS, defs))
    table = _element("The table.", _custom(TABLE_FACTS, defs))
    table["properties"]["properties"] = {"type": "array", "items": column, "description": "The columns."}
    tables = {"type": "array", "items": table, "description": "The table that is released, and no other."}
    stated = {"title": "DataContract", "description": ABOUT, "type": "object", "properties": {"schema": tables}}
    return {**stated, "$defs": defs}


def _element(words: str, custom: Any) -> dict[str, Any]:
    return {"type": "object", "description": words, "properties": {"customProperties": custom}}


def _custom(facts: Mapping[str, CustomProperty], defs: dict[str, Any]) -> Any:
    """Return the schema of a list of custom properties; those of another vendor are ignored."""
    values = {name: _value(fact, defs) for name, fact in facts.items()}
    cases = [
        {"if": {"properties": {"property": {"const": name}}}, "then": {"properties": {"value": value}}}
        for name, value in values.items()
    ]
    names = {"enum": list(facts), "description": "Which fact is stated."}
    others = {"required": ["vendor"], "properties": {"vendor": {"not": {"const": VENDOR}}}}
    item = {
        "type": "object",
        "required": ["property", "value"],
        "properties": {
            "property": {"type": "string", "description": "Which fact is stated."},
            "value": {"description": "The fact."},
            "vendor": {"type": "string", "description": f"Whose property it is; without one, {VENDOR}'s."},
        },
        "if": others,
        "then": {},
        "else": {"properties": {"property": names}, "allOf": cases},
    }
    return {"type": "array", "items": item, "description": "What Crowdgate has to know."}


def _value(fact: CustomProperty, defs: dict[str, Any]) -> Any:
    made = fact.value.json_schema(by_alias=True, schema_generator=SchemaGenerator)
    defs |= made.pop("$defs", {})
    return {**made, "description": fact.description}
