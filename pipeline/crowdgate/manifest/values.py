"""Values of a manifest: typed, bounded, and each with exactly one text."""

import re
import unicodedata
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator, WithJsonSchema

from crowdgate.number_text import exact_text

_EXACT = r"^-?([0-9]{1,4000}(/[0-9]{1,4000})?|[0-9]{1,20}\.[0-9]{1,20}|[0-9]{1,20}(\.[0-9]{1,20})?e[+-][0-9]{2,3})$"
_FIGURE = r"^(undefined|-?infinite|-?[0-9]{1,310}(/[0-9]{1,310}|\.[0-9]{1,20})?(e[+-]?[0-9]{1,3})?)$"

NAME = "manifest.json"
"""The name of a manifest in the folder of its release."""


class ManifestFields(BaseModel):
    """A part of a manifest: only its fields, each of its JSON type, immutable."""

    model_config = ConfigDict(defer_build=True, strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)


def _exact(value: Any) -> Fraction:
    if isinstance(value, Fraction) and re.fullmatch(_EXACT, exact_text(value), re.ASCII):
        return value
    if isinstance(value, str) and re.fullmatch(_EXACT, value, re.ASCII):
        try:
            number = Fraction(value)
            if exact_text(number) == value:
                return number
        except ArithmeticError:
            pass
    raise ValueError("an exact number as text, such as 0.05, 1e-09 or 1/3")


def _one_line(text: str) -> str:
    """Return text that contracts accept as a name: no control characters, no line ends."""
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in text):
        raise ValueError("text without control characters")
    return text


def _name(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError("printable characters without leading or trailing blanks")
    return text


Exact = Annotated[
    Fraction,
    PlainValidator(_exact),
    PlainSerializer(exact_text),
    WithJsonSchema({"type": "string", "pattern": _EXACT, "description": "An exact number: 0.05, 1e-09 or 1/3."}),
]
"""An exact number, as the text of `exact_text`."""

_MEASURED = "A measured number: exact where it is whole or a ratio, otherwise in nine digits."
Figure = Annotated[str, Field(pattern=_FIGURE, max_length=700, description=_MEASURED)]
Label = Annotated[str, Field(max_length=10_000), AfterValidator(_one_line)]
"""A name of a column, level or table. It may be printed unchanged."""
Name = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_name)]
"""A name or version that a contract and a ledger can hold."""
Version = Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z.+!_-]{0,49}$")]
"""The version of a program."""
Words = Annotated[str, Field(max_length=100_000)]
"""Text for people."""
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256, in hex.")]
"""SHA-256."""
Count = Annotated[int, Field(ge=0, le=10**15)]
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")]
"""The name of a file of a release: no folder, no hidden file."""
