"""JSON Schemas with a description of each property, and for each measure what a gate on it may state.

The description of a property is the docstring below its field. Only this module reads it from the source: pydantic
would read it whenever the models are imported, which would slow down every command.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from crowdgate.measures import MEASURES, Measure
from crowdgate.measures.options import OPTIONS
from crowdgate.policy.policy import GateRule

NUMBER = ["number", "string"]


def field_description(model: type[Any], field: str) -> str | None:
    """Return the docstring of a field in its model, or in the first of its bases that has one."""
    models = (each for each in model.__mro__ if issubclass(each, BaseModel))
    found = (_field_docstrings(each.__module__).get((each.__name__, field)) for each in models)
    return next(filter(None, found), None)


@cache
def _field_docstrings(module: str) -> Mapping[tuple[str, str], str]:
    """Return the docstrings of fields in a module, by class and field, each on one line."""
    source = ast.parse(inspect.getsource(sys.modules[module]))
    models = (each for each in source.body if isinstance(each, ast.ClassDef))
    return {(each.name, field): text for each in models for field, text in _docstrings(each)}


def _docstrings(model: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for above, below in pairwise(model.body):
        match above, below:
            case ast.AnnAssign(target=ast.Name(id=field)), ast.Expr(value=ast.Constant(value=str(text))):
                yield field, " ".join(text.split())


class SchemaGenerator(GenerateJsonSchema):
    """Schema generator that describes properties by their type, or by the docstring of their field."""

    def model_schema(self, schema: Any) -> Any:
        """Return the schema of a model with a description of each property."""
        made, model = super().model_schema(schema), schema["cls"]
        for name, field in model.model_fields.items():
            words = field_description(model, name)
            if field.description is None and words is not None:
                made["properties"][field.alias or name]["description"] = words
        return _with_measures(made) if model is GateRule else made


def _with_measures(rule: Any) -> Any:
    """Return the schema of a gate, extended by the names of all measures and, for each measure, by what a gate on it
    may state: `with`, `of`, `over` and `charge`."""
    rule["properties"]["measure"]["enum"] = list(MEASURES)
    cases = [
        {"if": {"properties": {"measure": {"const": name}}, "required": ["measure"]}, "then": _of_measure(measure)}
        for name, measure in MEASURES.items()
    ]
    return {**rule, "allOf": [*rule.get("allOf", []), *cases]}


def _of_measure(measure: Measure) -> dict[str, Any]:
    options = {each: {"type": NUMBER, "description": OPTIONS[each].description} for each in measure.options}
    stated = {"properties": options, "additionalProperties": False, "required": list(measure.needs)}
    has = {"of": measure.of, "over": measure.over, "charge": measure.of_noisy is not None}
    needed = [*(name for name in ("of", "charge") if has[name]), *(["with"] if measure.needs else [])]
    absent = {name: {"not": {}, "description": NOT_HERE} for name, there in has.items() if not there}
    words_of_with = OPTIONS_HERE if options else NOT_HERE
    return {"properties": {"with": {**stated, "description": words_of_with}, **absent}, "required": needed}


OPTIONS_HERE = "Options of this measure."
NOT_HERE = "Not of this measure."
