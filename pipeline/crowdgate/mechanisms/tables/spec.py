"""What a policy says of a release of tables: which tables, sums, means and quantiles, at which levels, with what noise.

Shapes only: whether columns, levels, shares and bounds fit the contract is found when the release is planned, so that
all such problems stand in one error.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, PlainValidator, Tag, WithJsonSchema

from crowdgate.policy.policy import MechanismSpec
from crowdgate.policy.values import Exact, Flag, Rate, Sampling, Strict, whole_number


def _names(value: Any) -> tuple[str, ...] | dict[str, str]:
    """Attributes at the levels of `levels`, or at levels of their own."""
    if isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value):
        return tuple(value)
    if isinstance(value, dict) and all(isinstance(level, str) for level in value.values()):
        return dict(value)
    raise ValueError("a list of attributes, each once, or attributes with levels, such as {age: 10 years}")


def _ways(text: Any) -> int:
    number = whole_number(text)
    if not 0 <= number <= 16:
        raise ValueError("a whole number of attributes from 0 to 16")
    return number


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


class TableItem(Strict):
    """One line of `tables`: each class has one key of its own that tells it from the others."""

    key: ClassVar[str]
    share: Exact | None = None


class OneTable(TableItem):
    """The table of some attributes, at the levels of `levels` or at its own."""

    key: ClassVar[str] = "attributes"
    attributes: Annotated[Named, Field(min_length=1)]


class AllTables(TableItem):
    """All tables of that many of the attributes in `levels`; they divide the share, if there is one."""

    key: ClassVar[str] = "all"
    all: Ways


class TotalTable(TableItem):
    """The number of rows."""

    key: ClassVar[str] = "total"
    total: Yes


class SumTable(TableItem):
    """The sum of a numeric column, clamped to bounds (by default its domain), in every cell of `by`; with `clamps`
    also how many rows are at or beyond either bound."""

    key: ClassVar[str] = "sum"
    sum: str
    by: Named = ()
    low: Exact | None = None
    high: Exact | None = None
    clamps: Flag = False


class MeanTable(TableItem):
    """The mean of a numeric column, clamped to bounds (by default its domain), in every cell of `by`; with `clamps`
    also how many rows are at or beyond either bound."""

    key: ClassVar[str] = "mean"
    mean: str
    by: Named = ()
    low: Exact | None = None
    high: Exact | None = None
    clamps: Flag = False


class QuantilesTable(TableItem):
    """Quantiles of a numeric column to the bins of a level, in every cell of `by`."""

    key: ClassVar[str] = "quantiles"
    quantiles: str
    level: str
    at: list[Exact] = Field(default=["0.25", "0.5", "0.75"], validate_default=True)
    by: Named = ()


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
        _kind_of, custom_error_type="one_table", custom_error_message=f"exactly one of the keys {', '.join(KEYS)}"
    ),
]


class DpTablesSpec(MechanismSpec):
    """Tables with integer noise, made consistent. `levels` are the attributes of `all` and the levels of lists."""

    kind: Literal["dp_tables"]
    noise: Literal["laplace", "gaussian"] = "gaussian"
    sampling: Sampling | None = None
    levels: dict[str, str] = Field(default_factory=dict)
    tables: Annotated[list[AnyItem], Field(min_length=1)]
    split: Literal["least-variance", "equal"] = "least-variance"
    relative_error: Rate = Field(default="0.1", validate_default=True)
    suppress: Flag = False
    raw: Flag = False


def column_names(spec: DpTablesSpec) -> list[str]:
    """All attributes that become columns of tables, each once."""
    named = [names for item in spec.tables for key in ("attributes", "by") if (names := getattr(item, key, None))]
    return list(dict.fromkeys([*spec.levels, *(name for names in named for name in names)]))
