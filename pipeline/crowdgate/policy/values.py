"""Values that policy files are made of: scalars arrive as text, and numbers become exact fractions.

`1e-9`, `0.05` and `"0.05"` are read as they are written.
"""

import re
import unicodedata
from datetime import date
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema

from crowdgate.domain import parse_number
from crowdgate.policy.field_order import NestedField, ValueField, more_is_looser

GREATEST_WEIGHT = 10**6

GREATEST_STATED = 10**5
"""The greatest epsilon that files may state. Sums and derived values may be ten times as large."""


def no_items() -> list[Any]:
    """Return an empty list. As a default, `list` itself makes Pydantic compile Python's tokenizer for its signature."""
    return []


def exact_number(text: Any) -> Fraction:
    """Return a finite decimal number as an exact fraction. Raises ValueError for anything else."""
    number = parse_number(text) if isinstance(text, str) else None
    if number is None:
        raise ValueError("a finite decimal number, such as 0.05 or 1e-9")
    return number


def whole_number(text: Any) -> int:
    """Return a whole number. Raises ValueError for anything else."""
    number = exact_number(text)
    if re.fullmatch(r"[0-9]{1,3}\.[0-9]{3}", text):
        raise ValueError("a whole number: a point before three digits is read in two ways")
    if number.denominator != 1:
        raise ValueError("a whole number")
    return int(number)


def _epsilon(number: Fraction) -> Fraction:
    if not 0 < number <= GREATEST_STATED:
        raise ValueError(f"a number above 0 and at most {GREATEST_STATED}")
    return number


def _probability(number: Fraction) -> Fraction:
    if not 0 <= number < 1:
        raise ValueError("a number of at least 0 and below 1")
    return number


def _rate(number: Fraction) -> Fraction:
    if not 0 < number <= 1:
        raise ValueError("a number above 0 and at most 1")
    return number


def _weight(number: Fraction) -> Fraction:
    if not 0 <= number <= GREATEST_WEIGHT:
        raise ValueError(f"a number from 0 to {GREATEST_WEIGHT}")
    return number


def schema_of(kind: str, **limits: int) -> WithJsonSchema:
    """Return the JSON Schema of a number (type `kind`) for editors: the number may be quoted, and its limits apply only
    where it is not.
    """
    return WithJsonSchema({"type": [kind, "string"], **limits})


NUMBER = schema_of("number")


def exact_number_after(check: Any) -> BeforeValidator:
    """Return a validator that reads a number exactly, then applies `check` to it."""
    return BeforeValidator(lambda value: check(exact_number(value)))


Exact = Annotated[Fraction, BeforeValidator(exact_number), NUMBER]
Epsilon = Annotated[
    Fraction, exact_number_after(_epsilon), schema_of("number", exclusiveMinimum=0, maximum=GREATEST_STATED)
]
Probability = Annotated[Fraction, exact_number_after(_probability), schema_of("number", minimum=0, exclusiveMaximum=1)]
Weight = Annotated[Fraction, exact_number_after(_weight), schema_of("number", minimum=0, maximum=GREATEST_WEIGHT)]
Rate = Annotated[Fraction, exact_number_after(_rate), schema_of("number", exclusiveMinimum=0, maximum=1)]


def _flag(text: Any) -> bool:
    if text not in ("true", "false"):
        raise ValueError("true or false")
    return bool(text == "true")


Flag = Annotated[bool, PlainValidator(_flag), WithJsonSchema({"type": "boolean"})]


def day(text: str) -> str:
    """Return a day, YYYY-MM-DD, unchanged. Raises ValueError for anything else."""
    try:
        if date.fromisoformat(text).isoformat() == text:
            return text
    except ValueError:
        pass
    raise ValueError("a day as YYYY-MM-DD")


Day = Annotated[str, AfterValidator(day)]


def _line(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise ValueError("words on one line, of printable characters")
    return text


Line = Annotated[str, Field(max_length=1000), AfterValidator(_line)]
"""One printable line of free text."""


def prose(text: str) -> str:
    """Return text if it is fit for print: no control characters but tabs and line ends, and nothing that changes the
    direction of what follows. Raises ValueError.
    """
    hidden = (each for each in text if unicodedata.category(each) in ("Cc", "Cs", "Co", "Zl", "Zp"))
    if any(each not in "\t\n" for each in hidden) or any(each in _DIRECTIONS for each in text):
        raise ValueError("text without control characters and marks of direction")
    return text


_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
Prose = Annotated[str, Field(max_length=100_000), AfterValidator(prose)]
"""Free text of some lines."""


class Strict(BaseModel):
    """Base of all values read from a policy file: unknown keys are refused, nothing changes after reading.

    Each is built when it is first read: no command reads all of them."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True, hide_input_in_errors=True)


class Sampling(Strict):
    """Bernoulli sampling: every row is sampled with probability beta, decided by secret random bits."""

    beta: Annotated[
        Rate,
        ValueField(
            "the share of rows that is sampled, by secret random bits",
            more_is_looser,
            "more people are in a release",
            "fewer people are in a release",
        ),
    ]
    """The probability with which each row is sampled, by secret random bits. A smaller one protects more, at the cost
    of accuracy.
    """


SamplingOrAll = Annotated[
    Sampling | None, NestedField("who is in a release", missing=Sampling.model_construct(beta=Fraction(1)))
]
"""A Bernoulli sample, or None for all rows."""
