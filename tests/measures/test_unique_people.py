"""Gates on unique people: limits that hold for every table with the public counts, at the worst number of people."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.candidate import Static
from crowdgate.gate import GateReach, Outcome, reach, verdict
from crowdgate.histogram import Histogram, collapse
from crowdgate.measures import MEASURES
from crowdgate.measures.unique_people import known_counts, probability_limits, share_limits, singleton_limits
from crowdgate.risk.class_sizes import ClassSizes
from tests.measures.test_measures import gate, level, of_static, static

NAMES = ("expected_singletons", "singleton_probability", "expected_share_in_sets_up_to")
SIZE = 2
CELLS = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=3)


def facts(table: Any, *, counted: bool = False, together: bool = False) -> Static:
    """Return the facts about a table of two attributes: its margins, its joint counts, or its classes as counted."""
    cells = np.array(table)
    levels = {"x": level(list(range(cells.shape[0]))), "y": level(list(range(cells.shape[1])))}
    margins: dict[str, tuple[int, ...] | None] = {
        "x": tuple(cells.sum(axis=1).tolist()),
        "y": tuple(cells.sum(axis=0).tolist()),
    }
    joint = (joint_counts(cells),) if together else ()
    classes = {frozenset("xy"): ClassSizes.of(cells.ravel())} if counted else {}
    return replace(static(margins, levels), joint=joint, classes=classes, people=int(cells.sum()))


def joint_counts(cells: Any) -> Histogram:
    return collapse(("x", "y"), cells.shape, list(np.nonzero(cells)), cells[np.nonzero(cells)])


def drawn(table: Any, k: int) -> tuple[float, float, float]:
    """Return the mean number of unique people, how often anybody is unique, and the mean share of people in sets of at
    most SIZE, over 400 groups of k drawn from the table."""
    counts = np.array(table).ravel()
    held = np.random.default_rng(k).multivariate_hypergeometric(counts, k, 400)
    singles, few = (held == 1).sum(axis=1), np.where(held <= SIZE, held, 0).sum(axis=1)
    return float(singles.mean()), float((singles > 0).mean()), float(few.mean()) / k


@given(
    table=CELLS.filter(lambda table: sum(map(sum, table)) > 1), ends=st.tuples(st.fractions(0, 1), st.fractions(0, 1))
)
def test_limits_hold_for_the_table_whatever_is_known_of_it(table: list[list[int]], ends: tuple[Any, Any]) -> None:
    """By margins, joint counts or the counted table. Draws are within .35 of their mean here (400 of at most 9: five
    standard errors), of a probability and a share within .13."""
    total = sum(map(sum, table))
    least, most = sorted(1 + int(end * (total - 1)) for end in ends)
    for known in (facts(table), facts(table, together=True), facts(table, counted=True)):
        counts = known_counts(known, ("x", "y"))
        assert counts is not None
        limits = (
            singleton_limits(counts, least, most),
            probability_limits(counts, least, most),
            share_limits(counts, least, most, SIZE),
        )
        worst = [max(values) for values in zip(*(drawn(table, k) for k in {least, most}), strict=True)]
        for found, truth, slack in zip(limits, worst, (0.35, 0.13, 0.13), strict=True):
            assert truth <= found.high + slack
        for found, truth, slack in zip(limits[1:], worst[1:], (0.13, 0.13), strict=True):
            assert found.low <= max(truth, 1.0 if most > least else truth) + slack


@given(
    table=CELLS.filter(lambda table: sum(map(sum, table)) > 1), people=st.tuples(st.integers(1, 60), st.integers(1, 60))
)
def test_no_gate_becomes_easier_with_more_people(table: list[list[int]], people: tuple[int, int]) -> None:
    few, many = sorted(people)
    for known in (facts(table), facts(table, together=True), facts(table, counted=True)):
        counts = known_counts(known, ("x", "y"))
        assert counts is not None
        for limits in (singleton_limits, probability_limits):
            assert limits(counts, 1, few).high <= limits(counts, 1, many).high * (1 + 2e-6)
        assert share_limits(counts, 1, few, SIZE).high <= share_limits(counts, 1, many, SIZE).high


def test_a_counted_table_is_told_exactly_and_joint_counts_of_fewer_people_are_not() -> None:
    """14 unique people of 14 + 60: all of them if the whole table is asked for."""
    table = [[1] * 7 + [0] * 5, [1] * 7 + [0] * 5, [20] * 3 + [0] * 9]
    whole = facts(table, counted=True)
    found = of_static("expected_singletons", whole, at_most="20", **{"with": {"people": "1000"}})
    assert found is not None
    assert found.lower == pytest.approx(14, rel=2e-9)
    assert 14 <= found.upper < 14.01
    for people, known in (("74", True), ("75", True), ("1000", False)):
        given: dict[str, Any] = {"with": {"people": people}}
        found = of_static("expected_singletons", facts(table, together=True), at_most="20", **given)
        assert (found is not None) == known


def test_margins_leave_the_number_unknown_unless_every_table_is_on_one_side() -> None:
    """Six classes or fewer: a limit of 6 holds for every table; one below what a margin alone has fails for every."""
    known = facts([[40, 3, 1], [2, 50, 4]])
    for at_most, outcome in (("6", Outcome.PASS), ("2", Outcome.INCONCLUSIVE), ("1", Outcome.FAIL)):
        rule = gate("expected_singletons", at_most=at_most)
        measure = MEASURES[rule.measure]
        found = verdict(rule, measure, of_static(rule.measure, known, at_most=at_most), known)
        assert found.outcome is outcome
        if outcome is Outcome.INCONCLUSIVE:
            assert found.why is not None
            assert "do not relate x, y" in found.why
            assert reach(rule, measure.reach(known, rule)) is GateReach.OPEN


def test_a_share_and_a_probability_need_the_least_number_of_people() -> None:
    """One person is always unique. Of 2,000 people in two classes of equal size nobody is expected to be."""
    known = facts([[1000, 0], [0, 1000]], counted=True)
    for name in NAMES[1:]:
        size = {"size": "2"} if name == NAMES[2] else {}
        alone = of_static(name, known, **{"with": size})
        assert alone is not None
        assert 1 - 1e-8 < alone.lower <= alone.upper == 1
        many = of_static(name, known, **{"with": {"least_people": "500", **size}})
        assert many is not None
        assert many.upper < 1e-100


def test_joint_counts_that_differ_in_what_they_share_are_inconclusive_and_named() -> None:
    cells = np.array([[3, 2], [1, 4]])
    other = collapse(("y", "z"), (2, 2), [np.array([0, 1]), np.array([0, 1])], np.array([6, 4]))
    known = facts(cells, together=True)
    known = replace(
        known, joint=(*known.joint, other), levels={**known.levels, "z": level([0, 1])},
        facts={**known.facts, "z": known.facts["y"]},
    )  # fmt: skip
    rule = gate("expected_singletons")
    found = verdict(rule, MEASURES[rule.measure], of_static(rule.measure, known), known)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "joint counts of y differ" in (found.why or "")


@pytest.mark.parametrize("name", NAMES)
def test_attributes_without_counts_are_inconclusive(name: str) -> None:
    known = replace(static({"x": (1, 2, 3), "y": None}), classes={})
    assert of_static(name, known, **{"with": {"size": "1"} if name == NAMES[2] else {}}) is None


def options(name: str) -> Any:
    """Return what a gate states to be about a whole table of at least four people."""
    return {"with": {"least_people": "4", **({"size": "1"} if name == NAMES[2] else {})}}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("known", [{"together": True}, {"counted": True}, {}])
def test_counts_of_rows_show_an_upper_limit_and_no_unique_people(name: str, known: dict[str, bool]) -> None:
    """Four people have two equal rows each. No row is unique, and every person is."""
    by_rows, measure = facts([[2, 2], [2, 2]], **known), MEASURES[name]
    several = replace(by_rows, people=4, rows_per_unit=2)
    truth, passes = (1, "1") if name in NAMES[1:] else (4, "4")
    below = gate(name, at_most="0.9", **options(name))
    for at_most, outcome in ((passes, Outcome.PASS), ("0.9", Outcome.INCONCLUSIVE)):
        rule = gate(name, at_most=at_most, **options(name))
        found = of_static(name, several, at_most=at_most, **options(name))
        assert verdict(rule, measure, found).outcome is outcome
        assert found is None or found.lower == 0 < truth <= found.upper
    assert reach(below, measure.reach(several, below)) is GateReach.OPEN
    assert measure.why is not None
    why = str(measure.why(several, below))
    assert "`classes_below` with size" in why
    assert "3" in why


@given(
    table=CELLS.filter(lambda table: sum(map(sum, table)) > 1), ends=st.tuples(st.integers(1, 40), st.integers(1, 40))
)
def test_limits_by_rows_are_no_lower_than_those_of_people(table: list[list[int]], ends: tuple[int, int]) -> None:
    least, most = sorted(ends)
    for known in (facts(table), facts(table, together=True), facts(table, counted=True)):
        one, several = (known_counts(replace(known, rows_per_unit=rows), ("x", "y")) for rows in (1, 2))
        assert one is not None
        assert several is not None
        for limits in (singleton_limits, probability_limits):
            assert limits(one, least, most).low <= limits(several, least, most).high * (1 + 1e-6)
        assert share_limits(one, least, most, SIZE).low <= share_limits(several, least, most, SIZE).high * (1 + 1e-6)


def test_a_group_with_people_who_are_not_counted_has_fewer_of_the_counted() -> None:
    """The counts are of 30 people in classes of 3, so all 30 together have no unique person. A group of 40 may have 30
    people who are not counted, all unique, and 10 of the 30."""
    known = known_counts(facts([[3] * 10 + [0] * 60], together=True), ("x", "y"))
    assert known is not None
    ten = singleton_limits(replace(known, whole=True), 10, 10)
    assert ten.low > 2
    assert singleton_limits(known, 40, 60).high >= 30 + ten.low
