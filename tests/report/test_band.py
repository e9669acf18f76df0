"""The band of a page: the bar of a budget says full only when it is, and numbers as everywhere else."""

import re
from fractions import Fraction

import pytest

from crowdgate.kind.band import Band, BudgetShares
from crowdgate.number_text import decimal_mark
from crowdgate.report.band import band_html


def legend(before: Fraction, this: Fraction) -> list[str]:
    """Return the parts of the bar as the legend names them."""
    shown = band_html(Band("PUBLISHED", "title", shares=BudgetShares("epsilon", before, this)))
    return re.findall(r'<li class="[a-z]+">([^<]*)</li>', shown)


def test_the_legend_begins_with_the_amount() -> None:
    shown = band_html(Band("PUBLISHED", "title", shares=BudgetShares("epsilon", Fraction(0), Fraction(1, 4))))
    assert '<ul class="legend"><li>Epsilon:</li><li class="before">' in shown


@pytest.mark.parametrize(
    ("before", "this", "expected"),
    [
        ("0", "0", ["spent 0 %", "left 100 %"]),
        ("1/100000", "0", ["spent 0.001 %", "left 99.9 %"]),
        ("99996/100000", "0", ["spent more than 99.9 %", "left 0.004 %"]),
        ("1/3", "1/3", ["spent before 33.4 %", "this release 33.4 %", "left after it 33.3 %"]),
        ("0", "99999/100000", ["spent before 0 %", "this release more than 99.9 %", "left after it 0.001 %"]),
        ("1", "0", ["spent 100 %", "left 0 %"]),
        ("1", "1/4", ["spent before 100 %", "this release 25 %", "left after it 0 %"]),
    ],
)
def test_a_budget_is_full_or_untouched_only_if_it_is(before: str, this: str, expected: list[str]) -> None:
    assert legend(Fraction(before), Fraction(this)) == expected


def test_the_bar_has_the_decimal_mark_of_the_page() -> None:
    with decimal_mark(","):
        assert legend(Fraction(1, 8), Fraction(0)) == ["spent 12,5 %", "left 87,5 %"]
