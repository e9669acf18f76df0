"""Measures of published tables: their values, and what can't be measured."""

from typing import Any

import numpy as np
import pytest

from crowdgate.candidate import Candidate, Measurement, PublishedCells, Shape
from crowdgate.measures import MEASURES, MeasureClass
from crowdgate.policy.policy import GateRule

NONE: Any = None
NONE_RULE = GateRule.model_validate({"measure": "any", "at_most": "1", "charge": {"epsilon": "1"}})


def cells(
    kind: str, values: list[float], errors: list[float], flags: list[bool], total: bool = False
) -> PublishedCells:
    return PublishedCells(kind, np.array(values), np.array(errors), np.array(flags), total)


def measured(name: str, *tables: PublishedCells) -> Measurement | None:
    of_candidate = MEASURES[name].of_candidate
    assert of_candidate is not None
    return of_candidate(Candidate(static=NONE, cells=tables), NONE)


TOTAL = cells("count", [100.0], [5.0], [True], total=True)
COUNTS = cells("count", [60.0, 9.0, 40.0], [5.0, 5.0, 5.0], [True, False, True])
MEANS = cells("mean", [1.0, np.nan], [0.01, np.nan], [True, False])


@pytest.mark.parametrize(
    ("name", "value"), [("trusted_share", 4 / 6), ("total_relative_error", 0.05), ("smallest_trusted_cell", 40)]
)
def test_a_measure_of_tables_has_its_value(name: str, value: float) -> None:
    near: Any = pytest.approx(value)
    assert measured(name, TOTAL, COUNTS, MEANS) == Measurement.exact(near)


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("trusted_share", ()),
        ("total_relative_error", (COUNTS, MEANS)),
        ("total_relative_error", (cells("count", [0.0], [5.0], [False], total=True),)),
        ("total_relative_error", (cells("count", [np.nan], [np.nan], [False], total=True),)),
        ("smallest_trusted_cell", (MEANS,)),
        ("smallest_trusted_cell", (cells("count", [9.0], [5.0], [False]),)),
    ],
)
def test_what_tables_do_not_hold_is_not_measured(name: str, tables: tuple[PublishedCells, ...]) -> None:
    assert measured(name, *tables) is None


def test_what_a_candidate_has_not_is_not_measured() -> None:
    """A measure whose shape a candidate lacks is inconclusive, which blocks."""
    nothing = Candidate(static=NONE)
    for measure in MEASURES.values():
        if measure.of_candidate is not None:
            assert measure.of_candidate(nothing, NONE_RULE) is None
            assert measure.shape is not Shape.FACTS
        else:
            assert measure.reads is MeasureClass.STATIC
