"""The policy's part for a release of tables: tables, sums, means and quantiles, their levels, and the noise.

Types only: planning checks whether columns, levels, shares and bounds fit the contract, so that one error lists all
such problems.
"""

from contextlib import suppress
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Discriminator, Field, PlainValidator, Tag, WithJsonSchema

from crowdgate.policy.field_order import (
    PRECISE,
    SHARES,
    Direction,
    KeyField,
    LevelsField,
    ListField,
    ValueField,
    any_change,
    more_of_them_is_looser,
    rising,
    unordered,
)
from crowdgate.policy.policy import MechanismSpec
from crowdgate.policy.values import Exact, Flag, Rate, SamplingOrAll, Strict, whole_number


def _names(value: Any) -> tuple[str, ...] | dict[str, str]:
    """Return attributes at the levels of `levels` (a list), or at stated levels (a mapping)."""
    if isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value):
        return tuple(value)
    if isinstance(value, dict) and all(isinstance(level, str) for level in value.values()):
        return dict(value)
    raise ValueError("a list of attributes, each once, or attributes with levels, such as {age: 10 years}")


def _ways(text: Any) -> int:
    with suppress(ValueError):
        if 0 <= (number := whole_number(text)) <= 16:
            return number
    raise ValueError("a whole number of attributes from 0 to 16: 1 for each one, 2 for each two together")


def _probabilities(numbers: list[Fraction]) -> list[Fraction]:
    if any(each > 1 for each in numbers):  # percent; planning refuses 0 and 1, beside its other findings
        raise ValueError("probabilities above 0 and below 1, such as [0.25, 0.5, 0.75]")
    return numbers


def _yes(text: Any) -> bool:
    if text != "true":
        raise ValueError("true")
    return True


Named = Annotated[
    tuple[str, ...] | dict[str, str],
    PlainValidator(_names),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
                {"type": "object", "additionalProperties": {"type": "string"}},
            ]
        }
    ),
]
Ways = Annotated[
    int, PlainValidator(_ways), WithJsonSchema({"type": ["integer", "string"], "minimum": 0, "maximum": 16})
]
Yes = Annotated[bool, PlainValidator(_yes), WithJsonSchema({"const": True})]


Clamps = Annotated[
    Flag,
    ValueField(
        "whether it is published how many are at the bounds",
        rising(True, False),
        "more numbers are published",
        "fewer numbers are published",
    ),
]


class TableItem(Strict):
    """One line of `tables`: each class has one key that distinguishes it from the others."""

    key: ClassVar[str]
    share: Annotated[Exact | None, SHARES] = None
    """The part of the budget for this line. Lines without one divide the rest."""


class OneTable(TableItem):
    """The table of some attributes, at the levels of `levels` or at stated ones."""

    key: ClassVar[str] = "attributes"
    attributes: Annotated[Named, Field(min_length=1), KeyField("which attributes a table counts")]
    """The columns of one table, at the levels of `levels`, or with stated levels."""


class AllTables(TableItem):
    """All tables of `all` of the attributes in `levels`; they divide the share, if there is one."""

    key: ClassVar[str] = "all"
    all: Annotated[Ways, KeyField("of how many attributes tables count")]
    """The number of columns of each table; all such tables of the columns in `levels` are published."""


class TotalTable(TableItem):
    """The number of rows."""

    key: ClassVar[str] = "total"
    total: Annotated[Yes, KeyField("the number of rows")]
    """The number of rows. It can only be true."""


class SumTable(TableItem):
    """The sum of a numeric column, clamped to bounds (by default its domain), in each cell of `by`; with `clamps` also
    the numbers of rows at or beyond either bound."""

    key: ClassVar[str] = "sum"
    sum: Annotated[str, KeyField("which column is summed")]
    """The column to sum."""
    by: Annotated[Named, KeyField("the cells of sums")] = ()
    """The columns of the table that has a sum in each cell."""
    low: Annotated[Exact | None, ValueField("the bounds of summed numbers", any_change)] = None
    """Numbers below this one count as this one. By default the least of the column's domain."""
    high: Annotated[Exact | None, ValueField("the bounds of summed numbers", any_change)] = None
    """Numbers above this one count as this one. By default the greatest of the column's domain. A narrower range needs
    less noise."""
    clamps: Clamps = False
    """True if the numbers of rows at or beyond either bound are published, too."""


class MeanTable(TableItem):
    """The mean of a numeric column, clamped to bounds (by default its domain), in each cell of `by`; with `clamps` also
    the numbers of rows at or beyond either bound."""

    key: ClassVar[str] = "mean"
    mean: Annotated[str, KeyField("of which column means are taken")]
    """The column to average."""
    by: Annotated[Named, KeyField("the cells of means")] = ()
    """The columns of the table that has a mean in each cell."""
    low: Annotated[Exact | None, ValueField("the bounds of averaged numbers", any_change)] = None
    """Numbers below this one count as this one. By default the least of the column's domain."""
    high: Annotated[Exact | None, ValueField("the bounds of averaged numbers", any_change)] = None
    """Numbers above this one count as this one. By default the greatest of the column's domain. A narrower range needs
    less noise."""
    clamps: Clamps = False
    """True if the numbers of rows at or beyond either bound are published, too."""


class QuantilesTable(TableItem):
    """Quantiles of a numeric column to the bins of a level, in each cell of `by`."""

    key: ClassVar[str] = "quantiles"
    quantiles: Annotated[str, KeyField("of which column quantiles are taken")]
    """The column of the quantiles."""
    level: Annotated[str, KeyField("the bins of quantiles")]
    """The level of this column whose bins the quantiles fall into."""
    at: Annotated[
        Annotated[list[Exact], AfterValidator(_probabilities)],
        ValueField(
            "which quantiles are published",
            more_of_them_is_looser,
            "more numbers are published",
            "fewer numbers are published",
        ),
    ] = Field(default=["0.25", "0.5", "0.75"], validate_default=True)
    """The probabilities of the quantiles, from 0 to 1."""
    histogram: Annotated[
        Literal["flat", "hierarchical"], ValueField("how the bins behind quantiles are counted", any_change)
    ] = "flat"
    """How the bins are counted: each by itself (flat, the default), or also in groups of bins, and in groups of these
    (hierarchical), which makes quantiles of ten bins or more more accurate."""
    by: Annotated[Named, KeyField("the cells of quantiles")] = ()
    """The columns of the table that has quantiles in each cell."""


ITEMS = (OneTable, AllTables, TotalTable, SumTable, MeanTable, QuantilesTable)
KEYS = tuple(item.key for item in ITEMS)


def _kind_of(value: Any) -> str | None:
    if isinstance(value, TableItem):
        return f"item {value.key}"
    found = [key for key in KEYS if isinstance(value, dict) and key in value]
    return f"item {found[0]}" if len(found) == 1 else None


AnyItem = Annotated[
    Annotated[OneTable, Tag("item attributes")]
    | Annotated[AllTables, Tag("item all")]
    | Annotated[TotalTable, Tag("item total")]
    | Annotated[SumTable, Tag("item sum")]
    | Annotated[MeanTable, Tag("item mean")]
    | Annotated[QuantilesTable, Tag("item quantiles")],
    Discriminator(
        _kind_of,
        custom_error_type="one_table",
        custom_error_message=f"exactly one of the keys {', '.join(KEYS)} (a median: quantiles with at: [0.5])",
    ),
]


class DpTablesSpec(MechanismSpec):
    """Tables with integer noise, made consistent. `levels` states attributes, each with a level. `all` publishes tables
    of them (`all: 2` one for each two); a table that is a list of attributes takes their levels from there."""

    kind: Literal["dp_tables"]
    noise: Annotated[Literal["laplace", "gaussian"], ValueField("the law of the noise", unordered)] = "gaussian"
    """The noise of all numbers: gaussian suits many tables, laplace costs no delta."""
    sampling: SamplingOrAll = None
    """A sample that is drawn first. It gives more protection at the same noise."""
    levels: Annotated[dict[str, str], LevelsField("the attributes of the tables")] = Field(default_factory=dict)
    """The columns of the tables of `all`, each with its level; lists of columns are at these levels, too."""
    tables: Annotated[
        list[AnyItem],
        Field(min_length=1),
        ListField("what is published", Direction.LOOSER, "more numbers are published", "fewer numbers are published"),
    ]
    """The published tables, sums, means and quantiles."""
    split: Annotated[Literal["least-error", "least-variance", "equal", "residuals", "automatic"], SHARES] = (
        "least-error"
    )
    """The division of epsilon between tables without a share: for the least errors after tables are made to agree
    (default), for the least noise before that, or equally; or noise on what each table says beyond its margins
    (residuals), for the least errors of tables of counts with Gaussian noise. Automatic: residuals where these tables
    can have them, or else for the least errors; new policies state this."""
    relative_error: Annotated[Rate, PRECISE] = Field(default="0.1", validate_default=True)
    """A number is trustworthy if its 95 % interval is within this part of it."""
    suppress: Annotated[
        Flag,
        ValueField(
            "whether numbers that are not trustworthy are left out",
            rising(False, True),
            "numbers are published that are mostly noise",
            "numbers that are mostly noise are left out",
        ),
    ] = False
    """True if numbers that are not trustworthy are left empty."""
    raw: Annotated[
        Flag,
        ValueField(
            "whether noisy numbers are published as they were drawn, too",
            rising(True, False),
            "the numbers as they were drawn are published, too",
            "the numbers as they were drawn are not published",
        ),
    ] = False
    """True if the numbers are also published as drawn, before they are made to agree."""


def column_names(spec: DpTablesSpec) -> list[str]:
    """Return all attributes that become columns of tables, each once."""
    named = [names for item in spec.tables for key in ("attributes", "by") if (names := getattr(item, key, None))]
    return list(dict.fromkeys([*spec.levels, *(name for names in named for name in names)]))
