"""Measures of published tables: their values, and cases without a value."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.candidate import Candidate, Measurement, OutputType, PublishedCells
from crowdgate.gate import GateReach, Outcome, judge, reach
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


FLAGS = st.lists(st.booleans(), max_size=3)


@given(
    flags=FLAGS,
    total=st.booleans(),
    statistic=st.sampled_from(["count", "mean"]),
    limit=st.sampled_from(["0", "1", "50"]),
    side=st.sampled_from(["at_most", "at_least"]),
)
def test_a_gate_on_tables_that_cannot_fail_never_blocks(
    flags: list[bool], total: bool, statistic: str, limit: str, side: str
) -> None:
    ones = [1.0] * len(flags)
    published = (cells(statistic, ones, ones, flags, total and bool(flags)),) if flags else ()
    for name, measure in MEASURES.items():
        if measure.shape is OutputType.CELLS:
            rule = GateRule.model_validate({"measure": name, side: limit})
            outcome = judge(rule, measured(name, *published))
            stated = reach(rule, measure.reach(NONE, rule))
            assert stated is not GateReach.CANNOT_FAIL or outcome is Outcome.PASS, name
            assert stated is not GateReach.CANNOT_PASS or outcome is not Outcome.PASS, name


def test_what_a_candidate_has_not_is_not_measured() -> None:
    """A measure of a part that a candidate lacks is inconclusive, which blocks."""
    nothing = Candidate(static=NONE)
    for measure in MEASURES.values():
        if measure.of_candidate is not None:
            assert measure.of_candidate(nothing, NONE_RULE) is None
            assert measure.shape is not OutputType.STATIC
        else:
            assert measure.reads is MeasureClass.STATIC
