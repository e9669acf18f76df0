"""Public domains: every label is the cell text of its own code, and no text outside the domain has a code."""

from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.domain import INVALID, Domain, categories, dates, number_label, numbers, parse_date, parse_number
from tests.strategies import category_domains, date_domains, domains, number_domains

AGE = numbers(Fraction(0), Fraction(90), Fraction(1), "a codebook", top=True)


@given(domains)
def test_every_label_parses_to_its_code(domain: Domain) -> None:
    assert domain.codes(domain.labels).tolist() == list(range(len(domain)))
    assert len(set(domain.labels)) == len(domain)


@pytest.mark.thorough
@given(domains)
def test_a_missing_cell_is_invalid(domain: Domain) -> None:
    texts = [text for text in ("NaN", "nan", "no such value \x00") if text not in domain.labels]  # a name may be "NaN"
    assert domain.codes([None, "", *texts]).tolist() == [INVALID] * (2 + len(texts))


@given(category_domains, st.text(max_size=6))
def test_a_text_outside_a_list_of_values_is_invalid(domain: Domain, text: str) -> None:
    code = domain.code(text)
    same = code == INVALID or domain.labels[code] == text
    assert same or parse_number(text) == parse_number(domain.labels[code])


@given(number_domains(), st.integers(-50, 100), st.fractions(0, 1, max_denominator=7))
def test_a_number_falls_into_the_cell_that_holds_it(domain: Domain, cell: int, part: Fraction) -> None:
    grid = domain.grid
    assert grid is not None
    value = grid.first + grid.step * (cell + part)
    code = grid.code(value)
    if 0 <= code < grid.size:
        low = grid.first + grid.step * code
        inside = value == low if grid.whole else low <= value < low + grid.step
        assert inside or (code == 0 and grid.bottom and value < low) or (code == grid.size - 1 and grid.top)
    else:
        outside = value < grid.first or value >= grid.last + grid.step
        assert code == INVALID
        assert outside or (grid.whole and (value - grid.first) % grid.step)


@given(number_domains(whole=True), st.data())
def test_a_number_keeps_its_code_however_it_is_written(domain: Domain, data: st.DataObject) -> None:
    grid = domain.grid
    assert grid is not None
    code = data.draw(st.integers(0, grid.size - 1))
    text = number_label(grid.first + grid.step * code).replace("−", "-")
    ways = [text, f" {text} ", f"{text}e0", f"{text}.0" if "." not in text else f"{text}00"]
    assert domain.codes(ways).tolist() == [code] * 4


@given(date_domains(), st.integers(-3, 403))
def test_a_day_has_a_code_exactly_when_it_lies_between_both_ends(domain: Domain, offset: int) -> None:
    assert domain.first_day is not None
    if domain.first_day.toordinal() + offset < 1:
        return
    day = domain.first_day + timedelta(days=offset)
    expected = offset if 0 <= offset < len(domain) else INVALID
    times = ["", " 00:00:00", "T23:59", " 07:30:15.123456", " 07:30:15Z", "T07:30:15+05:30"]
    assert [domain.code(day.isoformat() + time) for time in times] == [expected] * len(times)
    others = [" 24:00", " 12", "T12:60", " 12:00 noon", "12:00", " 12:00:00+25:00"]
    assert [domain.code(day.isoformat() + time) for time in others] == [INVALID] * len(others)


@given(st.fractions(-(10**6), 10**6).map(lambda value: Fraction(round(value * 10**9), 10**9)))
def test_a_number_reads_back_from_its_label(value: Fraction) -> None:
    label = number_label(value)
    assert label[0] != "-"
    assert parse_number(label.replace("−", "-")) == value


def test_labels_stay_distinct_beyond_the_digits_of_a_double() -> None:
    step = Fraction(1, 10**38)
    domain = numbers(Fraction(10**12), 10**12 + 3 * step, step, "a codebook")
    assert len(set(domain.labels)) == 4


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *[(text, 39) for text in ("39", "39.0", "3.9e1", "+39", " 39 ")],
        *[("90+", 90), ("91", 90), ("1e30", 90), ("90.5", 90)],
        *[(text, INVALID) for text in ("39.5", "-1", "", "inf", "-inf", "NaN", "0x10", "1_0", "٣", "3" * 50, "1e999")],
    ],
)
def test_an_age_is_mapped_through_its_text(text: str, code: int) -> None:
    assert AGE.code(text) == code


def test_codes_named_by_numbers_survive_a_file_that_turned_them_into_floats() -> None:
    domain = categories(["1", "2", "03", "3", "x"], "a codebook")
    assert domain.codes(["1.0", "2.00", "03", "3", "3.0", "4.0", "x"]).tolist() == [0, 1, 2, 3, INVALID, INVALID, 4]


def test_a_cap_below_takes_everything_smaller() -> None:
    domain = numbers(Fraction(-5), Fraction(5), Fraction(5), "a codebook", bottom=True)
    assert domain.labels == ("−5 or less", "0", "5")
    assert domain.codes(["-7", "-5", "0", "7"]).tolist() == [0, 0, 1, INVALID]


@pytest.mark.parametrize("arguments", [(0, 1, 0), (0, 1, -1), (1, 0, 1), (0, 5, 2), (0, 10**7, 1)])
def test_a_grid_that_is_empty_uneven_or_too_fine_is_refused(arguments: tuple[int, int, int]) -> None:
    first, last, step = map(Fraction, arguments)
    with pytest.raises(ValueError, match=r"one value at least|larger step|`from` is above `to`"):
        numbers(first, last, step, "a codebook")


def test_one_cell_open_at_both_ends_is_refused() -> None:
    with pytest.raises(ValueError, match="holds every number"):
        numbers(Fraction(0), Fraction(0), Fraction(1), "a codebook", top=True, bottom=True)


@pytest.mark.parametrize("values", [[], ["a", "a"], ["a", ""]])
def test_a_list_of_values_must_be_distinct_names(values: list[str]) -> None:
    with pytest.raises(ValueError, match="distinct"):
        categories(values, "a codebook")


def test_days_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(ValueError, match="1 to"):
        dates(date(2024, 1, 2), date(2024, 1, 1), "a calendar")


@pytest.mark.parametrize("text", ["2024-02-30", "2024-1-1", "01-02-2024", "2024-01-01T12:00", "２０２４-01-01", ""])
def test_a_text_that_is_no_day_is_invalid(text: str) -> None:
    assert parse_date(text) is None
