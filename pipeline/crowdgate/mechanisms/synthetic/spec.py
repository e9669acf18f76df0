"""The policy's part for a release of synthetic rows: attributes at levels, division of the budget, size of the model,
and impossible combinations.

Types only: planning checks whether they fit the contract.
"""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, model_validator

from crowdgate.limits import MOST_IMPOSSIBLE, MOST_MODEL_CELLS
from crowdgate.policy.field_order import (
    PRECISE,
    SHARES,
    LevelsField,
    ValueField,
    any_change,
    more_groups_are_looser,
    unordered,
)
from crowdgate.policy.policy import MechanismSpec
from crowdgate.policy.values import Rate, SamplingOrAll, no_items, schema_of, whole_number


def _cells(text: Any) -> int:
    try:
        number = whole_number(text)
    except ValueError:
        number = 0
    if not 1 <= number <= MOST_MODEL_CELLS:
        raise ValueError(f"a whole number from 1 to {MOST_MODEL_CELLS}")
    return number


def _level(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("the name of a level; finer tables are taken at coarser levels of it by themselves")
    return value


ModelCells = Annotated[int, PlainValidator(_cells), schema_of("integer", minimum=1, maximum=MOST_MODEL_CELLS)]
LevelName = Annotated[str, BeforeValidator(_level)]
Values = Annotated[list[str], Field(min_length=1)]
Combination = Annotated[dict[str, Values], Field(min_length=2, max_length=3)]
Triple = Annotated[list[str], Field(min_length=3, max_length=3)]


class DpSyntheticSpec(MechanismSpec):
    """Synthetic rows from noisy tables of one, two and the named three attributes.

    Of the budget, `one_way_share` measures the tables of one attribute, `certificate_share` the distances between the
    finished rows and the table; the rest selects and measures others. `impossible`: by public knowledge no row has all
    these values together (of two attributes or three, at their level or a coarser one). A pair is trustworthy if the
    upper confidence limit of its distance is at most `pair_error`.
    """

    kind: Literal["dp_synthetic"]
    sampling: SamplingOrAll = None
    """A sample that is drawn first. It gives more protection at the same noise."""
    attributes: Annotated[dict[str, LevelName], Field(min_length=2), LevelsField("the columns of synthetic rows")]
    """The columns of the synthetic rows, each at a level of its contract."""
    triples: Annotated[
        list[Triple],
        ValueField(
            "the tables of three attributes that are measured and published",
            more_groups_are_looser,
            "more noisy tables are published",
            "fewer noisy tables are published",
        ),
    ] = Field(default_factory=no_items)
    """Triples of columns whose tables are always measured."""
    impossible: Annotated[
        list[Combination], Field(max_length=MOST_IMPOSSIBLE), ValueField("what public knowledge rules out", any_change)
    ] = Field(default_factory=no_items)
    """Combinations of values that no row has by public knowledge. Synthetic rows never have them."""
    one_way_share: Annotated[Rate, SHARES] = Field(default="0.35", validate_default=True)
    """The part of the budget for the tables of one column."""
    certificate_share: Annotated[Rate, SHARES] = Field(default="0.05", validate_default=True)
    """The part of the budget for the distances between the rows and the table."""
    model_cells: Annotated[ModelCells, ValueField("how large the model may be", unordered)] = Field(
        default=str(1 << 18), validate_default=True
    )
    """The largest number of cells of the model. More cells permit a better fit, and take longer."""
    pair_error: Annotated[Rate, PRECISE] = Field(default="0.05", validate_default=True)
    """A pair of columns is trustworthy if its distance from the table is at most this part of all rows."""

    @model_validator(mode="after")
    def _shares_below_one(self) -> "DpSyntheticSpec":
        if self.one_way_share + self.certificate_share >= 1:
            raise ValueError("one_way_share and certificate_share below 1 together: the rest measures pairs")
        return self
