"""JSON Schemas that say what each property means, and of each measure what a gate on it may state."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic.json_schema import GenerateJsonSchema

from crowdgate.measures import MEASURES, Measure
from crowdgate.policy.policy import GateRule

NUMBER = ["number", "string"]


@cache
def properties() -> dict[str, dict[str, str]]:
    """What each property means, by model and field."""
    read: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("properties.yaml").read_text("utf-8"))
    return read


def field_descriptions(model: type[Any], field: str) -> Iterator[str]:
    """What the table says of a field, under its model or one that the model is made of."""
    told = (properties().get(each.__name__, {}) for each in model.__mro__)
    return (own[field] for own in told if field in own)


class SchemaGenerator(GenerateJsonSchema):
    """Properties with the field's own description, or that of the table."""

    def model_schema(self, schema: Any) -> Any:
        """The schema of a model."""
        made, model = super().model_schema(schema), schema["cls"]
        for name, field in model.model_fields.items():
            words = next(field_descriptions(model, name), None)
            if field.description is None and words is not None:
                made["properties"][field.alias or name]["description"] = words
        return _with_measures(made) if model is GateRule else made


def _with_measures(rule: Any) -> Any:
    """Of a gate: which measures there are, and what it may state on each: `with`, `of`, `over` and `charge`."""
    rule["properties"]["measure"]["enum"] = list(MEASURES)
    cases = [
        {"if": {"properties": {"measure": {"const": name}}, "required": ["measure"]}, "then": _of_measure(measure)}
        for name, measure in MEASURES.items()
    ]
    return {**rule, "allOf": [*rule.get("allOf", []), *cases]}


def _of_measure(measure: Measure) -> dict[str, Any]:
    words = properties()["Options"]
    options = {each: {"type": NUMBER, "description": words[each]} for each in measure.options}
    stated = {"properties": options, "additionalProperties": False, "required": list(measure.needs)}
    has = {"of": measure.of, "over": measure.over, "charge": measure.of_noisy is not None}
    needed = [*(name for name in ("of", "charge") if has[name]), *(["with"] if measure.needs else [])]
    absent = {name: {"not": {}, "description": NOT_HERE} for name, there in has.items() if not there}
    words_of_with = OPTIONS if options else NOT_HERE
    return {"properties": {"with": {**stated, "description": words_of_with}, **absent}, "required": needed}


OPTIONS = "Options of this measure."
NOT_HERE = "Not of this measure."
