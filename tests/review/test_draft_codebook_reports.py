"""Drafts from the reports of survey offices: blocks of lines whose first one is no name, with tables of values."""

from pathlib import Path
from typing import Any

import pytest

from tests.review.drafted_items import drafted_items

HEADS = "Value        Value Label                 Frequency  Percentage"
RULE = "-" * 60


def _block(name: str, label: str, kind: str, question: str, rows: str, word: str) -> str:
    return (
        f"{RULE}\nLabel: {label}\nType of Variable: {kind}\n{word}: {name}\nQuestion: {question}\n{HEADS}\n{rows}\n\n"
    )


def _report(word: str) -> str:
    sexes = "1            Male                            3,411       46.02\n2            Female  4,001  53.98"
    days = "01032022 - 01152023   Interview date             7,412      100.00"
    hours = "1 - 30       Number of days                  2,512       33.89"
    blocks = [
        _block("SEX", "Sex of person", "Num", "What is your\nsex, please", sexes, word),
        _block("IDATE", "Interview date", "Num", "Date (MMDDYYYY)", days, word),
        _block("DAYS", "Days worked", "Num", "How many", hours, word),
    ]
    return "\n".join(blocks)


@pytest.mark.parametrize("word", ["Variable Name", "SAS Variable Name", "SPSS Variable Name", "Column Name"])
def test_blocks_begin_above_the_name(tmp_path: Path, word: str) -> None:
    found = drafted_items(tmp_path, "SEX,IDATE,DAYS", _report(word), ".txt")
    assert found["SEX"]["domain"] == {"values": ["1", "2"], "labels": {"1": "Male", "2": "Female"}}
    assert "01032022 to 01152023" in found["IDATE"]["domain"]
    assert found["DAYS"]["domain"] == {"from": "1", "to": "30"}
    assert "3,411" not in str(found)


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        ("10012022 - 12312022", "10012022 to 12312022"),
        ("01012022 - 31122022", "01012022 to 31122022"),
        ("10000000 - 10002000", {"from": "10000000", "to": "10002000"}),
    ],
)
def test_days_in_forms_that_no_table_has_are_left_to_decide(tmp_path: Path, values: str, domain: Any) -> None:
    text = f"variable,label,type,values\na,Entry,integer,{values}\n"
    found = drafted_items(tmp_path, "a,x", text)["a"]["domain"]
    assert (domain in found) if isinstance(domain, str) else domain == found
