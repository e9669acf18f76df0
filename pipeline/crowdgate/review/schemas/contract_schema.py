"""The JSON Schema of Crowdgate's custom properties of a data contract, for editors.

The rest of a contract is the Open Data Contract Standard's, which has its own schema.
"""

from collections.abc import Mapping
from typing import Any

from crowdgate.contracts.models import PROPERTY_FACTS, TABLE_FACTS, CustomProperty
from crowdgate.planning.bundle import KNOWN
from crowdgate.review.schemas.descriptions import SchemaGenerator

VENDOR = "crowdgate"
ABOUT = "What Crowdgate reads of a data contract. All else is the Open Data Contract Standard's, version 3.1."


def contract_schema() -> dict[str, Any]:
    """Return the JSON Schema of Crowdgate's custom properties of a data contract."""
    defs: dict[str, Any] = {}
    column = _element("A column.", _custom({name: _value(fact, defs) for name, fact in PROPERTY_FACTS.items()}))
    table = _element("The table.", _custom({name: _value(fact, defs) for name, fact in TABLE_FACTS.items()}))
    server = _element("Where the table is. The first server of a type that is read is used.", _custom(_settings()))
    servers = {"type": "array", "items": server, "description": "The places of the table."}
    table["properties"]["properties"] = {"type": "array", "items": column, "description": "The columns."}
    tables = {"type": "array", "items": table, "description": "The table that is released, and no other."}
    stated = {"title": "DataContract", "description": ABOUT, "type": "object"}
    return {**stated, "properties": {"servers": servers, "schema": tables}, "$defs": defs}


def _element(words: str, custom: Any) -> dict[str, Any]:
    return {"type": "object", "description": words, "properties": {"customProperties": custom}}


def _settings() -> dict[str, Any]:
    """Return the schema of each setting of a server by its name, whatever the type and the format of the server."""
    every = {name: each for rule in KNOWN.servers.values() for name, each in rule.properties.items()}
    return {
        name: {"type": ["string", "integer"], "pattern": _whole(each.pattern), "description": f"{each.expected}."}
        for name, each in sorted(every.items())
    }


def _whole(pattern: str) -> str:
    """Return a pattern that all of a text must match, as ECMA 262 has it: without escaped hyphens and zeros."""
    return f"^(?:{pattern})$".replace("\\-", "-").replace("\\0", "\\u0000")


def _custom(values: Mapping[str, Any]) -> Any:
    """Return the schema of a list of custom properties by name; those of another vendor are ignored."""
    cases = [
        {"if": {"properties": {"property": {"const": name}}}, "then": {"properties": {"value": value}}}
        for name, value in values.items()
    ]
    names = {"enum": list(values), "description": "Which fact is stated."}
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
