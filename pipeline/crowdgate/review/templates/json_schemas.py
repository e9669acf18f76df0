"""Fields of a Table Schema (Frictionless), of CSV on the Web and of a JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crowdgate.contracts.cell_form import COMMA
from crowdgate.review.templates.codebook_values import codes_in_words, has_open_end, listed_values, without_unknown
from crowdgate.review.templates.dictionary_types import day_form, stated_type
from crowdgate.review.templates.draft_column import DraftColumn, Values, cannot_draft
from crowdgate.review.templates.draft_dictionary import dictionary_text
from crowdgate.review.templates.json_references import whole_field
from crowdgate.review.templates.label_domains import with_label_range
from crowdgate.review.templates.labels_in_words import beside_range, with_labels
from crowdgate.review.templates.special_labels import is_empty
from crowdgate.review.templates.stated_ranges import ListedValues, stated_range
from crowdgate.review.templates.stated_roles import role_in_brackets
from crowdgate.sources.table_header import CellType

MOST_DEEP = 12
"""The greatest depth at which fields are looked for."""
_EXPECTED = "a Table Schema (`fields`), CSV on the Web (`columns`) or a JSON Schema (`properties`)"
_UNREAD = ("pattern", "minimum", "maximum", "minInclusive", "maxInclusive", "minLength", "maxLength")
"""The constraints that are quoted where they state no range and no values."""
_LIMITS = (("minimum", "maximum"), ("minInclusive", "maxInclusive"))
_NAMES = (
    "x-enum-descriptions",
    "x-enumDescriptions",
    "enumDescriptions",
    "enumNames",
    "x-enumNames",
    "x-enum-varnames",
)
"""The keys of labels in the order of `enum`."""
_TOLD = ("description", "dc:description", "dcterms:description", "rdfs:comment", "schema:description", "doc")
"""The keys of descriptions."""
_POINT = re.compile(r"(?:^|\s)[*•-]\s+`?(?P<code>[^`\s]{1,20})`?\s*[-–—:=]\s*")
_TRUTH = {"trueValues": ["true", "True", "TRUE", "1"], "falseValues": ["false", "False", "FALSE", "0"]}
"""The cells that are true and false in a Table Schema which states others for one of them only."""


def json_columns(path: Path, names: Sequence[str]) -> tuple[DraftColumn, ...]:
    """Return the fields of the schema in a JSON file that has most of the columns `names`. Raises ConfigurationError
    if the file is no JSON or has no fields.
    """
    try:
        data = json.loads(dictionary_text(path)[0], parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        raise cannot_draft(path, "no JSON that can be read", _EXPECTED) from None
    return nearest(path, _schemas(data, 0, data), names, _EXPECTED)


def nearest(
    path: Path, schemas: Sequence[tuple[DraftColumn, ...]], names: Sequence[str], expected: str
) -> tuple[DraftColumn, ...]:
    """Return the schema that has most of the columns `names`. Raises ConfigurationError if none has a field."""
    if not (found := [each for each in schemas if each]):
        raise cannot_draft(path, "no fields of a table", expected)
    return max(found, key=lambda each: len({column.name for column in each} & {*names}))


def _schemas(data: Any, depth: int, root: Any) -> list[tuple[DraftColumn, ...]]:
    """Return the fields of each schema in a document, however deep it stands."""
    inside = list(data.values()) if isinstance(data, dict) else data if isinstance(data, list) else []
    deeper = [each for part in inside for each in _schemas(part, depth + 1, root)] if depth < MOST_DEEP else []
    if not isinstance(data, dict):
        return deeper
    named = mapping_of(data.get("properties")).items()
    fields = [{**each, "name": name} for name, each in named if isinstance(each, dict)]
    listed = fields or mappings_of(data.get("fields")) or mappings_of(data.get("columns"))
    missing = texts_of(data.get("missingValues")) or texts_of(data.get("null"))
    keys = texts_of(data.get("primaryKey"))
    found = tuple(
        _field(whole_field(each, root), missing, keys) for each in listed if isinstance(each.get("name"), str)
    )
    return [_with_mark(found, listed), *deeper]


def _with_mark(columns: tuple[DraftColumn, ...], stated: Sequence[dict[str, Any]]) -> tuple[DraftColumn, ...]:
    """Return columns of numbers that have a decimal comma, if all fields of numbers state one."""
    marks = {each.get("decimalChar") for each in stated if each.get("type") == "number"}
    if marks != {COMMA}:
        return columns
    return tuple(replace(each, has_comma=each.type is CellType.NUMBER) for each in columns)


def _field(stated: dict[str, Any], missing: Sequence[str], keys: Sequence[str]) -> DraftColumn:
    """Return a field as a column; limits and values stand beside it, or below `constraints` or `datatype`."""
    kind = _single(stated.get("datatype", stated.get("type")))
    own = {**mapping_of(kind), **stated, **mapping_of(stated.get("constraints"))}
    words = next((text for key in ("title", "titles", "label", *_TOLD) if (text := text_of(stated.get(key)))), "")
    text = next((each for key in _TOLD if (each := text_of(stated.get(key)))), "")
    described = f"{words}: {text}" if text not in ("", words) else words
    told = text if "=" in text else words
    values = with_labels(_categories(own), _entries(described)) or _truth(kind, own)
    ranged = ListedValues() if values else _ranged(own)
    form = text_of(own.get("format"))
    column = field_column(str(stated["name"]), _type_name(kind, own), described, values, ranged, form, told)
    is_key = column.name in keys
    unread = ", ".join(f"{key}: {text_of(own[key])}" for key in _UNREAD if key in own and not (values or ranged.bounds))
    codes = [*missing, *texts_of(stated.get("missingValues")), *texts_of(stated.get("null"))]
    none = [*column.missing, *(each for each in codes if each and not is_empty(each))]
    return replace(column, missing=tuple(dict.fromkeys(none)), is_key=is_key, direct=is_key, remark=unread)


def _single(kind: Any) -> Any:
    """Return the type of a field; of two, of which one is null, the other one."""
    kinds = [each for each in kind if each != "null"] if isinstance(kind, list) else []
    return kinds[0] if len(kinds) == 1 else kind


def _entries(words: str) -> str:
    """Return words in which the points of a list are entries: `* `1` - Male` as `; 1 = Male`."""
    return _POINT.sub(r"; \g<code> = ", words)


def _ranged(own: dict[str, Any]) -> ListedValues:
    """Return the range of a field whose ends are both stated, with the decimals of its step; an end that is none of
    the values only where they are whole numbers.
    """
    low, high = (next((own[key] for key in keys if key in own), "") for keys in zip(*_LIMITS, strict=True))
    if own.get("type") == "integer":
        low = low or _next_to(own.get("exclusiveMinimum"), 1)
        high = high or _next_to(own.get("exclusiveMaximum"), -1)
    is_open = "true" in (text_of(own.get("exclusiveMinimum")), text_of(own.get("exclusiveMaximum")))
    ranged = ListedValues() if is_open else stated_range(text_of(low), text_of(high))
    decimals = len(text_of(own.get("multipleOf")).partition(".")[2])
    return replace(ranged, decimals=max(decimals, ranged.decimals or 0)) if ranged.bounds and decimals else ranged


def _next_to(limit: Any, step: int) -> str:
    text = text_of(limit)
    return str(int(text) + step) if text.removeprefix("-").isdigit() else ""


def _truth(kind: Any, own: dict[str, Any]) -> Values:
    """Return the texts of a Boolean in the table, if the schema states them."""
    if kind != "boolean" or not any(own.get(key) for key in _TRUTH):
        return ()
    return tuple((text, "") for key, usual in _TRUTH.items() for text in texts_of(own.get(key)) or usual if text)


def _type_name(kind: Any, own: dict[str, Any]) -> str:
    """Return the name of the type of a field; of several, of which one is `null`, the other one."""
    kinds = [each for each in texts_of(kind if not isinstance(kind, dict) else own.get("base")) if each != "null"]
    if isinstance(kind, dict) and (name := text_of(kind.get("logicalType", kind.get("type")))):
        scale = text_of(kind.get("scale"))
        return "" if name == "enum" else f"decimal (20,{scale})" if name == "decimal" and scale else name.split("-")[0]
    is_day = own.get("format") in ("date", "date-time") and kinds == ["string"]
    return "date" if is_day else kinds[0] if len(kinds) == 1 else ""


def field_column(
    name: str, kind: str, words: str, values: Values, ranged: ListedValues, form: str = "", told: str = ""
) -> DraftColumn:
    """Return a column by its type, words, values and range. Values in its words, or in those in which they are `told`,
    count where no others are stated, and before a range.
    """
    listed = ListedValues() if values or "=" not in words else listed_values(told or words)
    listed = beside_range(listed, ranged)
    known = CellType.FLAG if kind.lower() in ("boolean", "bool") else stated_type(kind).type
    plain = without_unknown(ListedValues(values or listed.values))
    missing = (*listed.missing, *plain.missing, *codes_in_words(words))
    values = tuple(pair for pair in plain.values if pair[0] not in missing)
    column = DraftColumn(
        name, CellType.TEXT if values else known, words, values, listed.bounds, missing=missing,
        decimals=listed.decimals, unread=listed.unread,
        top=listed.top or (listed.bounds is not None and has_open_end(listed.bounds[1], [words])),
        day_form="" if form in ("", "default", "any") else day_form(_days(form)), role=role_in_brackets(words),
    )  # fmt: skip
    return with_label_range(column)


def _days(form: str) -> str:
    """Return a form of days as contracts write it: of `%d.%m.%Y`, DD.MM.YYYY."""
    return form.replace("%Y", "yyyy").replace("%m", "mm").replace("%d", "dd")


def _categories(own: dict[str, Any]) -> Values:
    """Return the values of a field with their labels: its `enum`, `categories`, or `oneOf` with `const` and `title`."""
    stated = own.get("enum") or own.get("categories") or own.get("oneOf") or own.get("symbols") or []
    listed = stated if isinstance(stated, list) else []
    pairs = [
        (text_of(each.get("value", each.get("const"))), text_of(each.get("label", each.get("title"))))
        if isinstance(each, dict)
        else (text_of(each), "")
        for each in listed
    ]
    named = next((each for key in _NAMES if isinstance(each := own.get(key), list) and len(each) == len(pairs)), None)
    if named and not any(label for _, label in pairs):
        pairs = [(code, text_of(label)) for (code, _), label in zip(pairs, named, strict=True)]
    return tuple({code: (code, label) for code, label in pairs if code}.values())


def text_of(value: Any) -> str:
    """Return a value as text without line ends; of a list or mapping its first text, of none an empty text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return next(iter(texts_of([*(value.values() if isinstance(value, dict) else value)])), "")
    return "" if value is None else " ".join(str(value).split())


def texts_of(value: Any) -> list[str]:
    """Return the single values of a list, or the value itself, as texts."""
    listed = value if isinstance(value, list) else [value]
    return [text_of(each) for each in listed if each is not None and not isinstance(each, dict | list)]


def mapping_of(value: Any) -> dict[str, Any]:
    """Return a mapping; an empty one for other values."""
    return value if isinstance(value, dict) else {}


def mappings_of(value: Any) -> list[dict[str, Any]]:
    """Return the mappings of a list; none for other values."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
