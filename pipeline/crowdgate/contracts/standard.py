"""The JSON Schema of the Open Data Contract Standard v3.1, and its errors as short problems.

The schema is part of the package open_data_contract_standard. A compiled validator judges; a more detailed one, which
is ten times slower, finds the errors. A message never shows values, only keys.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from itertools import islice
from typing import Any

from crowdgate.contracts.models import PROPERTY_FACTS, TABLE_FACTS, Place, quoted_value
from crowdgate.documents.synonyms import is_synonym, meant_word
from crowdgate.documents.word_correction import is_misspelling
from crowdgate.documents.yaml_text import core_type
from crowdgate.errors import Code, expected_words

VERSION = "v3.1.0"
MOST_ERRORS = 1000
"""The greatest number of errors that are collected for a document; at most a tenth of them is shown."""
TYPES = {"boolean": (bool,), "integer": (int,), "number": (int, float)}
TYPE_WORDS = {"array": "a list", "object": "keys with values"}
_PLAIN = re.compile(r"[A-Za-z0-9_.+-]+")
UNKNOWN_KEYS = ("additionalProperties", "unevaluatedProperties")


@cache
def odcs_schema() -> dict[str, Any]:
    """Return the JSON Schema of the Open Data Contract Standard v3.1."""
    text = resources.files("open_data_contract_standard").joinpath("schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@cache
def _judge() -> Any:
    """Return the compiled validator: to compile it takes milliseconds, and to judge by it microseconds."""
    import jsonschema_rs

    return jsonschema_rs.Draft201909Validator(odcs_schema())


def check_standard(root: Place) -> None:
    """Add a problem for everything in the contract's file that the Open Data Contract Standard does not allow."""
    version = root.text("apiVersion")
    if version != VERSION:
        (root / "apiVersion").refuse(quoted_value(version), f"apiVersion: {VERSION}", VERSION, Code.VALUE)
    if _judge().is_valid(root.document.typed):
        return
    from jsonschema import Draft201909Validator

    errors = list(_leaves(Draft201909Validator(odcs_schema()).iter_errors(root.document.typed)))
    for error in errors:
        _refuse(root, error)
    if not errors:
        root.refuse(
            "a document that the Open Data Contract Standard (ODCS) does not allow",
            "a contract as this standard describes it",
            None,
            Code.VALUE,
        )


def _leaves(errors: Any) -> Iterator[Any]:
    """Yield the validator's errors without those that only repeat another one: a part that fails leaves its keys
    unevaluated.
    """
    from jsonschema.exceptions import best_match

    flat = [best_match([error]) for error in islice(errors, MOST_ERRORS)]
    for error in flat:
        path = tuple(error.absolute_path)
        others = [
            tuple(other.absolute_path) for other in flat if other.validator not in UNKNOWN_KEYS or _unknown(other)
        ]
        below = any(other[: len(path)] == path for other in others)
        unknown_inside = error.validator in ("oneOf", "anyOf") and any(
            _unknown(other) for other in flat if tuple(other.absolute_path)[: len(path)] == path
        )
        if not unknown_inside and (error.validator not in UNKNOWN_KEYS or _unknown(error) or not below):
            yield error


def _refuse(root: Place, error: Any) -> None:
    at = root
    for part in error.absolute_path:
        at = at / part
    at = at.called(*_named_path(root, tuple(error.absolute_path)))
    if _is_short_property(error):
        if error.validator in UNKNOWN_KEYS:
            (key,) = error.instance
            line = root.document.text.respelled_pair((*error.absolute_path, key), ("property", "value"))
            found, expected = "a custom property without the keys property and value", "{property: NAME, value: VALUE}"
            (at / key).refuse(found, expected, None, Code.UNKNOWN_KEY, line)
    elif error.validator in UNKNOWN_KEYS:
        known = sorted(_schema_keys(error.schema, set()))
        for key in _unknown(error) or ["a key"]:
            item = at / key if key in error.instance else at
            if (number := _split_number(at, key)) is not None:
                line = root.document.text.with_decimal_point((*error.absolute_path, "value"), key, point="")
                item.refuse("a comma in a number", f"no comma: {number}", None, Code.VALUE, line)
                continue
            if (decimal := root.document.text.as_decimal((*error.absolute_path, key), at.value)) is not None:
                item.refuse("a comma in a number", f"a decimal point: {decimal[0]}", None, Code.VALUE, decimal[1])
                continue
            found = "a key that the Open Data Contract Standard (ODCS) does not have here"
            if key in (*TABLE_FACTS, *PROPERTY_FACTS):
                expected = f"customProperties with {{property: {key}, value: ...}} in its list"
                item.refuse(found, expected, None, Code.UNKNOWN_KEY)
                continue
            item.refuse(found, "a key of this standard", _meant_key(key, known), Code.UNKNOWN_KEY)
    elif error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        # without a logicalType every condition on it holds, including the one that requires `map`
        missing = ["logicalType"] if missing == ["map"] and "logicalType" not in error.instance else missing
        missing = [key for key in missing if not any(_means(each, key) for each in error.instance)]
        if not missing:
            return
        at.refuse(
            f"no key {', '.join(missing)}",
            "all keys that the Open Data Contract Standard (ODCS) requires",
            None,
            Code.MISSING_KEY,
        )
    else:
        expected = _expected(error)
        meant = meant_word(at.value, expected_words(expected)) if isinstance(at.value, str) else None
        at.refuse(quoted_value(at.value), expected, meant, Code.VALUE, _of_another_type(at, error))


def _is_short_property(error: Any) -> bool:
    """Return whether an error is about a custom property that is written as `NAME: VALUE`."""
    in_list = tuple(error.absolute_path)[-2:-1] == ("customProperties",)
    is_pair = in_list and isinstance(error.instance, dict) and len(error.instance) == 1
    return is_pair and next(iter(error.instance)) in (*TABLE_FACTS, *PROPERTY_FACTS)


def _split_number(at: Place, key: str) -> str | None:
    """Return the whole number whose part after a comma is `key`: braces hold `value: 50,000` as two keys."""
    before = at.text("value") or ""
    is_group = re.fullmatch("[0-9]{3}", key) and re.fullmatch("[1-9][0-9]{0,2}", before)
    return f"{before}{key}" if is_group and at.text(key) == "" and at.text("property") == "rowsAtMost" else None


def _means(word: str, key: str) -> bool:
    return is_synonym(word, key) or is_misspelling(word, key)


def _meant_key(key: str, known: list[str]) -> str | None:
    """Return the key that was probably meant; a limit only if that is certain, as its opposite is similar."""
    meant = meant_word(key, known)
    certain = meant is None or not meant.startswith("mustBe") or _means(key, meant)
    return meant if certain else None


def _of_another_type(at: Place, error: Any) -> str | None:
    """Return the line with a value's quotes removed or added, if that gives the type of the standard; else None."""
    text, is_text = at.value, isinstance(error.instance, str)
    is_version = at.location == ("apiVersion",)  # which is refused with the right one
    if is_version or error.validator != "type" or not isinstance(text, str) or not _PLAIN.fullmatch(text):
        return None
    if error.validator_value == "string" and not is_text:
        return at.document.text.replaced(at.location, f'"{text}"')
    fits = type(core_type(text)) in TYPES.get(error.validator_value, ())
    return at.document.text.replaced(at.location, text) if fits and is_text else None


def _expected(error: Any) -> str:
    value = error.validator_value
    match error.validator:
        case "enum":
            return "one of " + ", ".join(map(str, value))
        case "const":
            return str(value)
        case "type":
            return " or ".join(TYPE_WORDS.get(each, each) for each in ([value] if isinstance(value, str) else value))
        case "pattern":
            return f"text of the form {value}"
        case "oneOf" | "anyOf":
            return "exactly one of the forms that the Open Data Contract Standard (ODCS) allows"
        case _:
            return f"what the Open Data Contract Standard (ODCS) allows (rule {error.validator})"


def _unknown(error: Any) -> list[str]:
    if error.validator not in UNKNOWN_KEYS:
        return []
    known = _schema_keys(error.schema, set())
    return [key for key in error.instance if key not in known]


def _schema_keys(schema: Any, seen: set[str]) -> set[str]:
    """Return all keys that a part of the JSON Schema permits, including those of its references and conditions."""
    if not isinstance(schema, dict):
        return set()
    known = set(schema.get("properties", {}))
    reference = schema.get("$ref")
    if reference is not None and reference not in seen:
        seen.add(reference)
        known |= _schema_keys(_referred(reference), seen)
    parts = [schema.get("then"), schema.get("else")]
    parts += [part for key in ("allOf", "anyOf", "oneOf") for part in schema.get(key, [])]
    return known.union(*(_schema_keys(part, seen) for part in parts))


def _referred(reference: str) -> Any:
    part: Any = odcs_schema()
    for key in reference.removeprefix("#/").split("/"):
        part = part[key]
    return part


def _named_path(root: Place, path: tuple[str | int, ...]) -> list[str]:
    """Return a path with the names of its items in place of their numbers: `age.quality.0`, not
    `schema.0.properties.3...`.
    """
    names: list[str] = []
    at = root
    for i, part in enumerate(path):
        at = at / part
        name = next((text for key in ("name", "property", "server") if (text := at.text(key))), None)
        is_list_of_named = isinstance(part, int) and name is not None and path[i - 1 : i] != ("quality",)
        names[-1 if is_list_of_named else len(names) :] = [repr(name)[1:-1][:60] if is_list_of_named else str(part)]
    return names[1:] if len(path) > 2 and path[2] == "properties" else names
