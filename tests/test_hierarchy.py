"""Levels nest: each is a function of the one before it, from `exact` to `any`."""

from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.domain import Domain, categories, dates, number_label, numbers
from crowdgate.hierarchy import (
    ANY_LABEL,
    DATE_PARTS,
    INVALID_LABEL,
    Hierarchy,
    by_cuts,
    by_date_part,
    by_file,
    by_prefix,
    by_tree,
    by_width,
    first_split,
    hierarchy,
    value_groups,
)
from tests.strategies import category_domains, date_domains, hierarchies, number_domains

AGE = numbers(Fraction(0), Fraction(90), Fraction(1), "a codebook", top=True)
LETTERS = categories(["a", "b", "c"], "a codebook")


@given(hierarchies())
def test_each_level_is_a_function_of_the_level_before_it(built: tuple[Domain, Hierarchy]) -> None:
    for finer, coarser in pairwise(built[1].levels):
        pairs = set(zip(finer.codes.tolist(), coarser.codes.tolist(), strict=True))
        assert len(pairs) == len(finer)
        assert len(coarser) <= len(finer)


@given(hierarchies())
def test_levels_run_from_the_domain_to_one_value(built: tuple[Domain, Hierarchy]) -> None:
    domain, levels = built[0], built[1].levels
    assert levels[0].labels[: len(domain)] == domain.labels
    assert (levels[0].name, levels[-1].name, levels[-1].labels) == ("exact", "any", (ANY_LABEL,))
    assert all(set(level.codes.tolist()) == set(range(len(level))) for level in levels)


@given(hierarchies())
def test_invalid_cells_share_a_group_with_no_value_below_any(built: tuple[Domain, Hierarchy]) -> None:
    domain, levels = built[0], built[1].levels
    if len(levels[0].codes) == len(domain):
        assert all(INVALID_LABEL not in level.labels for level in levels)
    else:
        for level in levels[:-1]:
            assert level.labels[level.codes[-1]] == INVALID_LABEL
            assert level.codes[-1] not in level.codes[:-1]


def test_the_codes_of_a_level_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        hierarchy(LETTERS, [], invalid_level=False).level("exact").codes[0] = 1


@given(number_domains(), st.integers(1, 15))
def test_intervals_partition_the_domain_and_contain_their_values(domain: Domain, factor: int) -> None:
    grid = domain.grid
    assert grid is not None
    width = grid.step * factor
    if grid.top and grid.bottom and grid.first // width == grid.last // width:
        return
    cells: dict[str, list[int]] = {}
    for code, label in enumerate(by_width(domain, width)):
        cells.setdefault(label, []).append(code)
    for label, codes in cells.items():
        assert codes == list(range(codes[0], codes[-1] + 1))
        assert len(codes) <= factor
        assert len({(grid.first + grid.step * code) // width for code in codes}) == 1
        low, high = (number_label(grid.first + grid.step * code) for code in (codes[0], codes[-1]))
        plain = low if low == high else f"{low} to {high}"
        assert label in (plain, f"{low}+" * grid.top, f"{high} or less" * grid.bottom)


@given(number_domains(), st.integers(1, 6), st.integers(1, 6))
def test_a_width_nests_in_each_of_its_divisors(domain: Domain, small: int, times: int) -> None:
    assert domain.grid is not None
    step = domain.grid.step
    try:
        fine, coarse = by_width(domain, step * small), by_width(domain, step * small * times)
    except ValueError:
        return
    assert first_split(fine, coarse) is None


@pytest.mark.thorough
@given(number_domains(), st.integers(1, 6), st.integers(-50, 50))
def test_an_origin_moves_the_ends_of_intervals(domain: Domain, cells: int, shift: int) -> None:
    assert domain.grid is not None
    grid, width = domain.grid, domain.grid.step * cells
    try:
        labels = by_width(domain, width, grid.first + grid.step * shift)
    except ValueError:
        assert grid.top
        assert grid.bottom
        return
    starts = [code for code in range(1, len(domain)) if labels[code] != labels[code - 1]]
    assert all((code - shift) % cells == 0 for code in starts)
    assert len(starts) == len({*labels}) - 1


@st.composite
def cut_domains(draw: st.DrawFn) -> tuple[Domain, list[int], list[str]]:
    """A numeric domain, the codes that begin a band but the first, and the bands."""
    domain = draw(number_domains())
    grid = domain.grid
    assert grid is not None
    starts = draw(st.lists(st.integers(1, len(domain) - 1), min_size=1, unique=True).map(sorted))
    return domain, starts, by_cuts(domain, [grid.first + grid.step * code for code in starts])


@pytest.mark.thorough
@given(cut_domains())
def test_bands_begin_at_their_cuts_and_nowhere_else(cut: tuple[Domain, list[int], list[str]]) -> None:
    domain, starts, labels = cut
    assert [code for code in range(1, len(domain)) if labels[code] != labels[code - 1]] == starts
    assert len({*labels}) == len(starts) + 1


@given(cut_domains(), st.data())
def test_bands_nest_in_bands_with_fewer_of_their_cuts(
    cut: tuple[Domain, list[int], list[str]], data: st.DataObject
) -> None:
    domain, starts, labels = cut
    assert domain.grid is not None
    fewer = sorted(data.draw(st.lists(st.sampled_from(starts), min_size=1, unique=True)))
    coarse = by_cuts(domain, [domain.grid.first + domain.grid.step * code for code in fewer])
    assert first_split(labels, coarse) is None
    assert (first_split(coarse, labels) is None) == (fewer == starts)


def test_bands_are_called_as_intervals_are() -> None:
    weight = numbers(Fraction(10), Fraction(60), Fraction(1, 2), "a textbook", top=True, bottom=True, whole=False)
    bands = by_cuts(weight, [Fraction("18.5"), Fraction(25), Fraction(30)])
    assert list(dict.fromkeys(bands)) == ["18 or less", "18.5 to 24.5", "25 to 29.5", "30+"]
    adults = list(dict.fromkeys(by_width(AGE, Fraction(20), Fraction(18))))
    assert adults == ["0 to 17", "18 to 37", "38 to 57", "58 to 77", "78+"]


@pytest.mark.parametrize(
    ("cuts", "said"),
    [([], "must rise"), (["5", "5"], "must rise"), (["0"], "must rise"),
     (["18.2", "18.7"], "lies between the cut 18.7 and"), (["91"], "lies above the cut 91"),
     (["90.5"], "lies above the cut 90.5")],
)  # fmt: skip
def test_there_is_a_value_between_cuts_that_rise(cuts: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        by_cuts(AGE, list(map(Fraction, cuts)))


@given(number_domains(), st.data())
def test_a_cut_is_any_number_and_parts_the_values_below_from_the_others(domain: Domain, data: st.DataObject) -> None:
    """Values are exact on a grid of whole numbers, so a cut may lie between two of them."""
    grid = domain.grid
    assert grid is not None
    domain = replace(domain, grid=replace(grid, whole=True, precision=None))
    assert domain.grid is not None
    places = data.draw(st.lists(st.integers(1, len(domain) - 1), min_size=1, unique=True).map(sorted))
    lower = data.draw(st.lists(st.fractions(0, Fraction(99, 100)), min_size=len(places), max_size=len(places)))
    cuts = [grid.first + grid.step * (at - part) for at, part in zip(places, lower, strict=True)]
    values = [grid.first + grid.step * at for at in range(len(domain))]
    bands = [sum(cut <= value for cut in cuts) for value in values]
    labels = by_cuts(domain, cuts)
    assert [labels[at] == labels[at - 1] for at in range(1, len(labels))] == [a == b for a, b in pairwise(bands)]


def test_a_cut_inside_one_value_tells_the_step_that_has_all_cuts() -> None:
    weight = numbers(Fraction(10), Fraction(60), Fraction(1), "a textbook", top=True, whole=False)
    with pytest.raises(ValueError, match=r"18\.5 is inside the interval from 18 to 19, .*with step: 0\.5 all cuts fit"):
        by_cuts(weight, [Fraction("18.5"), Fraction(25), Fraction(30)])


def test_intervals_between_the_values_of_a_domain_are_refused() -> None:
    """From 3 in steps of 5, [0, 10) would hold 3 and 8, under the name 3 to 5."""
    domain = numbers(Fraction(3), Fraction(28), Fraction(5), "a codebook")
    with pytest.raises(ValueError, match="add an origin, such as 3"):
        by_width(domain, Fraction(10))
    assert list(dict.fromkeys(by_width(domain, Fraction(10), Fraction(3)))) == ["3 to 8", "13 to 18", "23 to 28"]


@given(hierarchies())
def test_the_groups_of_a_level_hold_every_value_once(built: tuple[Domain, Hierarchy]) -> None:
    domain, levels = built[0], built[1].levels
    for level in levels:
        found = value_groups(domain, level)
        assert sorted(member for group in found for member in group.members) == sorted(domain.labels)
        assert [group.label for group in found] == [label for label in level.labels if label != INVALID_LABEL]
        for group in found:
            own = {domain.labels[code] for code in range(len(domain)) if level.labels[level.codes[code]] == group.label}
            assert own == {*group.members}
            assert group.values == len(own)


def test_a_group_of_numbers_or_days_is_told_by_its_runs() -> None:
    ends = by_tree(AGE.labels, {"ends": [*AGE.labels[:18], *AGE.labels[65:]], "middle": AGE.labels[18:65]})
    level = hierarchy(AGE, [("side", ends)], invalid_level=True).level("side")
    assert [group.members for group in value_groups(AGE, level)] == [("0 to 17", "65 to 90+"), ("18 to 64",)]


@given(date_domains())
def test_parts_of_a_date_nest(domain: Domain) -> None:
    parts = [(part, by_date_part(domain, part)) for part in DATE_PARTS]
    assert hierarchy(domain, parts, invalid_level=True).names == ("exact", *DATE_PARTS, "any")


@given(category_domains, st.integers(1, 5))
def test_prefixes_nest_and_keep_the_length(domain: Domain, length: int) -> None:
    if length + 1 > max(map(len, domain.labels)):
        with pytest.raises(ValueError, match=f"no value has {length + 1} characters"):
            by_prefix(domain, length + 1)
        return
    fine, coarse = by_prefix(domain, length + 1), by_prefix(domain, length)
    assert all(len(masked) >= len(label) for masked, label in zip(coarse, domain.labels, strict=True))
    if not any("*" in label for label in domain.labels):
        assert first_split(fine, coarse) is None


def test_the_last_interval_of_a_capped_domain_is_open() -> None:
    labels = list(dict.fromkeys(by_width(AGE, Fraction(20))))
    assert labels == ["0 to 19", "20 to 39", "40 to 59", "60 to 79", "80+"]


def test_parts_of_a_date_read_as_people_write_them() -> None:
    day = dates(date(2024, 8, 31), date(2024, 8, 31), "a calendar")
    assert [by_date_part(day, part) for part in DATE_PARTS] == [["2024-08-31"], ["2024-08"], ["2024 Q3"], ["2024"]]


def test_a_level_that_does_not_nest_is_refused_with_the_value_it_splits() -> None:
    levels = [("10 years", by_width(AGE, Fraction(10))), ("15 years", by_width(AGE, Fraction(15)))]
    with pytest.raises(ValueError, match=r"'15 years' does not nest in '10 years': it splits '10 to 19'"):
        hierarchy(AGE, levels, invalid_level=False)


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ({"x": ["a", "b"]}, r"'c' is in no group$"),
        ({"x": ["a"]}, r"'b' is in no group \(nor are 1 others\)"),
        ({"x": ["a", "b", "c"], "y": ["b"]}, "'b' is in two groups"),
        ({"x": ["a", "b", "c", "d"]}, "'d' is no value"),
    ],
)
def test_a_tree_must_hold_every_value_once(groups: dict[str, list[str]], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        by_tree(LETTERS.labels, groups)


def test_a_levels_file_must_hold_every_value() -> None:
    with pytest.raises(ValueError, match="no row for 'b'"):
        by_file(LETTERS, {"a": "x", "c": "x"})


def test_levels_of_the_wrong_kind_of_domain_are_refused() -> None:
    with pytest.raises(ValueError, match="numeric domain"):
        by_width(LETTERS, Fraction(1))
    with pytest.raises(ValueError, match="domain of dates"):
        by_date_part(LETTERS, "month")
    with pytest.raises(ValueError, match="at least 1"):
        by_prefix(LETTERS, 0)


@pytest.mark.parametrize("width", ["0", "-5", "0.5"])
def test_a_width_must_be_a_multiple_of_the_step(width: str) -> None:
    with pytest.raises(ValueError, match="multiple of its step"):
        by_width(AGE, Fraction(width))


def test_one_interval_open_at_both_ends_is_refused() -> None:
    domain = numbers(Fraction(0), Fraction(9), Fraction(1), "a codebook", top=True, bottom=True)
    with pytest.raises(ValueError, match="hold every number"):
        by_width(domain, Fraction(10))
