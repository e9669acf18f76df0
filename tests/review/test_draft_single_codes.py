"""Drafts of cells with one code: academic years, and one labelled code beside a range."""

from pathlib import Path
from typing import Any

import pytest

from tests.review.drafted_items import drafted_items, drafted_text

SCORE = {"from": "0", "to": "100"}


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        ("2022/23", "says: 2022/23"),
        ("2022/2023", "says: 2022/2023"),
        ("2021/22 | 2022/23", {"values": ["2021/22", "2022/23"]}),
        ("1/2", {"values": ["1", "2"]}),
    ],
)
def test_a_span_of_two_years_is_one_value(tmp_path: Path, values: str, domain: Any) -> None:
    found = drafted_items(tmp_path, "a", f"variable,label,type,values\na,Academic year,char,{values}\n")["a"]["domain"]
    assert domain in found if isinstance(domain, str) else found == domain


@pytest.mark.parametrize(
    ("values", "domain", "comment"),
    [
        (
            "-1 = Admitted without score",
            SCORE | {"missing": ["-1"]},
            "-1 = Admitted without score (counted as missing)",
        ),
        ("999 = Admitted without score", SCORE | {"missing": ["999"]}, "999 = Admitted without score (counted as"),
        ("-1 = Late | -2 = Early", SCORE | {"missing": ["-1", "-2"]}, "-1 = Late; -2 = Early (counted as missing)"),
        ("50 = Pass", SCORE, 'not understood: "50 = Pass"'),
        ("200 = 200 or more", SCORE, 'not understood: "200 = 200 or more"'),
        ("-1 = Unknown", SCORE | {"missing": ["-1"]}, ""),
    ],
)
def test_a_code_beside_a_stated_range_is_missing_or_quoted(
    tmp_path: Path, values: str, domain: Any, comment: str
) -> None:
    book = f"variable,label,type,values,valid range\na,Admission score,integer,{values},0-100\n"
    assert drafted_items(tmp_path, "a", book)["a"]["domain"] == domain
    text = drafted_text(tmp_path, "a", book)
    assert comment in text if comment else "not understood" not in text


@pytest.mark.parametrize(
    ("notes", "labels"),
    [
        ("1 = yes", {"1": "yes"}),
        ("1 = yes, 0 = no", {"1": "yes", "0": "no"}),
        ("1 = yes; from 2020", {"1": "yes"}),
        ("2 = yes", None),
        ("GRANT = 0 if none", None),
        ("yes or no", None),
    ],
)
def test_notes_label_codes(tmp_path: Path, notes: str, labels: Any) -> None:
    book = f'variable,label,type,values,notes\na,Receives grant,integer,0/1,"{notes}"\n'
    domain = drafted_items(tmp_path, "a", book)["a"]["domain"]
    assert (domain["values"], domain.get("labels")) == (["0", "1"], labels)
