"""Parsing of a document into a strict value, or into all its mistakes with places and the nearest correct words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from crowdgate.documents.synonyms import is_synonym, meant_word, plain_day, plain_number, plain_probabilities
from crowdgate.documents.yaml_text import Document, Location
from crowdgate.domain import parse_number
from crowdgate.errors import MOST_PROBLEMS, Code, ConfigurationError, Problem, expected_names, expected_words

PATTERNS = {
    "name": "at most 63 lower-case letters, digits and hyphens",
    "version": "a whole number, such as 1, which a changed policy raises",
    "ledger": "the id of a ledger, as `crowdgate ledger create` prints it",
}
"""Descriptions of the expected text, by key, for keys with a pattern."""
SHAPES = {
    "list_type": "a list, such as [a, b]",
    "string_type": "a text",
    "dict_type": "keys with values, such as {a: b}",
    "too_short": "at least 1 item",
}
"""Descriptions of the expected value, by Pydantic error type, for values of the wrong type."""
EXAMPLES = {
    ("spec", "privacy"): "privacy: {epsilon: 1, delta: 1e-9}",
    ("spec", "publish"): "publish: {to: releases, formats: [parquet, csv]}",
}
"""Complete values of keys that a policy must have, by their place."""
WHOLE = ("people", "version", "k", "rows")
"""Keys of whole numbers, in which a comma before three digits separates thousands."""
GATES = ("spec", "gates")
LISTS = ("formats", "over", "by", "at")
"""Keys of lists that are written on one line."""
OTHER_STATISTICS = ("median", "mode", "min", "max", "minimum", "maximum", "variance", "count", "counts", "share")
"""Words for numbers that no key of tables means, however similar they are."""
MOST_KEYS = 8
"""The greatest number of keys of a mapping that a message names."""
Model = TypeVar("Model", bound=BaseModel)


def parse(model: type[Model], document: Document) -> Model:
    """Return the document as a value of the model. Raises ConfigurationError that lists every problem with its line."""
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        raise ConfigurationError(problems_of(model, document, error)) from None


def problems_of(model: type[BaseModel], document: Document, error: ValidationError) -> list[Problem]:
    """Return the problems of a document from a validation error; only the `kind` problem if another kind is stated."""
    found = [_problem(model, document, detail) for detail in details_of(error)]
    other = [each for each in found if each.where == "kind" and each.code is Code.VALUE and each.instead is None]
    return other or found


def details_of(error: ValidationError) -> list[Any]:
    """Return Pydantic's error details of a validation error, at most one more than are shown."""
    return [*error.errors(include_url=False, include_input=False, include_context=True)[: MOST_PROBLEMS + 1]]


def _problem(model: type[BaseModel], document: Document, detail: Any) -> Problem:
    at = location(document, detail["loc"])
    if detail["type"].startswith("union_tag"):
        at = (*at, "kind")
        if detail["type"] == "union_tag_not_found":
            stated = _value_at(document, at[:-1])
            other = next((key for key in stated if is_synonym(str(key), "kind")), None)
            if other is not None:
                return document.problem((*at[:-1], other), "unknown key", "kind", "kind", Code.UNKNOWN_KEY)
            return document.problem(at, "the key is missing", "a value for kind", None, Code.MISSING_KEY)
    if detail["type"] == "extra_forbidden":
        known = _keys(model, at[:-1], document.data)
        meant = meant_word(str(at[-1]), known)
        if split := _split_number(document, at):
            return document.problem(at, "a comma in a number", split[0], None, Code.VALUE, corrected=split[1])
        if joined := _joined_key(document, at, known):
            return joined
        if (previous := _list_before(document, at)) is not None:
            line = document.text.as_list(previous)
            return document.problem(
                at, "a list without brackets", f"{previous[-1]}: [a, b]", None, Code.VALUE, corrected=line
            )
        is_gate = len(at) == 4 and at[:2] == GATES and isinstance(_value_at(document, at), dict)
        whole = document.text.respelled_pair(at, ["measure"]) if is_gate else None
        spec = at[:-1] == ("spec",)
        below = [each for each in known if spec and at[-1] in _keys_below(model, at[:-1], each, document.data)]
        below = ["privacy"] if "privacy" in below else below  # `delta` is a key of a series as well
        if len(below) == 1:
            place = f"it below {below[0]}, as in {below[0]}: {{{at[-1]}: ...}}"
            return document.problem(at, "a key in the wrong place", place, None, Code.UNKNOWN_KEY)
        keys = expected_names(known, str(at[-1]), "a key", "policies/schema")
        return document.problem(at, "unknown key", keys, meant, Code.UNKNOWN_KEY, corrected=whole)
    if detail["type"] == "missing":
        example = f", such as {EXAMPLES[at]}" if at in EXAMPLES else ""
        return document.problem(at, "the key is missing", f"a value for {at[-1]}{example}", None, Code.MISSING_KEY)
    if detail["type"] == "one_table" and (told := _other_table_key(document, at, detail["msg"])):
        return told
    expected = _shape(model, document, at, detail["type"])
    expected = expected or detail["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    context = detail.get("ctx", {})
    tags = str(context.get("expected_tags", "")).replace(", ", " or ")
    expected = tags or _pattern_text(at, context, expected)
    options = expected_words(expected)
    found, corrected = _found_text(document, at), _of_another_form(document, at, detail["type"])
    meant = meant_word(found.strip("'"), options)
    if detail["type"] == "literal_error" and (words := _joined_words(_value_at(document, at), options)) is not None:
        expected, meant, corrected = "a comma between them", None, document.text.replaced(at, words)
    if at[-1:] and at[-1] not in WHOLE and (either := re.fullmatch(r"'([1-9][0-9]{0,2}),([0-9]{3})'", found)):
        expected = f"{either[1]}{either[2]}, or {either[1]}.{either[2]} if the comma is a decimal one"
    if meant is None and corrected is None and (plain := _plain_value(document, at, expected)) is not None:
        meant, corrected = plain, document.text.replaced(at, plain)
    return document.problem(at, found, expected, meant, corrected=corrected)


def _joined_words(value: Any, known: Sequence[str]) -> str | None:
    """Return the words of an item that holds several `known` ones without commas, such as [parquet csv]; else None."""
    words = re.split(r"[\s;|/]+", value) if isinstance(value, str) else []
    return ", ".join(words) if len(words) > 1 and {*words} <= {*known} else None


def _plain_value(document: Document, at: Location, expected: str) -> str | None:
    """Return the number or day that a value certainly means, where one is expected; else None."""
    value = _value_at(document, at)
    if not isinstance(value, str):
        return None
    return plain_number(value, whole=at[-1] in WHOLE) if "number" in expected else plain_day(value)


def _other_table_key(document: Document, at: Location, message: str) -> Problem | None:
    """Return the problem of a table whose distinguishing key is written as in other tools, such as `average`."""
    known = re.findall(r"\w+", message.partition("keys ")[2].partition(" (")[0])
    others = [str(key) for key in _value_at(document, at) or () if key not in (*known, *OTHER_STATISTICS)]
    meant = [(key, word) for key in others if (word := meant_word(key, known)) is not None]
    if len(meant) != 1:
        return None
    ((key, word),) = meant
    return document.problem((*at, key), "unknown key", f"one of {', '.join(known)}", word, Code.UNKNOWN_KEY)


def _joined_key(document: Document, at: Location, known: list[str]) -> Problem | None:
    """Return the problem of a key without a colon and a blank: braces hold `measure:pso_bound` and `epsilon=1` as one
    key.
    """
    key, sign, value = re.fullmatch(r"(\w*)([:=]?)(.*)", str(at[-1]), re.DOTALL).groups()  # type: ignore[union-attr]
    if not sign or key not in known or not value:
        return None
    found = "a colon without a blank after it" if sign == ":" else "an equals sign in place of a colon"
    line = document.text.with_blank(at, key)
    return document.problem(at, found, f"{key}: and its value", None, Code.UNKNOWN_KEY, corrected=line)


def _list_before(document: Document, at: Location) -> Location | None:
    """Return the location of a list without brackets whose later items braces hold as keys without values; else
    None.
    """
    around = _value_at(document, at[:-1])
    keys = list(around) if isinstance(around, dict) and at[-1] in around else []
    before = [key for key in keys[: keys.index(at[-1])] if around[key] != ""] if keys else []
    is_list = bool(before) and before[-1] in LISTS and isinstance(around[before[-1]], str)
    return (*at[:-1], before[-1]) if is_list and around[at[-1]] == "" else None


def _split_number(document: Document, at: Location) -> tuple[str, str | None] | None:
    """Return the expected text and the corrected line, if an unknown key is the rest of a number after a comma: braces
    hold `epsilon: 2,5` as two keys.
    """
    around, digits = _value_at(document, at[:-1]), str(at[-1])
    before = list(around)[: list(around).index(digits)] if isinstance(around, dict) and digits in around else []
    if not before or not digits.isdigit() or around[digits] or parse_number(str(around[before[-1]])) is None:
        return None
    line = document.text.with_decimal_point((*at[:-1], before[-1]), digits)
    number = around[before[-1]]
    if len(digits) == 3 and before[-1] in WHOLE:
        return f"no comma: {number}{digits}", document.text.with_decimal_point((*at[:-1], before[-1]), digits, point="")
    if len(digits) == 3:
        return f"{number}{digits}, or {number}.{digits} if the comma is a decimal one", None
    return f"a decimal point: {number}.{digits}", line


def _shape(model: type[BaseModel], document: Document, at: Location, mistake: str) -> str | None:
    """Return the description of the expected type for a mistake of type (e.g. `list_type`); None for other mistakes."""
    if mistake in ("model_type", "model_attributes_type"):
        return f"keys with values: {', '.join(_keys(model, at, document.data))}"
    return SHAPES.get(mistake)


def _pattern_text(at: Location, context: Mapping[str, Any], expected: str) -> str:
    """Return the description of the expected text: of the pattern if the key has one, otherwise `expected`."""
    if "pattern" not in context:
        return expected
    return PATTERNS.get(str(at[-1]) if at else "", f"a text of the form {context['pattern']}")


def _of_another_form(document: Document, at: Location, mistake: str) -> str | None:
    """Return the line with its word as a one-word list, or its one-word list as a word, if that is the mistake; else
    None.
    """
    stated = _value_at(document, at)
    if mistake == "list_type" and at[-1:] in (("tables",), ("gates",)):
        return document.text.as_single_item(at)
    if mistake == "list_type" and at[-1:] == ("at",) and parse_number(str(stated)) is None:
        return document.text.replaced(at, "[0.5]") if str(stated).casefold() == "median" else None
    if mistake == "list_type" or (at[-1:] and at[-1] in LISTS and isinstance(stated, str)):
        return document.text.as_list(at)
    if at[-1:] == ("sampling",) and isinstance(stated, str):
        number = stated if parse_number(stated) is not None else plain_number(stated)
        return None if number is None else document.text.replaced(at, f"{{beta: {number}}}")
    if at[-2:] == ("spec", "unit") and isinstance(stated, dict) and list(stated) == ["person"]:
        return document.text.replaced(at, f"person:{stated['person']}")
    if at[-1:] == ("at",) and (probabilities := plain_probabilities(stated)) is not None:
        return document.text.replaced(at, f"[{', '.join(probabilities)}]")
    if len(at) == 3 and at[:2] == GATES and (limited := _limited_measure(stated)) is not None:
        return document.text.replaced(at, limited)
    return document.text.as_single_word(at) if mistake in ("string_type", "literal_error", "value_error") else None


def _limited_measure(stated: Any) -> str | None:
    """Return a gate such as `released_rows >= 1000` as a measure and a limit; None for other gates."""
    found = re.fullmatch(r"([a-z_]+)\s*(>=|<=)\s*([0-9.e-]+)", stated) if isinstance(stated, str) else None
    if found is None or parse_number(found[3]) is None:
        return None
    return f"{{measure: {found[1]}, {'at_least' if found[2] == '>=' else 'at_most'}: {found[3]}}}"


def location(document: Document, loc: tuple[str | int, ...]) -> Location:
    """Return Pydantic's error location `loc` without the names of union members, which are no keys of the file."""
    at: Location = ()
    for i, part in enumerate(loc):
        if (*at, part) in document.lines or i == len(loc) - 1:
            at = (*at, part)
    return at if at in document.lines or _looks_like_key(document, at) else at[:-1]


def _looks_like_key(document: Document, at: Location) -> bool:
    value: Any = document.data
    for part in at[:-1]:
        value = value[part]
    return (
        isinstance(value, dict)
        and isinstance(at[-1], str)
        and not at[-1].startswith(("literal", "constrained", "function"))
    )


def _found_text(document: Document, at: Location) -> str:
    value = _value_at(document, at)
    if isinstance(value, str):
        return repr(value) if len(value) < 80 else "a long text"
    if isinstance(value, dict):
        return _keys_text(list(value))
    return "a list" if isinstance(value, list) else "nothing"


def _value_at(document: Document, at: Location) -> Any:
    value: Any = document.data
    for part in at:
        known = isinstance(value, list) or (isinstance(value, dict) and part in value)
        value = value[part] if known else None
    return value


def _keys_text(keys: list[Any]) -> str:
    """Return the first keys of a mapping as text, without values."""
    shown = [ascii(str(key)[:30])[1:-1] for key in keys[:MOST_KEYS]]
    more = ", ..." if len(keys) > MOST_KEYS else ""
    return f"the keys {', '.join(shown)}{more}" if keys else "no keys"


def _keys(model: type[BaseModel], at: Location, data: Any) -> list[str]:
    """Return the keys that the policy model accepts at a location of the file."""
    current: Any = model
    any_key = False
    for part in at:
        data = data[part]
        if isinstance(part, int) or any_key:
            current = _model_inside(current, data) if any_key or not _is_model(current) else current
            any_key = False
            continue
        fields = {field.alias or name: field.annotation for name, field in current.model_fields.items()}
        any_key = get_origin(fields.get(str(part))) is dict
        inside = fields.get(str(part))
        current = inside if isinstance(data, list) or any_key else _model_inside(inside, data)
        if current is None:
            return []
    return [field.alias or name for name, field in current.model_fields.items()] if _is_model(current) else []


def _keys_below(model: type[BaseModel], at: Location, key: str, data: Any) -> list[str]:
    """Return the keys that the policy model accepts below a key, whether the file has it or not."""
    around = data
    for part in at:
        around = around[part]
    own = around.get(key) if isinstance(around, dict) else None
    stated = own if isinstance(own, dict) else {}
    return _keys(model, (*at, key), _with(data, (*at, key), stated))


def _with(data: Any, at: Location, value: Any) -> Any:
    """Return nested mappings with a value at a place."""
    if not at:
        return value
    return {**data, at[0]: _with(data.get(at[0], {}), at[1:], value)} if isinstance(data, dict) else data


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _model_inside(annotation: Any, data: Any) -> Any:
    """Return the model of an annotation that `data` is meant for: among several, the one of its `kind` or with most of
    its keys; None without one.
    """
    keys = set(data) if isinstance(data, dict) else set()
    kind = data.get("kind") if isinstance(data, dict) else None

    def fits(model: type[BaseModel]) -> tuple[bool, bool, int]:
        fields = model.model_fields
        named = "kind" in fields and kind in get_args(fields["kind"].annotation)
        return named, any(key in keys for key in [getattr(model, "key", None)]), len(keys & set(fields))

    return max(_models(annotation), key=fits, default=None)


def _models(annotation: Any) -> Iterator[Any]:
    if _is_model(annotation):
        yield annotation
    else:
        for argument in get_args(annotation):
            yield from _models(argument)
