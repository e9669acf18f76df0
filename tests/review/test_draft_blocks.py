"""Codebooks in plain text with a block for each variable, whose tables have counts: none of these is ever a label."""

from pathlib import Path
from typing import Any

import pytest

from crowdgate.errors import ConfigurationError
from crowdgate.review.templates.draft_sources import read_draft_source
from tests.review.drafted_items import Facts, drafted_items

BLOCKS = """\
Household Panel of Norrland, wave 4                                          Codebook
Variable Name   TENURE_H     Width 1      Columns 3
Question        Q12
Concept         Tenure of the dwelling
Literal question  Do you own or rent?
Universe        All households

Value label                             Value   Count   Weighted count   Percent
Owner, with or without loan                 1     812          101,223      61.3
Tenant                                      2     401           51,010      32.0
Valid skip                                  7       3              400       0.4
Not stated                                  9      71            8,110       5.6
Total                                            1296          161,943     100.0

Page 7                     Household Panel of Norrland

Variable Name   TRIPS        Width 3      Columns 4-6
Concept         Number of trips in a week
Value label                             Value   Count   Weighted count   Percent
Trips                                 000 - 070  1200          150,443      92.0
Refusal                                     998    71            8,110       5.0
Not stated                                  999    25            3,390       3.0

Variable Name   MASS_T       Width 6.3      Columns 7-12
Concept         Waste collected (tonnes)
Value label                             Value   Count   Weighted count   Percent
Tonnes                             0.250 - 9.750  1200         150,443      92.0
Not stated                                99.999    71           8,110       5.0

Variable Name   NOTHERE      Width 1      Columns 13
Concept         Another variable
"""
"""Codes 71 are counts, too: no draft has a 71."""


def check(found: dict[str, Facts], expected: dict[str, Any]) -> None:
    assert {name: found[name].get("domain") for name in expected} == expected


def test_blocks_of_a_text_become_domains_without_their_counts(tmp_path: Path) -> None:
    found = drafted_items(tmp_path, "tenure_h,trips,mass_t", BLOCKS, ".txt")
    check(found, {
        "tenure_h": {
            "values": ["1", "2"], "missing": ["7", "9"],
            "labels": {"1": "Owner, with or without loan", "2": "Tenant"},
        },
        "trips": {"from": "0", "to": "70", "missing": ["998", "999"]},
        "mass_t": {"from": "0.25", "to": "9.75", "step": "0.01", "precision": "0.001", "missing": ["99.999"]},
    })  # fmt: skip
    assert "71" not in str(found)
    (tmp_path / "t.csv").write_text("tenure_h,trips\n")
    source = read_draft_source(tmp_path / "t.csv", tmp_path, header_line=True, codebook=tmp_path / "b.txt")
    assert source.note.startswith(
        "read as a block of lines for each variable, not as a table; columns whose values or range it states: 2;"
    )
    assert [each.description for each in source.columns] == ["Tenure of the dwelling", "Number of trips in a week"]


@pytest.mark.parametrize(
    ("lines", "domain"),
    [
        ("  1  Owner  812  101,223  61.3\n  2  Tenant  71  51,010  32.0\n  8  Refusal  3  12  0.1",
         {"values": ["1", "2"], "labels": {"1": "Owner", "2": "Tenant"}, "missing": ["8"]}),
        ("  1 Owner 812 61.3\n  2 Tenant 71 32.0",
         {"values": ["1", "2"], "labels": {"1": "Owner", "2": "Tenant"}}),
        ("  Owner     1\n  Tenant    2", {"values": ["1", "2"], "labels": {"1": "Owner", "2": "Tenant"}}),
        ("  1 owner     1\n  2 owners    2", {"values": ["1", "2"], "labels": {"1": "1 owner", "2": "2 owners"}}),
        ("  001 - 070  Trips\n  998  Refusal\n  999  Not stated",
         {"from": "1", "to": "70", "missing": ["998", "999"]}),
        ("  1  Owner ...... 812 (61.3%)\n  2  Tenant ..... 71 (32.0%)",
         {"values": ["1", "2"], "labels": {"1": "Owner", "2": "Tenant"}}),
        ("  Value   Label     Frequency   %\n    1     Owner     812     61.3 %\n    2     Tenant     71     32.0 %\n"
         "          Total     883    100 %\n  Missing Data\n    .            12     1 %",
         {"values": ["1", "2"], "labels": {"1": "Owner", "2": "Tenant"}}),
        ("  1  15 to 24\n  2  25 to 64", {"values": ["1", "2"], "labels": {"1": "15 to 24", "2": "25 to 64"}}),
        ("  1 Grade 1\n  2 Grade 2", {"values": ["1", "2"], "labels": {"1": "Grade 1", "2": "Grade 2"}}),
    ],
)  # fmt: skip
def test_figures_behind_labels_are_left_out(tmp_path: Path, lines: str, domain: Facts) -> None:
    found = drafted_items(tmp_path, "home", f"home  Home of the person\n{lines}\n", ".txt")
    assert found["home"]["domain"] == domain


@pytest.mark.parametrize(
    "lines",
    [
        "  Owner    812\n  Tenant    71",
        "  Owner    812  61.3\n  Tenant    71  32.0",
        "  1  Owner  812\n  2  Tenant  seventy",
        "  1 Owner 812\n  2 Tenant 71",
        "  1  Owner       812\n  2  Tenant 71",
        "  Value   Label     Frequency\n  1  Owner  812\n  2  Tenant 71",
        "  1 = Owner (812)\n  2 = Tenant (71)",
        "  1 = Owner 61%\n  2 = Tenant 71%",
    ],
)
def test_figures_that_may_be_counts_are_left_to_decide(tmp_path: Path, lines: str) -> None:
    (stated,) = drafted_items(tmp_path, "home", f"home  Home of the person\n{lines}\n", ".txt").values()
    assert str(stated["domain"]).startswith("CHANGE (each value that can be")
    assert "Owner" in stated["domain"]
    assert "Tenant" in stated["domain"]
    assert not {"812", "71"} & {*str(stated["domain"]).replace("%", " ").replace(")", " ").split()}


def test_a_codebook_of_which_nothing_can_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nothing on any column .*a row for each variable"):
        drafted_items(tmp_path, "home,trips", "variable,label\nhome,\ntrips,\n")
