"""Strict models of the facts that a contract states in customProperties, with the place of each in the file.

Every scalar arrives as text and is parsed here; keys that a model does not know are refused.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from crowdgate.contracts.classifications import CLASSIFICATIONS
from crowdgate.contracts.contract import PersonRule, Role
from crowdgate.documents.synonyms import is_synonym, meant_word, plain_day, plain_number
from crowdgate.documents.word_correction import is_misspelling, meant_key, yaml_word
from crowdgate.documents.yaml_text import Document, Location
from crowdgate.domain import parse_date, parse_number
from crowdgate.errors import Code, Problem, expected_words
from crowdgate.hierarchy import DATE_PARTS

T = TypeVar("T")
LISTS = ("values", "cuts", "missing")
ENCODINGS = ("encoding", "charset", "codepage", "fileEncoding")
"""The names that other tools have for a setting that is not needed here."""
"""Keys of lists that are written on one line."""
CUT = "a number at which an interval begins, as in cuts: [18, 65]"
A_LEVEL = "a level, such as {name: 5 years, width: 5}"
LEVEL_KINDS = ("width", "cuts", "tree", "prefix", "part", "file", "classification")


@dataclass(frozen=True)
class Place:
    """A value in a contract's file with its location. `value` is None where the file has none (scalars are text).

    All places of one contract share the lists `problems` and `files`, which reading fills.
    """

    document: Document
    value: Any
    problems: list[Problem]
    files: list[Path]
    location: Location = ()
    names: tuple[str, ...] = ()

    def __truediv__(self, key: str | int) -> "Place":
        inside = isinstance(self.value, dict) and key in self.value
        inside = inside or (isinstance(self.value, list) and isinstance(key, int) and key < len(self.value))
        value = self.value[key] if inside else None
        return replace(
            self, value=value, location=(*self.location, key), names=(*self.names, repr(str(key))[1:-1][:60])
        )

    def items(self) -> list["Place"]:
        """Return the places of a list's items (none if there is no list: the JSON Schema reports that)."""
        return [self / i for i in range(len(self.value))] if isinstance(self.value, list) else []

    def text(self, key: str) -> str | None:
        """Return the text at `key` of this mapping; None if there is no text."""
        value = (self / key).value
        return value if isinstance(value, str) else None

    def called(self, *names: str) -> "Place":
        """Return this place with names for messages, e.g. `age.levels`."""
        return replace(self, names=names)

    def refuse(
        self,
        found: str,
        expected: str,
        instead: str | None = None,
        code: Code = Code.CONTRACT,
        corrected: str | None = None,
    ) -> None:
        """Add a problem at this place; `corrected` is its line without the problem (see Document.problem)."""
        where = "".join(c if c.isprintable() else repr(c)[1:-1] for c in ".".join(self.names)) or "document"
        told = self.document.problem(self.location, found, expected, instead, code, where=where, corrected=corrected)
        if self.location[:1] == ("servers",):  # a line of servers may hold a password
            told = replace(told, corrected=None)
        self.problems.append(told)

    @property
    def is_faulty(self) -> bool:
        """True if something inside this place has a problem, from which others may follow."""
        inside = ".".join(self.names) + "."
        return any(problem.where.startswith(inside) for problem in self.problems)


def quoted_value(value: object) -> str:
    """Return a value as text that a message may quote: short, on one line."""
    if isinstance(value, str):
        return repr(value[:60])[:80] + ("..." if len(value) > 60 else "")
    return {list: "a list", dict: "a mapping", type(None): "nothing"}.get(type(value), "another kind of value")


def custom_properties(place: Place, known: Mapping[str, object]) -> dict[str, Place]:
    """Return the places of the values of an element's customProperties by property name. Entries of another `vendor`
    are ignored.
    """
    found: dict[str, Place] = {}
    for item in (place / "customProperties").items():
        name = item.text("property")
        short = [key for key in item.value if key in known] if isinstance(item.value, dict) and name is None else []
        if len(short) == 1:  # `NAME: VALUE`, which the standard refuses
            found.setdefault(short[0], (item / short[0]).called(*place.names, short[0]))
        if name is None or item.text("vendor") not in (None, "crowdgate"):
            continue
        value = (item / meant_key(item.value, "value")).called(*place.names, name)
        if name not in known:
            expected = "one of " + ", ".join(known) if known else "no custom property here (or one with a vendor)"
            called = (item / "property").called(*place.names, name)
            meant = meant_word(name, list(known))
            other = meant is not None and is_synonym(name, meant)
            line = called.document.text.replaced(called.location, str(meant)) if other else None
            expected = "no encoding: files are in UTF-8" if name in ENCODINGS else expected
            called.refuse("an unknown custom property", expected, meant, Code.UNKNOWN_KEY, line)
            if meant is not None and (other or is_misspelling(name, meant)):
                found.setdefault(meant, value)
        elif name in found:
            value.refuse("the custom property is stated twice", "each custom property once", None, Code.TWICE)
        else:
            found[name] = value
    return found


def parse(kind: TypeAdapter[T], place: Place) -> T | None:
    """Return the value at a place, validated as the type `kind`, or None after its problems were added."""
    try:
        return kind.validate_python(place.value)
    except ValidationError as error:
        for slip in error.errors(include_input=False, include_url=False):
            _refuse_slip(place, slip)
        return None


def _refuse_slip(place: Place, slip: Any) -> None:
    around, at = place, place
    for part in slip["loc"]:
        around, at = at, at / part
    match slip["type"]:
        case "missing":
            at.refuse("nothing", f"the key {slip['loc'][-1]}", None, Code.MISSING_KEY)
        case "extra_forbidden":
            if at.value == "" and (key := _list_before(around, slip["loc"][-1])) is not None:
                line = at.document.text.as_list((*around.location, key))
                at.refuse("a list without brackets", f"{key}: [a, b]", None, Code.VALUE, line)
                return
            if at.value == "" and str(slip["loc"][-1]).isdecimal():
                is_whole = bool({"rows", "prefix"} & {*around.value})
                decimal = None if is_whole else at.document.text.as_decimal(at.location, around.value)
                line = None if decimal is None else decimal[1]
                expected = "a decimal point, and no mark between thousands"
                at.refuse("a comma in a number", expected, None, Code.VALUE, line)
                return
            if around.names[-1:] == ("domain",) and (key := str(slip["loc"][-1])) in PROPERTY_FACTS:
                beside = f"it beside the domain: {{property: {key}, value: ...}}"
                at.refuse("a property of the column within its domain", beside, None, Code.UNKNOWN_KEY)
                return
            if at.value == "" and _is_behind_source(around, slip["loc"][-1]):
                expected = 'the source in quotation marks, as a comma ends it: source: "Handbook, 2nd edition"'
                at.refuse("words behind a comma", expected, None, Code.VALUE)
                return
            if (limits := _limits_of_range(around, slip["loc"][-1])) is not None:
                line = at.document.text.with_items(at.location, limits)
                at.refuse("an unknown key", f"its limits: {limits}", None, Code.UNKNOWN_KEY, line)
                return
            known = _keys_at(slip["loc"], around)
            meant = meant_word(str(slip["loc"][-1]), known)
            at.refuse("an unknown key", "one of " + ", ".join(known), meant, Code.UNKNOWN_KEY)
        case "value_error":
            expected = CUT if around.names[-1:] == ("cuts",) else str(slip["ctx"]["error"])
            meant, line = meant_word(str(at.value), expected_words(expected)), None
            plain = _plain_value(at.value, expected)
            if meant is None and plain is not None:
                meant, line = plain, at.document.text.replaced(at.location, plain)
            if isinstance(at.value, list):
                line = at.document.text.as_single_word(at.location)
            if at.names[-1:] == ("privacyUnit",):
                line = _unit_of_column(at)
            if "number" in expected and (found := _WITH_UNIT.fullmatch(str(at.value))):
                expected, meant = f"{expected}, in the unit of the domain and without its name", found[1]
            at.refuse(quoted_value(at.value), expected, meant, Code.VALUE, line)
        case "string_type":
            at.refuse(quoted_value(at.value), "text", None, Code.VALUE)
        case "model_type" | "dict_type" | "model_attributes_type":
            expected = A_LEVEL if around.names[-1:] == ("levels",) else "a mapping"
            if at.names[-1:] == ("labels",):
                expected = f"the label of each value, as in labels: {_labels_by_value(around.value, at.value)}"
            at.refuse(quoted_value(at.value), expected, None, Code.VALUE)
        case "list_type" if around.names[-1:] == ("tree",):  # a tree may be the wrong way round
            at.refuse(quoted_value(at.value), "a list of the values in this group: {GROUP: [a, b]}", None, Code.VALUE)
        case "list_type":
            if isinstance(at.value, str) and (named := _FILE.fullmatch(at.value)):
                at.refuse(quoted_value(at.value), f"{{file: {named[0]}, column: ...}}, or a list", None, Code.VALUE)
                return
            text, is_levels = at.document.text, at.names[-1:] == ("levels",)
            is_item = not isinstance(at.value, dict) or bool({*at.value} & {*LevelModel.model_fields})
            line = text.as_single_item(at.location) if is_levels and is_item else None
            line = text.as_list(at.location) if not is_levels else line
            at.refuse(quoted_value(at.value), "a list", None, Code.VALUE, line)
        case _:
            expected = slip["msg"].removeprefix("Input should be ")
            at.refuse(quoted_value(at.value), expected, meant_word(str(at.value), expected_words(expected)), Code.VALUE)


_FILE = re.compile(r"[\w./-]+\.csv")
_WITH_UNIT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*[^\W\d_]{2,}\.?")
"""A number with the name of its unit."""
_RANGE = re.compile(
    r"(-?[0-9.]+|[0-9]{4}-[0-9]{2}-[0-9]{2})\s*(?:-|\u2013|\.\.|to)\s*(-?[0-9.]+|[0-9]{4}-[0-9]{2}-[0-9]{2})"
)
_RANGES = ("range", "interval", "limits", "between")
"""The names that other tools have for a key with both limits of a domain."""


def _limits_of_range(domain: Place, key: object) -> str | None:
    """Return the limits that `range: 1920-2005` of a domain certainly means, as `from: 1920, to: 2005`; else None."""
    stated = domain.value[key]
    found = _RANGE.fullmatch(stated.strip()) if isinstance(stated, str) and key in _RANGES else None
    if found is None or domain.names[-1:] != ("domain",) or {"from", "to", "values"} & {*domain.value}:
        return None
    for read in (parse_number, parse_date):
        first, last = read(found[1]), read(found[2])
        if first is not None and last is not None and first <= last:  # type: ignore[operator]
            return f"from: {found[1]}, to: {found[2]}"
    return None


def _unit_of_column(unit: Place) -> str | None:
    """Return the line of a privacy unit that states only the person's column, with its form; None for other texts."""
    table = unit.document.data["schema"][0] if unit.location[:1] == ("schema",) else {}
    columns = [each.get("name") for each in table.get("properties") or () if isinstance(each, dict)]
    if unit.value not in columns or not isinstance(unit.value, str):
        return None
    return unit.document.text.replaced(unit.location, f"{{person: {yaml_word(unit.value)}, rows: 1}}")


def _labels_by_value(domain: Mapping[str, Any], labels: object) -> str:
    """Return an example of labels by their values: with the first values of a domain and the first of its labels."""
    values = domain.get("values")
    pairs = list(zip(values, labels, strict=False))[:2] if isinstance(values, list) and isinstance(labels, list) else []
    texts = [(value, label) for value, label in pairs if isinstance(value, str) and isinstance(label, str)]
    shown = [f'"{value[:20]}": {label[:20]}' for value, label in texts or [("1", "Yes"), ("2", "No")]]
    return f"{{{', '.join(shown)}, ...}}" if texts and len(values or ()) > len(texts) else f"{{{', '.join(shown)}}}"


def _list_before(around: Place, key: object) -> str | None:
    """Return the key of a list without brackets whose later items braces hold as keys without values; else None."""
    keys = list(around.value)
    before = [each for each in keys[: keys.index(key)] if around.value[each] != ""]
    return before[-1] if before and before[-1] in LISTS and isinstance(around.value[before[-1]], str) else None


def _plain_value(value: object, expected: str) -> str | None:
    """Return the number or day that a text certainly means, where one is expected; else None."""
    if not isinstance(value, str):
        return None
    whole = "whole number" in expected
    return plain_number(value, whole=whole) if "number" in expected else plain_day(value) if "day" in expected else None


def _is_behind_source(around: Place, key: str | int) -> bool:
    """Return whether a key of a domain is what stands behind a comma of its source."""
    keys = [*around.value]
    return around.names[-1:] == ("domain",) and "source" in keys[: keys.index(key)]


def _keys_at(location: tuple[str | int, ...], around: Place) -> list[str]:
    """Return the keys that are permitted where a validation error reports an unknown key: those of the model there."""
    in_list = len(location) > 1 and isinstance(location[-2], int)
    shared = around.names[-2:-1] == ("definitions",)
    of_person = around.names[-2:-1] == ("personValues",)
    named = PersonValueModel if of_person else DefinitionModel if shared else _MODELS.get(around.names[-1], DomainModel)
    entry = AnalysisModel if around.names[-2:-1] == ("analysis",) else LevelModel
    model: type[BaseModel] = entry if in_list else named
    return [field.alias or name for name, field in model.model_fields.items()]


def _reader_of(test: Callable[[str], T | None], expected: str) -> Callable[[object], T]:
    def read(value: object) -> T:
        result = test(value) if isinstance(value, str) else None
        if result is None:
            raise ValueError(expected)
        return result

    return read


def _whole_number(text: str) -> int | None:
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else None


def _rate(text: str) -> Fraction | None:
    rate = parse_number(text)
    return rate if rate is not None and 0 < rate < 1 else None


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("text that is not empty")
    return text


def _role(text: str) -> Role | None:
    return Role(text) if text in set(Role) else None


SCALAR: dict[str, Any] = {"type": ["number", "string"]}
"""The schema of text that may look like a number."""
TREE = {"type": "object", "additionalProperties": {"type": "array", "items": SCALAR}}
Number = Annotated[
    Fraction,
    PlainValidator(_reader_of(parse_number, "a number such as 5 or 0.5")),
    WithJsonSchema({"type": ["number", "string"]}),
]
Positive = Annotated[
    int,
    PlainValidator(_reader_of(lambda text: _whole_number(text) or None, "a whole number, 1 or more")),
    WithJsonSchema({"type": "integer", "minimum": 1}),
]
Flag = Annotated[
    bool,
    PlainValidator(_reader_of({"true": True, "false": False}.get, "true or false")),
    WithJsonSchema({"type": "boolean"}),
]
Day = Annotated[
    date,
    PlainValidator(_reader_of(parse_date, "a day such as 2024-12-31")),
    WithJsonSchema({"type": "string", "format": "date"}),
]
Text = Annotated[str, AfterValidator(_filled)]


RoleName = Annotated[
    Role,
    PlainValidator(_reader_of(_role, "one of " + ", ".join(Role))),
    WithJsonSchema({"type": "string", "enum": list(Role)}),
]


ClassificationName = Annotated[
    str,
    PlainValidator(_reader_of({each: each for each in CLASSIFICATIONS}.get, "one of " + ", ".join(CLASSIFICATIONS))),
    WithJsonSchema({"type": "string", "enum": [*CLASSIFICATIONS]}),
]


def _list_of_texts(value: object) -> object:
    return [value] if isinstance(value, str) else value


class _Strict(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True, hide_input_in_errors=True)


_FIXED_SIZE = "bernoulli: a sample of fixed size, or by any rule that links its rows, has delta of at least its share"
_UNPUBLISHED = "unpublished: once the size of the sample is known, delta is beta whatever k is"


class UnitModel(_Strict):
    """The privacy unit: `row`, or {person: COLUMN, rows: 1}."""

    model_config = ConfigDict(
        json_schema_extra=lambda schema: schema.update(type=["object", "string"], pattern="^row$")
    )

    person: Text | None = None
    """The column that identifies a person."""
    rows: Positive = 1
    """The greatest number of rows of a person that are retained."""

    @model_validator(mode="before")
    @classmethod
    def _row_or_person(cls, value: object) -> object:
        if value == "row":
            return {}
        if not isinstance(value, dict) or "person" not in value:
            raise ValueError("row or {person: COLUMN, rows: 1}")
        return value


class JoinModel(_Strict):
    """A table of the same database whose one row with the same key gives further columns."""

    table: Text
    """The name of the table in the database."""
    type: Literal["table", "view"] = "table"
    """The kind of relation that has this name in the database."""
    key: Text
    """The column of that table which identifies its rows. A key that it has twice counts as missing."""
    by: Text
    """The column that states the key: of the contract, of an earlier join or of the contract's table."""
    columns: Annotated[dict[str, Text], Field(min_length=1)]
    """The columns that are taken, by their names in the contract."""
    of: Literal["unit", "groups"]
    """`unit` if each row belongs to one person, `groups` if no row depends on one person."""


class SampleModel(_Strict):
    """The attested facts about a table that is a sample: only secret Bernoulli samples of unknown size have a
    guarantee.
    """

    name: Text
    """The sample's name, which a policy's `inherited` states."""
    method: Annotated[
        Literal["bernoulli"],
        PlainValidator(_reader_of({"bernoulli": "bernoulli"}.get, _FIXED_SIZE)),
        WithJsonSchema({"const": "bernoulli"}),
    ]
    """The sampling method: Bernoulli, each row independently."""
    beta: Annotated[
        Fraction,
        PlainValidator(_reader_of(_rate, "a rate above 0 and below 1")),
        WithJsonSchema({"type": ["number", "string"], "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
    ]
    """The probability with which each row was drawn."""
    secret: Annotated[
        Literal[True],
        PlainValidator(_reader_of({"true": True}.get, "true: who was drawn must be secret")),
        WithJsonSchema({"const": True}),
    ]
    """Attests that the sampled people are secret."""
    size: Annotated[
        Literal["unpublished"],
        PlainValidator(_reader_of({"unpublished": "unpublished"}.get, _UNPUBLISHED)),
        WithJsonSchema({"const": "unpublished"}),
    ]
    """Attests that the size of the sample is not published."""


class ValuesFile(_Strict):
    """Domain values in a column of a CSV file."""

    file: Text
    column: Text


class MarginsModel(_Strict):
    """Public counts: a CSV file with the columns value,count, or the two columns of an official table."""

    model_config = ConfigDict(json_schema_extra=lambda schema: schema.update(type=["object", "string"]))

    file: Text
    """The CSV file, relative to the contract."""
    value: Text = "value"
    """The column that names the values."""
    count: Text = "count"
    """The column of the counts."""
    total: Text | None = None
    """The value of the line that states the sum of the others."""

    @model_validator(mode="before")
    @classmethod
    def _file_or_table(cls, value: object) -> object:
        return {"file": value} if isinstance(value, str) else value

    @property
    def is_official(self) -> bool:
        """True if columns or a total are stated, as for a table that somebody else published."""
        return self.model_fields_set != {"file"}


class DomainModel(_Strict):
    """A numeric or date range, or values: one model, so that one mistake gives one problem."""

    first: Annotated[Text | None, WithJsonSchema(SCALAR)] = Field(None, alias="from")
    """The least number, or the first day."""
    last: Annotated[Text | None, WithJsonSchema(SCALAR)] = Field(None, alias="to")
    """The greatest number, or the last day."""
    step: Number | None = None
    """The step between numbers; by default 1."""
    precision: Number | None = None
    """The precision to which numbers are rounded for sums and means."""
    top: Flag | None = None
    """True if numbers above the domain count as its greatest."""
    bottom: Flag | None = None
    """True if numbers below the domain count as its least."""
    values: Any = None
    """All values in their order, or a column of a CSV file."""
    labels: dict[str, Text] | None = None
    """The label of each value that is published under another name than the table's."""
    missing: list[str] | None = None
    """Texts and numbers that state that a value is missing."""
    source: Text
    """The source of the domain, other than the table."""

    @model_validator(mode="after")
    def _one_form(self) -> "DomainModel":
        stated = self.model_fields_set
        is_range = {"first", "last"} <= stated and self.values is None and self.labels is None
        is_values = self.values is not None and stated <= {"values", "labels", "missing", "source"}
        if not is_range and not is_values:
            raise ValueError("either from and to (with step, precision, top, bottom), or values (with labels)")
        return self


class LevelModel(_Strict):
    """One named level of exactly one kind."""

    name: Text
    """The level's name, which policies state."""
    width: Number | None = None
    """Intervals of this width."""
    origin: Number | None = None
    """The number at which intervals of that width begin."""
    cuts: list[Number] | None = None
    """The first number of each interval but the first."""
    tree: Annotated[dict[str, list[str]] | None, WithJsonSchema(TREE)] = None
    """Groups of values, each with a name."""
    prefix: Positive | None = None
    """The number of first characters that are retained."""
    part: Annotated[
        str | None,
        PlainValidator(_reader_of({part: part for part in DATE_PARTS}.get, "one of " + ", ".join(DATE_PARTS))),
        WithJsonSchema({"type": "string", "enum": list(DATE_PARTS)}),
    ] = None
    """A part of a day."""
    file: Text | None = None
    """A CSV file with the group of each value."""
    classification: ClassificationName | None = None
    """A stock classification that has a level of this name."""
    column: Text | None = None
    """The column of that file, or the level of that classification."""

    @model_validator(mode="after")
    def _one_kind(self) -> "LevelModel":
        if len(self.model_fields_set & set(LEVEL_KINDS)) != 1:
            raise ValueError("exactly one of " + ", ".join(LEVEL_KINDS))
        if self.origin is not None and self.width is None:
            raise ValueError("`origin` only together with `width`")
        if self.column is not None and self.file is None and self.classification is None:
            raise ValueError("`column` only together with `file` or `classification`")
        return self


class DefinitionModel(_Strict):
    """Facts that several columns share. A column states their name as `like`, and may state other facts itself."""

    privacyRole: RoleName | None = None
    """The privacy role of these columns."""
    domain: DomainModel | None = None
    """The domain of these columns."""
    classification: ClassificationName | None = None
    """The stock classification of these columns."""
    levels: list[LevelModel] | None = None
    """The levels of these columns."""
    invalid: Literal["drop", "level"] | None = None
    """The treatment of a cell outside the domain."""


class PersonValueModel(_Strict):
    """One value a person, made of all of the person's rows. Exactly one key names the column that it is made of."""

    any_row: Text | None = Field(None, alias="any")
    """The column: yes if at least one row of the person has one of `values`, else no."""
    all_rows: Text | None = Field(None, alias="all")
    """The column: yes if every row of the person has one of `values`, else no."""
    count: Text | None = None
    """The column: the number of the person's rows that have one of `values` (by default any value), up to `most`."""
    same: Text | None = None
    """The column: the value on which all rows of the person agree. Persons whose rows differ have no valid value."""
    least: Text | None = None
    """The column: the first of the person's values in the order of its domain."""
    greatest: Text | None = None
    """The column: the last of the person's values in the order of its domain."""
    values: Annotated[list[Text], BeforeValidator(_list_of_texts), Field(min_length=1)] | None = None
    """The values, or the one value, that any, all and count look for."""
    most: Positive | None = None
    """The number of rows at which `count` stops: a person with more rows counts with it."""
    levels: list[LevelModel] | None = None
    """Coarser levels of a count."""

    @property
    def rule(self) -> PersonRule:
        """The rule whose key is stated."""
        return next(rule for rule in PersonRule if self._column(rule) is not None)

    @property
    def column(self) -> str:
        """The column that the value is made of."""
        return self._column(self.rule) or ""

    def _column(self, rule: PersonRule) -> str | None:
        stated: str | None = getattr(self, {"any": "any_row", "all": "all_rows"}.get(rule, str(rule)))
        return stated

    @model_validator(mode="after")
    def _one_rule(self) -> "PersonValueModel":
        if sum(self._column(rule) is not None for rule in PersonRule) != 1:
            raise ValueError("exactly one of " + ", ".join(PersonRule))
        if self.rule in (PersonRule.ANY, PersonRule.ALL) and self.values is None:
            raise ValueError("`values` beside any or all: the values that are looked for")
        if self.rule not in (PersonRule.ANY, PersonRule.ALL, PersonRule.COUNT) and self.values is not None:
            raise ValueError("`values` only beside any, all or count")
        if (self.rule is PersonRule.COUNT) != (self.most is not None):
            raise ValueError("`most` beside count, and only there: the number of rows at which it stops")
        if self.rule is not PersonRule.COUNT and self.levels is not None:
            raise ValueError("`levels` only beside count; other values have the column's levels")
        return self


def _labels_by_column(value: object) -> object:
    return {name: _list_of_texts(labels) for name, labels in value.items()} if isinstance(value, dict) else value


LABELS = {"type": "object", "additionalProperties": {"type": ["array", "number", "string"], "items": SCALAR}}
Labels = Annotated[
    dict[str, Annotated[list[Text], Field(min_length=1)]], BeforeValidator(_labels_by_column), WithJsonSchema(LABELS)
]


class AnalysisModel(_Strict):
    """A number that users need: a table, a share of people, or the ratio of two numbers of people."""

    table: Annotated[list[Text], Field(min_length=1)] | None = None
    """The columns of a table of counts."""
    share: Labels | None = None
    """The label, or labels, of each column: the share of people with them."""
    among: Labels | None = None
    """The people that a share is of; all unless stated."""
    ratio: Labels | None = None
    """The people whose number is divided."""
    to: Labels | None = None
    """The people whose number divides."""

    @model_validator(mode="after")
    def _one_kind(self) -> "AnalysisModel":
        if self.model_fields_set not in ({"table"}, {"share"}, {"share", "among"}, {"ratio", "to"}):
            raise ValueError("table; share, also with among; or ratio with to")
        return self


def _not_empty(files: list[str]) -> list[str]:
    if not files:
        raise ValueError("a file, or a list of at least one")
    return files


@dataclass(frozen=True, eq=False)
class CustomProperty:
    """A fact that a contract states about its table or a column: the type of its value, and its description."""

    value: TypeAdapter[Any]
    description: str


TABLE_FACTS: dict[str, CustomProperty] = {
    "privacyUnit": CustomProperty(
        TypeAdapter(UnitModel),
        "What is protected: `row`, or a person by the column that names one, with the most rows that stay of each.",
    ),
    "population": CustomProperty(
        TypeAdapter(Text), "The id of the population whose people these are. Budgets belong to populations."
    ),
    "public": CustomProperty(
        TypeAdapter(Flag),
        "Whether anybody may read this table. Only such tables may be read by plans, audits and registers.",
    ),
    "sample": CustomProperty(
        TypeAdapter(SampleModel), "What is attested of a table that is a secret Bernoulli sample."
    ),
    "rowsAtMost": CustomProperty(TypeAdapter(Positive), "About how many rows the table has at most. It only advises."),
    "jointMargins": CustomProperty(
        TypeAdapter(Annotated[list[Text], BeforeValidator(_list_of_texts), AfterValidator(_not_empty)]),
        "Files of public counts of several attributes together.",
    ),
    "analysis": CustomProperty(
        TypeAdapter(list[AnalysisModel]),
        "What users of releases need: tables, shares and ratios. New policies publish their columns, at levels that"
        " have their labels.",
    ),
    "personValues": CustomProperty(
        TypeAdapter(dict[str, PersonValueModel]),
        "What makes this a table of persons: by attribute, how one value a person is made of all of the person's rows.",
    ),
    "joins": CustomProperty(
        TypeAdapter(list[JoinModel]),
        "Tables of the same database that give each row further columns by a key. Crowdgate writes the query.",
    ),
    "definitions": CustomProperty(
        TypeAdapter(dict[str, DefinitionModel]), "Facts that columns share, by a name that they state as `like`."
    ),
}
PROPERTY_FACTS: dict[str, CustomProperty] = {
    "privacyRole": CustomProperty(
        TypeAdapter(RoleName),
        "What the column is for an attacker: direct-identifier, quasi-identifier, sensitive or other.",
    ),
    "domain": CustomProperty(
        TypeAdapter(DomainModel),
        "All values that the column can have, and where that is known from."
        " It must not be made by looking at the table.",
    ),
    "like": CustomProperty(TypeAdapter(Text), "The name of a definition of the table, whose facts the column has."),
    "classification": CustomProperty(
        TypeAdapter(ClassificationName),
        "A stock classification: its levels, unless `levels` are stated, and all of its codes, unless a domain is.",
    ),
    "levels": CustomProperty(TypeAdapter(list[LevelModel]), "Coarser levels of the column, each with a name."),
    "invalid": CustomProperty(
        TypeAdapter(Literal["drop", "level"]),
        "What becomes of a cell outside the domain: its row is dropped, or the cell counts as (invalid).",
    ),
    "firstCharacters": CustomProperty(
        TypeAdapter(Positive),
        "How many first characters of each cell are read, such as 3 of the ICD-10 code I21.0. By default all.",
    ),
    "margins": CustomProperty(TypeAdapter(MarginsModel), "A file of public counts of the column's values."),
    "knownToAttackers": CustomProperty(TypeAdapter(Flag), "Whether inference audits give the column to attackers."),
    "secret": CustomProperty(TypeAdapter(Flag), "Whether inference audits let attackers guess the column."),
}
_MODELS: dict[str, type[BaseModel]] = {
    "privacyUnit": UnitModel,
    "sample": SampleModel,
    "analysis": AnalysisModel,
    "domain": DomainModel,
    "values": ValuesFile,
    "margins": MarginsModel,
}
NUMBER: TypeAdapter[Fraction] = TypeAdapter(Number)
DAY: TypeAdapter[date] = TypeAdapter(Day)
VALUES_LIST: TypeAdapter[list[str]] = TypeAdapter(list[str])
VALUES_FILE: TypeAdapter[ValuesFile] = TypeAdapter(ValuesFile)
