"""Drafts from conditions in do-files: a range with codes for no value beside it, and ranges of days."""

from pathlib import Path
from typing import Any

import pytest

from tests.review.drafted_items import drafted_items, drafted_text

RANGE = {"from": "110", "to": "215"}
DAYS = 'gen d = date(a, "DMY")\nassert inrange(d, td(14feb2022), td(30jun2022))\n'


@pytest.mark.parametrize(
    ("condition", "domain"),
    [
        ("inrange(a, 110, 215) | a == -8", RANGE | {"missing": ["-8"]}),
        ("inrange(a, 110, 215) | inlist(a, -8)", RANGE | {"missing": ["-8"]}),
        ("inrange(a, 110, 215) | inlist(a, -7,-8, -9)", RANGE | {"missing": ["-7", "-8", "-9"]}),
        ("a == -8 | (a >= 110 & a <= 215)", RANGE | {"missing": ["-8"]}),
        ("inrange(a, 110, 215) | a == 300", "says: line 2: assert inrange[a, 110, 215] | a == 300"),
        ("inrange(a, -9, 9) | a == -5", "says: line 2: assert inrange[a, -9, 9] | a == -5"),
        ("inrange(a, 110, 215) | b == -8", "says: line 2: a condition on several variables"),
    ],
)
def test_a_condition_states_a_range_and_codes_beside_it(tmp_path: Path, condition: str, domain: Any) -> None:
    book = f'label variable a "Visits"\nassert {condition}\n'
    found = drafted_items(tmp_path, "a", book, ".do")["a"]["domain"]
    if isinstance(domain, str):
        assert domain in found
    else:
        assert {key: found.get(key) for key in domain} == domain


@pytest.mark.parametrize("more", ["replace d = 1 if b == 2\n", 'gen d = date(b, "DMY")\n', ""])
def test_the_range_of_days_made_of_texts_is_the_range_of_these(tmp_path: Path, more: str) -> None:
    text = drafted_text(tmp_path, "a,b", f'label variable a "Date of interview"\n{DAYS}{more}', ".do")
    assert ('from: "2022-02-14", to: "2022-06-30"' in text) is (not more)
