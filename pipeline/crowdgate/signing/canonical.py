"""Canonical JSON: a signed or listed value has exactly one sequence of bytes, and only that is read."""

import json
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A SHA-256 in hexadecimal."""


class SignedModel(BaseModel):
    """Base of all values that are signed or carry signatures: strict types, no unknown fields, immutable."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, hide_input_in_errors=True, populate_by_name=True
    )


Model = TypeVar("Model", bound=SignedModel)


def canonical(value: SignedModel) -> bytes:
    """Return canonical JSON: sorted keys, an indent of one blank, UTF-8, one newline at the end."""
    stated = value.model_dump(mode="json", by_alias=True)
    return (json.dumps(stated, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def parse_canonical(data: bytes, model: type[Model]) -> Model:
    """Return the value that has exactly these bytes. Raises ValueError that names the first wrong place."""
    try:
        value = model.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))[:100] or "document"
        raise ValueError(f"{place!a}: {_why(first)}") from None
    if canonical(value) != data:
        raise ValueError("not canonical JSON")
    return value


def _why(error: ErrorDetails) -> str:
    """Return the text of a Pydantic error: for a rule of the model its own words, which quote nothing of the input;
    else the error's type.
    """
    return error["msg"].removeprefix("Value error, ") if error["type"] == "value_error" else error["type"]
