"""The guarantee of each row keeps the guarantee of the person."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.accounting.person import per_row
from crowdgate.guarantee import Guarantee, Part, group


@given(
    epsilon=st.fractions(Fraction(1, 100), 20),
    delta=st.fractions(Fraction(1, 10**12), Fraction(1, 2)),
    rows=st.integers(1, 50),
)
def test_group_privacy_of_what_a_row_is_granted_is_within_the_promise(
    epsilon: Fraction, delta: Fraction, rows: int
) -> None:
    whole = group(*per_row(epsilon, delta, rows), rows)
    # `group` rounds up by a few units in the last place, and what a row is granted is 1e-12 too small
    assert float(epsilon) * (1 - 1e-11) <= whole[0] <= float(epsilon) * (1 + 1e-12)
    assert float(delta) * (1 - 1e-10) <= whole[1] <= float(delta) * (1 + 1e-12)


@given(delta=st.fractions(Fraction(1, 10**12), Fraction(1, 50)), rows=st.integers(1, 50))
def test_without_epsilon_delta_is_shared_alike(delta: Fraction, rows: int) -> None:
    """So a part that costs delta alone has a form for replacing rows, too."""
    assert per_row(0, delta, rows) == (Fraction(0), delta / rows)
    assert group(0, delta / rows, rows)[1] <= float(delta) * (1 + 1e-12)  # a few units in the last place up
    part = Guarantee.of((Part("choice", Fraction(0), delta),))
    assert part.replace_one_form(Fraction(1, 2), rows=rows).delta >= delta


def test_one_row_is_granted_all() -> None:
    assert per_row("0.95", "1e-9", 1) == (Fraction("0.95"), Fraction("1e-9"))


@pytest.mark.parametrize("rows", [0, -1, 1.5, "many"])
def test_a_person_has_a_whole_number_of_rows(rows: Any) -> None:
    with pytest.raises(ValueError, match="rows"):
        per_row(1, "1e-9", rows)
