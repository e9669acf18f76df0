"""Upper limits on unique people hold for every assignment of rows to people, and for tables of people."""

from fractions import Fraction
from math import ceil, comb

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crowdgate.risk.class_sizes import ClassSizes
from crowdgate.risk.classes_of_rows import least_people, most_share_in_sets_up_to, most_unique_classes
from crowdgate.risk.drawn_groups import most_singletons
from tests.examples import examples

CLASSES = st.lists(st.sampled_from([1, 2, 3, 6, 12, 40]), min_size=1, max_size=12)
PEOPLE = st.integers(1, 150)
ROUNDING = 1e-9


@st.composite
def assigned(draw: st.DrawFn) -> tuple[list[int], int, list[int], int]:
    """Draw class sizes in rows, the most rows of a person, the people of each class and those of the table. A person
    has rows in one class or several, so the table has from as few people as fit to one for each row."""
    rows, each = draw(CLASSES), draw(st.integers(1, 4))
    fewest = [ceil(size / each) for size in rows]
    people = draw(st.one_of(st.just(fewest), st.just(rows), st.tuples(*map(st.integers, fewest, rows))))
    least = max(least_people(sum(rows), each), *people)
    return rows, each, [*people], draw(st.sampled_from([least, max(least, sum(people))]))


def class_sizes(rows: list[int]) -> ClassSizes:
    return ClassSizes.of(np.array(rows))


def one_of(size: int, group: int, people: int, most: int = 1) -> Fraction:
    """Return the expected number of people of a class in the group, if the group has at most `most` of them."""
    numbers = range(max(1, group - (people - size)), min(most, size, group) + 1)
    ways = (n * comb(size, n) * comb(people - size, group - n) for n in numbers)
    return Fraction(sum(ways), comb(people, group))


@pytest.mark.thorough
@settings(max_examples=examples(400))
@given(assigned(), PEOPLE, PEOPLE)
def test_no_assignment_of_rows_to_people_has_more_unique_classes(
    table: tuple[list[int], int, list[int], int], one: int, other: int
) -> None:
    rows, each, people, total = table
    least, most = sorted((one, other))
    groups = range(min(least, total), min(most, total) + 1)
    truth = max(sum(one_of(size, group, total) for size in people) for group in groups)
    assert truth <= most_unique_classes(class_sizes(rows), each, least, most) * (1 + ROUNDING)


@pytest.mark.thorough
@settings(max_examples=examples(400))
@example(([2, 40], 2, [1, 40], 41), 41, 1)
@given(assigned(), PEOPLE, st.integers(1, 3))
def test_no_assignment_of_rows_to_people_has_a_larger_share_in_small_sets(
    table: tuple[list[int], int, list[int], int], group: int, most: int
) -> None:
    rows, each, people, total = table
    group = min(group, total)
    truth = min(Fraction(1), sum((one_of(size, group, total, most) for size in people), Fraction(0)) / group)
    assert truth <= most_share_in_sets_up_to(class_sizes(rows), each, group, most) * (1 + ROUNDING)


def test_the_whole_table_has_as_many_unique_classes_as_one_person_can_fill() -> None:
    """Classes of up to three rows may be one person with three rows; there are as many such tables."""
    classes = class_sizes([1, 2, 3, 4, 50])
    assert [most_unique_classes(classes, each, 60, 99) for each in (1, 2, 3, 4)] == [1, 2, 3, 4]


@pytest.mark.parametrize("rows", [[40] * 30, [1] * 5 + [7] * 200 + [3000] * 4, [10**6, 10**4, 3]])
def test_the_limit_is_near_the_greatest_value_of_a_table_of_people(rows: list[int]) -> None:
    """With a row each it exceeds the value found by the exact search by less than 5 percent."""
    classes = class_sizes(rows)
    exact = most_singletons(classes, 1, sum(rows))
    assert exact <= most_unique_classes(classes, 1, 1, sum(rows)) < 1.05 * exact


@given(CLASSES, st.integers(1, 3), PEOPLE, PEOPLE)
def test_more_rows_a_person_never_lower_a_limit(rows: list[int], each: int, one: int, other: int) -> None:
    least, most = sorted((one, other))
    classes = class_sizes(rows)
    few, many = (most_unique_classes(classes, rows_each, least, most) for rows_each in (each, each + 1))
    assert few <= 1.05 * many
    assert most_share_in_sets_up_to(classes, each, least, 2) <= most_share_in_sets_up_to(classes, each + 1, least, 2)
