"""Data dictionaries with a row for each value or range of a variable, with headings or as records without any."""

from pathlib import Path

import pytest

from tests.review.drafted_items import drafted_items

HEADED = """\
Column,Caption,Datatype,Minimum,Maximum,Meaning
ward,Ward,char,03,03,North
ward,Ward,char,11,11,South
stay,Nights in hospital,integer,0,0,Same day
stay,Nights in hospital,integer,1,60,Nights (top-coded)
stay,Nights in hospital,integer,98,99,Refused
score,Balance,numeric,-50,-50,Fifty or more below (bottom-coded)
score,Balance,numeric,-49,-1,Below
score,Balance,numeric,0,0,Even
score,Balance,numeric,1,70,Above
lag,Lag,integer,1,5,Days
lag,Lag,integer,50,50,Never
file,File,char,2021AA001,2021AA999,Paper
file,File,char,2021EL001,2021EL999,Electronic
area,Area,char,00200,80100,Areas
"""
RECORDS = """\
NAME,ward,C,2,"Ward",,
VAL,ward,C,2,"bb","bb","N/A (no ward)"
VAL,ward,C,2,"03","03","North"
VAL,ward,C,2,"11","11","South"
NAME,stay,N,2,"Nights in hospital",,
VAL,stay,N,2,"0","0","Same day"
VAL,stay,N,2,"1","60","Nights (Top-coded)"
"""
WARD = {"values": ["03", "11"], "labels": {"03": "North", "11": "South"}}


def test_the_rows_of_a_variable_are_its_list_or_its_range(tmp_path: Path) -> None:
    found = drafted_items(tmp_path, "ward,stay,score,lag,file,area", HEADED)
    assert found["ward"]["domain"] == WARD
    assert found["stay"]["domain"] == {"from": "0", "to": "60", "top": "true", "missing": ["98", "99"]}
    score = found["score"]["domain"]
    assert (score["from"], score["to"], score["bottom"]) == ("-50", "70", "true")


@pytest.mark.parametrize(
    ("name", "said"),
    [("lag", "1 to 5 = Days; 50 = Never"), ("area", "00200 to 80100 = Areas"), ("file", "2021AA001 to 2021AA999")],
)
def test_rows_that_are_no_one_list_and_no_one_range_are_left_to_decide(tmp_path: Path, name: str, said: str) -> None:
    domain = drafted_items(tmp_path, "ward,lag,file,area", HEADED)[name]["domain"]
    assert domain.startswith("CHANGE")
    assert said in domain


def test_records_without_headings_are_read(tmp_path: Path) -> None:
    found = drafted_items(tmp_path, "ward,stay", RECORDS)
    assert found["ward"]["domain"] == WARD
    assert found["stay"]["domain"] == {"from": "0", "to": "60", "top": "true"}
